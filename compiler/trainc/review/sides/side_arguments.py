"""Arguments: the two sides that a command line names, and the settings that decide what a review reports.

Reads    the command line's arguments, including `--`: revisions precede it, paths follow it.
Returns  sides, or settings. As in git, an argument that is both a revision and a path is an error: the author of a
         change chooses the names of its folders, and must not choose what a reviewer's command compares.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc import settings
from trainc.diagnostics import failed
from trainc.files.inputs import STDIN
from trainc.files.selection import SETTINGS
from trainc.review import commits as revisions
from trainc.review.commits import ambiguous_argument, branch_merges
from trainc.review.commits import commit_files as commit_settings
from trainc.review.sides import SideSpec, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainc.compilation import Run
    from trainc.settings import Settings

SEPARATOR: Final = "--"
WORKING_TREE: Final = "the working tree"
HERE: Final = (".",)
PATHLIKE: Final = ("/", "./", "../")
"""Prefixes that no revision has."""


def parse_sides(arguments: Sequence[str]) -> tuple[SideSpec, SideSpec]:
    """Return the old and the new side. Raises RevisionError, or ValueError with the reason.

    OLD NEW              two paths that exist
    A..B [PATH]...       two revisions; A...B compares A with the merge of B into A
    REV [PATH]...        a revision and the working tree
    OLD NEW              one side is a revision, or a path of a revision (`main:jobs`)
    [REV]... -- [PATH]...  revisions before `--`, paths after it; HEAD without a revision
    """
    if arguments.count(STDIN) > 1:
        raise ValueError("standard input can be only one of the sides")
    if not arguments:
        return _separated((), ())
    if SEPARATOR in arguments:
        at = arguments.index(SEPARATOR)
        return _separated(tuple(arguments[:at]), tuple(arguments[at + 1 :]))
    return _sides_of_one_argument(*arguments)


def sides_of_releases(arguments: Sequence[str], old: str, new: str) -> tuple[SideSpec, SideSpec]:
    """Return the sides of one tree that is compiled for two releases. Raises ValueError with the reason.

    The arguments are paths; without one, the project of the working tree.
    """
    tree = tree_of_paths(arguments, "two releases")
    found = [tree._replace(name=f"Trainer v{version}", trainer_version=version) for version in (old, new)]
    return found[0], found[1]


def sides_of_environments(arguments: Sequence[str], old: str, new: str) -> tuple[SideSpec, SideSpec]:
    """Return the sides of one tree in two environments. Raises RevisionError, or ValueError with the reason.

    [REV] [--] [PATH]...  the working tree without REV
    """
    at = arguments.index(SEPARATOR) if SEPARATOR in arguments else 0
    if not at and arguments and not os.path.lexists(arguments[0]) and arguments[0] not in (STDIN, SEPARATOR):
        at = 1
    elif not at and SEPARATOR not in arguments:
        for argument in filter(_names_revision, arguments):
            raise ambiguous_argument(argument)
    paths, end = tuple(argument for argument in arguments[at:] if argument != SEPARATOR), ""
    if not at:
        tree = tree_of_paths(paths, "two environments")
    elif at > 1 or _is_range(arguments[0]):
        raise ValueError("two environments are compared in one revision: give at most one")
    else:
        tree, end = _with_working_tree(arguments[0], paths)[0], f" of {arguments[0]}"
    found = [tree._replace(name=f"{name}{end}", environment=name) for name in (old, new)]
    return found[0], found[1]


def tree_of_paths(arguments: Sequence[str], what: str) -> SideSpec:
    """Return the side of the working tree for arguments that are paths; without one, its project."""
    paths = tuple(argument for argument in arguments if argument != SEPARATOR)
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            raise ValueError(f"path {path} does not exist: with {what}, give only paths")
    if STDIN in paths:
        raise ValueError(f"standard input cannot be compared with {what}: give files or folders")
    return SideSpec(WORKING_TREE, paths or HERE, project=not paths)


def _separated(given: tuple[str, ...], paths: tuple[str, ...]) -> tuple[SideSpec, SideSpec]:
    """Return the sides of given revisions, for paths that apply to both sides."""
    if len(given) > 2:
        raise ValueError(f"{len(given)} revisions precede {SEPARATOR}: use at most two, or one range")
    first = given[0] if given else "HEAD"
    if len(given) == 2:
        if not paths:
            return _revision_side(given[0]), _revision_side(given[1])
        return _working_tree_side(first, paths, revisions.commit(first)), _working_tree_side(
            given[1], paths, revisions.commit(given[1])
        )
    return _range(first, paths) if _is_range(first) else _with_working_tree(first, paths)


def _sides_of_one_argument(first: str, *rest: str) -> tuple[SideSpec, SideSpec]:
    """Return the sides of arguments of which each is a path or a revision."""
    exists = [argument == STDIN or os.path.lexists(argument) for argument in (first, *rest)]
    for argument, found in zip((first, *rest), exists, strict=True):
        if found and _names_revision(argument):
            raise ambiguous_argument(argument)
    if len(rest) == 1 and all(exists):
        return SideSpec(first, (first,)), SideSpec(rest[0], (rest[0],))
    if not exists[0] and _is_range(first):
        return _range(first, rest)
    if len(rest) == 1 and (exists[0] or ":" in first or (not exists[1] and _is_revision(rest[0]))):
        return _side(first), _side(rest[0])
    if exists[0]:
        raise ValueError(f"{first} is only one side: add a second path, or a revision before it")
    return _with_working_tree(first, rest)


def _is_range(text: str) -> bool:
    return ".." in text and ":" not in text and "../" not in text


def _ends(text: str) -> tuple[str, str, str]:
    """Return the two ends of a range, and the separating dots."""
    dots = "..." if "..." in text else ".."
    old, _, new = text.partition(dots)
    return old, new, dots


def _names_revision(path: str) -> bool:
    """Whether git reads a path as a revision, a range with a known end, or a path of a revision."""
    if path == STDIN or path.startswith(PATHLIKE) or os.pardir in path.split("/"):
        return False
    names = {path, path.partition(":")[0]}
    if ".." in path:
        names.update(_ends(path)[:2])
    return any(name and revisions.known(name) for name in names)


def _is_revision(text: str) -> bool:
    return ":" in text or revisions.known(text)


def _range(text: str, paths: tuple[str, ...]) -> tuple[SideSpec, SideSpec]:
    old, new, dots = _ends(text)
    old, new = old or "HEAD", new or "HEAD"
    if dots == "...":
        found = branch_merges.merge(old, new)
        return (
            _working_tree_side(found.base_name, paths, found.base),
            _working_tree_side(found.merged_name, paths, found.merged),
        )
    return _working_tree_side(old, paths, revisions.commit(old)), _working_tree_side(new, paths, revisions.commit(new))


def _with_working_tree(revision: str, paths: tuple[str, ...]) -> tuple[SideSpec, SideSpec]:
    commit = revisions.commit(revision)
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            inside = commit.path_in_repository(path)
            if inside is None or not commit.has(inside):
                raise ValueError(f"path {path} does not exist in {revision} or in the working tree")
    return _working_tree_side(revision, paths, commit), SideSpec(WORKING_TREE, paths or HERE, project=not paths)


def _working_tree_side(name: str, paths: tuple[str, ...], commit: revisions.Commit) -> SideSpec:
    """Return the side of working tree paths at a commit of the repository."""
    if outside := [path for path in paths if commit.path_in_repository(path) is None]:
        shown = "standard input" if outside[0] == STDIN else outside[0]
        raise ValueError(f"{shown} is not in the repository")
    return SideSpec(name, paths or HERE, commit, project=not paths)


def _side(argument: str) -> SideSpec:
    """Return the side of a path, of a revision, or of a path of a revision."""
    if argument == STDIN or os.path.lexists(argument):
        return SideSpec(argument, (argument,))
    return _revision_side(argument)


def _revision_side(argument: str) -> SideSpec:
    """Return the side of a revision, or of a path of a revision."""
    commit, path = _split(argument)
    if path is None:
        return SideSpec(argument, HERE, commit, project=True)
    spec = _working_tree_side(argument, (path,), commit)
    if not commit.has(commit.path_in_repository(path) or ""):
        raise ValueError(f"path {argument.partition(':')[2]} does not exist in {commit.revision}")
    return spec


def _split(argument: str) -> tuple[revisions.Commit, str | None]:
    """Return the commit of `REV` or `REV:PATH`, and the path in the working tree.

    PATH is relative to the repository root, or to the current folder if it starts with `./` or `../`.
    """
    revision, colon, path = argument.partition(":")
    if not revision:
        raise ValueError(f"{argument} names the index, not a revision: use a commit, such as HEAD{argument}")
    commit = revisions.commit(revision)
    if not colon:
        return commit, None
    return commit, path if path.startswith(("./", "../")) else os.path.join(commit.top, path)


def reporting(argument: str, run: Run) -> Callable[[SideSpec], Settings]:
    """Return the settings that decide what a review reports about a side. Raises RevisionError, or ValueError.

    `argument` is a path, `REV:PATH`, or `REV`, where each project has its own settings. With a colon it is never a
    path, so that no file of that name can replace it; `./a:b` is a file. A revision without a trainc.yaml has the
    default settings.
    """
    if ":" in argument and not argument.startswith(PATHLIKE):
        found = _checked(_commit_settings(argument), argument)
        return lambda spec: found
    if not os.path.lexists(argument) and revisions.known(argument):
        commit = revisions.commit(argument)
        return lambda spec: _checked(settings_of(spec._replace(commit=commit), run), argument)
    if os.path.lexists(argument) and _names_revision(argument):
        raise ambiguous_argument(argument)
    found = _checked(settings.read(argument, follow_links=run.options.follow_links), argument)
    return lambda spec: found


def _checked(settings_of_file: Settings, argument: str) -> Settings:
    """Return settings without errors. Raises ValueError."""
    if failed(settings_of_file.diagnostics):
        error = next(diagnostic for diagnostic in settings_of_file.diagnostics if diagnostic.severity == "error")
        raise ValueError(f"invalid --review-config: {error.locate() or argument}: {error.message}")
    return settings_of_file


def _commit_settings(argument: str) -> Settings:
    commit, path = _split(argument)
    inside = commit.path_in_repository(path or "")
    file = None if inside is None else commit.file(inside)
    if file is not None:
        return commit_settings.settings_of(commit, file)
    if inside is None or commit.has(inside) or os.path.basename(inside) != SETTINGS:
        raise ValueError(f"invalid --review-config: file {argument} does not exist")
    return settings.DEFAULT
