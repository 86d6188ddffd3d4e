"""Strategic merge patches: their directives, and the sources of the fields of a merged object.

Reads    a patch, an object before and after the merge, and the object's type.
Returns  errors for directives that do not exist; the field of the patch that wrote a field, or the field's path before.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Place
from trainc.edits.patching.patch_faults import PatchError
from trainc.kubernetes.gotypes import GoField
from trainc.kubernetes.merge import DELETE, ORDER, PATCH, RETAIN

if TYPE_CHECKING:
    from trainc.diagnostics import Document
    from trainc.kubernetes.gotypes import Struct
    from trainc.kubernetes.trees import Path, Tree

DIRECTIVES: Final = (PATCH, RETAIN, ORDER, DELETE)
VALUES: Final = ("replace", "delete")
_GONE: Final[Any] = object()


def check(patch: Tree) -> None:
    """Raise PatchError for a directive or a value of `$patch` that does not exist."""
    if patch.get(PATCH) == "delete":
        raise PatchError("a patch cannot delete an object", "exclude its file from the paths", (PATCH,))
    seen: set[int] = set()
    waiting: list[tuple[Any, Path]] = [(patch, ())]
    while waiting:
        value, path = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str) and key.startswith("$"):
                _check_directive(key, item, (*path, key))
            if isinstance(item, dict | list):
                waiting.append((item, (*path, key)))


def _check_directive(key: str, value: Any, path: Path) -> None:
    from trainc.base.fixes import Fix, replaced_name
    from trainc.base.suggestions import nearest_name

    name = key.partition("/")[0]
    if name not in DIRECTIVES or (name in (ORDER, DELETE)) != ("/" in key):
        near = nearest_name(name, DIRECTIVES)
        form = f"{near}/<list>" if near in (ORDER, DELETE) else near
        unknown = f"did you mean {form}?" if near else f"use one of {', '.join(DIRECTIVES)}"
        raise PatchError(f"unknown directive {key}", unknown, path, key=True)
    if name == PATCH and value not in VALUES:
        help: str | Fix = f"use one of {', '.join(VALUES)}"
        help = (replaced_name(path, value, VALUES) if isinstance(value, str) else None) or help
        if value == "merge":
            help = "remove it: a patch is merged without a directive"
        raise PatchError(f"{PATCH} must be replace or delete, not {value}", help, path)


def source(before: Tree, after: Tree, patch: Document, into: Struct, path: Path) -> Place | Path:
    """Return the place in the patch that wrote a field of the merged object, or the field's path before the merge."""
    walk = _Walk(before, after, patch.value, into)
    for number, step in enumerate(path):
        rest = path[number + 1 :]
        if not walk.follow(step):
            # A field that the patch lacks is the object's, or a missing one in a mapping that the patch added.
            return walk.old + rest if walk.old is not None else Place(patch, (*walk.new, step, *rest))
        if not isinstance(walk.patch, dict | list):
            return Place(patch, walk.new + rest)
    # A mapping or a list of both sides is the object's; the patch only changes parts of it.
    return Place(patch, walk.new) if walk.old is None else walk.old


class _Walk:
    """A path followed through the object before, the object after and the patch, whose lists may have other items."""

    def __init__(self, before: Tree, after: Tree, patch: Tree, into: Struct) -> None:
        self.before: Any = before
        self.after: Any = after
        self.patch: Any = patch
        self.old: Path | None = ()
        """The path in the object before; None if it has no such field."""
        self.new: Path = ()
        """The path in the patch."""
        self.into: Struct | None = into
        self.list: GoField | None = None

    def follow(self, step: str | int) -> bool:
        """Follow one step of the path; return whether the patch has the field."""
        old, new = self._item(step) if isinstance(step, int) else self._field(step)
        self.after = _value_at(self.after, step)
        self.before = _value_at(self.before, old)
        patch = _value_at(self.patch, new)
        if self.old is not None:
            exists = self.before is not _GONE or patch is _GONE
            self.old = (*self.old, step if old is None else old) if exists else None
        if patch is _GONE or new is None:
            return False
        self.patch, self.new = patch, (*self.new, new)
        return True

    def _field(self, name: str) -> tuple[str, str]:
        """Return the names of a field in the object before and in the patch, which are the same."""
        self.list = self.into.find(name) if self.into is not None else None
        self.into = self.into.inner_struct(self.list) if self.into is not None and self.list is not None else None
        if isinstance(self.patch, dict) and self.patch.get(PATCH) == "replace":
            self._replaced()
        elif name not in self.patch and any(f"{directive}/{name}" in self.patch for directive in (ORDER, DELETE)):
            # A directive without a list only changes the order, or removes items.
            self.patch = self.patch | {name: []}
            self.list = (self.list or GoField("slice"))._replace(strategy="merge")
        return name, name

    def _item(self, index: int) -> tuple[int | None, int | None]:
        """Return the indices of a list item in the object before and in the patch; None if it is not there."""
        merges = self.list is not None and self.list.merges
        key = self.list.mergeKey if self.list is not None else ""
        if not merges or any(isinstance(item, dict) and item.get(PATCH) == "replace" for item in self.patch):
            self._replaced()
        item, self.list = _value_at(self.after, index), None
        if not isinstance(self.patch, list):  # only a schema rejects the patch of a list by a mapping
            return index, None
        if not isinstance(self.before, list):
            new = _index(self.patch, item, key, index)
            kept = [number for number, each in enumerate(self.patch) if not _is_directive(each)]
            return None, kept[index] if new is None and index < len(kept) else new
        old = _index(self.before, item, key, index)
        if merges and not key and old is not None:
            return old, None  # a scalar of a set, which was there before
        return old, _index(self.patch, item, key, index)

    def _replaced(self) -> None:
        """Forget the object before: the patch replaces the mapping or list."""
        self.before, self.old = _GONE, None


def _value_at(tree: Any, step: str | int | None) -> Any:
    """Return the value at one step, or _GONE."""
    if isinstance(tree, dict):
        return tree.get(step, _GONE) if isinstance(step, str) else _GONE
    return tree[step] if isinstance(tree, list) and isinstance(step, int) and step < len(tree) else _GONE


def _index(items: list[Any], item: Any, key: str, at: int) -> int | None:
    """Return the index of an item in another list: of the same object, an equal one, or one with the same merge key.

    Of several equal items, it is the one at the same index, or else the first one.
    """
    order = [at, *range(len(items))] if at < len(items) else range(len(items))
    for same in (operator.is_, _are_equal):
        for index in order:
            if same(items[index], item):
                return index
    if not (key and isinstance(item, dict) and key in item):
        return None
    for index, other in enumerate(items):
        if isinstance(other, dict) and not _is_directive(other) and _are_equal(other.get(key, _GONE), item[key]):
            return index
    return None


def _is_directive(item: Any) -> bool:
    return isinstance(item, dict) and PATCH in item


def _are_equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
