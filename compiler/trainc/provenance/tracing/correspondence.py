"""The correspondence between two manifests, whose lists may differ; their difference, and the names of their fields.

Reads    two JSON trees and a path in the first.
Returns  the path in the second; the operations that turn the first into the second (RFC 6902); or the path as a text
         such as `replicatedJobs[node].volumeMounts[mountPath=/data]`, in which an item without a unique key is shown by
         its index. List items correspond by Kubernetes' merge key. Of several items with the same key, the
         first corresponds to the first, the second to the second. In lists of equal length, an item whose key changed
         corresponds to the item at the same index.
Source   Kubernetes 1.36 and JobSet 0.12: the merge keys of the lists in a JobSet; Trainer v2.3: runtimePatches;
         RFC 6902 (JSON Patch).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.records import NamedTuple
from trainc.kubernetes.trees import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree


PATCHES: Final = "manager"
"""The key of a TrainJob's patches."""
KEYS: Final = ("mountPath", "devicePath", "containerPort", "topologyKey", "ip", "uid", PATCHES, "name", "type")
"""The merge keys. `name` comes late: mounts, ports and owners can have a name, but are not merged by it."""
GONE: Final[Any] = object()
"""The value of a path that does not exist."""
_BARE: Final = re.compile(r"[^\[\]\"'*=\s]+")
"""A name that needs no quotes in brackets."""


def value_at(tree: Any, path: Path) -> Any:
    """Return the value at a path, or GONE."""
    for step in path:
        if tree.__class__ is dict:
            tree = tree.get(step, GONE)
        elif tree.__class__ is list and step.__class__ is int and 0 <= step < len(tree):
            tree = tree[step]
        else:
            return GONE
    return tree


def value_in(tree: Any, step: str | int) -> Any:
    """Return a field or an item, or GONE."""
    if tree.__class__ is dict:
        return tree.get(step, GONE)
    if tree.__class__ is list and step.__class__ is int and 0 <= step < len(tree):
        return tree[step]
    return GONE


def corresponding_path(tree: Any, path: Path, other: Any) -> Path | None:
    """Return the path in `other` of the value at `path` in `tree`; None if it has no corresponding value.

    >>> corresponding_path({"env": [{"name": "A", "value": "1"}]}, ("env", 0, "value"),
    ...             {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "3"}]})
    ('env', 1, 'value')
    """
    return Correspondence(tree, other).path(path)


class Correspondence:
    """The corresponding paths of many fields of one manifest in another; their enclosing fields are matched once."""

    def __init__(self, tree: Any, other: Any) -> None:
        self._known: dict[Path, Match] = {}
        self._root = Match(tree, (), other)

    def path(self, path: Path) -> Path | None:
        """Return the path in the other manifest of the value at a path; None if it has no corresponding value."""
        found = self.match(path)
        return None if found.there is GONE else found.path

    def match(self, path: Path) -> Match:
        """Return the match of the value at a path."""
        return self._container_match(path[:-1]).match_of(path[-1]) if path else self._root

    def differs(self, path: Path) -> bool:
        """Return whether the value at a path has another one in its place."""
        found = self.match(path)
        return bool(found.there != found.here)

    def _container_match(self, path: Path) -> Match:
        """Return the match of a container, which is found once."""
        found = self._known.get(path)
        if found is None:
            found = self.match(path)
            if len(self._known) >= Memory.MOST:
                self._known.clear()
            self._known[path] = found
        return found


class Match(NamedTuple):
    """A value and the corresponding one."""

    here: Any
    """The value, or GONE."""
    path: Path
    """The path of the corresponding value."""
    there: Any
    """The corresponding value, or GONE."""

    def match_of(self, step: str | int) -> Match:
        """Return the match of a field or an item."""
        here, path, there = self
        inner = value_in(here, step)
        if here is there:  # shared, as most subtrees of two runs of the stages
            return Match(inner, (*path, step), inner)
        found = same_step(here, step, there)
        return Match(inner, (), GONE) if found is None else Match(inner, (*path, found), value_in(there, found))


def same_step(here: Any, step: str | int, there: Any) -> str | int | None:
    """Return the key or the index in `there` of a field or an item of `here`."""
    if isinstance(step, str):
        return step
    return same_item(here, step, there) if isinstance(there, list) else None


def same_item(items: list[Any], index: int, others: list[Any]) -> int | None:
    """Return the index in `others` of an item of `items`."""
    here = _keys(items)
    key = here.of[index]
    if key is None:
        return index if index < len(others) else None
    if index < len(others) and len(here.indices[key]) == 1 and _key(others[index]) == key:  # nothing has moved
        return index
    there = _keys(others)
    same, earlier = there.indices.get(key, ()), here.earlier[index]
    if earlier < len(same):
        return same[earlier]
    renamed = len(items) == len(others) and there.of[index] not in here.indices
    return index if renamed else None


def same_items(items: list[Any], others: list[Any]) -> list[int | None]:
    """Return the index in `others` of each item of `items`."""
    if _keys(items).of == _keys(others).of:
        return list(range(len(items)))
    return [same_item(items, index, others) for index in range(len(items))]


def has_item(items: list[Any], item: Any) -> bool:
    """Return whether a list has an item with the merge key of `item`; without a key, an equal one."""
    key = _key(item)
    return item in items if key is None else any(_key(each) == key for each in items)


def leaves(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all scalars and of all empty mappings and lists."""
    if not tree or not isinstance(tree, (dict, list)):
        yield path
        return
    for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, (*path, step))


class _Keys(NamedTuple):
    """The merge keys of a list's items."""

    items: list[Any]
    """The list, which is kept alive: its keys are found by its identity."""
    of: list[tuple[str, Any] | None]
    """The key of each item."""
    indices: dict[tuple[str, Any] | None, list[int]]
    """The indices of the items with a key."""
    earlier: list[int]
    """The number of items with the same key before each item."""


_KNOWN: Final = Memory()


def _keys(items: list[Any]) -> _Keys:
    """Return the keys of a list, which are computed once: reports look up each of its items."""
    found: _Keys | None = _KNOWN.get(id(items))
    if found is None:
        of = list(map(_key, items))
        indices: dict[tuple[str, Any] | None, list[int]] = {}
        earlier = []
        for index, key in enumerate(of):
            same = indices.setdefault(key, [])
            earlier.append(len(same))
            same.append(index)
        found = _KNOWN.keep(id(items), _Keys(items, of, indices, earlier))
    return found


def _key(item: Any) -> tuple[str, Any] | None:
    """Return the merge key of an item and its value; a value that is a list or a mapping as text."""
    if isinstance(item, dict):
        for key in KEYS:
            if key in item:
                value = item[key]
                return key, repr(value) if isinstance(value, (dict, list)) else value
    return None


class TracedOperation(NamedTuple):
    """One operation; a removal does not use `value`."""

    op: Literal["add", "remove", "replace"]
    path: Path
    value: Any = None

    @property
    def json(self) -> Tree:
        """The operation in the JSON form of RFC 6902.

        >>> TracedOperation("add", ("labels", "acme.io/team", 0), "a").json
        {'op': 'add', 'path': '/labels/acme.io~1team/0', 'value': 'a'}
        """
        return {"op": self.op, "path": pointer(self.path)} | ({} if self.op == "remove" else {"value": self.value})


def pointer(path: Path) -> str:
    """Return a path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def patch(before: Any, after: Any, path: Path = ()) -> Iterator[TracedOperation]:
    """Yield the operations that turn `before` into `after`.

    >>> [operation.json for operation in patch({"a": 1, "b": [1]}, {"b": [1, 2]})]
    [{'op': 'remove', 'path': '/a'}, {'op': 'add', 'path': '/b/1', 'value': 2}]
    """
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from (TracedOperation("remove", (*path, key)) for key in before if key not in after)
        for key, value in after.items():
            if key in before:
                yield from patch(before[key], value, (*path, key))
            else:
                yield TracedOperation("add", (*path, key), value)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(before, after, path)
    elif type(before) is not type(after) or before != after:
        yield TracedOperation("replace", path, after)


def _lists(before: list[Any], after: list[Any], path: Path) -> Iterator[TracedOperation]:
    there = [same_item(before, index, after) for index in range(len(before))]
    kept = {index: item for index, item in zip(there, before, strict=True) if index is not None}
    if [index for index in there if index is not None] != sorted(kept):
        yield TracedOperation("replace", path, after)
        return
    yield from (
        TracedOperation("remove", (*path, index)) for index in reversed(range(len(before))) if there[index] is None
    )
    for index, item in enumerate(after):
        if index in kept:
            yield from patch(kept[index], item, (*path, index))
        else:
            yield TracedOperation("add", (*path, index), item)


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
