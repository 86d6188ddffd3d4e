"""The ways out of what a structural schema refuses, and how values and names are shown.

Reads    the path, the value, and what the schema asks for.
Returns  half sentences. Imported when there is something to say.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree

EXPECTED: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "int-or-string": "a whole number or a string",
    "quantity": "a quantity",
}
"""The types in words."""
_MANY: Final = 8
"""As many names fit into a sentence."""
_LONG: Final = 60
"""As many characters of a value are shown."""
_LONGEST_COMMAND: Final = 10_000
"""A longer line is not split into words: that takes its time, and nobody typed it."""
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION: Final = re.compile(r"([0-9]{1,9})\s*([smhd])")
_SHELL: Final = frozenset("|&;<>$`*?~\n")
"""Characters that mean something to a shell, and nothing without one."""
_BYTES: Final = re.compile(r"([0-9.]+)\s*([kmgtpe])(i?)b?(?:ytes?)?", re.IGNORECASE)
_SPACED: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s+([munkMGTPE]|[KMGTPE]i)")
_COMMA: Final = re.compile(r"([0-9]+),([0-9]+)((?:[munkMGTPE]|[KMGTPE]i)?)")
_A_QUANTITY: Final = 'write a number with a unit or without: 4, "500m", 16Gi'
_CORES: Final = re.compile(r"([0-9.]+m?)\s*(?:v?cpus?|cores?|c)", re.IGNORECASE)


def shown(value: Any) -> str:
    """A value on one short line, as JSON writes it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def shortened(name: str) -> str:
    """A name in a sentence, however long."""
    return name if len(name) <= _LONG else f"{name[:_LONG]}..."


def subject(path: Path) -> str:
    """What a sentence calls a field: `numNodes`, `args[1]` for an item, `env[0].value` for a field of one."""
    names = [i for i, step in enumerate(path) if isinstance(step, str)]
    if len(names) > 1 and names[-1] == len(path) - 1 and isinstance(path[-2], int):
        return field_of(path[names[-2] :])
    return field_of(path[names[-1] :]) if names else "the object"


def known_fields(subject: str, names: list[str]) -> str:
    """Which fields a mapping has, for somebody who tried another."""
    if not names:
        return f"{subject} has no fields"
    return f"the fields of {subject} are {', '.join(names[:_MANY])}{' ...' if len(names) > _MANY else ''}"


def listed(words: list[str], last: str = "and") -> str:
    """Words as a sentence lists them."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def hint(path: Path, value: Any, expected: str, schema: Tree) -> str:
    """What to write instead of a value of the wrong type."""
    if value is None:
        return "give the item a value, or remove its line"
    match expected:
        case "string" | "quantity" | "int-or-string":
            return _string_meant(path, value, expected)
        case "boolean":
            return _boolean_meant(value)
        case "integer":
            return _number_meant(path, value)
        case "array":
            return _list_meant(path, value, schema)
    return _mapping_meant(path, value, schema)


def _string_meant(path: Path, value: Any, expected: str) -> str:
    match value:
        case bool() if expected != "string":
            return _A_QUANTITY if expected == "quantity" else "write a number or a string"
        case bool():
            return "put it in quotes: without them it is a boolean"
        case float() if expected == "quantity" and "/" in str(path[-1]):
            return f"write a whole number: {path[-1]} is handed out in whole devices"
        case int() | float():
            return "put it in quotes" if path[-1:] == ("value",) else f'put it in quotes: "{shown(value)}"'
        case [str(one)]:
            return "write the string alone" + ("" if path[-1:] == ("value",) else f": {shown(one)}")
    return f"write {EXPECTED[expected]}"


def _boolean_meant(value: Any) -> str:
    if isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return f"write it without quotes: {'true' if value.lower() in ('true', 'yes', 'on') else 'false'}"
    if isinstance(value, int) and value in (0, 1):
        return f"write {'true' if value else 'false'}"
    return "write true or false"


def _number_meant(path: Path, value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value):
        return f"write it without quotes: {value}"
    if isinstance(value, str) and str(path[-1]).endswith("Seconds") and (time := _DURATION.fullmatch(value)):
        return f"write it in seconds: {int(time[1]) * _SECONDS[time[2]]}"
    return "write a whole number"


def _list_meant(path: Path, value: Any, schema: Tree) -> str:
    if isinstance(value, str) and path[-1:] in (("command",), ("args",)):
        return _words_meant(value, script=path[-1] == "command")
    if not isinstance(value, dict):
        text = schema.get("items", {}).get("type") == "string" and not isinstance(value, str)
        return f"write a list: [{shown(shown(value) if text else value)}]"
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if len(keys) == 1 and keys[0] not in value and value:
        return f"write a list, each item with its {keys[0]}: `- {keys[0]}: {next(iter(value))}`"
    return "begin each item with a dash"


def _words_meant(line: str, *, script: bool) -> str:
    """A command line, as the list that a container takes: nothing splits it into words, and no shell reads it."""
    import shlex

    try:
        words = shlex.split(line) if len(line) <= _LONGEST_COMMAND else []
    except ValueError:
        words = []
    if not words or _SHELL & set(line):
        return "write a list, a word each; " + (
            "for what a shell is to read: [sh, -c, ...]" if script else "no shell expands them"
        )
    return f"write a list, a word each: {shown(words)}"


def _mapping_meant(path: Path, value: Any, schema: Tree) -> str:
    properties = schema.get("properties")
    match value:
        case [dict()]:
            return "remove the dash: there is only one, not a list of them"
        case str() if value and "name" in (properties or ()):
            return f"write name: {value[:_LONG]} below {subject(path)}"
    return (
        f"write a mapping: {known_fields(subject(path), list(properties))}"
        if properties is not None
        else "write a mapping, a line `key: value` for each"
    )


def quantity_meant(text: str) -> str:
    """What to write instead of a string that looks like a quantity."""
    if not text:
        return "give it a value, or remove its line"
    if spaced := _SPACED.fullmatch(text):
        return f"write {spaced[1]}{spaced[2]}"
    if fraction := _COMMA.fullmatch(text):
        return f"write {_unit_or_quotes(f'{fraction[1]}.{fraction[2]}', fraction[3])}, with a point"
    if size := _BYTES.fullmatch(text):
        number, prefix, binary = size[1], size[2].upper(), size[3]
        decimal = "k" if prefix == "K" else prefix
        return (
            f"write {number}{prefix}i" if binary else f"write {number}{prefix}i, or {number}{decimal} in powers of ten"
        )
    if cores := _CORES.fullmatch(text):
        return f"write {_unit_or_quotes(cores[1], '')}"
    return _A_QUANTITY


def _unit_or_quotes(number: str, unit: str) -> str:
    """A number as a manifest has it: without a unit, a fraction must be a string."""
    return f'"{number}"' if "." in number and not unit and not number.endswith("m") else number + unit
