"""Violations: the values that the API server rejects in an object, and the fields that it drops.

Structural schemas (`structural`), metadata (`objectmeta`), the CRDs' own rules (`checks.cel`) and the rules of Jobs
(`validation`) share this module; it declares the ids that several of them report, and has the parts of messages that
all of them need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.base.declarations import Severity
    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import Path

ANNOTATIONS_TOO_BIG: Final = Declaration("annotations-too-big", ("schema", "jobset-schema", "job"))
DATE_TIME: Final = Declaration("date-time", ("schema", "read", "jobset-schema"))
DUPLICATE_ITEM: Final = Declaration("duplicate-item", ("schema", "jobset-schema", "job"))
ENUM: Final = Declaration("enum", ("schema", "jobset-schema", "job"), fix="safe")
INVALID_ANNOTATION: Final = Declaration("invalid-annotation", ("schema", "jobset-schema", "job"))
INVALID_FINALIZER: Final = Declaration("invalid-finalizer", ("schema", "jobset-schema"))
INVALID_LABEL: Final = Declaration("invalid-label", ("schema", "jobset-schema", "job"))
INVALID_MANAGED_FIELDS: Final = Declaration("invalid-managed-fields", ("schema", "jobset-schema"), fix="unsafe")
INVALID_NAME: Final = Declaration("invalid-name", ("schema", "jobset-schema", "job"))
INVALID_NAMESPACE: Final = Declaration("invalid-namespace", ("schema", "jobset-schema"))
INVALID_OWNER: Final = Declaration("invalid-owner", ("schema", "jobset-schema"), fix="unsafe")
OUT_OF_RANGE: Final = Declaration("out-of-range", ("schema", "read", "build", "jobset-schema", "job"))
PATTERN: Final = Declaration("pattern", ("schema", "build", "jobset-schema", "job"))
QUANTITY: Final = Declaration("quantity", ("schema", "read", "jobset-schema"), fix="safe")
REQUIRED: Final = Declaration("required", ("schema", "jobset-schema", "job"), fix="safe")
TOO_FEW_ITEMS: Final = Declaration("too-few-items", ("schema", "jobset-schema"))
TOO_FEW_PROPERTIES: Final = Declaration("too-few-properties", ("schema", "jobset-schema"))
TOO_LONG: Final = Declaration("too-long", ("schema", "build", "jobset-schema", "job"))
TOO_MANY_ITEMS: Final = Declaration("too-many-items", ("schema", "jobset-schema", "job"))
TOO_SHORT: Final = Declaration("too-short", ("schema", "jobset-schema"))
UNKNOWN_FIELD: Final = Declaration("unknown-field", ("schema",), fix="safe")
WRONG_TYPE: Final = Declaration("wrong-type", ("schema", "read", "jobset-schema"), fix="safe")


LONG: Final = 60
"""The maximum number of characters of a value that a message shows."""
FieldValidation = Literal["strict", "warn", "ignore"]
"""How unknown fields are reported: the values of `kubectl --validate`, and of the API server's fieldValidation."""


class Violation(NamedTuple):
    """A single violation in an object."""

    path: Path
    """The path of the invalid value in the object."""
    field: str
    """The same path as the cluster's error reports it: sometimes less precise than `path`."""
    rule: str
    """The id of the violated rule."""
    message: str
    """The message: a sentence without a full stop."""
    help: str = ""
    """The hint: one action that fixes it."""
    stage: Literal["read", "schema"] = "schema"
    """`read` if the server cannot decode the object, and so names no field."""
    key: bool = False
    """Whether the violation is in the field's name, not its value."""
    related: tuple[tuple[str, Path], ...] = ()
    """Other values that this one conflicts with: a label and a path for each."""
    part: tuple[int, int] | None = None
    """The first and the end index of the characters at fault in a string value; None for the whole value."""
    severity: Severity = "error"
    """`warning` if the server accepts the object without the value."""
    fix: Fix | None = None
    """The fix from which the hint is written, if there is one."""

    @classmethod
    def at(
        cls,
        path: Path,
        declared: Declaration,
        message: str,
        help: str | Fix = "",
        *,
        field: str = "",
        key: bool = False,
        related: tuple[tuple[str, Path], ...] = (),
        stage: Literal["read", "schema"] = "schema",
    ) -> Violation:
        """Return a violation at a path; pass `field` if the cluster's error reports another path."""
        fix = None if isinstance(help, str) else help
        hint = help if isinstance(help, str) else help.title
        return cls(path, field or field_of(path), declared.id, message, hint, stage, key, related, fix=fix)

    def with_help(self, help: str | Fix) -> Violation:
        """Return the violation with another hint."""
        if isinstance(help, str):
            return self._replace(help=help, fix=None)
        return self._replace(help=help.title, fix=help)

    def dropped(self) -> Violation:
        """Return the violation of a field that is dropped instead of refused."""
        return self._replace(message=f"{self.message}; it is dropped")


class Admitted(NamedTuple):
    """The object that the API server would store, its violations, and its unknown fields."""

    value: Any
    """Unchanged parts are the same objects as in the input. Not meaningful if there are violations."""
    violations: tuple[Violation, ...] = ()
    unknown: tuple[Violation, ...] = ()
    """Unknown fields (rule unknown-field), which `value` lacks."""


def field_of(path: Path) -> str:
    """Return a path as the API server's errors write it: `spec.trainer.env[0].name`; map keys are not quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def shown(value: Any) -> str:
    """Return a value as one short line of JSON; a long string keeps both quotes.

    >>> shown("a" * 200)[-8:]
    'aaaa..."'
    """
    import json

    if isinstance(value, str):
        return json.dumps(shortened(value), ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONG else f"{text[:LONG]}..."


def shortened(name: str) -> str:
    """Return a name, cut to a length that fits into a message."""
    return name if len(name) <= LONG else f"{name[:LONG]}..."


def subject(path: Path) -> str:
    """Return the name of a field for a message: `numNodes`, `args[1]` for an item, `env[0].value` inside an item."""
    names = [i for i, step in enumerate(path) if isinstance(step, str)]
    if len(names) > 1 and names[-1] == len(path) - 1 and isinstance(path[-2], int):
        return field_of(path[names[-2] :])
    return field_of(path[names[-1] :]) if names else "the object"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return words joined as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', '')
    """
    *first, end = [*words] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end
