"""What the API server refuses in an object, or drops from it: one violation, and what an admission returns.

Shared by the structural schemas (`structural`), metadata (`objectmeta`) and the CRDs' own rules (`checks.rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.declarations import Declaration
    from trainc.kubernetes.trees import Path

TITLES: Final = {
    "annotations-too-big": "The annotations take more than 256 KiB",
    "date-time": "A time is not written as RFC 3339 asks",
    "duplicate-item": "Two items of a list are the same one",
    "enum": "A value is none of the allowed ones",
    "invalid-annotation": "An annotation's key is not valid",
    "invalid-finalizer": "A finalizer is not valid",
    "invalid-label": "A label's key or value is not valid",
    "invalid-managed-fields": "An entry of managedFields is not valid",
    "invalid-name": "A name is not valid",
    "invalid-namespace": "A namespace is not valid, or not allowed",
    "invalid-owner": "An owner reference is not valid",
    "out-of-range": "A number is too small or too big",
    "pattern": "A string does not have the asked-for form",
    "quantity": "A quantity cannot be read",
    "required": "A required field is missing",
    "too-few-items": "A list has too few items",
    "too-few-properties": "A mapping is empty that may not be",
    "too-long": "A string is too long",
    "too-many-items": "A list has too many items",
    "too-short": "A string is too short",
    "unknown-field": "A field that the kind does not have is dropped",
    "wrong-type": "A value is of the wrong type",
}
"""The rules by their ids."""


class Violation(NamedTuple):
    """One fault of an object."""

    path: Path
    """Where it is in the object."""
    field: str
    """The same, as the cluster's error spells it: sometimes coarser than `path`."""
    rule: str
    """Which rule is broken: a key of TITLES, or an id of `checks.rules`."""
    message: str
    """What is wrong, in a sentence without a full stop."""
    help: str = ""
    """The way out."""
    stage: Literal["read", "schema"] = "schema"
    """`read` where the server cannot even decode the object, and so names no field."""
    key: bool = False
    """Whether the name of the field is meant, not its value."""
    related: tuple[tuple[str, Path], ...] = ()
    """Other places in the object without which this one would be right: what each is, in words, and its path."""

    @classmethod
    def at(
        cls,
        path: Path,
        declared: Declaration,
        message: str,
        help: str = "",
        *,
        field: str = "",
        key: bool = False,
        related: tuple[tuple[str, Path], ...] = (),
    ) -> Violation:
        """Return a violation at a path; `field` is given where the cluster's error spells the path otherwise."""
        return cls(path, field or field_of(path), declared.id, message, help, key=key, related=related)


class Admitted(NamedTuple):
    """What the API server would store, what it would refuse, and what it drops without refusing."""

    value: Any
    """Unchanged parts are the same objects as in the input. Means little where there are violations."""
    violations: tuple[Violation, ...] = ()
    unknown: tuple[Violation, ...] = ()
    """Fields that the kind does not have (rule unknown-field): a warning each."""


def field_of(path: Path) -> str:
    """A path as the API server's errors spell it: `spec.trainer.env[0].name`; keys of maps are not set off."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
