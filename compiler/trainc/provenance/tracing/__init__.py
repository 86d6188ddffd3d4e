"""Field provenance: the line of the TrainJob, patch, runtime or trainc.yaml that caused a field of a compiled object.

Reads    a plan that has passed through the pipeline, and the path of a field.
Returns  the field's origins, the last one first. The stages run again (`history`), and their patches are read
         backwards. A field that the merge wrote is found by its path in the merged document, any other field by
         experiment (`experiments`). The package is imported on demand.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import THE_RUNTIME, Path, Place, Related
from trainc.edits.environment import KEYS, described
from trainc.edits.patching.patch_faults import ENVIRONMENTS, name_of
from trainc.emit.order import objects_of_a_job
from trainc.kubernetes.trees import get
from trainc.pipeline.passes.deliver import SYNC_OPTIONS
from trainc.provenance.tracing.correspondence import GONE, Correspondence, corresponding_path, leaves, patch, value_at
from trainc.provenance.tracing.experiments import Experiments, OutputField
from trainc.provenance.tracing.history import Writes, replay
from trainc.provenance.tracing.recompiling import changing_edit, without_edits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Edit
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing.experiments import Owner
    from trainc.provenance.tracing.history import StageRecord

__all__ = ["OPTION", "Origin", "Trace", "edited_by", "nearest_existing", "reported_at", "runtime_of", "stage_source"]

OPTION: Final = "an option of the command line"
"""The source of a field that is in no document."""
HASH: Final = "name_suffix_hash"
"""The delivery option that adds a hash to the names."""
DELIVERED: Final[dict[Path, str]] = {
    ("spec", "suspend"): "suspend",
    ("metadata", "annotations", SYNC_OPTIONS): "argocd_replace",
}
"""The delivery options that write one field each; the other fields contain names."""


class Origin(NamedTuple):
    """One write of a field."""

    place: Place
    """The input field that caused it; without one, the nearest enclosing field."""
    by: str
    """The source, for reports: the TrainJob; patch "acme.io/pools"; the torch framework, from spec.trainer.numNodes."""
    stage: str
    """The name of the stage in `trainc.pipeline.stages.STAGES`."""
    value: Any
    """The written value."""
    in_file: bool = True
    """Whether the place is a source of the value; if False, an option is."""
    owner: Owner | None = None
    """The part of the input that the value depends on; None if it depends on none, or only its presence does."""
    is_hash: bool = False
    """Whether the write adds the hash to a name."""
    at: tuple[list[Tree], Path] = ([], ())
    """The objects after the write, and the path of the value in them."""


class _Source(NamedTuple):
    """An input field that caused an output field."""

    place: Place
    value: Any
    by: str
    """The source, for reports."""
    owner: Owner | None = None
    """The part of the input; None for a patch of the JobSet."""
    exact: bool = True
    """Whether the value depends on it; if False, only the field's presence does."""


class _Write(NamedTuple):
    """A write of a field by a step."""

    trace: Trace
    step: int
    """The number of the step."""
    path: Path
    """The field's path after the step."""


class Trace:
    """The provenance of one TrainJob's objects. A trace caches its results, so use one for all fields."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.steps = replay(self.plan)
        objects = self.steps[-1].after
        positions = {id(tree): position for position, tree in reversed(list(enumerate(objects)))}
        self._positions = [positions[id(tree)] for tree in objects_of_a_job(objects)]
        """The position in the last step of each object, in output order."""
        self._writes_until = Writes([(step.before, step.after) for step in self.steps]).until
        self._merges: dict[int | None, Correspondence] = {}
        """The correspondence of the JobSet after a merge and the merged template."""
        self._experiments = Experiments(self.plan)
        self._enclosing: dict[tuple[int, Path], Place] = {}
        self._without: dict[tuple[Owner, int], Trace | None] = {}
        """The traces of the TrainJob with the first edits of a part of the input."""

    def origin(self, index: int, path: Path) -> Origin:
        """Return the last write of a field of the object at `index`; for a missing field, of its nearest parent.

        The hash in a name is not a write: the name is that of the TrainJob.
        """
        return next(origin for origin in self.origins(index, path) if not origin.is_hash)

    def origins(self, index: int, path: Path) -> Iterator[Origin]:
        """Yield every write of a field, the last one first; of a dropped empty value, the writes before it."""
        for number, there in self._writes(index, path):
            yield self._origin(number, there)

    def history(self, index: int, path: Path) -> Iterator[Origin]:
        """Yield every write of a field, the last one first, each followed by its values without settings.

        A patch, an image or another setting of trainc.yaml edits a part of the input. Before the last edit of the input
        field that a write depends on, the same stage writes another value.
        """
        for number, there in self._writes(index, path):
            found: _Write | None = _Write(self, number, there)
            while found is not None:
                origin = found.trace._origin(found.step, found.path)
                yield origin
                found = found.trace._without_setting(origin, found.step, found.path)

    def _without_setting(self, origin: Origin, number: int, path: Path) -> _Write | None:
        """Return the same write without the last setting that edited its input; None if no setting has."""
        edit = None if origin.owner is None else changing_edit(self.plan, origin.owner, origin.place)
        if origin.owner is None or edit is None:
            return None
        key = origin.owner, edit
        if key not in self._without:
            plan = without_edits(self.plan, *key)
            self._without[key] = None if plan is None else Trace(plan)
        earlier = self._without[key]
        return None if earlier is None else earlier._same_write(self.steps[number], path, self.plan)

    def _same_write(self, step: StageRecord, path: Path, plan: Plan) -> _Write | None:
        """Return the write of this trace that is a write of another plan's step; None if the step writes nothing."""
        for number, own in enumerate(self.steps):
            if own.stage == step.stage and _manager(self.plan, own) == _manager(plan, step):
                there = corresponding_path(step.after, path, own.after)
                if there is None:
                    continue
                written, after = next(self._writes_until(number, there))
                if written == number:
                    return _Write(self, number, after)
        return None

    def _writes(self, index: int, path: Path) -> Iterator[tuple[int, Path]]:
        """Yield every step that writes a field, the last one first, with the path after it."""
        last = len(self.steps) - 1
        whole = (self._positions[index], *path)
        if value_at(self.steps[last].after, whole) is GONE:
            if dropped := self._dropped(whole):
                last, whole = last - 1, dropped
            while value_at(self.steps[last].after, whole) is GONE:
                whole = whole[:-1]
        yield from self._writes_until(last, whole)

    def point(self, index: int, path: Path) -> tuple[Place, tuple[Related, ...]]:
        """Return the place and related places of a diagnostic; for a runtime's field, the TrainJob's reference to it.

        A mapping, a list or the parent of a missing field is placed where a document sets a part of it.
        """
        writes = list(self._writes(index, path))
        last, there = writes[0]
        if isinstance(value_at(self.steps[last].after, there), (dict, list)):
            writes = [write for write in writes if self.steps[write[0]].stage == "override"] or writes
        origin = next(origin for origin in itertools.starmap(self._origin, writes) if not origin.is_hash)
        return reported_at(self.plan, origin.place)

    def patched_at(self, path: Path) -> Place | None:
        """Return the place in a patch of trainc.yaml that wrote or removed a field of the JobSet; None without one."""
        for step in reversed(self.steps):
            if step.edit is not None:
                found = step.edit.source(path)
                if isinstance(found, Place):
                    return found
                path = found
        return None

    def _dropped(self, path: Path) -> Path | None:
        """Return the path, before the stage `store`, of an empty value that it dropped, as Go does on encoding.

        Such a value is one of the TrainJob's own fields: the merge drops those of the runtime and the patches.
        """
        step, kept = self.steps[-1], path
        while value_at(step.after, kept) is GONE:
            kept = kept[:-1]
        before = corresponding_path(step.after, kept, step.before) if step.stage == "store" and kept != path else None
        whole = () if before is None else (*before, *path[len(kept) :])
        return whole if whole and value_at(step.before, whole) is not GONE else None

    def _origin(self, number: int, path: Path) -> Origin:
        """Return the origin of the value that one step wrote at a path."""
        return self._found(number, path)._replace(at=(self.steps[number].after, path))

    def _found(self, number: int, path: Path) -> Origin:
        step = self.steps[number]
        value = value_at(step.after, path)
        if is_delivery(step):
            return self._delivered(number, path, value)
        source = self._source(step, path, value)
        if source is None:
            kind = str(value_at(step.after, (path[0], "kind")))
            return Origin(
                self._enclosing_place(number, path), stage_source(self.plan, step.stage, kind), step.stage, value
            )
        place = nearest_existing(source.place)
        by = source.by
        if not source.exact:
            by = stage_source(self.plan, step.stage)
        elif place != source.place:
            by = f"a default of {by}"
        elif str(source.value) != str(value) or (
            step.stage == "framework" and not same_but_for_indices(place.written_path[-1:], path[-1:])
        ):
            by = f"{stage_source(self.plan, step.stage)}, from {place.field}"
        owner = source.owner if source.exact and place == source.place else None
        return Origin(place, by, step.stage, value, in_file=source.by != OPTION, owner=owner)

    def _delivered(self, number: int, path: Path, value: Any) -> Origin:
        """Return the origin of a value that an option or a setting of `delivery` writes."""
        step = self.steps[number]
        # A mapping that only the option fills is written by it, too.
        name = next((name for field, name in DELIVERED.items() if path[1:] == field[: max(1, len(path) - 1)]), HASH)
        if (place := self.plan.project.delivery.get(name)) is not None:
            return Origin(place, described(place, self.plan.job.document), step.stage, value, is_hash=name == HASH)
        by = f"the option --{name.replace('_', '-')}"
        place = self._enclosing_place(number, path)
        return Origin(place, by, step.stage, value, in_file=False, is_hash=name == HASH)

    def _source(self, step: StageRecord, path: Path, value: Any) -> _Source | None:
        """Return the input field from which a step derived the value at a path."""
        if step.stage == "store":
            return None  # its defaults depend on no field
        if step.stage == "override":
            return self._merged(step, path)
        if step.edit is not None and (source := self._patched(step.edit, path, value)) is not None:
            return source
        if value and isinstance(value, (dict, list)):
            return self._step_source(step, path, value)
        cause = self._experiments.cause(OutputField(step.stage, path, step.after, value))
        if cause is None:
            return None
        source = self._source_at(cause.field.owner, cause.field.path)
        # Only the field's presence may depend on it, as with suspend, which is never false: then the value is a copy.
        is_copy = isinstance(value, (bool, int, str)) and source.value == value and cause.field.path[-1:] == path[-1:]
        if cause.to_value or is_copy:
            return source
        return source._replace(place=source.place._replace(key=True), exact=False)

    def _patched(self, edit: Edit, path: Path, value: Any) -> _Source | None:
        """Return the field of a patch of trainc.yaml that wrote a field of the JobSet; None if it wrote parts of it."""
        found = edit.source(path[1:])
        return _Source(found, value, name_of(found)) if isinstance(found, Place) else None

    def _merged(self, step: StageRecord, path: Path) -> _Source | None:
        """Return the same field in the merged template."""
        owner: Owner = "runtime" if step.patch is None else "job"
        base: Path = ("spec", "template")
        if step.patch is not None:
            base = ("spec", "runtimePatches", step.patch, "trainingRuntimeSpec", "template")
        if step.patch not in self._merges:
            template = get(getattr(self.plan, owner).value, base, {})
            self._merges[step.patch] = Correspondence(step.after[0], template)
        there = self._merges[step.patch].path(path[1:])
        return None if there is None else self._source_at(owner, (*base, *there))

    def _step_source(self, step: StageRecord, path: Path, value: Any) -> _Source | None:
        """Return the source of the fields that a step wrote in a mapping or a list; of a copy, the original."""
        before = corresponding_path(step.after, path, step.before)
        operations = patch(GONE if before is None else value_at(step.before, before), value)
        written = ((*o.path, *leaf) for o in operations if o.op != "remove" for leaf in leaves(o.value))
        found = None
        for leaf in written:
            source = self._source(step, (*path, *leaf), value_at(value, leaf))
            if source is not None and (found is None or source.exact):
                found = source
                if same_but_for_indices(source.place.path[-len(leaf) :], leaf):  # the whole mapping was copied
                    place = source.place._replace(path=source.place.path[: -len(leaf)])
                    found = source._replace(place=place, value=value)
                if source.exact:
                    break
        return found

    def _source_at(self, owner: Owner, path: Path) -> _Source:
        """Return a field of the TrainJob, the runtime or the project as a source."""
        if owner == "project":
            project = self.plan.project
            place = project.at(*path)
            return _Source(place, value_at(project.value, path), place.in_text().document.file, owner)
        if owner == "runtime":
            runtime = self.plan.runtime
            place = runtime.at(*path)
            by = edited_by(place) or runtime_of(self.plan)
            return _Source(place, value_at(runtime.value, path), by, owner)
        place = self.plan.job.at(*path)
        if by := edited_by(place):
            return _Source(place, value_at(self.plan.job.value, path), by, owner)
        by = f"the {self.plan.job.word}"
        if path == ("metadata", "name") and place.document.edits:
            from trainc.edits.transforming.setting_faults import additions

            settings = (described(setting.place, place.document) for _, setting in additions(place.document))
            by = " and ".join(dict.fromkeys([by, *settings]))
        if path == ("metadata", "namespace") and not is_written(place):
            by = OPTION
        if place.written_path[:2] == ("spec", "runtimePatches") and len(path) > 2:  # older dialects have other fields
            by = f'patch "{get(self.plan.job.value, (*path[:3], "manager"))}"'
        return _Source(place, value_at(self.plan.job.value, path), by, owner)

    def _enclosing_place(self, number: int, path: Path) -> Place:
        """Return the place for a field without an input field: the first source of the nearest enclosing one."""
        outer = path[:-1]
        if (number, outer) not in self._enclosing:
            writes = reversed(list(self._writes_until(number, outer))) if path else ()
            steps = ((self.steps[earlier], there) for earlier, there in writes)
            sources = (self._source(step, there, value_at(step.after, there)) for step, there in steps)
            source = next(filter(None, sources), None)
            found = (
                nearest_existing(source.place)
                if source
                else self._enclosing_place(number, outer)
                if outer
                else self.plan.job.at()
            )
            self._enclosing[number, outer] = found
        return self._enclosing[number, outer]


def is_delivery(step: StageRecord) -> bool:
    """Return whether a step only applies the delivery options; the stage `patch` repeats them after its patches."""
    return step.stage == "deliver" or (step.stage == "patch" and step.edit is None)


def _manager(plan: Plan, step: StageRecord) -> str | None:
    """Return the manager of the patch that a step merges; None for another step."""
    return None if step.patch is None else str(plan.job.patches[step.patch].get("manager"))


def runtime_of(plan: Plan) -> str:
    """Return the runtime as the source of a value, for reports; its own runtime is a part of the TrainJob."""
    return f"the {plan.job.word}" if plan.job.own_runtime else f'runtime "{plan.runtime.id.name}"'


def reported_at(plan: Plan, place: Place) -> tuple[Place, tuple[Related, ...]]:
    """Return the place and the related places of a diagnostic about a field that was found at a place.

    A fault in a runtime is shown there. In a runtime that no file of the tree has, it is shown at the TrainJob's
    reference to it.
    """
    if plan.is_of_runtime(place) and not edited_by(place) and not plan.runtime_is_in_tree:
        return plan.job.at("spec", "runtimeRef"), (Related(message=THE_RUNTIME, place=place),)
    return place, ()


def edited_by(place: Place) -> str:
    """Return the source of a field of a document that the settings wrote; empty for the document's own field."""
    if not place.document.edits:
        return ""
    written = place.in_text()
    if written.document.text is place.document.text:
        return ""
    # A patch, in trainc.yaml or in its own file, has other fields.
    steps = written.path[2:] if written.path[:1] == (ENVIRONMENTS,) else written.path
    return described(written, place.document) if steps and steps[0] in KEYS else name_of(written)


def stage_source(plan: Plan, stage: str, kind: str = "JobSet") -> str:
    """Return the source of a stage's values that no input field sets; `kind` is the object's."""
    if plan.job.is_jobset and stage in ("conform", "framework"):
        return runtime_of(plan) if stage == "conform" else "a default of JobSet"
    if stage == "framework":
        return f"the {plan.runtime.framework} framework"
    if stage == "accelerate":
        return f"the accelerators of {plan.project.document.file}"
    return f"a default of {kind}" if stage == "store" else "the controller"


def same_but_for_indices(path: Path, other: Path) -> bool:
    """Return whether two paths differ only in list indices."""
    return len(path) == len(other) and all(
        a == b or (isinstance(a, int) and isinstance(b, int)) for a, b in zip(path, other, strict=True)
    )


def is_written(place: Place) -> bool:
    """Return whether the document's text contains the field; an option can set a namespace that the text lacks."""
    from trainc.kubernetes.documents.positions import span

    place = place.in_text()
    path = (*place.document.within, *place.path)
    return span(place.document.text, path, key=True) != span(place.document.text, path[:-1])


def nearest_existing(place: Place) -> Place:
    """Return the place, or the nearest enclosing place that the document and its text contain."""
    while value_at(place.document.value, place.path) is GONE or not _is_in_text(place):
        place = place._replace(path=place.path[:-1])
    return place


def _is_in_text(place: Place) -> bool:
    """Return whether the text that set the value contains the field; a default is only in the stages' form."""
    if not place.document.edits:
        return True
    found = place.in_text()
    return value_at(found.document.value, found.path) is not GONE
