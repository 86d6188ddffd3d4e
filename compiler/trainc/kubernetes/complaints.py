"""The words for what a structural schema refuses: what is wrong, with the value, and the way out.

Reads    the path, the value, and what the schema asks for.
Returns  violations. Imported when there is something to say.
"""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes.violations import Violation, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path, Tree

_EXPECTED: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "int-or-string": "a whole number or a string",
    "quantity": "a quantity",
}
_MANY: Final = 8
"""As many names fit into a sentence."""
_LONG: Final = 60
"""As many characters of a value are shown."""
_DEEP: Final = 4
"""How far below the top a misplaced field's home is looked for."""
_BYTES: Final = re.compile(r"([0-9.]+)\s*([kmgtpe])(i?)b?(?:ytes?)?", re.IGNORECASE)
_CORES: Final = re.compile(r"([0-9.]+m?)\s*(?:v?cpus?|cores?|c)", re.IGNORECASE)


def shown(value: Any) -> str:
    """A value on one short line, as JSON writes it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def subject(path: Path) -> str:
    """What a sentence calls a field: its name, with the index where it is an item of a list."""
    last = next((i for i in range(len(path) - 1, -1, -1) if isinstance(path[i], str)), 0)
    return field(path[last:]) or "the object"


def closest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant: another case, or nearly the same letters."""
    known = list(names)
    folded = next((k for k in known if k.lower() == name.lower()), None)
    return folded or next(iter(difflib.get_close_matches(name, known, 1, 0.7)), None)


def wrong_type(path: Path, value: Any, schema: Tree) -> Violation:
    """A value of another type than the schema's."""
    expected = _type(schema)
    return Violation(
        path=path,
        field=field(path),
        rule="wrong-type",
        message=f"{subject(path)} is {_described(path, value)}, and must be {_EXPECTED[expected]}",
        help=_remedy(path, value, expected, schema),
    )


def missing(path: Path, schema: Tree, was_null: bool) -> Violation:
    """A required field that is not there, or has no value."""
    name = path[-1]
    expected = _EXPECTED[_type(schema)] if schema else "a value"
    return Violation(
        path=path,
        field=field(path),
        rule="required",
        message=f"{name} has no value" if was_null else f"{subject(path[:-1])} has no {name}, which is required",
        help=f"give {name} a value: {expected}" if was_null else f"add {name}: {expected}",
    )


def too_short(path: Path, value: str, least: int) -> Violation:
    """A string with too few characters."""
    return Violation(
        path=path,
        field=field(path),
        rule="too-short",
        message=f"{subject(path)} has {_count(len(value), 'character')}, and needs at least {least}",
        help="give it a value, or leave out what it belongs to" if not value else "lengthen it",
    )


def too_long(path: Path, value: str, most: int) -> Violation:
    """A string with too many characters."""
    return Violation(
        path=path,
        field=field(path),
        rule="too-long",
        message=f"{subject(path)} has {_count(len(value), 'character')}, and may have {most}",
        help=f"shorten it by {_count(len(value) - most, 'character')}",
    )


def too_few_items(path: Path, count: int, least: int) -> Violation:
    """A list with too few items."""
    return Violation(
        path=path,
        field=field(path),
        rule="too-few-items",
        message=f"{subject(path)} has {_count(count, 'item')}, and needs at least {least}",
        help="add one, or leave out what the list belongs to",
    )


def too_many_items(path: Path, count: int, most: int) -> Violation:
    """A list with too many items."""
    return Violation(
        path=path,
        field=field(path),
        rule="too-many-items",
        message=f"{subject(path)} has {_count(count, 'item')}, and may have {most}",
        help=f"remove {count - most} of them",
    )


def too_few_properties(path: Path, known: list[str]) -> Violation:
    """A mapping without any field that the kind knows."""
    return Violation(
        path=path,
        field=field(path),
        rule="too-few-properties",
        message=f"{subject(path)} is empty",
        help=f"{_known(known)}, or leave {subject(path)} out",
    )


def out_of_range(
    path: Path, value: int, least: int, greatest: int, stage: Literal["read", "schema"] = "schema"
) -> Violation:
    """A whole number outside its limits."""
    limit = f"at least {least}" if value < least else f"at most {greatest}"
    return Violation(
        path=path,
        field=field(path),
        rule="out-of-range",
        stage=stage,
        message=f"{subject(path)} is {shown(value)}, and must be {limit}",
        help=f"choose a number from {least} to {greatest}" if greatest < 2**31 - 1 else f"choose a number {limit}",
    )


def not_allowed(path: Path, value: str, allowed: list[str]) -> Violation:
    """A string that is none of the allowed ones."""
    meant = closest(value, [a for a in allowed if a]) if value else None
    choices = _listed([shown(a) for a in allowed], "or")
    return Violation(
        path=path,
        field=field(path),
        rule="enum",
        message=f"{subject(path)} is {shown(value)}, and must be {choices}",
        help=f"did you mean {shown(meant)}?" if meant else f"use {choices}",
    )


def no_match(path: Path, value: str, pattern: str) -> Violation:
    """A string that does not match its pattern."""
    return Violation(
        path=path,
        field=field(path),
        rule="pattern",
        message=f"{subject(path)} is {shown(value)}, which does not have the right form",
        help=f"it must match {pattern}",
    )


def no_time(path: Path, value: str, stage: Literal["read", "schema"]) -> Violation:
    """A string that should be a time."""
    return Violation(
        path=path,
        field=field(path),
        rule="date-time",
        stage=stage,
        message=f"{subject(path)} is {shown(value)}, which is not a time",
        help="write it like 2026-01-31T23:59:00Z",
    )


def no_quantity(path: Path, value: str, stage: Literal["read", "schema"]) -> Violation:
    """A string that should be a quantity."""
    return Violation(
        path=path,
        field=field(path),
        rule="quantity",
        stage=stage,
        message=f"{subject(path)} is {shown(value)}, which is not a quantity",
        help=_quantity_meant(value.strip()),
    )


def duplicate_item(path: Path, item: Any, keys: tuple[str, ...], before: int) -> Violation:
    """An item that stood in the list before, by its keys or (in a set) as a whole."""
    if not keys:
        same = f"is {shown(item)}"
    elif all(key not in item for key in keys):
        same = f"has no {_listed(list(keys), 'and')}"
    else:
        same = "has " + _listed([f"{key} {shown(item[key])}" for key in keys if key in item], "and")
    first = f"{subject(path[:-1])}[{before}]"
    return Violation(
        path=path,
        field=field(path),
        rule="duplicate-item",
        message=f"{subject(path)} {same}, just as {first}",
        help=f"keep one of the two, or give them a different {_listed(list(keys), 'or') or 'value'}",
    )


def unknown_field(path: Path, schema: Tree, root: Tree) -> Violation:
    """A field that the kind does not have; `schema` is its parent's, `root` the whole kind's."""
    name, kind = str(path[-1]), root.get("title", "the kind")
    known = list(schema.get("properties", {}))
    meant = closest(name, known)
    if meant:
        help = f"did you mean {meant}?"
    elif home := _home(name, root):
        help = f"did you mean {field(home)}?"
    else:
        help = f"remove it: the cluster ignores it; {_known(known)}"
    return Violation(
        path=path,
        field=field(path),
        rule="unknown-field",
        message=f"{kind} has no field {field(path)}; it is dropped",
        help=help,
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


def _remedy(path: Path, value: Any, expected: str, schema: Tree) -> str:
    if value is None:
        return "give the item a value, or remove its line"
    match expected:
        case "string" | "quantity" | "int-or-string":
            return _string_meant(path, value, expected)
        case "boolean":
            return _boolean_meant(value)
        case "integer":
            quoted = isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value)
            return f"write it without quotes: {value}" if quoted else "write a whole number"
        case "array":
            return _list_meant(value, schema)
    return _mapping_meant(path, value, schema)


def _string_meant(path: Path, value: Any, expected: str) -> str:
    match value:
        case bool() | int() | float():
            hidden = path[-1:] == ("value",) and not isinstance(value, bool)
            return "put it in quotes" if hidden else f'put it in quotes: "{shown(value)}"'
        case [str(one)]:
            return f"write the string alone: {shown(one)}"
    return f"write {_EXPECTED[expected]}"


def _boolean_meant(value: Any) -> str:
    if isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return f"write it without quotes: {'true' if value.lower() in ('true', 'yes', 'on') else 'false'}"
    if isinstance(value, int) and value in (0, 1):
        return f"write {'true' if value else 'false'}"
    return "write true or false"


def _list_meant(value: Any, schema: Tree) -> str:
    if not isinstance(value, dict):
        return f"write a list: [{shown(value)}]"
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if len(keys) == 1 and keys[0] not in value and value:
        return f"write a list, each item with its {keys[0]}: `- {keys[0]}: {next(iter(value))}`"
    return "begin each item with a dash"


def _mapping_meant(path: Path, value: Any, schema: Tree) -> str:
    properties = schema.get("properties")
    match value:
        case [dict()]:
            return "remove the dash: there is only one, not a list of them"
        case str() if value and "name" in (properties or ()):
            return f"write name: {value[:_LONG]} below {subject(path)}"
    return f"write a mapping: {_known(list(properties))}" if properties is not None else "write a mapping"


def _quantity_meant(text: str) -> str:
    if size := _BYTES.fullmatch(text):
        number, prefix, binary = size[1], size[2].upper(), size[3]
        decimal = "k" if prefix == "K" else prefix
        return (
            f"write {number}{prefix}i" if binary else f"write {number}{prefix}i, or {number}{decimal} in powers of ten"
        )
    if cores := _CORES.fullmatch(text):
        return f"write {cores[1]}"
    return 'write a number with a unit or without: 4, "500m", 16Gi'


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


def _known(names: list[str]) -> str:
    if not names:
        return "it has no fields"
    if len(names) > _MANY:
        return f"its fields are {', '.join(names[:_MANY])} ..."
    return f"its {'field is' if len(names) == 1 else 'fields are'} {_listed(names, 'and')}"


def _listed(words: list[str], last: str) -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
