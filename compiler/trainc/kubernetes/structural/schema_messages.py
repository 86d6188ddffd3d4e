"""The words for what a structural schema refuses: what is wrong, with the value; `remedies` has the ways out.

Reads    the path, the value, and what the schema asks for.
Returns  violations. Imported when there is something to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes.structural.hints import (
    EXPECTED,
    hint,
    known_fields,
    listed,
    quantity_meant,
    shortened,
    shown,
    subject,
)
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
)
from trainc.nearest import nearest
from trainc.plural import plural

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

_ALIKE: Final = 0.75
"""How alike two names of fields are before one is taken for the other."""
_DEEP: Final = 4
"""How far below the top a misplaced field's home is looked for."""


def wrong_type(path: Path, value: Any, schema: Tree, stage: Literal["read", "schema"] = "schema") -> Violation:
    """A value of another type than the schema's."""
    expected = _type(schema)
    return Violation.at(
        path,
        WRONG_TYPE,
        f"{subject(path)} is {_described(path, value)}, and must be {EXPECTED[expected]}",
        hint(path, value, expected, schema),
        stage=stage,
    )


def missing(path: Path, schema: Tree, was_null: bool) -> Violation:
    """A required field that is not there, or has no value."""
    name, parent = path[-1], subject(path[:-1])
    expected = EXPECTED[_type(schema)] if schema else "a value"
    if schema.get("required"):
        expected += f" with {listed(schema['required'])}"
    return Violation.at(
        path,
        REQUIRED,
        f"{subject(path)} has no value" if was_null else f"{parent} has no {name}, which is required",
        f"give {name} a value, {expected}" if was_null else f"add {name}, {expected}",
    )


def too_short(path: Path, value: str, least: int) -> Violation:
    """A string with too few characters."""
    return Violation.at(
        path,
        TOO_SHORT,
        f"{subject(path)} is empty"
        if not value
        else f"{subject(path)} has {plural(len(value), 'character')}, and needs at least {least}",
        "give it a value, or leave out what it belongs to" if not value else "lengthen it",
    )


def too_long(path: Path, value: str, most: int) -> Violation:
    """A string with too many characters."""
    return Violation.at(
        path,
        TOO_LONG,
        f"{subject(path)} has {plural(len(value), 'character')}, and may have {most}",
        f"shorten it by {plural(len(value) - most, 'character')}",
    )


def too_few_items(path: Path, count: int, least: int) -> Violation:
    """A list with too few items."""
    found = f"has {plural(count, 'item')}" if count else "is empty"
    return Violation.at(
        path,
        TOO_FEW_ITEMS,
        f"{subject(path)} {found}, and needs at least {least}",
        "add one, or leave out what the list belongs to",
    )


def too_many_items(path: Path, count: int, most: int) -> Violation:
    """A list with too many items."""
    return Violation.at(
        path,
        TOO_MANY_ITEMS,
        f"{subject(path)} has {plural(count, 'item')}, and may have {most}",
        f"remove {count - most} of them",
    )


def too_few_properties(path: Path, known: list[str]) -> Violation:
    """A mapping without any field that the kind knows."""
    return Violation.at(
        path,
        TOO_FEW_PROPERTIES,
        f"{subject(path)} is empty",
        f"give it one of its fields, or leave it out; {known_fields(subject(path), known)}",
    )


def out_of_range(
    path: Path, value: int, least: int, greatest: int, stage: Literal["read", "schema"] = "schema"
) -> Violation:
    """A whole number outside its limits."""
    limit, way_out = (f"at least {least}", "more") if value < least else (f"at most {greatest}", "less")
    return Violation.at(
        path,
        OUT_OF_RANGE,
        f"{subject(path)} is {shown(value)}, and must be {limit}",
        f"write {least if value < least else greatest} or {way_out}",
        stage=stage,
    )


def not_allowed(path: Path, value: str, allowed: list[str]) -> Violation:
    """A string that is none of the allowed ones."""
    meant = nearest(value, [a for a in allowed if a], likeness=_ALIKE) if value else None
    choices = listed([shown(a) for a in allowed], "or")
    return Violation.at(
        path,
        ENUM,
        f"{subject(path)} is {shown(value)}, which is not allowed",
        f"did you mean {shown(meant)}? Allowed: {choices}" if meant else f"use {choices}",
    )


def no_match(path: Path, value: str, pattern: str) -> Violation:
    """A string that does not match its pattern."""
    return Violation.at(
        path,
        PATTERN,
        f"{subject(path)} is {shown(value)}, which does not have the right form",
        f"it must match {pattern}",
    )


def no_time(path: Path, value: str, stage: Literal["read", "schema"]) -> Violation:
    """A string that should be a time."""
    return Violation.at(
        path,
        DATE_TIME,
        f"{subject(path)} is {shown(value)}, which is not a time",
        "write it like 2026-01-31T23:59:00Z",
        stage=stage,
    )


def no_quantity(path: Path, value: str, stage: Literal["read", "schema"]) -> Violation:
    """A string that should be a quantity."""
    return Violation.at(
        path,
        QUANTITY,
        f"{subject(path)} is {shown(value)}, which is not a quantity",
        quantity_meant(value.strip()),
        stage=stage,
    )


def duplicate_item(path: Path, item: Any, keys: tuple[str, ...], others: list[int]) -> Violation:
    """An item that is in the list more than once, by its keys or (in a set) as a whole; a value is reported once."""
    if not keys:
        same = f"is {shown(item)}"
    elif all(key not in item for key in keys):
        same = f"has no {listed(list(keys))}"
    else:
        same = "has " + listed([f"{key} {shown(item[key])}" for key in keys if key in item])
    elsewhere = [subject((*path[:-1], index)) for index in others[:4]] + ["more"] * (len(others) > 4)
    return Violation.at(
        path,
        DUPLICATE_ITEM,
        f"{subject(path)} {same}, just as {listed(elsewhere)}",
        f"keep one of them, or give them a different {listed(list(keys), 'or') or 'value'}",
    )


def unknown_field(path: Path, schema: Tree, root: Tree, *, searched: bool) -> Violation:
    """A field that the kind does not have; `schema` is its parent's, `root` the whole kind's.

    searched  whether to look for a field of nearly that name: not for each of thousands
    """
    name, kind = str(path[-1]), root.get("title", "the kind")
    known = list(schema.get("properties", {}))
    if searched and (meant := nearest(name, known, likeness=_ALIKE) or _longer(name, known)):
        help = f"did you mean {meant}?"
    elif searched and (home := _home(name, root)):
        help = f"did you mean {field_of(home)}?"
    else:
        help = f"remove it; {known_fields(subject(path[:-1]), known)}"
    return Violation.at(
        path,
        UNKNOWN_FIELD,
        f"{kind} has no field {field_of((*path[:-1], shortened(name)))}",
        help,
        key=True,
    )


def _type(schema: Tree) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return "quantity" if "pattern" in schema else "int-or-string"
    return str(schema["type"])


def _described(path: Path, value: Any) -> str:
    match value:
        case None:
            return "empty (null)"
        case bool():
            return shown(value)
        case int() | float():
            # The value of a variable may be a secret.
            return "a number" if path[-1:] == ("value",) else f"the number {shown(value)}"
        case str():
            return f"the string {shown(value)}"
        case list():
            return "a list"
    return "a mapping"


def _longer(name: str, known: list[str]) -> str | None:
    """The one field whose last word it is: a secret's `name` is its secretName."""
    longer = [field for field in known if field.endswith(name[:1].upper() + name[1:])]
    return longer[0] if name and len(longer) == 1 else None


def _home(name: str, root: Tree) -> Path | None:
    """Where else near the top of the kind a field of that name is, not looking into lists."""
    layer: list[tuple[Path, Tree]] = [((), root)]
    for _ in range(_DEEP):
        below: list[tuple[Path, Tree]] = []
        for path, schema in layer:
            reference = schema.get("$ref", "").removeprefix("#/$defs/")
            properties = (root["$defs"][reference] if reference else schema).get("properties", {})
            if name in properties:
                return (*path, name)
            below += [((*path, key), child) for key, child in properties.items() if (path, key) != ((), "status")]
        layer = below
    return None
