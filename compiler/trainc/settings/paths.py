"""The paths in trainc.yaml: relative to the file that has them, inside the root, and not hidden.

Reads    the values of `sources`, `output`, `runtimes.paths`, `extends`, `patches[].path` and `keep`, whose values are
         patterns.
Returns  paths that the other modules open, or an error at the line of any other path. The command line may name hidden
         files; a trainc.yaml may not, because others may have written it. A warning for each pattern of `exclude`
         and `keep` that matches nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Place
from trainc.files.confine import is_hidden, is_within, resolved
from trainc.files.inputs import SETTINGS_PATH
from trainc.files.selection import GIT, Selection
from trainc.kubernetes.violations import field_of
from trainc.settings.model import ProjectPath

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from trainc.settings.layers import Leaf
    from trainc.settings.model import Base, Settings

    Names = Callable[[Iterable[str], Selection], Collection[str]]
    """A function that returns the names of the files and folders in some paths, without those below excluded ones."""

_RULES: Final = {
    "extends": "extends must be a relative path",
    "keep": "the patterns of keep must match files",
    "output": "output must be a relative path",
    "patches.path": "the path of a patch must be relative and",
    "runtimes.paths": "runtimes.paths must be relative paths",
    "sources": "sources must be relative paths",
}
"""The start of the message for a path outside of the root."""
_NAMES: Final = {"keep": "a pattern of keep", "patches.path": "the path of a patch"}
"""The subjects of messages, for the keys that are not their own."""
_FIXES: Final = {
    "extends": "move the settings file into the repository",
    "keep": "use patterns for files in the output folder",
    "output": "use a folder inside the repository, or -o",
    "patches.path": "move the file into the repository",
    "runtimes.paths": "move the runtimes into the repository, or use --runtimes",
    "sources": "move the manifests into the repository, or give them as PATH",
}
_OPTIONS: Final = {"output": ", or use -o", "runtimes.paths": ", or use --runtimes", "sources": ", or give it as PATH"}
"""How the command line sets the path of a key, for the help."""


def paths_in_root(base: Base, leaves: Iterable[Leaf]) -> tuple[ProjectPath, ...]:
    """Return the paths of a file. `faults` has reported those that are not valid."""
    found = []
    for written, place, _ in leaves:
        if isinstance(place, Place):
            path = os.path.normpath(os.path.join(base.folder_of(place), written))
            # Messages show the paths as they show the file's.
            found.append(ProjectPath(written, os.path.relpath(path) if base.relative else path, base.root, place))
    return tuple(found)


def faults(base: Base, key: str, paths: Iterable[tuple[str, Place]]) -> Iterator[Diagnostic]:
    """Yield an error for each path of a key that is not valid."""
    root = resolved(base.root)
    for written, place in paths:
        found = fault(key, written, place, folder=resolved(base.folder_of(place)), root=root)
        if found is not None:
            yield found


def pattern_faults(key: str, patterns: Iterable[tuple[str, Place]], *, root: str) -> Iterator[Diagnostic]:
    """Yield an error for each pattern, relative to a folder, of files above it or in a folder of git.

    kubectl also applies the hidden files of a folder, so that a pattern may match one.
    """
    for pattern, place in patterns:
        path = pattern.removeprefix("!").strip("/")
        found = None if "\0" in path else fault(key, path, place, folder=root, root=root, may_be_hidden=True)
        if found is not None:
            yield found


def fault(
    key: str, written: str, place: Place, *, folder: str, root: str, may_be_hidden: bool = False
) -> Diagnostic | None:
    """Return the error for a path that is not valid: absolute, outside of the root, in a folder of git, or hidden.

    `folder` is the folder that the path is relative to. Both folders are without links.
    """
    name = _NAMES.get(key, key)
    parts = os.path.normpath(written).split(os.sep)
    if "\0" in written:
        message, help = f'{name} must not have a NUL character, such as "{written}"', "remove the character"
    elif os.path.isabs(written) or not is_within(os.path.normpath(os.path.join(folder, written)), root):
        message, help = f'{_RULES[key]} inside the root, not "{written}"', _FIXES[key]
    elif any(part.lower() == GIT for part in parts):
        message, help = f'{name} must not be in a folder of git, such as "{written}"', "use another path"
    elif any(map(is_hidden, parts)) and not may_be_hidden:
        message = f'{name} must not be a hidden file or folder, such as "{written}"'
        help = f"use a name without a dot at its start{_OPTIONS.get(key, '')}"
    else:
        return None
    return Diagnostic.declared(SETTINGS_PATH, message, help, field=field_of(place.path), place=place)


SHOWN: Final = 10
"""The patterns of a list that are reported one by one."""


def unused_patterns(settings: Settings, paths: Iterable[str], names: Names) -> Iterator[Diagnostic]:
    """Yield a warning for each pattern that matches nothing in the paths of a project, or in its output folder."""
    from trainc.files.exclude import Excluded, Patterns

    if settings.exclude:
        found = names(paths, Selection(exclude=settings.exclude))
        unused = Excluded(settings.exclude).unused_patterns(found)
        yield from _unused_settings("no file or folder that trainc would read", "trainc.yaml", unused)
    output = settings.output
    if settings.keep and output is not None and os.path.isdir(output.path):
        found = names([output.path], Selection(read_before=()))
        patterns = Patterns(os.path.abspath(output.path), settings.keep, settings.keep_places)
        unused = Excluded([patterns]).unused_patterns(found)
        yield from _unused_settings(f"no file in {output.written}", "the output folder", unused)


def _unused_settings(nothing: str, base: str, unused: Iterable[tuple[str, Place]]) -> Iterator[Diagnostic]:
    """Yield a warning for each of the first patterns, and the number of the others."""
    from trainc.base.texts import and_others
    from trainc.edits.transforming.setting_faults import UNUSED_SETTING

    patterns = list(unused)
    for number, (pattern, place) in enumerate(patterns[:SHOWN], 1):
        others = and_others(len(patterns) - SHOWN, "more pattern") if number == SHOWN else ""
        yield Diagnostic.declared(
            UNUSED_SETTING,
            f'{nothing} matches "{pattern}"{others}',
            f"correct the pattern, which is relative to {base}, or remove it",
            field=field_of(place.path),
            place=place,
        )
