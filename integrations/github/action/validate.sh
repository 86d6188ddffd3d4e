#!/usr/bin/env bash
# Report the errors and warnings of all TrainJobs and runtimes at their lines in the pull request.
set -euo pipefail

readarray -t paths < <(grep . <<< "$TRAINC_PATHS")
release=()
if [[ -n ${TRAINC_TRAINER_VERSION:-} ]]; then release=(--trainer-version "$TRAINC_TRAINER_VERSION"); fi
trainc validate --format github "${release[@]}" -- "${paths[@]}"
