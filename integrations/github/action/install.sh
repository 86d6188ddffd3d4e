#!/usr/bin/env bash
# Install trainc into a venv, with the versions and hashes of its lock files, and put it on the PATH of later steps.
set -euo pipefail

source=$(cd "$(dirname "$0")/../../.." && pwd)
venv=$RUNNER_TEMP/trainc

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error::trainc needs Python 3.11 or later: add a step with actions/setup-python"
  exit 1
}
python3 -m venv "$venv"
pip=("$venv/bin/pip" install --quiet --disable-pip-version-check)
for lock in requirements-build.lock requirements.lock; do
  "${pip[@]}" --require-hashes --only-binary=:all: -r "$source/$lock"
done
# --no-build-isolation: an isolated build would download its backend without hashes.
"${pip[@]}" --no-index --no-deps --no-build-isolation "$source"
echo "$venv/bin" >> "$GITHUB_PATH"
"$venv/bin/trainc" --version
