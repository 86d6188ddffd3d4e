"""Field names with list items by name, for reports and as the FIELD argument of commands.

Reads    a tree and a path in it.
Returns  a text such as `replicatedJobs[node].volumeMounts[mountPath=/data]`. An item without a unique key is
         shown by its index.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import Memory
from trainc.provenance.tracing.correspondence import KEYS

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

_BARE: Final = re.compile(r"[^\[\]\"'*=\s]+")
"""A name that needs no quotes in brackets."""


def by_names(tree: Any, path: Path) -> str:
    """Return a path with its list items by name, in the notation of FIELD.

    >>> by_names({"jobs": [{"name": "node", "mounts": [{"name": "a", "mountPath": "/a"}]}]}, ("jobs", 0, "mounts", 0))
    'jobs[node].mounts[mountPath=/a]'
    """
    return Names(tree).name(path)


class Names:
    """The texts of many fields of one tree, as `by_names` returns them; enclosing fields are named once."""

    def __init__(self, tree: Any) -> None:
        self._known: dict[Path, tuple[str, Any]] = {(): ("", tree)}

    def name(self, path: Path) -> str:
        """Return a path with its list items by name."""
        return self._field(path)[0]

    def _field(self, path: Path) -> tuple[str, Any]:
        known = self._known.get(path)
        if known is None:
            text, outer = self._field(path[:-1])
            step = path[-1]
            if isinstance(step, int):
                text += f"[{item_of(outer, step)}]"
            else:
                text += f".{step}" if text else step
            known = self._known[path] = text, outer[step]
        return known


def item_of(items: list[Any], index: int) -> str:
    """Return an item's text in brackets: its name, `key=value`, or its index."""
    key, name = name_of_item(items, index)
    return name if key == "name" else f"{key}={name}" if key else str(index)


def name_of_item(items: list[Any], index: int) -> tuple[str, str]:
    """Return the merge key that identifies an item, and its value; empty strings if it is not unique."""
    found = items[index]
    key = next((key for key in KEYS if key in found), "") if isinstance(found, dict) else ""
    name = str(found[key]) if key else ""
    unique = _counts(items).get((key, name)) == 1
    return (key, name) if unique and _BARE.fullmatch(name) and not (key == "name" and name.isdigit()) else ("", "")


_COUNTS: Final = Memory()


def _counts(items: list[Any]) -> Counter[tuple[str, str]]:
    """Return the number of items with each value of a merge key; a list's numbers are computed once."""
    known: tuple[list[Any], Counter[tuple[str, str]]] | None = _COUNTS.get(id(items))
    if known is None:
        pairs = ((key, str(item[key])) for item in items if isinstance(item, dict) for key in KEYS if key in item)
        known = _COUNTS.keep(id(items), (items, Counter(pairs)))
    return known[1]
