"""Experiments: the objects of a TrainJob as compiled with and without a part of the input.

Reads    the objects of both compilations.
Returns  whether a change has disappeared without the part, so that the part causes the change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.diagnostics import ObjectId
from trainc.emit.order import objects_of_a_job
from trainc.provenance.tracing.correspondence import GONE, Correspondence, has_item

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.review.changes import Change


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
