"""Field managers: which client wrote a field of an object in a cluster.

Reads    `managedFields` of an object as the API server returns it, and the path of a field in the object.
Returns  the managers of the field, each with the time of its last write to the object. A field that the object lacks
         has none: the API server does not record who removed it.
Source   Kubernetes 1.36, FieldsV1 of structured-merge-diff v6.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree


class Manager(NamedTuple):
    """A client that has written a field."""

    name: str
    time: str
    """Of its last write to the object, which may be to another field; empty if it is unknown."""


def managers(live: Tree, tree: Tree, path: Path) -> Iterator[Manager]:
    """Yield the managers of a field of `tree`, the part of an object that is compared.

    >>> row = {"manager": "kubectl-label", "time": "2026-11-29T12:00:00Z", "fieldsV1": {"f:spec": {"f:a": {}}}}
    >>> next(managers({"metadata": {"managedFields": [row]}}, {"spec": {"a": 1}}, ("spec", "a")))
    Manager(name='kubectl-label', time='2026-11-29T12:00:00Z')
    """
    rows = get(live, ("metadata", "managedFields"))
    rows = rows if isinstance(rows, list) else []
    depths = [_depth(get(row, ("fieldsV1",)), tree, path) for row in rows]
    deepest = max((0, *depths))
    for row, depth in zip(rows, depths, strict=True):
        name, time = (get(row, (key,), "") for key in ("manager", "time"))
        # A mapping without parts, or an atomic list: the API server writes both in the same way.
        if depth == deepest and name and isinstance(name, str) and isinstance(time, str):
            yield Manager(name, time)


def latest(given: Iterable[Manager]) -> list[Manager]:
    """Return each manager once, with its last time; the last one first."""
    found: dict[str, str] = {}
    for each in given:
        found[each.name] = max(found.get(each.name, ""), each.time)
    return sorted((Manager(*row) for row in found.items()), key=lambda each: (each.time, each.name), reverse=True)


def _depth(fields: Any, value: Any, path: Path) -> int:
    """Return the number of steps from a value to the field at a path, or to one below it; -1 if a set lacks it."""
    if fields == {}:
        return 0
    if not isinstance(fields, dict):
        return -1
    if path:
        key = _key(fields, value, path[0])
        below = [] if key is None else [_depth(fields[key], value[path[0]], path[1:])]
    elif isinstance(value, dict):  # which can have parts of several managers
        below = [_depth(fields[f"f:{key}"], each, ()) for key, each in value.items() if f"f:{key}" in fields]
    else:
        return 0
    return max((depth + 1 for depth in below if depth >= 0), default=-1)


def _key(fields: Tree, value: Any, step: str | int) -> str | None:
    """Return the key of a step of a path in a set of fields; None without one."""
    if isinstance(step, str):
        return f"f:{step}" if f"f:{step}" in fields else None
    item = value[step]
    if isinstance(item, dict):  # most lists have the key `name`: the search below takes time for each item
        named = "k:" + json.dumps({"name": item.get("name")}, separators=(",", ":"))
        if named in fields:
            return named
    return next((key for key in fields if _selects(key, item)), None)


def _selects(key: str, item: Any) -> bool:
    """Return whether a key of a set of fields is that of a list item: `k:{"name":"node"}`, `v:"a"`."""
    kind, _, text = key.partition(":")
    try:
        wanted = json.loads(text) if kind in ("k", "v") else None
    except ValueError:
        return False
    if kind == "k" and isinstance(wanted, dict) and isinstance(item, dict):
        return all(item.get(name) == each for name, each in wanted.items())
    return kind == "v" and wanted == item
