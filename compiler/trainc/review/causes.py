"""Causes: for a change of a compiled object, the line of the input whose change it comes from.

Reads    the plans of one TrainJob before and after.
Returns  the edit of the TrainJob, its runtime or trainc.yaml behind each change. Where only one thing was edited, that
         is the cause. Of several it is found by experiment: an edit is taken back, and the stages run again; what is as
         it was then, came of that edit. Nothing is known here of what a stage reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.diagnostics import ObjectId, Path, Place
from trainc.emit.order import objects_of_a_job
from trainc.kubernetes.trees import get, put
from trainc.review.changes import Change, changes, undone
from trainc.tracing import Trace, standing
from trainc.tracing.correspondence import GONE, at, corresponding_path
from trainc.tracing.history import fresh, remade

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan

Owner = Literal["job", "runtime", "project"]

PATCHES: Final = ("spec", "runtimePatches")
MOST: Final = 16
"""So many edits of one TrainJob and its runtime are told apart by experiment: each costs a run of the stages."""


class Edit(NamedTuple):
    """A change of the input."""

    owner: Owner
    by: str
    """Whose line it is, in words."""
    change: Change
    place: Place
    """Where it stands; where something was removed, what it was in."""
    trees: tuple[Tree, Tree]
    """What was edited: all of it before and after."""
    gone: bool = False
    """Whether the place is one of the old side: the whole thing is no longer there."""


class Causes:
    """The causes of a whole comparison: the edits of a runtime are found once for all its TrainJobs."""

    def __init__(self) -> None:
        self._edits: dict[tuple[int, int], tuple[Any, Any, list[Edit]]] = {}
        self._known: dict[object, Edit | None] = {}

    def once(self, key: object, find: Callable[[], Edit | None]) -> Edit | None:
        """What has been found for that key, or is found now."""
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def of(self, old: Plan, new: Plan) -> _Causes:
        """Those of one TrainJob."""
        return _Causes(self, old, new)

    def edits(self, owner: Owner, old: Plan, new: Plan) -> list[Edit]:
        """The edits of one owner between two plans."""
        before, after = getattr(old, owner), getattr(new, owner)
        key = (id(before.value), id(after.value))
        if key not in self._edits:
            # The values are kept, so that their identities are not given away a second time.
            self._edits[key] = (before.value, after.value, list(_edits(owner, before, after)))
        return self._edits[key][2]


class _Causes:
    """The causes of one TrainJob's changes."""

    def __init__(self, shared: Causes, old: Plan, new: Plan) -> None:
        self.shared = shared
        self.old = old
        self.new = new
        self.own = shared.edits("job", old, new)
        self.others = []
        if old.runtime.id == new.runtime.id:  # two runtimes of two names are no edit of one
            self.others += shared.edits("runtime", old, new)
        self.others += shared.edits("project", old, new)
        self._without: dict[int, list[Tree] | None] = {}
        self._trace: Trace | None = None

    def cause(self, old: int, new: int, change: Change) -> Edit | None:
        """The edit behind a change of an object, given its index on each side; None where the input is the same."""
        edits = [*self.own, *self.others]
        if len(edits) < 2:
            return edits[0] if edits else None
        if self.own:
            return self._found(edits, old, new, change)
        inputs = (id(self.old.runtime.value), id(self.new.runtime.value))
        key = (*inputs, new, change.kind, change.field, repr(change.old), repr(change.new))
        return self.shared.once(key, lambda: self._found(edits, old, new, change))

    def presence(self, id: ObjectId) -> Edit | None:
        """The edit for which an object of the TrainJob is there on one side only."""
        edits = [*self.own, *self.others]
        if len(edits) < 2:
            return edits[0] if edits else None
        there = any(_is(tree, id) for tree in self.new.objects)
        for number in range(len(edits) if len(edits) <= MOST else 0):
            objects = self._objects(number, edits[number])
            if objects is not None and any(_is(tree, id) for tree in objects) != there:
                return edits[number]
        return None

    def _found(self, edits: list[Edit], old: int, new: int, change: Change) -> Edit | None:
        for number in range(len(edits) if len(edits) <= MOST else 0):
            objects = self._objects(number, edits[number])
            if objects is not None and self._is_undone(objects, new, change):
                return edits[number]
        return self._nearest(edits, old, new, change)

    def _is_undone(self, objects: list[Tree], index: int, change: Change) -> bool:
        """Whether what has changed in an object is as it was, in what is made without some edit."""
        made = objects_of_a_job(self.new.objects)[index]
        tree = next((tree for tree in objects if _is(tree, ObjectId.of(made))), None)
        if change.kind == "removed":  # where it would be, there may be nothing
            parent = None if tree is None else corresponding_path(made, change.new_path[:-1], tree)
            return parent is not None and _has(at(tree, parent), change.new_path[-1], change.old)
        there = None if tree is None else corresponding_path(made, change.new_path, tree)
        now = GONE if there is None else at(tree, there)
        if change.kind == "moved":
            return bool(now != at(made, change.new_path))
        return bool(now == change.old)

    def _objects(self, number: int, edit: Edit) -> list[Tree] | None:
        """The objects as they would be without one edit; None where the stages can make nothing of that."""
        if number not in self._without:
            value = undone(edit.trees[1], edit.change)
            try:
                self._without[number] = list(remade(fresh(self.new, **{edit.owner: value})).objects)
            except Exception:  # a stage relies on checks, which have not seen this input: it makes nothing of it
                self._without[number] = None
        return self._without[number]

    def _nearest(self, edits: list[Edit], old: int, new: int, change: Change) -> Edit:
        """The edit nearest to the line that wrote what has changed."""
        plan, index, path = (self.new, new, change.new_path)
        if change.kind == "removed":
            plan, index, path = (self.old, old, change.old_path)
        if self._trace is None or self._trace.plan is not plan:
            self._trace = Trace(plan)
        written = self._trace.origin(index, path).place
        same = [edit for edit in edits if edit.place.document.file == written.document.file]
        return max(same or edits, key=lambda edit: _common(edit.place.path, written.path))


def _edits(owner: Owner, before: Any, after: Any) -> Iterator[Edit]:
    if before.value is after.value:
        return
    trees = (_with_patches(before.value), _with_patches(after.value)) if owner == "job" else (before.value, after.value)
    for change in changes(*trees):
        if change.field:
            yield _edit(owner, before, after, change, trees)


def _with_patches(job: Tree) -> Tree:
    """A TrainJob whose patches are a list, be it an empty one: so each is an edit of its own."""
    patched: Tree = put(job, PATCHES, get(job, PATCHES) or [])
    return patched


def _edit(owner: Owner, before: Any, after: Any, change: Change, trees: tuple[Tree, Tree]) -> Edit:
    """An edit with its place: in the new document, or in the old one where that is all there is."""
    gone = not isinstance(after.document.value, dict)
    holder = before if gone else after
    place = standing(holder.at(*(change.old_path if gone else change.new_path)))
    return Edit(owner, _by(owner, holder, change, trees), change, place, trees, gone)


def _by(owner: Owner, holder: Any, change: Change, trees: tuple[Tree, Tree]) -> str:
    if owner == "project":
        return "trainc.yaml"
    if owner == "runtime":
        return f'runtime "{holder.id.name}"'
    if change.path[: len(PATCHES)] == PATCHES and len(change.path) > len(PATCHES):
        manager = get(trees[change.kind != "removed"], (*change.path[: len(PATCHES) + 1], "manager"))
        return f'patch "{manager}"' if manager else "a patch"
    return "the TrainJob"


def _common(one: Path, other: Path) -> int:
    """How many steps two paths have in common."""
    return next((number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def _has(tree: Any, step: str | int, value: Any) -> bool:
    """Whether a mapping has a value under its key; of a list, whether it has it anywhere."""
    if isinstance(tree, dict):
        return bool(tree.get(str(step), GONE) == value)
    return isinstance(tree, list) and value in tree


def _is(tree: Tree, id: ObjectId) -> bool:
    """Whether a manifest is the object of that kind and name."""
    found = ObjectId.of(tree)
    return (found.kind, found.name) == (id.kind, id.name)
