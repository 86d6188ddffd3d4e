"""Patches: the difference between two manifests as operations of RFC 6902.

Reads    a tree before and after; a subtree that both share is skipped.
Returns  operations that turn the first tree into the second, when applied in order. List items correspond as in
         `correspondence`; a list whose items change their order is replaced.
Source   RFC 6902 (JSON Patch), RFC 6901 (JSON Pointer).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from trainc.base.records import NamedTuple
from trainc.provenance.tracing.correspondence import same_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree


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
