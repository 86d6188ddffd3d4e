#!/usr/bin/env python3
"""List the releases of upstream projects that are newer than those that trainc follows.

    watch_upstream.py [--open-issues]

Reads    scripts/upstream.json: for each repository on GitHub, and each package on PyPI (`pypi:NAME`), the newest tag
         of each minor line that trainc follows, or that needed no change; the tags of the repositories, with
         `git ls-remote`, and the versions of the packages. Pre-releases are left out.
Writes   a line for each newer release of a line, and for each later line. With --open-issues, an issue for each one
         that has none, with `gh`.

CONTRIBUTING.md has the recipe for a release. Update upstream.json when an issue is closed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KNOWN: Final = Path(__file__).with_name("upstream.json")
TAG: Final = re.compile(r"refs/tags/(v(\d+)\.(\d+)\.(\d+))")
PYPI: Final = "pypi:"
BODY: Final = """\
{repository} has released {tag}; trainc follows {known}.

Read {page} and follow the recipe "A release" in CONTRIBUTING.md.
Then set the version in scripts/upstream.json.
"""


def version(tag: str) -> tuple[int, ...]:
    """Return a tag as a value that can be compared.

    >>> version("v0.12.0") > version("v0.9.1")
    True
    """
    return tuple(map(int, tag.removeprefix("v").split(".")))


def newer(known: Iterable[str], references: Iterable[str]) -> list[tuple[str, str]]:
    """Return the released tags in the lines of `git ls-remote` that are newer than the known one of their line.

    Each comes with that one, the oldest first. A later line is newer than the newest known one.

    >>> newer(["v2.3.0", "v2.4.0"], [f"0\\trefs/tags/{tag}" for tag in ("v2.2.9", "v2.3.1", "v2.4.0", "v2.5.0")])
    [('v2.3.1', 'v2.3.0'), ('v2.5.0', 'v2.4.0')]
    """
    lines = {version(tag)[:2]: tag for tag in known}
    newest = max(lines.values(), key=version)
    found = sorted({tag[1] for line in references if (tag := TAG.fullmatch(line.rpartition("\t")[2]))}, key=version)
    pairs = [(tag, lines.get(version(tag)[:2], newest)) for tag in found]
    return [(tag, followed) for tag, followed in pairs if version(tag) > version(followed)]


def references(repository: str) -> list[str]:
    """Return the tags of a repository, or the versions of a package, as lines of `git ls-remote`."""
    if repository.startswith(PYPI):
        with urllib.request.urlopen(f"{page_of(repository)}/json", timeout=60) as answer:
            return [f"\trefs/tags/v{name}" for name in json.load(answer)["releases"]]
    command = ["git", "ls-remote", "--tags", "--refs", f"https://github.com/{repository}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def releases() -> Iterator[tuple[str, str, str]]:
    """Yield each newer release: repository, tag, known tag."""
    for repository, known in json.loads(KNOWN.read_text(encoding="utf-8")).items():
        for tag, followed in newer(known, references(repository)):
            yield repository, tag, followed


def page_of(repository: str, tag: str = "") -> str:
    """Return the page of a package, or of a repository's release."""
    if repository.startswith(PYPI):
        return f"https://pypi.org/pypi/{repository.removeprefix(PYPI)}"
    return f"https://github.com/{repository}/releases/tag/{tag}"


def open_issue(repository: str, tag: str, known: str) -> None:
    """Open an issue for a release, unless one with its title exists, open or closed."""
    title = f"{repository} {tag}"
    search = ["gh", "issue", "list", "--state", "all", "--search", f'"{title}" in:title', "--json", "title"]
    existing = json.loads(subprocess.run(search, check=True, capture_output=True, text=True).stdout)
    if all(issue["title"] != title for issue in existing):
        body = BODY.format(repository=repository, tag=tag, known=known, page=page_of(repository, tag))
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
