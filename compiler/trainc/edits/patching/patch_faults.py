"""The faults of patches: their ids, and the exceptions that `trainc.edits.patching` turns into diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import Path

INVALID_PATCH: Final = Declaration(
    "invalid-patch", ("read",), "Invalid patch in the settings", trainc_only=True, fix="safe"
)
PATCH_FAILED: Final = Declaration(
    "patch-failed", ("read",), "Patch that cannot be applied", trainc_only=True, fix="safe"
)
UNUSED_PATCH: Final = Declaration(
    "unused-patch", ("read",), "Patch that matches no object", "warning", trainc_only=True
)


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
