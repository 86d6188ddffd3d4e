"""The number of values in a tree and its depth, by arithmetic.

A part that aliases repeat counts each time that it occurs, and is visited once.
"""

from __future__ import annotations

from typing import Any, Final

DEEPEST: Final = 100
"""The maximum nesting depth of lists and mappings in a patched object, as in a manifest."""


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
