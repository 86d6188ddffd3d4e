"""The paths in trainc.yaml: relative to the file, and inside the root.

Reads    the values of `sources`, `output` and `runtimes.paths`.
Returns  paths that the other modules open, or an error at the line of a path that is absolute or leads out of the root.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Place
from trainc.files.confine import is_within, resolved
from trainc.files.inputs import SETTINGS_PATH
from trainc.files.selection import GIT
from trainc.kubernetes.violations import field_of
from trainc.settings.model import ProjectPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.settings.layers import Leaf
    from trainc.settings.model import Base
_FIXES: Final = {
    "runtimes.paths": "move the runtimes into the repository, or use --runtimes",
    "sources": "move the manifests into the repository, or give them as PATH",
    "output": "use a folder inside the repository, or -o",
}


def paths_in_root(base: Base, leaves: Iterable[Leaf]) -> tuple[ProjectPath, ...]:
    """Return the paths that are inside the root. `faults` reports the others."""
    found = []
    for written, place, _ in leaves:
        if isinstance(place, Place) and _is_inside(base, written, place):
            path = os.path.normpath(os.path.join(base.folder_of(place), written))
            # Messages show the paths as they show the file's.
            found.append(ProjectPath(written, os.path.relpath(path) if base.relative else path, base.root, place))
    return tuple(found)


def is_inside(folder: str, written: str, root: str) -> bool:
    """Return whether a path is relative and inside a root; folder and root are without links."""
    return not os.path.isabs(written) and is_within(os.path.normpath(os.path.join(folder, written)), root)


def _is_inside(base: Base, written: str, place: Place) -> bool:
    return is_inside(resolved(base.folder_of(place)), written, resolved(base.root))


def faults(base: Base, key: str, leaves: Iterable[Leaf]) -> Iterator[Diagnostic]:
    """Yield an error for each path of a key that is absolute or outside the root, or an output folder inside .git."""
    for written, place, _ in leaves:
        assert isinstance(place, Place)  # only the file's paths are checked
        at = field_of(place.path)
        if not _is_inside(base, written, place):
            several = "a relative path" if key == "output" else "relative paths"
            message = f'{key} must be {several} inside the root, not "{written}"'
            yield Diagnostic.declared(SETTINGS_PATH, message, _FIXES[key], field=at, place=place)
        elif key == "output" and GIT in os.path.normpath(written).split(os.sep):
            message = f'output must not be a folder of git, such as "{written}"'
            yield Diagnostic.declared(SETTINGS_PATH, message, "use another folder", field=at, place=place)
