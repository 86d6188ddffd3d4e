#!/usr/bin/env python3
"""Draw docs/review.png: the review page of an edit of examples/teams, as the README shows it.

    make_picture.py [FILE]

Reads    examples/teams, in a copy with the edits of `EDITS`.
Writes   FILE, by default docs/review.png, with Debian's Chromium. Fonts and versions of Chromium change the bytes, so
         that no test compares the picture: look at it, and commit it, if the page has changed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURE: Final = ROOT / "docs" / "review.png"
SIZE: Final = "1100,700"
EDITS: Final = (
    ("jobs/vision/detector.yaml", "numNodes: 2", "numNodes: 8"),
    (
        "jobs/speech/align.yaml",
        "kind: TrainJob\nmetadata: {",
        "kind: TrainJob\nmetadata: {annotations: {ticket: SP-12}, ",
    ),
)
"""Each file of the project that changes, with the old and the new text."""


def edited(folder: Path) -> None:
    """Make a repository with the project as its first commit, and the edits in the working tree."""
    shutil.copytree(ROOT / "examples" / "teams", folder)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "As it is"]):
        git = ["git", "-c", "user.name=picture", "-c", "user.email=picture@example.com"]
        subprocess.run([*git, *words], cwd=folder, check=True)
    for name, old, new in EDITS:
        text = (folder / name).read_text(encoding="utf-8")
        if old not in text:
            raise SystemExit(f"examples/teams/{name} has no {old!r}: change EDITS")
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")


def main(words: list[str]) -> None:
    """Write the picture."""
    picture = Path(words[0]) if words else PICTURE
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "teams")
        edited(folder)
        page = Path(temporary, "review.html")
        command = [sys.executable, "-m", "trainc", "diff", "--format", "html"]
        page.write_bytes(subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True).stdout)
        browser = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={SIZE}"]
        subprocess.run([*browser, f"--screenshot={picture.resolve()}", page.as_uri()], check=True, capture_output=True)
    print(f"{picture}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
