"""What the API server refuses in an object, or drops from it: one violation, how they are collected and returned.

Shared by the structural schemas (`structural`), metadata (`objectmeta`) and the CRDs' own rules (`checks.rules`),
and the rules of Jobs (`validation`): the ids that several of them report are declared here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Path

ANNOTATIONS_TOO_BIG: Final = Declaration(
    "annotations-too-big", ("schema", "jobset-schema", "job"), "The annotations take more than 256 KiB"
)
DATE_TIME: Final = Declaration(
    "date-time", ("schema", "read", "jobset-schema"), "A time is not written as RFC 3339 asks"
)
DUPLICATE_ITEM: Final = Declaration(
    "duplicate-item", ("schema", "jobset-schema", "job"), "Two items of a list are the same one"
)
ENUM: Final = Declaration("enum", ("schema", "jobset-schema", "job"), "A value is none of the allowed ones")
INVALID_ANNOTATION: Final = Declaration(
    "invalid-annotation", ("schema", "jobset-schema", "job"), "An annotation's key is not valid"
)
INVALID_FINALIZER: Final = Declaration("invalid-finalizer", ("schema", "jobset-schema"), "A finalizer is not valid")
INVALID_LABEL: Final = Declaration(
    "invalid-label", ("schema", "jobset-schema", "job"), "A label's key or value is not valid"
)
INVALID_MANAGED_FIELDS: Final = Declaration(
    "invalid-managed-fields", ("schema", "jobset-schema"), "An entry of managedFields is not valid"
)
INVALID_NAME: Final = Declaration("invalid-name", ("schema", "jobset-schema", "job"), "A name is not valid")
INVALID_NAMESPACE: Final = Declaration(
    "invalid-namespace", ("schema", "jobset-schema"), "A namespace is not valid, or not allowed"
)
INVALID_OWNER: Final = Declaration("invalid-owner", ("schema", "jobset-schema"), "An owner reference is not valid")
OUT_OF_RANGE: Final = Declaration(
    "out-of-range", ("schema", "read", "jobset-schema", "job"), "A number is too small or too big"
)
PATTERN: Final = Declaration("pattern", ("schema", "jobset-schema", "job"), "A string does not have the asked-for form")
QUANTITY: Final = Declaration("quantity", ("schema", "read", "jobset-schema"), "A quantity cannot be read")
REQUIRED: Final = Declaration("required", ("schema", "jobset-schema", "job"), "A required field is missing")
TOO_FEW_ITEMS: Final = Declaration("too-few-items", ("schema", "jobset-schema"), "A list has too few items")
TOO_FEW_PROPERTIES: Final = Declaration(
    "too-few-properties", ("schema", "jobset-schema"), "A mapping is empty that may not be"
)
TOO_LONG: Final = Declaration("too-long", ("schema", "jobset-schema", "job"), "A string is too long")
TOO_MANY_ITEMS: Final = Declaration("too-many-items", ("schema", "jobset-schema", "job"), "A list has too many items")
TOO_SHORT: Final = Declaration("too-short", ("schema", "jobset-schema"), "A string is too short")
UNKNOWN_FIELD: Final = Declaration("unknown-field", ("schema",), "Unknown field")
WRONG_TYPE: Final = Declaration("wrong-type", ("schema", "read", "jobset-schema"), "A value is of the wrong type")


FieldValidation = Literal["strict", "warn", "ignore"]
"""How unknown fields are reported: the values of `kubectl --validate`, and of the API server's fieldValidation."""


class Violation(NamedTuple):
    """One fault of an object."""

    path: Path
    """Where it is in the object."""
    field: str
    """The same, as the cluster's error spells it: sometimes coarser than `path`."""
    rule: str
    """The id of the rule that is broken."""
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
        stage: Literal["read", "schema"] = "schema",
    ) -> Violation:
        """Return a violation at a path; `field` is given where the cluster's error spells the path otherwise."""
        return cls(path, field or field_of(path), declared.id, message, help, stage, key, related)

    def dropped(self) -> Violation:
        """Return the violation of a field that is dropped instead of refused."""
        return self._replace(message=f"{self.message}; it is dropped")


class Collector:
    """The violations of one object."""

    __slots__ = ("violations",)

    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def report(
        self,
        declared: Declaration,
        at: At,
        message: str,
        help: str = "",
        *,
        field: str = "",
        related: tuple[tuple[str, At], ...] = (),
        key: bool = False,
    ) -> None:
        """Add a violation: `at` is the precise place; `field` is given where the cluster spells it otherwise."""
        places = tuple((words, path_of(there)) for words, there in related)
        self.violations.append(Violation.at(path_of(at), declared, message, help, field=field, key=key, related=places))


class Admitted(NamedTuple):
    """What the API server would store, what it would refuse, and the fields that it does not know."""

    value: Any
    """Unchanged parts are the same objects as in the input. Means little where there are violations."""
    violations: tuple[Violation, ...] = ()
    unknown: tuple[Violation, ...] = ()
    """Fields that the kind does not have (rule unknown-field); `value` lacks them."""


def field_of(path: Path) -> str:
    """A path as the API server's errors spell it: `spec.trainer.env[0].name`; keys of maps are not set off."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
