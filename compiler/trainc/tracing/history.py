"""History: the stages of one TrainJob again, with what its objects were before and after each.

Reads    a plan that has been through the pipeline: its TrainJob, its runtime, its objects.
Returns  the steps. The stage `override` is as many steps as there are documents in it: the runtime, then each patch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.gotypes import typed
from trainc.kubernetes.trees import Tree, get, put
from trainc.objects import Runtime
from trainc.passes.admit import admit
from trainc.passes.override import override
from trainc.passes.store import jobset, store
from trainc.pipeline import STAGES
from trainc.plan import Plan
from trainc.records import NamedTuple
from trainc.tracing.patches import Operation, patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAKERS: Final[tuple[Callable[[Plan], Plan], ...]] = tuple(
    stage for stage in STAGES[STAGES.index(override) : STAGES.index(store)] if stage is not admit
)
"""The stages that make the objects; those before them make the TrainJob and the runtime what they are."""


class StageRecord(NamedTuple):
    """What one stage, or one patch, made of the objects: the JobSet first, then the others as they were added."""

    stage: str
    before: list[Tree]
    after: list[Tree]
    patch: int | None = None
    """Which one of the TrainJob's patches it is; None for the runtime, and for any other stage."""

    def operations(self) -> Iterator[Operation]:
        """The step as a patch to the list of objects."""
        return patch(self.before, self.after)


def replay(plan: Plan) -> tuple[StageRecord, ...]:
    """All steps, in order; before the first one there is no object."""
    steps = [StageRecord("conform", [], objects(fresh(plan)))]

    def add(name: str, after: list[Tree], **more: Any) -> None:
        steps.append(StageRecord(name, steps[-1].after, after, **more))

    for count in range(len(plan.job.patches) + 1):
        now = override(fresh(plan, job=put(plan.job.value, ("spec", "runtimePatches"), plan.job.patches[:count])))
        add("override", objects(now), patch=count - 1 if count else None)
    now = now._replace(job=plan.job)
    for stage in MAKERS[1:]:
        now = stage(now)
        add(stage.__name__, objects(now))
    if plan.objects:
        add("store", list(plan.objects))
    return tuple(steps)


def fresh(plan: Plan, *, job: Tree | None = None, runtime: Tree | None = None, project: Tree | None = None) -> Plan:
    """The plan as it was when its runtime had been found; with another TrainJob, runtime or project, if given."""
    of_job, of_runtime = plan.job, plan.runtime
    if job is not None:
        of_job = of_job._replace(value=job)
    if runtime is not None and runtime is not of_runtime.value:
        spec = typed(get(runtime, ("spec", "template", "spec"), {}))
        of_runtime = Runtime.of(of_runtime.document, runtime, spec, of_runtime.level)
    of_project = plan.project if project is None else plan.project._replace(value=project)
    return Plan(
        job=of_job,
        library=plan.library,
        runtime=of_runtime,
        project=of_project,
        delivery=plan.delivery,
        suffix=plan.suffix,
    )


def making(plan: Plan) -> Iterator[tuple[str, list[Tree]]]:
    """Each stage that makes objects, with what there is after it; of a plan whose runtime has just been found."""
    yield "conform", objects(plan)
    for make in MAKERS:
        plan = make(plan)
        yield make.__name__, objects(plan)


def remade(plan: Plan) -> Plan:
    """The plan with the objects made, of one as it was when its runtime had been found; nothing is checked."""
    for make in MAKERS:
        plan = make(plan)
    return store(plan)


def objects(plan: Plan) -> list[Tree]:
    """The objects of a plan on its way."""
    return [jobset(plan), *plan.others]
