"""Spelling: a field of a manifest with the items of lists by their names, as people read it and may ask for it again.

Reads    a tree and a path in it.
Returns  `replicatedJobs[node].volumeMounts[mountPath=/data]`; an item that nothing tells from the others goes by its
         index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.tracing.correspondence import KEYS

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

_BARE: Final = re.compile(r"[^\[\]\"'*=\s]+")
"""What can stand in brackets as it is."""


def by_names(tree: Any, path: Path) -> str:
    """A path with its items by name, as a FIELD may have it.

    >>> by_names({"jobs": [{"name": "node", "mounts": [{"name": "a", "mountPath": "/a"}]}]}, ("jobs", 0, "mounts", 0))
    'jobs[node].mounts[mountPath=/a]'
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{item_of(tree, step)}]"
        else:
            text += f".{step}" if text else step
        tree = tree[step]
    return text


def item_of(items: list[Any], index: int) -> str:
    """What stands in the brackets for an item: its name, `key=value`, or its index."""
    key, name = name_of_item(items, index)
    return name if key == "name" else f"{key}={name}" if key else str(index)


def name_of_item(items: list[Any], index: int) -> tuple[str, str]:
    """The field that tells an item from the others, by which it is merged, and its value; empty where none does."""
    found = items[index]
    key = next((key for key in KEYS if key in found), "") if isinstance(found, dict) else ""
    name = str(found[key]) if key else ""
    alone = sum(isinstance(other, dict) and str(other.get(key)) == name for other in items) == 1
    return (key, name) if alone and _BARE.fullmatch(name) and not (key == "name" and name.isdigit()) else ("", "")
