"""Every edit of one field of a JobSet's spec, generated from the schema of its CRD.

Reads    a JobSet as it is stored, and the schema, in which every reference is expanded.
Returns  copies of it in which one field is added, changed or removed; lists are edited at their first item.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final, NamedTuple

from trainc.kubernetes.trees import Path, get, put

Tree = dict[str, Any]
ABSENT: Final = object()


class Edit(NamedTuple):
    """A JobSet with one edited field."""

    field: str
    kind: str
    """added, changed or removed."""
    jobset: Tree


def edits(jobset: Tree, of_kind: Tree) -> Iterator[Edit]:
    """Yield each edit; `of_kind` is the schema of JobSets."""
    for path, schema in _leaves(of_kind["properties"]["spec"], ("spec",)):
        old = get(jobset, path, ABSENT)
        field = ".".join(str(step) for step in path if not isinstance(step, int))
        if old is ABSENT:
            yield Edit(field, "added", _with(jobset, of_kind, path, _value(schema)))
            continue
        yield Edit(field, "removed", _without_field(jobset, path))
        new = _other(schema, old)
        if new != old:
            yield Edit(field, "changed", _with(jobset, of_kind, path, new))


def _leaves(schema: Tree, path: Path) -> Iterator[tuple[Path, Tree]]:
    """Yield the paths of scalars, of mappings with free keys, and of lists of scalars."""
    if "properties" in schema:
        for key, part in schema["properties"].items():
            yield from _leaves(part, (*path, key))
    elif "properties" in schema.get("items", {}):
        yield from _leaves(schema["items"], (*path, 0))
    else:
        yield path, schema


def _value(schema: Tree) -> Any:
    """Return the smallest valid value of a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    match schema.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "array":
            return [_value(schema["items"])]
        case "object":
            if "properties" in schema:
                return {key: _value(schema["properties"][key]) for key in schema.get("required", ())}
            return {"a": _value(schema["additionalProperties"])} if "additionalProperties" in schema else {}
    return "2026-01-01T00:00:00Z" if schema.get("format") == "date-time" else "a"


def _other(schema: Tree, old: Any) -> Any:
    """Return a valid value that differs from the old one, if the schema has one."""
    if "enum" in schema:
        return next((word for word in schema["enum"] if word != old), old)
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return old + 1
    if isinstance(old, str):
        return "7" if old.isdigit() else f"{old}0"
    new = _value(schema)
    return new if new != old else {} if isinstance(old, dict) else []


def _with(jobset: Tree, schema: Tree, path: Path, value: Any) -> Tree:
    """Return a copy with a value; missing parents are filled with what the schema requires."""
    changed = deepcopy(jobset)
    at: Any = changed
    for step, following in zip(path, (*path[1:], None), strict=True):
        schema = schema["items"] if isinstance(step, int) else schema["properties"][step]
        if following is None:
            at[step] = value
        elif isinstance(step, int):
            if not at:
                at.append(_value(schema))
            at = at[0]
        else:
            at = at.setdefault(step, [] if isinstance(following, int) else _value(schema))
    return changed


def _without_field(jobset: Tree, path: Path) -> Tree:
    *parents, last = path
    part = {key: value for key, value in get(jobset, tuple(parents)).items() if key != last}
    changed: Tree = put(jobset, tuple(parents), part)
    return changed
