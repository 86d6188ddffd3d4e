"""The order of a merged list, and what makes two of its items the same.

Reads    the lists of a strategic merge: the server's, the patch's, and what became of them.
Returns  them put in order: items that the patch lists stand as it lists them, the others as they stood.
Source   Kubernetes 1.36, apimachinery's strategicpatch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path

PATCH: Final = "$patch"

_CONTAINERS: Final = frozenset({dict, list})


class MergeError(Exception):
    """A patch that cannot be merged. `path` leads to the place in the patch."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: Path = ()


def key_of(item: Any, merge_key: str) -> Any:
    """What tells an item from others: the value of its merge key, or itself where there is none."""
    if not merge_key:
        return item
    if type(item) is not dict:
        raise MergeError(f"an item of a list merged by {merge_key} is no mapping")
    if merge_key not in item:
        raise MergeError(f"an item of a list merged by {merge_key} has no {merge_key}")
    return item[merge_key]


def same(one: Any, other: Any) -> bool:
    """Whether two keys are equal, by type and value: 80, 80.0, "80" and true all differ."""
    if type(one) is not type(other):
        return False
    if type(one) in _CONTAINERS:
        raise MergeError("a mapping or a list cannot be compared with another, as the key of an item")
    return bool(one == other)


class Positions:
    """Where each key stands first in a list."""

    def __init__(self, keys: Iterable[Any] = ()) -> None:
        self._first: dict[tuple[type, Any], int] = {}
        self._containers: set[type] = set()
        self._size = 0
        for key in keys:
            self.add(key)

    def add(self, key: Any) -> None:
        """Put a key behind the others."""
        if type(key) in _CONTAINERS:
            self._containers.add(type(key))
        else:
            self._first.setdefault((type(key), key), self._size)
        self._size += 1

    def find(self, key: Any) -> int:
        """Where the key stands first; -1 for nowhere. Raises MergeError where that compares two mappings or lists."""
        if type(key) in self._containers:
            same(key, key)
        return -1 if type(key) in _CONTAINERS else self._first.get((type(key), key), -1)


def element_type(*lists: list[Any]) -> type:
    """The one type of all items. Lists of lists, lists with nulls, and lists without any item have none."""
    types = {type(item) for items in lists for item in items}
    if not types:
        raise MergeError("an order for a list without items")
    if len(types) > 1 or types & {list, type(None)}:
        raise MergeError("the items of a merged list are not all of one type, which is neither null nor list")
    return types.pop()


def arranged(merged: list[Any], listed: list[Any], server: list[Any], merge_key: str) -> list[Any]:
    """The merged items, in order.

    Those in `listed`, the patch's order, stand in that order; the others in that of `server`. One of the others goes
    before the next listed item only where both were in `server`, and it stood before it there.
    """
    if not merge_key and any(type(item) in _CONTAINERS for items in (merged, listed, server) for item in items):
        raise MergeError("an order for a list whose items have no merge key")
    listed_at = Positions(key_of(item, merge_key) for item in listed)
    server_at = Positions(key_of(item, merge_key) for item in server)
    patched: list[Any] = []
    others: list[Any] = []
    for item in merged:
        (others if listed_at.find(key_of(item, merge_key)) < 0 else patched).append(item)
    return _interleaved(
        _sorted(others, server_at, merge_key), _sorted(patched, listed_at, merge_key), server_at, merge_key
    )


def _sorted(items: list[Any], at: Positions, merge_key: str) -> list[Any]:
    """The items by position; those that are to be deleted, which only the server can have, go last."""
    deleted = [item for item in items if type(item) is dict and item.get(PATCH) == "delete"]
    kept = [item for item in items if type(item) is not dict or item.get(PATCH) != "delete"]
    if len(kept) > 1:
        ranks = [at.find(key_of(item, merge_key)) for item in kept]
        kept = [kept[index] for index in _order(ranks)]
    return kept + deleted


def _order(ranks: list[int]) -> list[int]:
    """The indexes of a stable sort by rank, as Go's comes out with a comparison that calls -1 smaller than all.

    An item without a rank goes before everything that was there, and one with a rank goes before those without. Only an
    empty $setElementOrder leaves items without a rank; of more than 20 items Go then makes another order.
    """
    order = list(range(len(ranks)))
    if -1 not in ranks:
        return sorted(order, key=ranks.__getitem__)
    for end in order[1:]:
        at = end
        while at and (min(ranks[order[at]], ranks[order[at - 1]]) < 0 or ranks[order[at]] < ranks[order[at - 1]]):
            order[at - 1], order[at] = order[at], order[at - 1]
            at -= 1
    return order


def _interleaved(others: list[Any], patched: list[Any], server_at: Positions, merge_key: str) -> list[Any]:
    result: list[Any] = []
    i = j = 0
    while i < len(others) and j < len(patched):
        other = server_at.find(key_of(others[i], merge_key))
        patch = server_at.find(key_of(patched[j], merge_key))
        if 0 <= other < patch:
            result.append(others[i])
            i += 1
        else:
            result.append(patched[j])
            j += 1
    return result + others[i:] + patched[j:]
