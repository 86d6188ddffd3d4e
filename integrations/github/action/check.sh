#!/usr/bin/env bash
# Fail with a diff if the rendered folder is not what the TrainJobs compile to.
set -euo pipefail

readarray -t paths < <(grep . <<< "$TRAINC_PATHS")
trainc build --check -o "$TRAINC_RENDERED" -- "${paths[@]}"
