"""Hints for violations of structural schemas, and the format of values and names in messages.

Reads    the path, the value, and the expected type.
Returns  parts of sentences. Imported only when there is a violation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Fix, Replacement, Written, as_parsed, replace, safe_if
from trainc.kubernetes.structural.homes import fits, variable
from trainc.kubernetes.violations import listed, subject

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
_SWITCHES: Final = {
    True: frozenset({"allow", "always", "enable", "enabled", "on", "yes"}),
    False: frozenset({"disable", "disabled", "forbid", "never", "off", "no"}),
}
"""The names, in lower case, that an enumeration can have for true and for false."""
_NAME: Final = re.compile(r"[./*-]*\w[\w./*-]*")
"""An item of a list of names; not the ellipsis of an example."""
_LETTER: Final = re.compile(r"\w")
_MOST_OF_REFERENCE: Final = 4
"""The most fields of a reference or a variable, which a name describes completely."""
_MANY: Final = 8
"""The maximum number of names in a message."""
_LONGEST_COMMAND: Final = 10_000
"""A longer line is not split into words: splitting takes long, and such a line is not typed by hand."""
_DECIMAL: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION: Final = re.compile(r"([0-9]{1,9})\s*([smhd])")
_SHELL: Final = frozenset("|&;<>$`*?~\n")
"""Characters that have a meaning only to a shell."""
_BYTES: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgtpe])(i?)b?(?:ytes?)?", re.IGNORECASE)
_SPACED: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s+([munkMGTPE]|[KMGTPE]i)")
_COMMA: Final = re.compile(r"([0-9]+),([0-9]+)((?:[munkMGTPE]|[KMGTPE]i)?)")
_THOUSANDS: Final = re.compile(r"([1-9][0-9]{0,2}(?:,[0-9]{3})+)((?:[munkMGTPE]|[KMGTPE]i)?)")
_COUNT: Final = re.compile(r"([1-9][0-9]{0,3})\s*[A-Za-z]{0,10}")
_A_QUANTITY: Final = 'use a number with or without a unit: 4, "500m", 16Gi'
_CORES: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?|[0-9]+m)\s*(?:v?cpus?|cores?|c)", re.IGNORECASE)


def known_fields(subject: str, names: list[str]) -> str:
    """Return a clause that lists the fields of a mapping."""
    if not names:
        return f"{subject} has no fields"
    return f"{subject} has the fields {', '.join(names[:_MANY])}{' ...' if len(names) > _MANY else ''}"


def hint(path: Path, value: Any, expected: str, schema: Tree, root: Tree | None) -> str | Fix:
    """Return the hint for a value of the wrong type: a fix only with a value that the schema admits.

    root    the schema of the kind, to which references in the schema lead; None for metadata
    """
    if value is None:
        return "set a value, or remove the line"
    found: str | Fix
    match expected:
        case "string" | "quantity" | "int-or-string":
            found = _string_meant(path, value, expected, schema)
        case "boolean":
            found = _boolean_meant(path, value)
        case "integer":
            found = _number_meant(path, value)
        case "array":
            found = _list_meant(path, value, schema)
        case _:
            found = _mapping_meant(path, value, schema)
    if isinstance(found, str) or root is None:
        return found
    (change,) = found.changes
    assert isinstance(change, Replacement)
    return found if fits(as_parsed(change.value), schema, root) else _plain_hint(path, expected, schema)


def _plain_hint(path: Path, expected: str, schema: Tree) -> str:
    """Return the hint that names the type."""
    if "enum" in schema:
        return f"use {listed([str(name) for name in schema['enum']], 'or')}{_meaning(schema)}"
    if expected == "quantity":
        return _A_QUANTITY
    if expected != "object":
        return f"use {EXPECTED[expected]}"
    if (properties := schema.get("properties")) is not None:
        return f"use a mapping: {known_fields(subject(path), list(properties))}"
    return "use a mapping with one `key: value` per line"


def _meaning(schema: Tree) -> str:
    """Return the part of a description that explains the names of an enumeration, after its colon."""
    meaning = str(schema.get("description", "")).partition(": ")[2]
    return f": {meaning}" if meaning else ""


def _string_meant(path: Path, value: Any, expected: str, schema: Tree) -> str | Fix:
    match value:
        case bool() if "enum" in schema:
            return _switch_meant(path, value, schema)
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
    return _plain_hint(path, expected, schema)


def _switch_meant(path: Path, value: bool, schema: Tree) -> str | Fix:
    """Return the hint for a boolean instead of one of two names that turn something on and off."""
    names = [name for name in schema["enum"] if name.lower() in _SWITCHES[value]]
    others = [name for name in schema["enum"] if name.lower() in _SWITCHES[not value]]
    if (len(names), len(others), len(schema["enum"])) == (1, 1, 2):
        return replace(path, names[0], note=_meaning(schema))
    return _plain_hint(path, "string", schema)


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
    if isinstance(value, str) and "," in value and items.get("type", "string") == "string":
        names = [name.strip() for name in value.split(",")]
        if all(map(_NAME.fullmatch, names)):
            return replace(path, names, "use a list: ")
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
    if len(words) == 1 and "," in line:
        return "use a list with one item per word"
    return replace(path, words, "use a list with one item per word: ", applicability=safe_if(len(words) == 1))


def _mapping_meant(path: Path, value: Any, schema: Tree) -> str | Fix:
    properties = schema.get("properties")
    names = isinstance(value, list) and all(isinstance(one, str) for one in value) and len({*value}) == len(value)
    match value:
        case [str(), *_] if names and "additionalProperties" in schema:
            return replace(path, {name: {} for name in value})
        case [dict() as one]:
            return Fix((Replacement(path, one),), "remove the dash: this is a single mapping, not a list")
        case str() if not _LETTER.search(value):
            return "replace the ellipsis of the example" if "..." in value else _plain_hint(path, "object", schema)
        case str() if value.startswith("/") and {"name", "hostPath", "mountPath"} <= {*(properties or ())}:
            paths = {"name": value.rstrip("/").rpartition("/")[2].lower(), "hostPath": value, "mountPath": value}
            return replace(path, paths, applicability="unsafe")
        case str() if "name" in (properties or ()):
            name, equals, rest = value.partition("=")
            if "value" in (properties or ()) and equals and name:
                return replace(path, {"name": name, "value": rest})
            is_reference = len(properties or ()) <= _MOST_OF_REFERENCE or path == ("metadata",)
            return replace(path, {"name": value}, applicability=safe_if(is_reference))
    return _plain_hint(path, "object", schema)


def quantity_fix(path: Path, text: str) -> str | Fix:
    """Return the hint for a string that looks like a quantity, as a fix if it has only one meaning."""
    if not text:
        return "set a value, or remove the line"
    if "/" in str(path[-1]):
        count = _COUNT.fullmatch(text)
        if count is None:
            return "use a whole number, such as 1"
        return replace(path, int(count[1]), "use a whole number: ", applicability="unsafe")
    if spaced := _SPACED.fullmatch(text):
        return replace(path, spaced[1] + spaced[2])
    if grouped := _THOUSANDS.fullmatch(text):
        number = grouped[1].replace(",", "")
        return replace(path, number + grouped[2] if grouped[2] else int(number), applicability="unsafe")
    if fraction := _COMMA.fullmatch(text):
        number = f"{fraction[1]}.{fraction[2]}{fraction[3]}"
        return replace(path, number, "use a decimal point: ", applicability="unsafe")
    if size := _BYTES.fullmatch(text):
        number, prefix = size[1], size[2].upper()
        if size[3]:
            return replace(path, f"{number}{prefix}i")
        decimal = "k" if prefix == "K" else prefix
        return f"use {number}{prefix}i, or {number}{decimal} for powers of ten"
    if cores := _CORES.fullmatch(text):
        return replace(path, int(cores[1]) if cores[1].isdecimal() else cores[1])
    return _A_QUANTITY
