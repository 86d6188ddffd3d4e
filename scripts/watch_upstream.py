#!/usr/bin/env python3
"""List the releases of upstream projects that are newer than those that trainc follows.

    watch_upstream.py [--open-issues]

Reads    scripts/upstream.json: for each repository on GitHub the newest release that trainc follows, or that needed no
         change; the tags of the repositories, with `git ls-remote`. Pre-releases are left out.
Writes   a line for each newer release. With --open-issues, an issue for each one that has none, with `gh`.

CONTRIBUTING.md has the recipe for a release. Update upstream.json when an issue is closed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KNOWN: Final = Path(__file__).with_name("upstream.json")
TAG: Final = re.compile(r"refs/tags/(v(\d+)\.(\d+)\.(\d+))")
BODY: Final = """\
{repository} has released {tag}; trainc follows {known}.

Read https://github.com/{repository}/releases/tag/{tag} and follow the recipe "A release" in CONTRIBUTING.md.
Then set the version in scripts/upstream.json.
"""


def version(tag: str) -> tuple[int, ...]:
    """Return a tag as a value that can be compared.

    >>> version("v0.12.0") > version("v0.9.1")
    True
    """
    return tuple(map(int, tag.removeprefix("v").split(".")))


def newer(known: str, references: Iterable[str]) -> list[str]:
    """Return the released tags in the lines of `git ls-remote` that are newer than a known one, the oldest first."""
    found = {tag[1] for line in references if (tag := TAG.fullmatch(line.rpartition("\t")[2]))}
    return sorted((tag for tag in found if version(tag) > version(known)), key=version)


def references(repository: str) -> list[str]:
    """Return the tags of a repository as lines of `git ls-remote`."""
    command = ["git", "ls-remote", "--tags", "--refs", f"https://github.com/{repository}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def releases() -> Iterator[tuple[str, str, str]]:
    """Yield each newer release: repository, tag, known tag."""
    for repository, known in json.loads(KNOWN.read_text(encoding="utf-8")).items():
        for tag in newer(known, references(repository)):
            yield repository, tag, known


def open_issue(repository: str, tag: str, known: str) -> None:
    """Open an issue for a release, unless one with its title exists, open or closed."""
    title = f"{repository} {tag}"
    search = ["gh", "issue", "list", "--state", "all", "--search", f'"{title}" in:title', "--json", "title"]
    existing = json.loads(subprocess.run(search, check=True, capture_output=True, text=True).stdout)
    if all(issue["title"] != title for issue in existing):
        body = BODY.format(repository=repository, tag=tag, known=known)
        subprocess.run(["gh", "issue", "create", "--title", title, "--body", body], check=True)


def main(argv: list[str] | None = None) -> int:
    """List the newer releases."""
    parser = argparse.ArgumentParser(description="List the newer releases of upstream projects.")
    parser.add_argument("--open-issues", action="store_true", help="open an issue for each, with gh")
    args = parser.parse_args(argv)
    for repository, tag, known in releases():
        print(f"{repository} {tag} (followed: {known})")
        if args.open_issues:
            open_issue(repository, tag, known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
