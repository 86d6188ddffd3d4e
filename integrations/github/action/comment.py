"""Write the review as one comment of the pull request: later runs edit the comment of the first one.

Reads    RUNNER_TEMP/trainc-review.md, which review.sh writes, and the comments of the pull request, through gh.
Writes   one comment. Its first line is a marker, which GitHub does not show. Only a bot's comment is edited: a user's
         comment that has the marker stays as it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def gh(*arguments: str, text: str | None = None) -> Any:
    """Call GitHub's API through gh, and return its answer. Exits with gh's message if it fails."""
    done = subprocess.run(["gh", "api", *arguments], input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
        sys.exit(
            "::error::the review is not a comment, because GitHub rejects it: give the job the permission "
            "'pull-requests: write', or set 'comment: false'"
        )
    return json.loads(done.stdout)


def main() -> None:
    """Create or edit the comment."""
    repository, number = os.environ["GITHUB_REPOSITORY"], os.environ["TRAINC_NUMBER"]
    marker = f"<!-- trainc review: {os.environ['TRAINC_KEY']} -->"
    review = (Path(os.environ["RUNNER_TEMP"]) / "trainc-review.md").read_text(encoding="utf-8")
    body = json.dumps({"body": f"{marker}\n{review}"})
    comments = f"repos/{repository}/issues/{number}/comments"
    pages = gh("--paginate", "--slurp", f"{comments}?per_page=100")
    own = [
        comment
        for page in pages
        for comment in page
        if comment["user"]["type"] == "Bot" and comment["body"].partition("\n")[0].rstrip("\r") == marker
    ]
    if not own:
        gh("--method", "POST", comments, "--input", "-", text=body)
    elif own[0]["body"] != json.loads(body)["body"]:
        gh("--method", "PATCH", f"repos/{repository}/issues/comments/{own[0]['id']}", "--input", "-", text=body)


if __name__ == "__main__":
    main()
