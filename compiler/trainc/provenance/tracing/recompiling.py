"""Recompiling: a TrainJob's objects for another release of Trainer, to find the behaviours that affect a field.

Reads    a plan after all stages.
Returns  the objects that its document gives for the other release, without checks of the objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.behaviours import BEHAVIOURS
from trainc.base.releases import RELEASES
from trainc.diagnostics import ObjectId
from trainc.pipeline.passes.conform import conform_runtime
from trainc.provenance.tracing.correspondence import Correspondence
from trainc.provenance.tracing.history import conformed_again, remade, resolved_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import Runtime
    from trainc.pipeline.plan import Plan


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
