#!/usr/bin/env python3
"""Make the consoles of docs/review.md: its commands run in a repository that is made of docs/review/.

    make_review.py [--check]

Reads    docs/review/before and docs/review/after, which become the branches `main` and `branch`; the page, whose
         ```console blocks hold one command each, after `$ `. What stands between `<!-- $ COMMAND -->` and `<!-- $ -->`
         is printed, too, for the page's reader to see as it is meant: Markdown, or a graph.
Writes   the page with what the commands print. With --check it writes nothing and exits 1 when the page says anything
         else. The commands run trainc as this interpreter's environment has it.
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
    """Make the repository: main holds the old files, branch, which is checked out, the new ones."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    for branch, files in (("main", "before"), ("branch", "after")):
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
            elif path.name != ".git":
                shutil.rmtree(path)
        # With the times of now: git takes files of one size and time for the same one.
        shutil.copytree(SAMPLE / files, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
        git(folder, "add", "--all")
        git(folder, "checkout", "--quiet", "-B", branch)
        git(folder, "commit", "--quiet", "--message", branch)


def git(folder: Path, *arguments: str) -> None:
    """Run git as nobody in particular."""
    identity = ("-c", "user.name=trainc", "-c", "user.email=trainc@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)


def printed(command: str, folder: Path) -> str:
    """What a command prints, on both streams."""
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
    """The page, with what its commands print now."""

    def console(found: re.Match[str]) -> str:
        return f"```console\n{found[1]}{printed(found[1].removeprefix('$ ').strip(), folder)}```"

    def shown(found: re.Match[str]) -> str:
        return f"<!-- $ {found[1]} -->\n{printed(found[1], folder)}<!-- $ -->"

    return SHOWN.sub(shown, CONSOLE.sub(console, PAGE.read_text(encoding="utf-8")))


def main() -> int:
    """Write the page, or say that it is old."""
    with tempfile.TemporaryDirectory() as folder:
        repository(Path(folder))
        text = page(Path(folder))
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/review.md is not what scripts/make_review.py makes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
