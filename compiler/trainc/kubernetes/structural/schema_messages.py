"""Messages for violations of structural schemas; `hints` has the hints.

Reads    the path, the value, and the schema's requirement.
Returns  violations. Imported only when there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.fixes import replace, safe_if
from trainc.base.suggestions import is_certain, nearest_name
from trainc.base.texts import plural
from trainc.kubernetes.documents import parser_messages
from trainc.kubernetes.structural import homes
from trainc.kubernetes.structural.hints import EXPECTED, hint, known_fields, quantity_fix
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.violations import (
    DATE_TIME,
    DUPLICATE_ITEM,
    ENUM,
    OUT_OF_RANGE,
    PATTERN,
    QUANTITY,
    REQUIRED,
    TOO_FEW_ITEMS,
    TOO_FEW_PROPERTIES,
    TOO_LONG,
    TOO_MANY_ITEMS,
    TOO_SHORT,
    UNKNOWN_FIELD,
    WRONG_TYPE,
    Violation,
    field_of,
    listed,
    shortened,
    shown,
    subject,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.base.fixes import Fix
    from trainc.kubernetes.structural.nodes import Faults
    from trainc.kubernetes.trees import Path, Tree

REMOVE: Final = "remove it; "
"""The start of the help for an unknown field that the kind has nowhere."""
_EXAMPLES: Final = {"manager": "`manager: example.com/me`"}
"""The lines of required fields whose form their name does not show."""
_MANY: Final = 500
"""More unknown fields in one object are not typing errors, so no similar field is searched for them."""
_ALIKE: Final = 0.75
"""The minimum similarity at which one value is suggested for another."""


def violations_of(faults: Faults, root: Tree, object: Any) -> tuple[tuple[Violation, ...], tuple[Violation, ...]]:
    """Return the violations of an object, and its unknown fields; `root` is the schema of its kind."""
    violations = tuple(
        wrong_type(path_of(at), *facts, root=root) if kind == "wrong_type" else _MESSAGES[kind](path_of(at), *facts)
        for kind, at, facts in faults.violations
    )
    unknown = tuple(
        unknown_field(path_of(at), schema, root, object, searched=index < _MANY)
        for index, (at, schema) in enumerate(faults.unknown)
    )
    return violations, homes.whole_moves(unknown) if len(unknown) > 1 else unknown


def wrong_type(
    path: Path, value: Any, schema: Tree, stage: Literal["read", "schema"] = "schema", *, root: Tree | None = None
) -> Violation:
    """Return the violation for a value of the wrong type; `root` is the schema of the kind, if it has one."""
    expected = _type(schema)
    return Violation.at(
        path,
        WRONG_TYPE,
        f"{subject(path)} must be {EXPECTED[expected]}, not {_described(path, value)}",
        hint(path, value, expected, schema, root),
        stage=stage,
    )


def missing_field(path: Path, schema: Tree, was_null: bool) -> Violation:
    """Return the violation for a required field that is missing or null."""
    name, parent = path[-1], subject(path[:-1])
    expected = EXPECTED[_type(schema)] if schema else "a value"
    if schema.get("required"):
        expected += f" with {listed(schema['required'])}"
    return Violation.at(
        path,
        REQUIRED,
        f"{subject(path)} is required, but null" if was_null else f"{parent} has no {name}, which is required",
        f"set {name} to {expected}" if was_null else f"add {_EXAMPLES.get(str(name)) or f'{name}, {expected}'}",
    )


def too_short(path: Path, value: str, least: int) -> Violation:
    """Return the violation for a string with too few characters."""
    return Violation.at(
        path,
        TOO_SHORT,
        f"{subject(path)} must not be empty"
        if not value
        else f"{subject(path)} has {plural(len(value), 'character')}, but must have at least {least}",
        "set a value, or remove the object that contains it"
        if not value
        else f"use at least {plural(least, 'character')}",
    )


def too_long(path: Path, value: str, most: int) -> Violation:
    """Return the violation for a string with too many characters."""
    return Violation.at(
        path,
        TOO_LONG,
        f"{subject(path)} has {plural(len(value), 'character')}, but must have at most {most}",
        f"shorten it by {plural(len(value) - most, 'character')}",
    )


def too_few_items(path: Path, count: int, least: int) -> Violation:
    """Return the violation for a list with too few items."""
    found = f"has {plural(count, 'item')}" if count else "is empty"
    return Violation.at(
        path,
        TOO_FEW_ITEMS,
        f"{subject(path)} {found}, but must have at least {least}",
        "add an item, or remove the object that contains the list",
    )


def too_many_items(path: Path, count: int, most: int) -> Violation:
    """Return the violation for a list with too many items."""
    return Violation.at(
        path,
        TOO_MANY_ITEMS,
        f"{subject(path)} has {plural(count, 'item')}, but must have at most {most}",
        f"remove {count - most} of them",
    )


def too_few_properties(path: Path, known: list[str]) -> Violation:
    """Return the violation for a mapping without any known field."""
    return Violation.at(
        path,
        TOO_FEW_PROPERTIES,
        f"{subject(path)} must not be empty",
        f"set one of its fields, or remove it; {known_fields(subject(path), known)}",
    )


def out_of_range(
    path: Path, value: int, least: int, greatest: int, stage: Literal["read", "schema"] = "schema"
) -> Violation:
    """Return the violation for an integer out of range."""
    limit, direction = (f"at least {least}", "more") if value < least else (f"at most {greatest}", "less")
    return Violation.at(
        path,
        OUT_OF_RANGE,
        f"{subject(path)} must be {limit}, not {shown(value)}",
        f"use {least if value < least else greatest} or {direction}",
        stage=stage,
    )


def not_allowed(path: Path, value: str, allowed: list[str]) -> Violation:
    """Return the violation for an unsupported string."""
    meant = nearest_name(value, [a for a in allowed if a], likeness=_ALIKE) if value else None
    choices = listed([shown(a) for a in allowed], "or")
    is_sure = is_certain(value, meant, allowed) if meant else False
    return Violation.at(
        path,
        ENUM,
        f"{subject(path)} has the unsupported value {shown(value)}",
        replace(
            path,
            meant,
            "did you mean ",
            "?" if is_sure else f"? Supported values: {choices}",
            safe_if(is_sure),
        )._replace(form="string")
        if meant
        else f"use {choices}",
    )


def no_match(path: Path, value: str, pattern: str) -> Violation:
    """Return the violation for a string that does not match its pattern."""
    return Violation.at(
        path,
        PATTERN,
        f"{subject(path)} is {shown(value)}, which does not match the required pattern",
        f"use a value that matches {pattern}",
    )


def no_time(path: Path, value: str, stage: Literal["read", "schema"]) -> Violation:
    """Return the violation for a string that is not a time."""
    return Violation.at(
        path,
        DATE_TIME,
        f"{subject(path)} must be an RFC 3339 time, not {shown(value)}",
        "use the form 2026-01-31T23:59:00Z",
        stage=stage,
    )


def no_quantity(path: Path, value: str, stage: Literal["read", "schema"]) -> Violation:
    """Return the violation for a string that is not a quantity."""
    return Violation.at(
        path,
        QUANTITY,
        f"{subject(path)} must be a quantity, not {shown(value)}",
        quantity_fix(path, value.strip()),
        stage=stage,
    )


def duplicate_item(path: Path, item: Any, keys: tuple[str, ...], others: list[int]) -> Violation:
    """Return the violation for items with the same keys, or (in a set) the same value; a value is reported once."""
    if not keys:
        same = shown(item)
    elif all(key not in item for key in keys):
        same = f"no {listed(list(keys), 'or')}"
    else:
        same = listed([f"{key} {shown(item[key])}" for key in keys if key in item])
    elsewhere = [subject((*path[:-1], index)) for index in others[:4]] + ["more"] * (len(others) > 4)
    return Violation.at(
        path,
        DUPLICATE_ITEM,
        f"{subject(path)} duplicates {listed(elsewhere)}: {same}",
        f"remove the duplicate, or change its {listed(list(keys), 'or') or 'value'}",
    )


def unknown_field(path: Path, schema: Tree, root: Tree, object: Any, *, searched: bool) -> Violation:
    """Return the violation for an unknown field.

    schema    the schema of its parent
    root      the schema of the kind
    object    the whole object
    searched  whether to search for the field that is meant, which is too slow for thousands of fields
    """
    name, kind = str(path[-1]), root.get("title", "the kind")
    known = list(schema.get("properties", {}))
    help: str | Fix | None = None
    if space := parser_messages.leading_space(name):
        help = f"{parser_messages.HELP}: the name starts with {parser_messages.named(space)}"
    elif searched:
        help = homes.repaired(homes.UnknownField(path, schema, root, object))
    return Violation.at(
        path,
        UNKNOWN_FIELD,
        f"unknown field {field_of((*path[:-1], shortened(name)))} in {kind}",
        help or f"{REMOVE}{known_fields(subject(path[:-1]), known)}",
        key=True,
    )


def _type(schema: Tree) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "quantity" if "pattern" in schema else "int-or-string"
    return str(schema["type"])


def _described(path: Path, value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return shown(value)
        case int() | float():
            # A variable's value may be a secret.
            return "a number" if path[-1:] == ("value",) else f"the number {shown(value)}"
        case str():
            return f"the string {shown(value)}"
        case list():
            return "a list"
    return "a mapping"


_MESSAGES: Final[dict[str, Callable[..., Violation]]] = {
    each.__name__: each
    for each in (
        missing_field,
        too_short,
        too_long,
        too_few_items,
        too_many_items,
        too_few_properties,
        out_of_range,
        not_allowed,
        no_match,
        no_time,
        no_quantity,
        duplicate_item,
    )
}
"""The functions by the name that a node reports."""
