"""The fields of an object that one manager has applied, from metadata.managedFields (the format FieldsV1)."""

from __future__ import annotations

import json
from typing import Any

Tree = dict[str, Any]


def applied(tree: Tree, manager: str) -> Tree:
    """Return the object as a manager applied it, without the fields of others and without defaults."""
    entries = tree["metadata"]["managedFields"]
    owned = next(entry["fieldsV1"] for entry in entries if (entry["manager"], entry["operation"]) == (manager, "Apply"))
    identity = {key: tree["metadata"][key] for key in ("name", "namespace")}
    found: Tree = _owned(tree, owned)
    return found | {
        "apiVersion": tree["apiVersion"],
        "kind": tree["kind"],
        "metadata": found.get("metadata", {}) | identity,
    }


def _owned(value: Any, fields: Tree) -> Any:
    """Return the owned parts of a value; a value without owned parts of its own is owned as a whole."""
    if not fields.keys() - {"."}:
        return value
    if isinstance(value, dict):
        return {key: _owned(part, fields[f"f:{key}"]) for key, part in value.items() if f"f:{key}" in fields}
    return [_owned(item, part) for item in value for part in _owner_of_item(item, fields)]


def _owner_of_item(item: Any, fields: Tree) -> list[Tree]:
    """Return the owned fields of an item of a list, which its keys or its value identify; none if it is not owned."""
    found = []
    for key, part in fields.items():
        kind, _, identity = key.partition(":")
        if kind == "k" and isinstance(item, dict) and json.loads(identity).items() <= item.items():
            found.append(part)
        elif kind == "v" and json.loads(identity) == item:
            found.append({})
    return found
