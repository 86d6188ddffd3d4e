"""Hints for violations of structural schemas, and the format of values and names in messages.

Reads    the path, the value, and the expected type.
Returns  parts of sentences. Imported only when there is a violation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Fix, Replacement, Written, replace, safe_if
from trainc.kubernetes.violations import subject

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

EXPECTED: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "boolean": "true or false",
    "int-or-string": "an integer or a string",
    "quantity": "a quantity",
}
"""The types as shown in messages."""
_MANY: Final = 8
"""The maximum number of names in a message."""
_LONGEST_COMMAND: Final = 10_000
"""A longer line is not split into words: splitting takes long, and such a line is not typed by hand."""
_DECIMAL: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION: Final = re.compile(r"([0-9]{1,9})\s*([smhd])")
_SHELL: Final = frozenset("|&;<>$`*?~\n")
"""Characters that have a meaning only to a shell."""
_BYTES: Final = re.compile(r"([0-9.]+)\s*([kmgtpe])(i?)b?(?:ytes?)?", re.IGNORECASE)
_SPACED: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s+([munkMGTPE]|[KMGTPE]i)")
_COMMA: Final = re.compile(r"([0-9]+),([0-9]+)((?:[munkMGTPE]|[KMGTPE]i)?)")
_ONE_QUANTITY: Final = re.compile(r'(use (?:a decimal point: )?)(?:([\w.]+)|"([\d.]+)")')
_A_QUANTITY: Final = 'use a number with or without a unit: 4, "500m", 16Gi'
_CORES: Final = re.compile(r"([0-9.]+m?)\s*(?:v?cpus?|cores?|c)", re.IGNORECASE)


def known_fields(subject: str, names: list[str]) -> str:
    """Return a clause that lists the fields of a mapping."""
    if not names:
        return f"{subject} has no fields"
    return f"{subject} has the fields {', '.join(names[:_MANY])}{' ...' if len(names) > _MANY else ''}"


def hint(path: Path, value: Any, expected: str, schema: Tree) -> str | Fix:
    """Return the hint for a value of the wrong type."""
    if value is None:
        return "set a value, or remove the line"
    match expected:
        case "string" | "quantity" | "int-or-string":
            return _string_meant(path, value, expected)
        case "boolean":
            return _boolean_meant(path, value)
        case "integer":
            return _number_meant(path, value)
        case "array":
            return _list_meant(path, value, schema)
    return _mapping_meant(path, value, schema)


def _string_meant(path: Path, value: Any, expected: str) -> str | Fix:
    match value:
        case bool() if expected != "string":
            return _A_QUANTITY if expected == "quantity" else "use a number or a string"
        case bool():
            return replace(path, Written(path, value), "quote it: ", ", because without quotes it is a boolean")
        case float() if expected == "quantity" and "/" in str(path[-1]):
            return f"use an integer: {path[-1]} is allocated in whole devices"
        case int() | float():
            return replace(path, Written(path, value), "quote it: ")
        case [str(one)]:
            return replace(path, one, "use the string without a list: ")._replace(form="string")
        case dict() if str(path[-1]).endswith("Selector"):
            return _selector_meant(path, value)
    return f"use {EXPECTED[expected]}"


def _selector_meant(path: Path, value: Tree) -> str | Fix:
    """Return the hint for a mapping of labels instead of a selector."""
    labels = value["matchLabels"] if value.keys() == {"matchLabels"} else value
    if not isinstance(labels, dict) or not labels or any(not isinstance(each, str) for each in labels.values()):
        return "use a selector, such as team=nlp"
    return replace(path, ",".join(f"{key}={each}" for key, each in labels.items()))._replace(form="string")


def _boolean_meant(path: Path, value: Any) -> str | Fix:
    if isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return replace(path, value.lower() in ("true", "yes", "on"), "remove the quotes: ")
    if isinstance(value, int) and value in (0, 1):
        return replace(path, bool(value), applicability="unsafe")
    return "use true or false"


def _number_meant(path: Path, value: Any) -> str | Fix:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return replace(path, int(value), "remove the quotes: ")
    if isinstance(value, str) and str(path[-1]).endswith("Seconds") and (time := _DURATION.fullmatch(value)):
        return replace(path, int(time[1]) * _SECONDS[time[2]], "use seconds: ", applicability="unsafe")
    return "use an integer"


def _list_meant(path: Path, value: Any, schema: Tree) -> str | Fix:
    if isinstance(value, str) and path[-1:] in (("command",), ("args",)):
        return _words_meant(path, value, script=path[-1] == "command")
    items = schema.get("items", {})
    if not isinstance(value, dict):
        text = items.get("type") == "string" and not isinstance(value, str)
        return replace(path, [Written(path, value) if text else value], "use a list: ")
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if len(keys) == 1 and keys[0] not in value and value:
        return _items_meant(path, value, keys[0], has_value="value" in items.get("properties", {}))
    return replace(path, [value], "use a list with one item: ")


def _items_meant(path: Path, value: Tree, key: str, *, has_value: bool) -> str | Fix:
    """Return the hint for a mapping instead of a list whose items have that key, or have a name and a value."""
    if all(isinstance(each, dict) and key not in each for each in value.values()):
        return replace(path, [{key: name} | each for name, each in value.items()], "use a list: ")
    if not has_value or any(isinstance(each, dict | list) for each in value.values()):
        return f"use a list whose items have a {key}: `- {key}: {next(iter(value))}`"
    from trainc.kubernetes.structural.homes import variable

    return replace(path, [variable(name, each, (*path, name)) for name, each in value.items()], "use a list: ")


def _words_meant(path: Path, line: str, *, script: bool) -> str | Fix:
    """Return the hint for a command line, which a container needs as a list: it is not split and no shell reads it."""
    import shlex

    try:
        words = shlex.split(line) if len(line) <= _LONGEST_COMMAND else []
    except ValueError:
        words = []
    if not words or _SHELL & set(line):
        return "use a list with one item per word; " + (
            "to run a shell: [sh, -c, ...]" if script else "no shell expands them"
        )
    return replace(path, words, "use a list with one item per word: ", applicability=safe_if(len(words) == 1))


def _mapping_meant(path: Path, value: Any, schema: Tree) -> str | Fix:
    properties = schema.get("properties")
    match value:
        case [dict() as one]:
            return Fix((Replacement(path, one),), "remove the dash: this is a single mapping, not a list")
        case str() if value and "name" in (properties or ()):
            name, equals, rest = value.partition("=")
            if "value" in (properties or ()) and equals and name:
                return replace(path, {"name": name, "value": rest})
            return replace(path, {"name": value})
    return (
        f"use a mapping: {known_fields(subject(path), list(properties))}"
        if properties is not None
        else "use a mapping with one `key: value` per line"
    )


def quantity_fix(path: Path, text: str) -> str | Fix:
    """Return the hint for a string that looks like a quantity, as a fix if it has only one meaning."""
    help = quantity_meant(text)
    meant = _ONE_QUANTITY.fullmatch(help)
    if meant is None:
        return help
    value, is_plain = meant[2] or meant[3], bool(meant[2])
    number = int(value) if value.isdecimal() else value
    fix = replace(path, number, meant[1], applicability=safe_if("decimal" not in help))
    return fix._replace(form="name") if is_plain else fix


def quantity_meant(text: str) -> str:
    """Return the hint for a string that looks like a quantity."""
    if not text:
        return "set a value, or remove the line"
    if spaced := _SPACED.fullmatch(text):
        return f"use {spaced[1]}{spaced[2]}"
    if fraction := _COMMA.fullmatch(text):
        return f"use a decimal point: {_unit_or_quotes(f'{fraction[1]}.{fraction[2]}', fraction[3])}"
    if size := _BYTES.fullmatch(text):
        number, prefix, binary = size[1], size[2].upper(), size[3]
        decimal = "k" if prefix == "K" else prefix
        return f"use {number}{prefix}i" if binary else f"use {number}{prefix}i, or {number}{decimal} for powers of ten"
    if cores := _CORES.fullmatch(text):
        return f"use {_unit_or_quotes(cores[1], '')}"
    return _A_QUANTITY


def _unit_or_quotes(number: str, unit: str) -> str:
    """Return a number as it must be written in a manifest: a fraction without a unit must be a string."""
    return f'"{number}"' if "." in number and not unit and not number.endswith("m") else number + unit
