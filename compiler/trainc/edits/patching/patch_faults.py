"""The faults of patches: their ids, and the exceptions that `trainc.edits.patching` turns into diagnostics.

Messages name a patch by its place in trainc.yaml or by its file: `patch 2 of trainc.yaml`, `patch "team/a.yaml"`.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.files.selection import SETTINGS

if TYPE_CHECKING:
    from trainc.base.fixes import Fix
    from trainc.diagnostics import Place
    from trainc.kubernetes.trees import Path

INVALID_PATCH: Final = Declaration("invalid-patch", ("read",), trainc_only=True, fix="safe")
PATCH_FAILED: Final = Declaration("patch-failed", ("read",), trainc_only=True, fix="safe")
UNUSED_PATCH: Final = Declaration("unused-patch", ("read",), "warning", trainc_only=True)
KEY: Final = "patches"
"""The key in trainc.yaml."""
ENVIRONMENTS: Final = "environments"


class PatchError(Exception):
    """A patch that is not valid, or that cannot be applied to an object."""

    def __init__(
        self, message: str, help: str | Fix, path: Path = (), *, key: bool = False, part: tuple[int, int] | None = None
    ) -> None:
        super().__init__(message)
        self.help = help
        self.path = path
        """The path in the patch."""
        self.key = key
        """Whether the fault is the field's name."""
        self.part = part
        """The characters at fault of the string at the path."""


class MissingPart(NamedTuple):
    """A part of a JSON pointer that the object does not have."""

    parts: list[str]
    """The parts of the whole pointer, with their escapes."""
    number: int
    """The index of the first missing part."""
    fields: list[str]
    """The fields that are set beside it."""


class MissingFieldError(PatchError):
    """A JSON pointer with a field that the object does not have."""

    def __init__(self, message: str, help: str | Fix, path: Path, part: tuple[int, int], missing: MissingPart) -> None:
        super().__init__(message, help, path, part=part)
        self.missing = missing


class TooLargeError(Exception):
    """A patch whose result has too many values."""

    def __init__(self, path: Path) -> None:
        super().__init__("the patched object has too many values")
        self.path = path


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
