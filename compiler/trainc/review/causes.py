"""Causes: the edit of the input that causes each change of a compiled object.

Reads    the plans of one TrainJob before and after.
Returns  the edit of the TrainJob, its runtime or trainc.yaml that causes each change. A single edit is the cause of all
         changes. Of several edits, the cause is found by experiment: undo an edit and rerun the stages; that edit
         causes the changes that disappear. This needs no knowledge of the fields that a stage reads. Between two
         releases of Trainer, the behaviours in which they differ are edits, too (`ReleaseCauses`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.base.behaviours import BEHAVIOURS, PAGE, ChangedBehaviour, changed_behaviours
from trainc.base.kinds import JOBSET
from trainc.diagnostics import Location, ObjectId, Place
from trainc.edits.environment import described
from trainc.edits.patching.patch_faults import name_of, path_in_settings
from trainc.edits.transforming.setting_faults import additions
from trainc.emit import objects_of_a_job
from trainc.files.selection import SETTINGS
from trainc.kubernetes.trees import get, put
from trainc.pipeline.library import BUILT_IN, BuiltIn, key_of
from trainc.pipeline.passes.conform import conform_runtime
from trainc.provenance.tracing import DELIVERED, HASH, Trace, edited_by, nearest_existing
from trainc.provenance.tracing.correspondence import GONE, value_at
from trainc.provenance.tracing.history import conformed_again, remade, resolved_plan
from trainc.provenance.tracing.recompiling import compiled_for
from trainc.review.changes import Change, Experiment, changes, is_object, undone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import Runtime
    from trainc.pipeline.plan import Plan
    from trainc.review.changes import Kind


Owner = Literal["job", "document", "runtime", "project", "patches"]
"""What was edited: `document` is a job of another kind, from which its TrainJob and its runtime are derived."""

NAME: Final = ("metadata", "name")
PATCHES: Final = ("spec", "runtimePatches")
MAX_EXPERIMENTS: Final = 16
"""The maximum number of edits of one TrainJob and its runtime to try; each costs a run of the stages."""
RUNTIMES: Final = next(behaviour for behaviour in BEHAVIOURS if behaviour.field == "runtimes")


class InputEdit(NamedTuple):
    """A change of the input."""

    owner: Owner
    by: str
    """The edited part of the input, in words."""
    change: Change
    place: Place
    """The edited field; for a removed field, its parent."""
    trees: tuple[Tree, Tree]
    """The whole document before and after."""
    gone: bool = False
    """Whether the place is in the old side, because the edit removed the whole document or the setting."""
    setting: Path = ()
    """The path in trainc.yaml of the setting that wrote the value; empty for a field of a document."""
    own: bool = False
    """Whether it is the change itself, of a document that is copied."""


class Causes:
    """The causes of a comparison; the edits of a runtime are computed once for all its TrainJobs."""

    def __init__(self) -> None:
        self._edits: dict[tuple[int, int], tuple[Any, Any, list[InputEdit]]] = {}
        self._known: dict[object, InputEdit | None] = {}

    def cached(self, key: object, find: Callable[[], InputEdit | None]) -> InputEdit | None:
        """Return the cached result for a key; compute it on the first call."""
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def compare(self, old: Plan, new: Plan) -> _Causes:
        """Return the causes of one TrainJob's changes."""
        return _Causes(self, old, new)

    def name_edit(self, old: Plan, new: Plan, change: Change) -> InputEdit | None:
        """Return the edit that gives a TrainJob another name or namespace: of its document, or of a setting."""
        path, trees = change.path, (old.job.value, new.job.value)
        if path == NAME and old.job.source_name == new.job.source_name:
            before, after = ([*additions(plan.job.document)] for plan in (old, new))
            values = [[(key, setting.value) for key, setting in side] for side in (before, after)]
            for gone, side, other in ((False, after, values[0]), (True, before, values[1])):
                for key, setting in side:
                    if (key, setting.value) not in other:
                        by = described(setting.place, new.job.document)
                        by = SETTINGS if by == setting.place.document.file else by
                        return InputEdit("project", by, change, setting.place, trees, gone, setting.place.path)
            if hash := _delivery_edit(HASH, old, new):
                return hash
        found = (edit for edit in self.edits("job", old, new) if edit.change.path == path)
        return next(found, None)

    def edits(self, owner: Owner, old: Plan, new: Plan) -> list[InputEdit]:
        """Return the edits of one owner between two plans."""
        before, after = _owner(old, owner), _owner(new, owner)
        key = (id(before.value), id(after.value))
        if key not in self._edits:
            # Keep the values alive, so that their ids are not reused.
            self._edits[key] = (before.value, after.value, list(_edits(owner, before, after)))
        return self._edits[key][2]


class _Causes:
    """The causes of one TrainJob's changes."""

    def __init__(self, shared: Causes, old: Plan, new: Plan) -> None:
        self.shared = shared
        self.old = old
        self.new = new
        is_document = bool(old.job.own_runtime and new.job.own_runtime)
        self.own: list[InputEdit] = []
        self.others: list[InputEdit] = []
        self.releases: ReleaseCauses | None = None
        """The causes by the releases of the plans, if they differ."""
        if not old.release.is_same(new.release):
            self.releases = ReleaseCauses(old, new)
        self._without: dict[int, Experiment | None] = {}
        self._traces: dict[int, Trace] = {}
        self._edited: dict[bool, list[Place]] = {}
        """The fields of all edits in the old text (True) and the new one."""
        self._patched = _values(old) != _values(new)
        """Whether the patches of trainc.yaml for the JobSet differ."""
        self._has_other_causes = old.gang_scheduler != new.gang_scheduler
        """Whether a setting that is no edit differs; then, one edit alone is not the cause of all changes."""
        if bool(old.job.own_runtime) != bool(new.job.own_runtime):
            # Another kind is one edit: the fields that both kinds have are derived from different ones.
            self.own = [_replacement(old, new)]
            return
        self.own = shared.edits("document" if is_document else "job", old, new)
        # A switch to another runtime is not an edit of the runtime.
        if old.runtime.id == new.runtime.id and not is_document:
            self.others += shared.edits("runtime", old, new)
        self.others += shared.edits("project", old, new)

    def cause(self, old: int, new: int, change: Change) -> InputEdit | ReleaseEdit | None:
        """Return the edit that causes a change of the object with these indexes; None if the input is unchanged."""
        if self.releases is not None and (found := self.releases.cause(new, change)) is not None:
            return found
        if all(edit.setting for edit in self.own):
            # Jobs that only the same settings, patches and runtime edit have the same causes.
            settings = tuple((edit.place.in_text().document.file, edit.setting) for edit in self.own)
            plans = (self.old, self.new)
            inputs = tuple(id(value) for plan in plans for value in (plan.runtime.value, *_values(plan)))
            key = (settings, *inputs, old, new, change.kind, change.field, repr(change.old), repr(change.new))
            return self.shared.cached(key, lambda: self._found(old, new, change))
        return self._found(old, new, change)

    def _patch(self, old: int, new: int, change: Change) -> InputEdit | None:
        """Return the edited patch of trainc.yaml that writes or removes a changed field of the JobSet."""
        sides = ((self.new, self.old, change.new_path), (self.old, self.new, change.old_path))
        trees = tuple(objects_of_a_job(plan.objects)[index] for plan, index in ((self.old, old), (self.new, new)))
        for plan, other, path in sides if trees[1]["kind"] == JOBSET.kind else ():
            place = self._trace(plan).patched_at(path) if plan.patches is not None else None
            if place is not None and place.document.value not in _values(other):
                gone = plan is self.old
                return InputEdit(
                    "patches", name_of(place), change, place, (trees[0], trees[1]), gone, path_in_settings(place)
                )
        return None

    def _delivery(self, change: Change) -> InputEdit | None:
        """Return the setting of `delivery` that writes or removes a changed field of the JobSet."""
        name = next((name for path, name in DELIVERED.items() if change.path == path or _adds(change, path)), None)
        return None if name is None else _delivery_edit(name, self.old, self.new)

    def _trace(self, plan: Plan) -> Trace:
        if id(plan) not in self._traces:
            self._traces[id(plan)] = Trace(plan)
        return self._traces[id(plan)]

    def presence(self, id: ObjectId) -> InputEdit | ReleaseEdit | None:
        """Return the edit that adds or removes an object of the TrainJob."""
        if self.releases is not None and (found := self.releases.presence(id)) is not None:
            return found
        edits = [*self.own, *self.others]
        if len(edits) < 2 and not self._has_other_causes:
            return edits[0] if edits else None
        exists = any(is_object(tree, id) for tree in self.new.objects)
        for number in range(len(edits) if len(edits) <= MAX_EXPERIMENTS else 0):
            experiment = self._experiment(number, edits[number])
            if experiment is not None and any(is_object(tree, id) for tree in experiment.without) != exists:
                return edits[number]
        return None

    def _found(self, old: int, new: int, change: Change) -> InputEdit | None:
        """Return the patch, the setting of `delivery` or the edit that causes a change."""
        if self._patched and (edit := self._patch(old, new, change)) is not None:
            return edit
        if (edit := self._delivery(change)) is not None:
            return edit
        edits = [*self.own, *self.others]
        if len(edits) < 2 and not self._has_other_causes:
            return edits[0] if edits else None
        for number in range(len(edits) if len(edits) <= MAX_EXPERIMENTS else 0):
            experiment = self._experiment(number, edits[number])
            if experiment is not None and experiment.undoes(new, change):
                return edits[number]
        return None if self._has_other_causes else self._nearest_edit(edits, old, new, change)

    def _experiment(self, number: int, edit: InputEdit) -> Experiment | None:
        """Return the objects as compiled without one edit; None if the stages fail."""
        if number not in self._without:
            value = undone(edit.trees[1], edit.change)
            try:
                without = _remade(self.new, edit.owner, value).objects
                self._without[number] = Experiment(self.new.objects, without)
            except Exception:  # stages rely on checks, which this input has not passed
                self._without[number] = None
        return self._without[number]

    def _nearest_edit(self, edits: list[InputEdit], old: int, new: int, change: Change) -> InputEdit:
        """Return the edit nearest to the line that wrote a changed field; for a removed field, the old side's line."""
        removed = change.kind == "removed"
        plan, index, path = (self.old, old, change.old_path) if removed else (self.new, new, change.new_path)
        written = self._trace(plan).origin(index, path).place.in_text()

        if removed not in self._edited:
            self._edited[removed] = [_edited_place(edit, plan, removed=removed) for edit in edits]

        def common_length(number: int) -> int:
            at = self._edited[removed][number]
            return _common_prefix(at.path, written.path) if at.document.file == written.document.file else -1

        return edits[max(range(len(edits)), key=common_length)]


def _delivery_edit(name: str, old: Plan, new: Plan) -> InputEdit | None:
    """Return the changed setting of `delivery` with a name; None if it has the same effect in both plans."""
    places = [plan.project.delivery.get(name) for plan in (old, new)]
    values = [GONE if place is None else value_at(place.document.value, place.path) for place in places]
    gone = places[1] is None
    place = places[0] if places[1] is None else places[1]
    if place is None or (values[0] is True) == (values[1] is True):
        return None
    path, trees = place.path, (old.project.value, new.project.value)
    kind: Kind = "added" if places[0] is None else "removed" if gone else "changed"
    change = Change(kind, ".".join(map(str, path)), path, path, *values)
    return InputEdit("project", SETTINGS, change, place, trees, gone, path)


def _adds(change: Change, path: Path) -> bool:
    """Return whether a change adds or removes a mapping with only the field at a path."""
    value = change.old if change.kind == "removed" else change.new
    return change.path == path[:-1] and isinstance(value, dict) and [*value] == [path[-1]]


def _edited_place(edit: InputEdit, plan: Plan, *, removed: bool) -> Place:
    """Return the field of an edit in the text of a plan; for `removed`, the plan is the old one."""
    place: Place = _owner(plan, edit.owner).at(*(edit.change.old_path if removed else edit.change.new_path))
    return place.in_text()


def _owner(plan: Plan, owner: Owner) -> Any:
    """Return the part of a plan that an edit belongs to."""
    return plan.job.as_written if owner == "document" else getattr(plan, owner)


def _replacement(old: Plan, new: Plan) -> InputEdit:
    """Return the edit that makes a legacy job a TrainJob, or the other way around."""
    trees = old.job.document.value, new.job.document.value
    change = Change("changed", "kind", ("kind",), ("kind",), trees[0].get("kind"), trees[1].get("kind"))
    place = Place(new.job.document, ("kind",))
    return InputEdit("document", f"{old.job.word} becomes {new.job.word}", change, place, trees)


def _edits(owner: Owner, before: Any, after: Any) -> Iterator[InputEdit]:
    if before.value is after.value:
        return
    trees = (_with_patches(before.value), _with_patches(after.value)) if owner == "job" else (before.value, after.value)
    for change in changes(*trees):
        if change.field:
            yield _edit(owner, before, after, change, trees)


def _with_patches(job: Tree) -> Tree:
    """Return a TrainJob whose patches are a list, possibly empty, so that each patch is an edit of its own."""
    patched: Tree = put(job, PATCHES, get(job, PATCHES) or [])
    return patched


def _edit(owner: Owner, before: Any, after: Any, change: Change, trees: tuple[Tree, Tree]) -> InputEdit:
    """Return an edit with its place: in the new document, or in the old one if the new side has none.

    The place of a value that a removed setting has written is that setting, in the old side.
    """
    gone = not isinstance(after.document.value, dict)
    holder = before if gone else after
    place = nearest_existing(holder.at(*(change.old_path if gone else change.new_path)))
    by = "" if change.kind == "removed" else edited_by(place)
    if not (by or gone) and change.kind in ("removed", "changed") and edited_by(before.at(*change.old_path)):
        gone, place = True, before.at(*change.old_path)
        by = edited_by(place)
    if not by:
        return InputEdit(owner, _reason(owner, holder, change, trees), change, place, trees, gone)
    written = place.in_text()
    by = SETTINGS if by == written.document.file else by
    return InputEdit(owner, by, change, place, trees, gone, path_in_settings(written) or written.path)


def _reason(owner: Owner, holder: Any, change: Change, trees: tuple[Tree, Tree]) -> str:
    if owner == "project":
        return SETTINGS
    if owner == "runtime":
        return f'runtime "{holder.id.name}"'
    if change.path[: len(PATCHES)] == PATCHES and len(change.path) > len(PATCHES):
        manager = get(trees[change.kind != "removed"], (*change.path[: len(PATCHES) + 1], "manager"))
        return f'patch "{manager}"' if manager else "a patch"
    return f"the {holder.word}"


def _remade(plan: Plan, owner: Owner, value: Tree) -> Plan:
    """Return the plan with its objects for another value of one of its owners."""
    if owner != "document":
        return remade(resolved_plan(plan, **{owner: value}))
    job = conformed_again(plan, document=plan.job.document._replace(value=value)).job
    assert job.own_runtime is not None, "the caller catches it: the job is invalid without the edit"
    return remade(resolved_plan(plan._replace(job=job, runtime=job.own_runtime)))


def _values(plan: Plan) -> list[Any]:
    """Return the patches of trainc.yaml for a JobSet."""
    return [] if plan.patches is None else [patch.document.value for patch in plan.patches.patches]


def _common_prefix(one: Path, other: Path) -> int:
    """Return the length of the common prefix of two paths."""
    return next((number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


class ReleaseEdit(NamedTuple):
    """A changed behaviour as a cause."""

    by: str
    """The release and its behaviour, in words."""
    field: str
    """The behaviour's name; `trainerVersion` if several behaviours cause a change together."""
    change: Change
    at: Location
    """The section of the documentation."""


class ReleaseCauses:
    """The causes of one TrainJob's changes between two releases."""

    def __init__(self, old: Plan, new: Plan) -> None:
        self.old = old
        self.new = new
        changed = changed_behaviours(old.release, new.release)
        self.changed = [each for each in changed if each.behaviour.objects]
        self._without: dict[int, tuple[Tree, ...] | None] = {}
        self._experiments: dict[int, Experiment | None] = {}

    @property
    def is_only_cause(self) -> bool:
        """Whether the input is the same on both sides, but for the runtimes of the releases."""
        runtimes = self.old.runtime, self.new.runtime
        same = runtimes[0].document.value == runtimes[1].document.value or all(
            runtime.level == BUILT_IN for runtime in runtimes
        )
        return same and self.old.job.document.value == self.new.job.document.value

    def cause(self, index: int, change: Change) -> ReleaseEdit | None:
        """Return the behaviour that causes a change of the object with this index; None if no single one does."""
        experiments = {number: found for number in range(len(self.changed)) if (found := self._experiment(number))}
        for number, experiment in experiments.items():
            if experiment.undoes(index, change):
                return edit_of(self.changed[number])
        if not self.is_only_cause:
            return None
        affecting = (number for number, experiment in experiments.items() if experiment.affects(index, change))
        first = next(affecting, None)
        return self.release_change if first is None else edit_of(self.changed[first])

    def _experiment(self, number: int) -> Experiment | None:
        if number not in self._experiments:
            without = self._objects(number, self.changed[number])
            self._experiments[number] = None if without is None else Experiment(self.new.objects, without)
        return self._experiments[number]

    def presence(self, id: ObjectId) -> ReleaseEdit | None:
        """Return the behaviour that adds or removes an object of the TrainJob."""
        exists = _has_object(objects_of_a_job(self.new.objects), id)
        for number, changed in enumerate(self.changed):
            without = self._objects(number, changed)
            if without is not None and _has_object(without, id) != exists:
                return edit_of(changed)
        return self.release_change if self.is_only_cause else None

    @property
    def release_change(self) -> ReleaseEdit:
        """The change of the release, if several behaviours cause a change together."""
        return edit_of_releases(self.old.release, self.new.release)

    def _objects(self, number: int, changed: ChangedBehaviour) -> tuple[Tree, ...] | None:
        """Return the objects for the new release with one behaviour of the old one; None if the stages fail."""
        if number not in self._without:
            release = self.new.release._replace(**{changed.behaviour.field: changed.before})
            runtime = self.new.runtime
            if changed.behaviour is RUNTIMES and runtime.level == BUILT_IN:
                runtime = self._installed(release) or runtime
            try:
                self._without[number] = compiled_for(self.new, release, runtime)
            except Exception:  # stages rely on checks, which this input has not passed
                self._without[number] = None
        return self._without[number]

    def _installed(self, release: TrainerRelease) -> Runtime | None:
        """Return the TrainJob's built-in runtime of a release; None if the release does not install it."""
        key = key_of(self.new.runtime.document)
        conformed = partial(conform_runtime, release=release, field_validation="ignore", option="")
        entry = BuiltIn(conformed, release).find(key)
        return None if entry is None else entry.conform()[0]


def edit_of(changed: ChangedBehaviour) -> ReleaseEdit:
    """Return a changed behaviour as a cause."""
    field = changed.behaviour.field
    values = [sorted(each) if isinstance(each, frozenset) else each for each in (changed.before, changed.after)]
    change = Change("changed", field, (field,), (field,), *values)
    return ReleaseEdit(changed.words, field, change, Location(changed.behaviour.link))


def edit_of_releases(old: TrainerRelease, new: TrainerRelease, by: str = "") -> ReleaseEdit:
    """Return the change of the release as a cause, by default in the words of its title."""
    change = Change("changed", "trainerVersion", (), (), old.name, new.name)
    return ReleaseEdit(by or new.title, "trainerVersion", change, Location(PAGE))


def _has_object(objects: tuple[Tree, ...] | list[Tree], id: ObjectId) -> bool:
    names = {(found.kind, found.name) for found in map(ObjectId.from_manifest, objects)}
    return (id.kind, id.name) in names
