"""Messages that several rule tables share: the fault with its value, and how to fix it.

Reads    the findings, the place, the value, and what the rule requires.
Adds     the violation to the findings.

Imported with the first violation. A message that only one rule needs is next to that rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes import misnamed
from trainc.kubernetes.structural.hints import listed, shown, subject
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, INVALID_NAME, OUT_OF_RANGE, REQUIRED
from trainc.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.declarations import Declaration
    from trainc.kubernetes.trees import At
    from trainc.kubernetes.violations import Collector

_CHARACTERS: Final = {"label": (misnamed.LABEL, 63), "subdomain": (misnamed.SUBDOMAIN, 253)}
_FORM: Final = {
    "label": "use lower-case letters, digits and `-`",
    "subdomain": "use lower-case letters, digits, `-` and `.`",
}


def called(at: At) -> str:
    """Return the name of a place in a message."""
    return subject(path_of(at))


def missing(found: Collector, at: At, help: str = "", *, field: str = "") -> None:
    """Report a required field that is missing or empty."""
    assert at is not None
    parent, key = at
    found.report(REQUIRED, at, f"{called(parent)} has no {key}, which is required", help or f"add {key}", field=field)


def not_allowed(found: Collector, at: At, value: object, allowed: Sequence[str], *, field: str = "") -> None:
    """Report a value that an enum does not allow."""
    near = nearest(str(value), allowed)
    found.report(
        ENUM,
        at,
        f"{called(at)} must be {listed([shown(item) for item in allowed], 'or')}, not {shown(value)}",
        f"did you mean {near}?" if near else "use one of these values exactly as written",
        field=field,
    )


def out_of_range(found: Collector, at: At, value: int, minimum: int, maximum: int | None, *, field: str = "") -> None:
    """Report a number outside its range."""
    bounds = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    help = f"use {minimum} or more" if value < minimum or maximum is None else f"use {maximum} or less"
    found.report(OUT_OF_RANGE, at, f"{called(at)} must be {bounds}, not {value}", help, field=field)


def bad_name(found: Collector, at: At, value: str, form: Literal["label", "subdomain"], *, field: str = "") -> None:
    """Report a name that is not a valid DNS label or DNS subdomain."""
    why = misnamed.fault(value, *_CHARACTERS[form])
    if form == "label" and "." in value and not misnamed.fault(value.replace(".", "-"), *_CHARACTERS[form]):
        why = 'has "." in it'
    found.report(
        INVALID_NAME,
        at,
        f"{called(at)} is not a valid DNS {form}: {shown(value)} {why}",
        _FORM[form] + misnamed.example(value),
        field=field,
    )


def bad_key(
    found: Collector, at: At, value: str, *, declared: Declaration = INVALID_NAME, field: str = "", key: bool = False
) -> None:
    """Report an invalid qualified name; with `key`, the invalid key of a mapping, such as a label key."""
    problem = "invalid key" if key else f"{called(at)} is not a valid qualified name"
    found.report(
        declared,
        at,
        f"{problem}: {shown(value)} {misnamed.fault_of_key(value)}",
        "use letters, digits, `-`, `_` and `.`, begin and end with a letter or a digit, optionally after a domain and "
        "a `/`",
        field=field,
        key=key,
    )


def duplicate(found: Collector, at: At, value: Any, first: At, noun: str, *, field: str = "") -> None:
    """Report a duplicate; `noun` names its kind, and `first` is the place of the earlier one."""
    found.report(
        DUPLICATE_ITEM,
        at,
        f"duplicate {noun} {shown(value)}",
        "remove or rename one of them",
        field=field,
        related=(("the first one", first),),
    )


def amount_too_small(found: Collector, at: At, value: Any, why: str, help: str, *, field: str = "") -> None:
    """Report a quantity that is negative or zero; `why` is the rule, such as `must not be negative`."""
    found.report(OUT_OF_RANGE, at, f"{called(at)} {why}, but is {value}", help, field=field)
