"""The order of a merged list, and the identity of its items.

Reads    the lists of a strategic merge: the server's, the patch's and the merged one.
Returns  the merged items in order: those that the patch lists in patch order, the others in server order.
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
    """A patch that cannot be merged. `path` is the path of the error in the patch."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: Path = ()


def key_of(item: Any, merge_key: str) -> Any:
    """Return the identity of an item: the value of its merge key, or the item itself if there is no merge key."""
    if not merge_key:
        return item
    if type(item) is not dict:
        raise MergeError(f"an item of a list merged by {merge_key} is not a mapping")
    if merge_key not in item:
        raise MergeError(f"an item of a list merged by {merge_key} has no {merge_key}")
    return item[merge_key]


def is_same_key(one: Any, other: Any) -> bool:
    """Whether two keys are equal, by type and value: 80, 80.0, "80" and true all differ."""
    if type(one) is not type(other):
        return False
    if type(one) in _CONTAINERS:
        raise MergeError("item keys that are mappings or lists cannot be compared")
    return bool(one == other)


class Positions:
    """The first position of each key in a list."""

    def __init__(self, keys: Iterable[Any] = ()) -> None:
        self._first: dict[tuple[type, Any], int] = {}
        self._containers: set[type] = set()
        self._size = 0
        for key in keys:
            self.add(key)

    def add(self, key: Any) -> None:
        """Append a key."""
        if type(key) in _CONTAINERS:
            self._containers.add(type(key))
        else:
            self._first.setdefault((type(key), key), self._size)
        self._size += 1

    @property
    def are_distinct(self) -> bool:
        """Whether all keys are scalars, and differ."""
        return len(self._first) == self._size

    def find(self, key: Any) -> int:
        """Return the key's first position, or -1. Raises MergeError if that compares two mappings or lists."""
        if type(key) in self._containers:
            is_same_key(key, key)
        return -1 if type(key) in _CONTAINERS else self._first.get((type(key), key), -1)


def element_type(*lists: list[Any]) -> type:
    """Return the common type of all items. Raises MergeError for lists, nulls, mixed types and empty lists."""
    types = {type(item) for items in lists for item in items}
    if not types:
        raise MergeError("a list without items cannot be ordered")
    if len(types) > 1 or types & {list, type(None)}:
        raise MergeError("the items of a merged list must all have the same type, other than null and list")
    return types.pop()


def arranged(merged: list[Any], listed: list[Any], server: list[Any], merge_key: str) -> list[Any]:
    """Return the merged items in order.

    Items in `listed`, the patch's order, keep that order; the others keep the order of `server`. Another item precedes
    the next listed item only if both are in `server`, and it precedes that item there.
    """
    if not merge_key and any(type(item) in _CONTAINERS for items in (merged, listed, server) for item in items):
        raise MergeError("a list of mappings or lists without a merge key cannot be ordered")
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
    """Sort the items by position; items marked for deletion, which only the server can have, come last."""
    deleted = [item for item in items if type(item) is dict and item.get(PATCH) == "delete"]
    kept = [item for item in items if type(item) is not dict or item.get(PATCH) != "delete"]
    if len(kept) > 1:
        ranks = [at.find(key_of(item, merge_key)) for item in kept]
        kept = [kept[index] for index in _order(ranks)]
    return kept + deleted


def _order(ranks: list[int]) -> list[int]:
    """Return the indexes of Go's stable sort by rank, whose comparison treats a rank of -1 on either side as smaller.

    An item without a rank moves before all earlier items, and an item with a rank moves before those without. Only an
    empty $setElementOrder leaves items without a rank; Go then orders more than 20 items differently.
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
