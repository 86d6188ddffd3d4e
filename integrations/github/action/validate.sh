#!/usr/bin/env bash
# Report the errors and warnings of all TrainJobs and runtimes at their lines in the pull request.
set -euo pipefail

readarray -t paths < <(grep . <<< "$TRAINC_PATHS")
trainc validate --format github -- "${paths[@]}"
