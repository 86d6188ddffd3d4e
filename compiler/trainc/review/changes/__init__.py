"""Changes: the differences of two manifests, as they are shown, and undone.

Reads    a tree before and after; a subtree that both share is skipped.
Returns  the smallest parts that differ. List items are matched and named by their merge keys
         (`tracing.correspondence`): `env[PET_NNODES].value`. If only the order of a list's items changes, the
         change is the new order. Where the schema of a manifest has a quantity, equal amounts in different notations do
         not differ: `requests.cpu` of a container is one, an annotation of that name is none. `shown` masks the values
         of a change, and an `Experiment` tells whether a change disappears without a part of the input.
"""

from __future__ import annotations

import marshal
import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.base.kinds import JOBSET, RUNTIMES, TRAINJOB
from trainc.base.releases import RELEASES
from trainc.diagnostics import ObjectId
from trainc.emit import objects_of_a_job
from trainc.kubernetes.quantity import Quantity, QuantityError
from trainc.kubernetes.structural import load
from trainc.masking.masked_values import CHANGED, MASK, masked, masked_at, secrecy_at
from trainc.provenance.tracing.correspondence import GONE, Correspondence, has_item, item_of, same_items, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.structural import StructuralSchema
    from trainc.kubernetes.trees import Path, Tree


Kind = Literal["added", "removed", "changed", "moved"]

_WITHOUT_REFERENCES: Final = 2
"""The version of marshal's format in which equal values have the same bytes."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_/-]+")
"""Mapping keys that need no quotes."""
TRAINER: Final = "trainer.kubeflow.org"
DIALECTS: Final = {
    **{(TRAINER, row.kind): RELEASES[-1].crds for row in (TRAINJOB, *RUNTIMES)},
    ("jobset.x-k8s.io", JOBSET.kind): RELEASES[-1].jobset,
    ("scheduling.x-k8s.io", "PodGroup"): "scheduler-plugins-0.35",
    ("scheduling.volcano.sh", "PodGroup"): "volcano",
}
"""The folder of the newest schema, by API group and kind; older ones have no other quantities."""


class Change(NamedTuple):
    """One difference."""

    kind: Kind
    field: str
    """The field, with list items by name: `spec.replicatedJobs[node].replicas`."""
    old_path: Path
    """The path in the old tree; for an added field, the path that it would have had."""
    new_path: Path
    """The path in the new tree; for a removed field, the path that it would have."""
    old: Any = GONE
    """The value before; for a moved list, the item names in their order."""
    new: Any = GONE
    """The value after; for a moved list, the item names in their order."""

    @property
    def path(self) -> Path:
        """The path in the new tree, or in the old one for a removed field."""
        return self.old_path if self.kind == "removed" else self.new_path


class _At(NamedTuple):
    """A place in both trees."""

    field: str = ""
    old: Path = ()
    new: Path = ()
    schema: StructuralSchema | None = None
    """The schema of the whole manifest; None if it has none."""

    def key(self, key: str) -> _At:
        """Return the place of a key in this mapping."""
        name = key if _PLAIN.fullmatch(key) else f'["{key}"]'
        joint = "." if self.field and not name.startswith("[") else ""
        return _At(f"{self.field}{joint}{name}", (*self.old, key), (*self.new, key), self.schema)

    def item(self, name: str, old: int, new: int) -> _At:
        """Return the place of an item of this list."""
        return _At(f"{self.field}[{name}]", (*self.old, old), (*self.new, new), self.schema)


def changes(old: Any, new: Any) -> list[Change]:
    """Return all differences, sorted by field name.

    >>> [(c.kind, c.field, c.new) for c in changes(
    ...     {"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "B"}, {"name": "A", "value": "2"}]})]
    [('changed', 'env[A].value', '2'), ('added', 'env[B]', {'name': 'B'})]
    """
    return list(_changes(old, new, _At(schema=schema_of(new))))


def _changes(old: Any, new: Any, here: _At) -> Iterator[Change]:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        differing = (
            key for key in old.keys() | new.keys() if not _are_identical(old.get(key, GONE), new.get(key, GONE))
        )
        for key in sorted(differing):
            yield from _entries(old.get(key, GONE), new.get(key, GONE), here.key(key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, here)
    elif not _are_equal(old, new, here):
        yield Change("changed", here.field, here.old, here.new, old, new)


def _are_identical(old: Any, new: Any) -> bool:
    """Return whether two values are the same. To == alone, 1 and True are equal, too."""
    return old is new or (
        old == new and marshal.dumps(old, _WITHOUT_REFERENCES) == marshal.dumps(new, _WITHOUT_REFERENCES)
    )


def _entries(old: Any, new: Any, here: _At) -> Iterator[Change]:
    """Yield the differences of a field that only one of two mappings may have."""
    if old is GONE:
        yield Change("added", here.field, here.old, here.new, new=new)
    elif new is GONE:
        yield Change("removed", here.field, here.old, here.new, old=old)
    else:
        yield from _changes(old, new, here)


def _lists(old: list[Any], new: list[Any], here: _At) -> Iterator[Change]:
    if not all(isinstance(item, dict) for item in (*old, *new)):
        if len(old) == len(new):
            for index, (before, after) in enumerate(zip(old, new, strict=True)):
                yield from _changes(before, after, here.item(str(index), index, index))
        else:
            yield Change("changed", here.field, here.old, here.new, old, new)
        return
    matches = _aligned_indices(old, new) if _lack_names(old, new) else same_items(old, new)
    for index, to in enumerate(matches):
        if to is None:
            at = here.item(item_of(old, index), index, min(index, len(new)))
            yield Change("removed", at.field, at.old, at.new, old=old[index])
        elif not _are_identical(old[index], new[to]):
            yield from _changes(old[index], new[to], here.item(item_of(new, to), index, to))
    matched = set(matches)
    for index, item in enumerate(new):
        if index not in matched:
            at = here.item(item_of(new, index), min(index, len(old)), index)
            yield Change("added", at.field, at.old, at.new, new=item)
    kept = [index for index in matches if index is not None]
    if kept != sorted(kept):
        names = [[item_of(items, index) for index in range(len(items))] for items in (old, new)]
        yield Change("moved", here.field, here.old, here.new, *names)


def _lack_names(old: list[Any], new: list[Any]) -> bool:
    """Return whether the items of two lists of different lengths have no merge key, such as patches."""
    return len(old) != len(new) and all(items and item_of(items, 0) == "0" for items in (old, new))


def _aligned_indices(old: list[Any], new: list[Any]) -> list[int | None]:
    """Return the index in the new list of each old item: equal items at both ends are the same, the others in order.

    >>> _aligned_indices([{"a": 1}, {"a": 2}, {"a": 3}], [{"a": 1}, {"a": 3}])
    [0, None, 1]
    """
    shorter = min(len(old), len(new))
    begin = next((index for index in range(shorter) if not _are_identical(old[index], new[index])), shorter)
    rest = shorter - begin
    end = next((back for back in range(rest) if not _are_identical(old[-1 - back], new[-1 - back])), rest)
    between = [index if index < len(new) - end else None for index in range(begin, len(old) - end)]
    return [*range(begin), *between, *range(len(new) - end, len(new))]


def _are_equal(old: Any, new: Any, here: _At) -> bool:
    """Whether two values are equal to Kubernetes: quantities are compared by amount."""
    if type(old) is type(new) and old == new:
        return True
    if here.schema is None or not here.schema.is_quantity(here.new):
        return False
    try:
        return Quantity.from_json(old) == Quantity.from_json(new)
    except (QuantityError, TypeError):
        return False


def touches(one: Path, other: Path) -> bool:
    """Whether two paths are the same, or one is a prefix of the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def undone(tree: Any, change: Change) -> Any:
    """Return a copy of the new tree with one change undone.

    >>> old, new = {"a": [{"name": "x"}, {"name": "y"}]}, {"a": [{"name": "y"}], "b": 1}
    >>> removed, added = changes(old, new)
    >>> undone(undone(new, removed), added) == old
    True
    """
    parent, step = change.new_path[:-1], change.new_path[-1]
    container = value_at(tree, parent)
    if isinstance(container, list):
        edited: Any = list(container)
        if change.kind == "removed":
            edited.insert(min(int(step), len(edited)), change.old)
        elif change.kind == "added":
            del edited[int(step)]
        else:
            edited[int(step)] = change.old
    else:
        edited = {key: value for key, value in container.items() if key != step}
        if change.kind == "moved":
            edited[step] = _in_order(container[step], change.old)
        elif change.kind != "added":
            edited[step] = change.old
    return _with_value(tree, parent, edited)


def _in_order(items: list[Any], names: list[str]) -> list[Any]:
    """Return the items in the order of some names; items with other names come last."""
    by_name = {item_of(items, index): item for index, item in enumerate(items)}
    first = {name: by_name[name] for name in names if name in by_name}
    return [*first.values(), *(item for name, item in by_name.items() if name not in first)]


def _with_value(tree: Any, path: Path, value: Any) -> Any:
    from trainc.kubernetes.trees import put

    return put(tree, path, value)


def schema_of(tree: Any) -> StructuralSchema | None:
    """Return the schema of a manifest; None for another value, and for a kind without a schema."""
    if not isinstance(tree, dict):
        return None
    kind = str(tree.get("kind"))
    dialect = DIALECTS.get((str(tree.get("apiVersion")).partition("/")[0], kind))
    return None if dialect is None else load(kind, dialect)


def shown(change: Change, old: Any, new: Any) -> Change:
    """Return a change of the tree `old` to `new` without secrets. A secret that changes is marked."""
    if change.kind == "moved":
        return change
    before, after = _shown(change.old, old, change.old_path), _shown(change.new, new, change.new_path)
    if before == after and isinstance(after, str):
        after = after.replace(MASK, CHANGED)
    return change._replace(old=before, new=after)


def _shown(value: Any, tree: Any, path: Path) -> Any:
    """Return a value as it is shown at its path in a tree; one that the tree has not, by its context."""
    if value is GONE:
        return value
    if value_at(tree, path) == value:
        return masked_at(tree, path)
    return masked(value, secret=secrecy_at(tree, path))


class Experiment:
    """The objects of a TrainJob as compiled with and without a part of the input."""

    def __init__(self, made: tuple[Tree, ...], without: tuple[Tree, ...]) -> None:
        self.made = objects_of_a_job(made)
        self.without = without
        self._compared: dict[int, Correspondence] = {}

    def undoes(self, index: int, change: Change) -> bool:
        """Whether a change of the object with an index has disappeared without the edit."""
        compared = self._comparison(index)
        around = compared.match(change.new_path[:-1]).there
        if around is GONE:  # without the edit, the object has other jobs or containers: this shows nothing
            return False
        if change.kind == "removed":  # the field itself has no corresponding value, its parent may have one
            return _has_value(around, change.new_path[-1], change.old)
        found = compared.match(change.new_path)
        return bool(found.there != found.here if change.kind == "moved" else found.there == change.old)

    def affects(self, index: int, change: Change) -> bool:
        """Whether the field of a change has another value without the part."""
        compared, step = self._comparison(index), change.new_path[-1]
        if change.kind == "removed" and isinstance(step, int):  # no item of the list is in its place
            return _has_value(compared.match(change.new_path[:-1]).there, step, change.old)
        return compared.differs(change.new_path)

    def _comparison(self, index: int) -> Correspondence:
        """Return the corresponding values of an object without the edit; it may not exist then."""
        if index not in self._compared:
            id = ObjectId.from_manifest(self.made[index])
            without = next((tree for tree in self.without if is_object(tree, id)), GONE)
            self._compared[index] = Correspondence(self.made[index], without)
        return self._compared[index]


def _has_value(tree: Any, step: str | int, value: Any) -> bool:
    """Whether a mapping has a value at a key, or a list has an item with its merge key."""
    if isinstance(tree, dict):
        return bool(tree.get(str(step), GONE) == value)
    return isinstance(tree, list) and has_item(tree, value)


def is_object(tree: Tree, id: ObjectId) -> bool:
    """Whether a manifest has the kind and name of an object."""
    found = ObjectId.from_manifest(tree)
    return (found.kind, found.name) == (id.kind, id.name)
