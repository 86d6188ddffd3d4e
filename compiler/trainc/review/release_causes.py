"""The behaviour of a release of Trainer that causes each change of an object, if two releases are compared.

Reads    the plans of one TrainJob for both releases.
Returns  the behaviour, found by experiment: compile for the new release with one behaviour of the old one; the changes
         that disappear are caused by it. This needs no knowledge of the stages that a behaviour affects.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.behaviours import BEHAVIOURS, PAGE, ChangedBehaviour, changed_behaviours
from trainc.diagnostics import Location, ObjectId
from trainc.emit.order import objects_of_a_job
from trainc.pipeline.library import BUILT_IN, BuiltIn, key_of
from trainc.pipeline.passes.conform import conform_runtime
from trainc.provenance.tracing.recompiling import compiled_for
from trainc.review.changes import Change
from trainc.review.undoing import Experiment

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import Runtime
    from trainc.pipeline.plan import Plan

RUNTIMES: Final = next(behaviour for behaviour in BEHAVIOURS if behaviour.field == "runtimes")


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
