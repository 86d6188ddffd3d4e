"""Strategic merge, as Kubernetes merges a patch into an object with a known Go type.

Mappings are merged field by field, and maps of structs key by key; null deletes a field. Lists are replaced, unless the
type sets a merge strategy: then mappings are merged by their merge key, and scalars are combined as a set. Directives
in the patch ($patch, $retainKeys, $setElementOrder/<list>, $deleteFromPrimitiveList/<list>) override this.

Reads    an object and a patch, JSON trees; the structs of `gotypes`. A field present on only one side needs no type.
Returns  a new object that shares every subtree which the patch does not change. The items of a merged list that
         the patch lists are in patch order, the others in server order. Raises MergeError where Kubernetes
         returns an error or panics.
Source   Kubernetes 1.36, apimachinery's strategicpatch. Where its result depends on the order of a Go map, items are
         deleted before others are added. It refuses to merge two values of a map of structs; no Go type behind a
         JobSet has such a map. Here they merge as server-side apply merges them.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.gotypes import ROOT, GoField, Struct, struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path, Tree

__all__ = ["MergeError", "strategic_merge"]
RETAIN: Final = "$retainKeys"
ORDER: Final = "$setElementOrder"
DELETE: Final = "$deleteFromPrimitiveList"
_GONE: Final[Any] = object()  # the result for a value that is not kept
PATCH: Final = "$patch"
_CONTAINERS: Final = frozenset({dict, list})


def strategic_merge(original: Tree | None, patch: Tree | None, into: str | Struct = ROOT) -> Tree:
    """Return `original` merged with `patch`; both are values of the Go type, or of a struct with its fields.

    >>> strategic_merge({"suspend": True, "replicatedJobs": [{"name": "a", "replicas": 2}]},
    ...                 {"suspend": None, "replicatedJobs": [{"name": "a", "groupName": "g"}]})
    {'replicatedJobs': [{'name': 'a', 'replicas': 2, 'groupName': 'g'}]}
    """
    for value in (original, patch):
        if value is not None and type(value) is not dict:
            raise MergeError(f"expected a mapping, found {type(value).__name__}")
    return _merge_maps(original or {}, patch or {}, struct(into) if isinstance(into, str) else into)


def _merge_maps(original: Tree, patch: Tree, into: Struct | None) -> Tree:
    """Merge two mappings; `into` is their type, None if it is not a struct."""
    if PATCH in patch:
        return _directed(patch)
    merged, rest = dict(original), patch
    if "$" in "".join(patch):  # a directive, or a key of an unknown field
        rest = dict(patch)
        _retain_keys(merged, rest)
        _set_orders(merged, rest, into)
        rest = dict(sorted(rest.items(), key=lambda field: not field[0].startswith(DELETE)))
    key = ""
    try:
        for key, value in rest.items():
            if key.startswith(DELETE):
                _merge_field(merged, _list_name(key, DELETE) or key, value, into, deleting=True)
            else:
                _merge_field(merged, key, value, into)
    except MergeError as error:
        error.path = (key, *error.path)
        raise
    return merged


def _directed(patch: Tree) -> Tree:
    """Return the result of a patch with a directive for its mapping. A replacement keeps its nulls."""
    directive = patch[PATCH]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != PATCH}
    if directive == "delete":
        return {}
    raise MergeError(f"{PATCH}: {directive!r} is not a valid directive for a mapping")


def _merge_field(merged: Tree, name: str, value: Any, into: Struct | None, *, deleting: bool = False) -> None:
    """Merge one field of the patch into `merged`, in place; `deleting` if `value` lists the items to delete."""
    if value is None:
        merged.pop(name, None)
        return
    present: Any = merged.get(name)
    if type(present) is not type(value):
        kept = _GONE if deleting else _without_directives(value)
        if kept is not _GONE:
            merged[name] = kept
        elif not deleting:
            merged.pop(name, None)
    elif type(value) is dict:
        field = _field(into, name)
        merged[name] = _merge_maps(present, value, _inner_struct(into, field) if field.kind != "slice" else None)
    elif type(value) is list:
        merged[name] = _merge_lists(present, value, into, name, deleting=deleting)
    else:
        merged[name] = value


def _merge_lists(
    original: list[Any], patch: list[Any], into: Struct | None, name: str, *, deleting: bool = False
) -> list[Any]:
    field = _list_field(into, name)
    if not (field.merges or deleting):
        return patch
    if not original and not patch:
        return original
    if element_type(original, patch) is dict:
        if not field.mergeKey:
            raise MergeError("a list of mappings without a merge key cannot be merged")
        return _merge_items(original, patch, field, _inner_struct(into, field))
    in_patch = Positions(patch)
    if deleting:
        return [item for item in original if in_patch.find(item) < 0]
    # A set of (type, value) pairs, in order: 1, 1.0 and true are different items.
    merged = [value for _, value in dict.fromkeys((type(item), item) for item in original + patch)]
    return arranged(merged, patch, original, field.mergeKey)


def _merge_items(original: list[Any], patch: list[Any], field: GoField, items: Struct | None) -> list[Any]:
    """Merge two lists of mappings by merge key. New items are added unchanged."""
    server, listed = _directed_items(original, patch, field.mergeKey)
    merged = list(server)
    at = Positions(key_of(item, field.mergeKey) for item in server)
    in_order, last = at.are_distinct and not any(PATCH in item for item in server), -1
    for item in listed:
        key = key_of(item, field.mergeKey)
        index = at.find(key)
        in_order, last = in_order and index > last and key is not None, index
        if index < 0:
            merged.append(item)
            at.add(key)
            continue
        try:
            merged[index] = _merge_maps(merged[index], item, items)
        except MergeError as error:
            error.path = (next(index for index, other in enumerate(patch) if other is item), *error.path)
            raise
    # Nearly all patches only change items, in the order in which the server has them.
    return merged if in_order else arranged(merged, listed, server, field.mergeKey)


def _directed_items(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Apply the patch's items with directives; return the remaining items of both lists."""
    server, listed, replace = original, [], False
    for item in patch:
        if PATCH not in item:
            listed.append(item)
        elif item[PATCH] == "delete":
            key = key_of(item, merge_key)
            server = [other for other in server if not is_same_key(other.get(merge_key, _GONE), key)]
        elif item[PATCH] == "replace":
            replace = True
        else:
            raise MergeError(f"{PATCH}: {item[PATCH]!r} is not a valid directive for a list item")
    return (listed, []) if replace else (server, listed)


def _retain_keys(merged: Tree, patch: Tree) -> None:
    """Apply $retainKeys and remove it from the patch: delete every field of `merged` that it does not list."""
    if RETAIN not in patch:
        return
    names = patch.pop(RETAIN)
    if type(names) is not list or any(type(name) in {dict, list} for name in names):
        raise MergeError(f"{RETAIN} must be a list of names")
    for key, value in patch.items():
        if value is not None and not key.startswith((DELETE, ORDER)) and key not in names:
            raise MergeError(f"the patch sets {key}, which its {RETAIN} does not list")
    for key in [key for key in merged if key not in names]:
        del merged[key]


def _set_orders(merged: Tree, patch: Tree, into: Struct | None) -> None:
    """Apply every $setElementOrder, and remove it and its list from the patch."""
    for key in [key for key in patch if key.startswith(ORDER)]:
        try:
            _set_order(merged, patch, into, _list_name(key, ORDER), patch.pop(key))
        except MergeError as error:
            error.path = (key, *error.path)
            raise


def _set_order(merged: Tree, patch: Tree, into: Struct | None, name: str, order: Any) -> None:
    server, items = merged.get(name, []), patch.get(name, [])
    if not type(order) is type(server) is type(items) is list:
        raise MergeError(f"{name} and its order must both be lists")
    field = _list_field(into, name)
    _check_order(items, order, field.mergeKey)
    if name not in merged and name not in patch:
        return
    if name not in patch:
        both = server
    elif name not in merged:
        both = _without_directives(items, keep_nulls=True)
    else:
        both = _merge_lists(server, items, into, name)
    element_type(server, items)
    merged[name] = arranged(both, order, server, field.mergeKey)
    patch.pop(name, None)


def _check_order(items: list[Any], order: list[Any], merge_key: str) -> None:
    """Reject an order that the patch's own items do not follow; an empty order is ignored.

    Items with a directive are not part of the order: deletions are skipped, others only until the order ends.
    """
    if not order:
        return
    pending = [item for item in items if not (merge_key and type(item) is dict and item.get(PATCH) == "delete")]
    at = 0
    for other in order:
        while at < len(pending) and type(pending[at]) is dict and PATCH in pending[at]:
            at += 1
        if at == len(pending):
            return
        at += is_same_key(key_of(pending[at], merge_key), key_of(other, merge_key))
    if at < len(pending):
        raise MergeError(f"the patch's items are not in the order of its {ORDER}")


def _without_directives(value: Any, *, keep_nulls: bool = False) -> Any:
    """Return a part of the patch that the object lacks, without nulls and mappings that contain $patch."""
    if type(value) is dict:
        if PATCH in value and (keep_nulls or value[PATCH] is not None):
            return _GONE
        fields = {
            key: kept
            for key, item in value.items()
            if (keep_nulls or item is not None)
            and (kept := _without_directives(item, keep_nulls=keep_nulls)) is not _GONE
        }
        return value if len(fields) == len(value) and all(fields[key] is value[key] for key in fields) else fields
    if type(value) is list:
        items = [kept for item in value if (kept := _without_directives(item, keep_nulls=keep_nulls)) is not _GONE]
        return value if len(items) == len(value) and all(map(operator.is_, items, value)) else items
    return value


def _list_name(key: str, directive: str) -> str:
    """Return the list name after the slash in a directive's key."""
    prefix, slash, name = key.partition("/")
    if prefix != directive or not slash:
        raise MergeError(f"the directive must have the form {directive}/<list>")
    return name


def _inner_struct(into: Struct | None, field: GoField) -> Struct | None:
    return into.inner_struct(field) if into is not None else None


def _field(into: Struct | None, name: str) -> GoField:
    if into is None:
        raise MergeError("values in a mapping with arbitrary keys cannot be merged")
    field = into.find(name)
    if field is None:
        raise MergeError(f"{into.name} has no field {name}, so two mappings or lists cannot be merged there")
    return field


def _list_field(into: Struct | None, name: str) -> GoField:
    field = _field(into, name)
    if field.kind not in {"slice", "ptr"}:
        raise MergeError(f"{into.name if into else ''}.{name} is not a list")
    return field


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
