"""The number of values in a tree, its depth and the length of its texts, by arithmetic.

A part that aliases repeat counts each time that it occurs, and is visited once.
"""

from __future__ import annotations

from typing import Any, Final

DEEPEST: Final = 100
"""The maximum nesting depth of lists and mappings in a patched object, as in a manifest."""


def repeated(text: str, tree: Any) -> int:
    """Return the number of characters by which the texts in the value of a document exceed its own text.

    Only aliases repeat texts.

    >>> repeated("[&a abcdefgh, *a, *a, *a]", ["abcdefgh"] * 4)
    7
    """
    return max(0, _length(tree, {}) - len(text)) if "&" in text and "*" in text else 0


def _length(tree: Any, known: dict[int, int]) -> int:
    """Return the length of all keys and strings in a tree; each shared part is visited once."""
    if isinstance(tree, str):
        return len(tree)
    if not isinstance(tree, dict | list):
        return 0
    found = known.get(id(tree))
    if found is None:
        keys = sum(map(len, tree)) if isinstance(tree, dict) else 0
        values = tree.values() if isinstance(tree, dict) else tree
        found = known[id(tree)] = keys + sum(_length(value, known) for value in values)
    return found


def measured(tree: Any, known: dict[int, tuple[int, int]] | None = None) -> tuple[int, int]:
    """Return the number of mappings, lists and scalars in a tree, and its depth; each shared part is visited once.

    known    the results for earlier parts, by identity; the caller keeps them alive

    >>> part = [1, 2]
    >>> measured({"a": part, "b": part})
    (7, 2)
    """
    if not isinstance(tree, dict | list):
        return 1, 0
    known = {} if known is None else known
    found = known.get(id(tree))
    if found is None:
        inside = [measured(value, known) for value in (tree.values() if isinstance(tree, dict) else tree)]
        size, depth = 1 + sum(size for size, _ in inside), 1 + max((depth for _, depth in inside), default=0)
        found = known[id(tree)] = size, depth
    return found
