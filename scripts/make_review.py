#!/usr/bin/env python3
"""Generate the consoles of docs/review.md: run its commands in a repository built from docs/review/.

    make_review.py [--check]

Reads    docs/review/before and docs/review/after, which become the branches `main` and `branch`; the page, whose
         ```console blocks hold one command each, after `$ `. The output of COMMAND replaces the text between
         `<!-- $ COMMAND -->` and `<!-- $ -->`, so that the page renders it: Markdown or a graph.
Writes   the page with the commands' output. With --check it writes nothing and exits 1 if the page is out of date. The
         commands run the trainc of this interpreter's environment.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "review.md"
SAMPLE: Final = ROOT / "docs" / "review"
CONSOLE: Final = re.compile(r"^```console\n(\$ .*\n)(?:.*\n)*?```$", re.MULTILINE)
SHOWN: Final = re.compile(r"^<!-- \$ (.*) -->\n(?:.*\n)*?<!-- \$ -->$", re.MULTILINE)


def repository(folder: Path) -> None:
    """Create the repository: main holds the old files; branch, which is checked out, the new ones."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    for branch, files in (("main", "before"), ("branch", "after")):
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
            elif path.name != ".git":
                shutil.rmtree(path)
        # Copy with new times: git treats files of the same size and time as unchanged.
        shutil.copytree(SAMPLE / files, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
        git(folder, "add", "--all")
        git(folder, "checkout", "--quiet", "-B", branch)
        git(folder, "commit", "--quiet", "--message", branch)


def git(folder: Path, *arguments: str) -> None:
    """Run git with a fixed identity."""
    identity = ("-c", "user.name=trainc", "-c", "user.email=trainc@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)


def printed(command: str, folder: Path) -> str:
    """Return the output of a command, of both streams."""
    bin = Path(sys.executable).parent
    variables = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode()
    if done.returncode:
        sys.exit(f"`{command}` exits with {done.returncode}:\n{text}")
    return text if not text or text.endswith("\n") else f"{text}\n"


def page(folder: Path) -> str:
    """Return the page with the current output of its commands."""

    def console(found: re.Match[str]) -> str:
        return f"```console\n{found[1]}{printed(found[1].removeprefix('$ ').strip(), folder)}```"

    def shown(found: re.Match[str]) -> str:
        return f"<!-- $ {found[1]} -->\n{printed(found[1], folder)}<!-- $ -->"

    return SHOWN.sub(shown, CONSOLE.sub(console, PAGE.read_text(encoding="utf-8")))


def main() -> int:
    """Write the page, or report that it is out of date."""
    with tempfile.TemporaryDirectory() as folder:
        repository(Path(folder))
        text = page(Path(folder))
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/review.md is out of date; run scripts/make_review.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
