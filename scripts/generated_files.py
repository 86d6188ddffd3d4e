"""Write generated files, or report those that are out of date; used by the `make_*.py` scripts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_or_check(script: str, root: Path, files: Iterable[tuple[Path, str]], *, check: bool) -> int:
    """Write the files of a script, or with `check` report those that differ. Return the exit code.

    Args:
        script: the name of the script, for the message.
        root: the folder of the project.
        files: each file's path in the project, and its text.
        check: whether nothing is written.
    """
    differing = [
        (path, text)
        for path, text in files
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]
    for path, text in differing:
        if check:
            print(f"{path} is out of date: run scripts/{script}", file=sys.stderr)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8", newline="\n")
    return 1 if check and differing else 0
