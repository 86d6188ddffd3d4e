"""Arguments: the two sides that a command line names, and the settings that decide what a review reports.

Reads    words, `--` among them: revisions before it, paths after it.
Returns  sides, or settings. As in git, a word that is both a revision and a path is refused: the author of a change
         chooses the names of its folders, and must not choose what a reviewer's command compares.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc import settings
from trainc.diagnostics import failed
from trainc.inputs import SETTINGS, STDIN
from trainc.review import revisions
from trainc.review.sides import Where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.settings import Settings

SEPARATOR: Final = "--"
WORKING_TREE: Final = "the working tree"
HERE: Final = (".",)
PATHLIKE: Final = ("/", "./", "../")
"""No revision starts like these."""


def of_arguments(arguments: Sequence[str]) -> tuple[Where, Where]:
    """Return the old and the new side. Raises RevisionError, or ValueError with the reason.

    OLD NEW              two paths that exist
    A..B [PATH]...       two revisions; A...B takes the merge base of A and B as the old side
    REV [PATH]...        a revision and the working tree
    OLD NEW              where one side is a revision, or a path of a revision (`main:jobs`)
    [REV]... -- [PATH]...  revisions before `--`, paths after it; HEAD without a revision
    """
    if arguments.count(STDIN) > 1:
        raise ValueError("standard input can be one of the two sides only")
    if not arguments:
        return _separated((), ())
    if SEPARATOR in arguments:
        at = arguments.index(SEPARATOR)
        return _separated(tuple(arguments[:at]), tuple(arguments[at + 1 :]))
    return _unseparated(*arguments)


def _separated(named: tuple[str, ...], paths: tuple[str, ...]) -> tuple[Where, Where]:
    """Return the sides of some revisions, and of paths that are in both sides."""
    if len(named) > 2:
        raise ValueError(f"{len(named)} revisions are more than two: {SEPARATOR} follows one, two or a range")
    first = named[0] if named else "HEAD"
    if len(named) == 2:
        if not paths:
            return _of_revision(named[0]), _of_revision(named[1])
        return _at(first, paths, revisions.commit(first)), _at(named[1], paths, revisions.commit(named[1]))
    return _range(first, paths or HERE) if _is_range(first) else _with_working_tree(first, paths or HERE)


def _unseparated(first: str, *rest: str) -> tuple[Where, Where]:
    """Return the sides of words of which each is a path or a revision."""
    there = [argument == STDIN or os.path.lexists(argument) for argument in (first, *rest)]
    for argument, found in zip((first, *rest), there, strict=True):
        if found and _names_revision(argument):
            raise ValueError(
                f"ambiguous argument '{argument}': both revision and path; "
                f"use '{SEPARATOR}' to separate revisions from paths, or './{argument}' for the path"
            )
    if len(rest) == 1 and all(there):
        return Where(first, (first,)), Where(rest[0], (rest[0],))
    if not there[0] and _is_range(first):
        return _range(first, rest or HERE)
    if len(rest) == 1 and (there[0] or ":" in first or (not there[1] and _is_revision(rest[0]))):
        return _side(first), _side(rest[0])
    if there[0]:
        raise ValueError(f"there is nothing to compare {first} with: give a second path, or a revision before it")
    return _with_working_tree(first, rest or HERE)


def _is_range(text: str) -> bool:
    return ".." in text and ":" not in text and "../" not in text


def _ends(text: str) -> tuple[str, str, str]:
    """Return the two ends of a range, and the dots between them."""
    dots = "..." if "..." in text else ".."
    old, _, new = text.partition(dots)
    return old, new, dots


def _names_revision(path: str) -> bool:
    """Whether git takes a path for a revision, a range that has a known end, or a path of a revision."""
    if path == STDIN or path.startswith(PATHLIKE) or os.pardir in path.split("/"):
        return False
    names = {path, path.partition(":")[0]}
    if ".." in path:
        names.update(_ends(path)[:2])
    return any(name and revisions.known(name) for name in names)


def _is_revision(text: str) -> bool:
    return ":" in text or revisions.known(text)


def _range(text: str, paths: tuple[str, ...]) -> tuple[Where, Where]:
    old, new, dots = _ends(text)
    old, new = old or "HEAD", new or "HEAD"
    base = revisions.common(old, new) if dots == "..." else old
    commit = revisions.commit(base)
    commit.revision = old
    return _at(old, paths, commit), _at(new, paths, revisions.commit(new))


def _with_working_tree(revision: str, paths: tuple[str, ...]) -> tuple[Where, Where]:
    commit = revisions.commit(revision)
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            inside = commit.inside(path)
            if inside is None or not commit.has(inside):
                raise ValueError(f"{path} is no path, neither in {revision} nor in the working tree")
    return _at(revision, paths, commit), Where(WORKING_TREE, paths)


def _at(name: str, paths: tuple[str, ...], commit: revisions.Commit) -> Where:
    """Return paths of the working tree at a commit of its repository."""
    if outside := [path for path in paths if commit.inside(path) is None]:
        what = "standard input" if outside[0] == STDIN else outside[0]
        raise ValueError(f"{what} is not in the repository, so it is in no revision")
    return Where(name, paths, commit)


def _side(argument: str) -> Where:
    """Return the side of a path, of a revision, or of a path of a revision."""
    if argument == STDIN or os.path.lexists(argument):
        return Where(argument, (argument,))
    return _of_revision(argument)


def _of_revision(argument: str) -> Where:
    """Return the side of a revision, or of a path of a revision."""
    commit, path = _split(argument)
    if path is None:
        return Where(argument, HERE, commit)
    where = _at(argument, (path,), commit)
    if not commit.has(commit.inside(path) or ""):
        raise ValueError(f"{commit.revision} has no path {argument.partition(':')[2]}")
    return where


def _split(argument: str) -> tuple[revisions.Commit, str | None]:
    """Return the commit of `REV` or `REV:PATH`, and the path in the working tree.

    PATH is relative to the repository root, or to the current folder where it starts with `./` or `../`.
    """
    revision, colon, path = argument.partition(":")
    if not revision:
        raise ValueError(f"{argument} is of the index, and no revision: give a commit, as in HEAD{argument}")
    commit = revisions.commit(revision)
    if not colon:
        return commit, None
    return commit, path if path.startswith(("./", "../")) else os.path.join(commit.top, path)


def reporting(argument: str) -> Settings:
    """Return the settings that decide what a review reports. Raises RevisionError, or ValueError with the reason.

    `argument` is a path, or `REV:PATH`. With a colon it is always the latter, so that no file can take its place;
    `./a:b` is a file. A revision without a trainc.yaml has the default settings.
    """
    if ":" in argument and not argument.startswith(PATHLIKE):
        found = _of_commit(argument)
    else:
        found = settings.read(argument)
    if failed(found.diagnostics):
        error = next(diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error")
        raise ValueError(f"--review-config is not valid: {error.locate() or argument}: {error.message}")
    return found


def _of_commit(argument: str) -> Settings:
    commit, path = _split(argument)
    inside = commit.inside(path or "")
    file = None if inside is None else commit.file(inside)
    if file is not None:
        return settings.of_file(file)
    if inside is None or commit.has(inside) or os.path.basename(inside) != SETTINGS:
        raise ValueError(f"--review-config is not valid: {commit.revision} has no file {argument.partition(':')[2]}")
    return settings.DEFAULT
