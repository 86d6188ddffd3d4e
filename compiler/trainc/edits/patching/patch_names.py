"""The names of patches in messages: `patch 2 of trainc.yaml`, `patch "platform/priority.yaml"`."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trainc.files.selection import SETTINGS

if TYPE_CHECKING:
    from trainc.diagnostics import Path, Place

KEY: Final = "patches"
"""The key in trainc.yaml."""
ENVIRONMENTS: Final = "environments"


def name_of(place: Place) -> str:
    """Return the name of the patch that contains a place: its number in trainc.yaml, or its own file."""
    document, path = place.document, (*place.document.within, *place.path)
    if (inside := document.inside) is not None:
        document, path = inside.document, inside.path
    return numbered(path, document.file) or f'patch "{document.file}"'


def path_in_settings(place: Place) -> Path:
    """Return the path in trainc.yaml of a place in a patch, which can be in a string; empty for a patch file."""
    inside = place.document.inside
    path = (*place.document.within, *place.path) if inside is None else inside.path
    return path if numbered(path) else ()


def numbered(path: Path, file: str = SETTINGS) -> str:
    """Return the name of the patch at a path of trainc.yaml; empty if it is not in a patch.

    >>> numbered(("environments", "dev", "patches", 0, "target"))
    'patch 1 of environment dev in trainc.yaml'
    """
    number = next((after for step, after in pairwise(path) if step == KEY and isinstance(after, int)), None)
    if number is None or path[0] not in (KEY, ENVIRONMENTS):
        return ""
    of = f"environment {path[1]} in " if path[0] == ENVIRONMENTS else ""
    return f"patch {number + 1} of {of}{os.path.basename(file.rpartition(':')[2])}"
