"""Recompiling: a TrainJob as it compiles without the last edits of its input, or for another release of Trainer.

Reads    a plan that has passed through the pipeline, and the number of edits that remain or the release.
Returns  the plan or the objects for that input, and the fields that depend on a behaviour in which releases differ. The
         settings of trainc.yaml edit the documents: patches, images, namespace, names, labels, annotations; an
         environment edits the project's own accelerators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.releases import RELEASES
from trainc.diagnostics import ObjectId, Place
from trainc.pipeline.passes.conform import conform_runtime
from trainc.provenance.tracing.correspondence import GONE, KEYS, Correspondence, corresponding_path, value_at
from trainc.provenance.tracing.history import conformed_again, remade, resolved_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import Runtime
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing.experiments import Owner


def changing_edit(plan: Plan, owner: Owner, place: Place) -> int | None:
    """Return the index of the last edit that changed the value at a place; None if it had no value before.

    owner    the part of the input that the place is in
    """
    edits, path, value = place.document.edits, place.path, place.document.value
    for index in reversed(range(len(edits))):
        before, found = edits[index].before, edits[index].source(path)
        own = path if isinstance(found, Place) else found
        is_edited = value_at(before, own) != value_at(value, path)
        if isinstance(found, Place):
            there = corresponding_path(value, path, before)
            own = path if there is None else there
            elsewhere = found.document.text is not place.document.text or found.path != own
            is_edited = is_edited or (elsewhere and not _is_key_of_item(path))
        # The later edits lead to the form that the stages read.
        if is_edited and index < len(_document(plan, owner).edits):
            return None if value_at(before, own) is GONE else index
        path, value = own, before
    return None


def _is_key_of_item(path: Path) -> bool:
    """Return whether a path is the merge key of a list item: with the same key, it is the same item."""
    return len(path) > 1 and isinstance(path[-2], int) and path[-1] in KEYS


def without_edits(plan: Plan, owner: Owner, count: int) -> Plan | None:
    """Return the plan whose TrainJob, runtime or project has only its first edits; None if it does not compile."""
    document = _document(plan, owner)
    document = document._replace(value=document.edits[count].before, edits=document.edits[:count])
    try:
        return _remade(plan, owner, document)
    except Exception:  # the stages rely on checks, which this input has not passed
        return None


def _remade(plan: Plan, owner: Owner, document: Document) -> Plan | None:
    conformed = conformed_again(plan, document=document if owner == "job" else None)
    if conformed.stopped:
        return None
    runtime: Runtime | None = conformed.job.own_runtime or plan.runtime
    if owner == "runtime":
        release, level = plan.release, plan.runtime.level
        runtime, _ = conform_runtime(document, level, release=release, field_validation="ignore", option="")
    if runtime is None:
        return None
    project = plan.project
    if owner == "project":
        project = project._replace(document=document, value={key: document.value.get(key, {}) for key in project.value})
    kept = {key: getattr(plan, key) for key in ("library", "delivery", "patches", "suffix")}
    return remade(resolved_plan(conformed._replace(runtime=runtime, project=project, **kept)))


def _document(plan: Plan, owner: Owner) -> Document:
    """Return the document of a part of the input as the settings edited it."""
    if owner == "job" or (owner == "runtime" and plan.job.own_runtime is not None):
        return plan.job.document
    document: Document = getattr(plan, owner).document
    return document


def compiled_for(plan: Plan, release: TrainerRelease, runtime: Runtime) -> tuple[Tree, ...] | None:
    """Return the objects of a plan's TrainJob for another release, on a runtime; None if the job is rejected."""
    conformed = conformed_again(plan, release=release)
    if conformed.stopped:
        return None
    found = conformed.job.own_runtime or _conformed_runtime(runtime.document, runtime.level, release)
    if found is None:
        return None
    kept = {key: getattr(plan, key) for key in ("project", "delivery", "patches", "suffix")}
    return remade(resolved_plan(conformed._replace(runtime=found, **kept))).objects


def _conformed_runtime(document: Document, level: str, release: TrainerRelease) -> Runtime | None:
    return conform_runtime(document, level, release=release, field_validation="ignore", option="")[0]


class Decisions:
    """The fields of a TrainJob's objects that depend on a behaviour in which releases differ."""

    def __init__(self, plan: Plan) -> None:
        self.release = plan.release
        self._plan = plan
        self._compared: list[list[Correspondence]] | None = None

    def is_by_release(self, index: int, path: Path) -> bool:
        """Return whether a field of the object with this index has another value with another behaviour."""
        if self._compared is None:
            self._compared = [[] for _ in self._plan.objects]
            for objects in _alternatives(self._plan):
                _compare(self._plan.objects, objects, self._compared)
        return any(each.differs(path) for each in self._compared[index])


def _alternatives(plan: Plan) -> Iterator[tuple[Tree, ...]]:
    """Yield the objects of a plan with each behaviour of another release, if it compiles and they differ."""
    from trainc.base.behaviours import BEHAVIOURS

    for behaviour in BEHAVIOURS if plan.job.own_runtime is None else ():
        own = getattr(plan.release, behaviour.field)
        if behaviour.documents or not behaviour.objects:
            continue
        values = {getattr(release, behaviour.field) for release in RELEASES}
        for value in sorted(values - {own}, key=str):
            try:
                objects = compiled_for(plan, plan.release._replace(**{behaviour.field: value}), plan.runtime)
            except Exception:  # stages rely on checks, which this input has not passed
                continue
            if objects is not None and objects != plan.objects:
                yield objects


def _compare(made: tuple[Tree, ...], other: tuple[Tree, ...], compared: list[list[Correspondence]]) -> None:
    """Add the correspondence of each object to the one of its kind and name."""
    known = {ObjectId.from_manifest(tree): tree for tree in other}
    for index, tree in enumerate(made):
        alternative = known.get(ObjectId.from_manifest(tree))
        if alternative is not None and alternative != tree:
            compared[index].append(Correspondence(tree, alternative))
