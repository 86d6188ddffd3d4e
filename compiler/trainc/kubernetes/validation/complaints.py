"""The words for what any table refuses: what is wrong, with the value, and the way out.

Reads    the findings, the place, the value, and what the rule asks for.  Adds the violation to the findings. Imported
         with the first complaint; what only one rule has to say is said where the rule is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes import misnamed
from trainc.kubernetes.structural.remedies import listed, shown, subject
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
    """What a sentence calls a place."""
    return subject(path_of(at))


def missing(found: Collector, at: At, help: str = "", *, field: str = "") -> None:
    """A required field that is not there, or is empty."""
    assert at is not None
    parent, key = at
    found.complain(REQUIRED, at, f"{called(parent)} has no {key}, which is required", help or f"add {key}", field=field)


def not_allowed(found: Collector, at: At, value: object, allowed: Sequence[str], *, field: str = "") -> None:
    """A word that is none of the allowed ones."""
    near = nearest(str(value), allowed)
    found.complain(
        ENUM,
        at,
        f"{called(at)} is {shown(value)}, and may be {listed([shown(word) for word in allowed], 'or')}",
        f"did you mean {near}?" if near else "write one of these, as it is spelled here",
        field=field,
    )


def out_of_range(found: Collector, at: At, value: int, least: int, most: int | None, *, field: str = "") -> None:
    """A number that is too small or too big."""
    allowed = f"must be at least {least}" if most is None else f"must be from {least} to {most}"
    nearer = least if value < least or most is None else most
    found.complain(OUT_OF_RANGE, at, f"{called(at)} is {value}, and {allowed}", f"for example {nearer}", field=field)


def bad_name(found: Collector, at: At, value: str, form: Literal["label", "subdomain"], *, field: str = "") -> None:
    """A name that is no DNS label, or no subdomain."""
    why = misnamed.fault(value, *_CHARACTERS[form])
    if form == "label" and "." in value and not misnamed.fault(value.replace(".", "-"), *_CHARACTERS[form]):
        why = 'has "." in it'
    found.complain(
        INVALID_NAME,
        at,
        f"{called(at)} is {shown(value)}, which {why}",
        _FORM[form] + misnamed.example(value),
        field=field,
    )


def bad_key(
    found: Collector, at: At, value: str, *, declared: Declaration = INVALID_NAME, field: str = "", key: bool = False
) -> None:
    """A name that is not qualified; with `key`, the key of a mapping, such as a label's."""
    what = f"the key {shown(value)}" if key else f"{called(at)} is {shown(value)}, which"
    found.complain(
        declared,
        at,
        f"{what} {misnamed.fault_of_key(value)}",
        "use letters, digits, `-`, `_` and `.`, the first and the last a letter or a digit; a domain and a `/` "
        "may stand before them",
        field=field,
        key=key,
    )


def twice(found: Collector, at: At, value: Any, first: At, what: str, *, field: str = "") -> None:
    """Something that may be there once; `what` names the two, and `first` is where the other one is."""
    found.complain(
        DUPLICATE_ITEM,
        at,
        f"two {what} are {shown(value)}",
        "keep one of them, or give it another name",
        field=field,
        related=(("the first one", first),),
    )


def amount_too_small(found: Collector, at: At, value: Any, why: str, help: str, *, field: str = "") -> None:
    """A quantity that is negative, or zero."""
    found.complain(OUT_OF_RANGE, at, f"{called(at)} is {value}, and {why}", help, field=field)
