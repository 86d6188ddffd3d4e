#!/usr/bin/env bash
# Write the changes of the pull request's JobSets to the run summary, and to a file for the comment.
set -euo pipefail

readarray -t paths < <(grep . <<< "$TRAINC_PATHS")
base=refs/remotes/origin/$GITHUB_BASE_REF
if ! git merge-base "$base" HEAD > /dev/null 2>&1; then
  echo "::error::the review needs the commits of $GITHUB_BASE_REF: set 'fetch-depth: 0' for actions/checkout"
  exit 1
fi
# `--` separates revisions from paths, because a pull request can add a folder that is named like a revision.
# --review-config reads the lint rules of the base branch, because the pull request's trainc.yaml may turn off the
# rules that it violates.
trainc diff "$base...HEAD" --review-config "$base" --format markdown -- "${paths[@]}" \
  > "$RUNNER_TEMP/trainc-review.md"
cat "$RUNNER_TEMP/trainc-review.md" >> "$GITHUB_STEP_SUMMARY"
