"""The fields of a pod to which its containers and volumes refer (the downward API).

Reads    a pod template or a pod spec.
Returns  the paths of these fields, or the same tree with another path in place of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

REFERENCE: Final = "fieldRef"
"""The key of a reference in a variable, and in an item of a downwardAPI or projected volume."""


def field_paths(tree: Any) -> Iterator[str]:
    """Yield the path of each reference."""
    if isinstance(tree, list):
        for item in tree:
            yield from field_paths(item)
    elif isinstance(tree, dict):
        reference = tree.get(REFERENCE)
        if isinstance(reference, dict):
            yield str(reference.get("fieldPath"))
        for value in tree.values():
            yield from field_paths(value)


def with_field_path(tree: Any, old: str, new: str) -> Any:
    """Return a tree whose references to the path `old` refer to `new`.

    >>> with_field_path([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}], "a", "b")
    [{'name': 'A', 'valueFrom': {'fieldRef': {'fieldPath': 'b'}}}]
    """
    if isinstance(tree, list):
        return [with_field_path(item, old, new) for item in tree]
    if not isinstance(tree, dict):
        return tree
    changed = {key: with_field_path(value, old, new) for key, value in tree.items()}
    reference = tree.get(REFERENCE)
    if isinstance(reference, dict) and reference.get("fieldPath") == old:
        changed[REFERENCE] = reference | {"fieldPath": new}
    return changed
