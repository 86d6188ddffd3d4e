"""Edits of manifests that leave the original as it was.

A manifest is a JSON tree: dicts, lists and scalars. Trees are shared between jobs, so nothing changes one in place:
an edit copies the containers on the way to the field, and shares the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = dict[str, Any]
Path = tuple[str | int, ...]


def get(tree: Any, path: Path, default: Any = None) -> Any:
    """The value at `path`, or `default` where some step of it is missing or null."""
    for step in path:
        if isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        else:
            return default
    return default if tree is None else tree


def edit(tree: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy of `tree` with the value at `path` (None where it is missing) replaced by what `change` makes of it.

    Mappings that are missing on the way are made; lists are not. Raises IndexError for a list item that is not there.
    """
    if not path:
        return change(tree)
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(tree)
        items[step] = edit(items[step], rest, change)
        return items
    fields = dict(tree) if tree else {}
    fields[step] = edit(fields.get(step), rest, change)
    return fields


def put(tree: Any, path: Path, value: Any) -> Any:
    """A copy of `tree` with `value` at `path`."""
    return edit(tree, path, lambda _: value)
