"""History: a TrainJob's stages run again, with its objects before and after each.

Reads    a plan that has passed through the pipeline: its TrainJob, its runtime, its objects.
Returns  the steps, and the ones that wrote a value. The stage `override` has one step for each
         document that it merges: the runtime, then each patch. The stage `patch` has one step for each patch of
         trainc.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.gotypes import as_go_type
from trainc.kubernetes.trees import Tree, get, put
from trainc.pipeline.objects import Runtime, TrainJob
from trainc.pipeline.passes.admit import admit
from trainc.pipeline.passes.conform import conform
from trainc.pipeline.passes.deliver import deliver
from trainc.pipeline.passes.override import override
from trainc.pipeline.passes.patch import completed, patched_plans
from trainc.pipeline.passes.patch import patch as patch_stage
from trainc.pipeline.passes.store import jobset, store
from trainc.pipeline.plan import Plan
from trainc.pipeline.stages import STAGES
from trainc.provenance.tracing.correspondence import GONE, Correspondence, TracedOperation, patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document, Edit
    from trainc.kubernetes.trees import Path


MAKERS: Final[tuple[Callable[[Plan], Plan], ...]] = tuple(
    stage for stage in STAGES[STAGES.index(override) : STAGES.index(store)] if stage is not admit
)
"""The stages that create the objects; the earlier ones prepare the TrainJob and the runtime."""


class StageRecord(NamedTuple):
    """The objects before and after one stage or patch: the JobSet first, then the others in creation order."""

    stage: str
    before: list[Tree]
    after: list[Tree]
    patch: int | None = None
    """The index of the TrainJob's patch; None for the runtime and for other stages."""
    edit: Edit | None = None
    """The edit by a patch of trainc.yaml, of the JobSet; None for other stages."""

    def operations(self) -> Iterator[TracedOperation]:
        """Return the step as a patch to the list of objects."""
        return patch(self.before, self.after)


def replay(plan: Plan) -> tuple[StageRecord, ...]:
    """Return all steps in order; before the first one there is no object.

    The hash in the names, which the stages get before the first one, is written by the stage `deliver`.
    """
    named, plan = plan, plan._replace(suffix="")
    steps = [StageRecord("conform", [], objects(resolved_plan(plan)))]

    def add(name: str, after: list[Tree], **more: Any) -> None:
        steps.append(StageRecord(name, steps[-1].after, after, **more))

    for count in range(len(plan.job.patches) + 1):
        now = override(
            resolved_plan(plan, job=put(plan.job.value, ("spec", "runtimePatches"), plan.job.patches[:count]))
        )
        add("override", objects(now), patch=count - 1 if count else None)
    now = now._replace(job=plan.job)
    for stage in MAKERS[1:]:
        if stage is deliver:
            now = _with_suffix(now, named)
        if stage is patch_stage and now.patches is not None:
            for patched, edit in patched_plans(now):
                now = patched
                add(stage.__name__, objects(now), edit=edit)
            now = completed(now)
        else:
            now = stage(now)
        add(stage.__name__, objects(now))
    if named.objects:
        add("store", list(named.objects))
    return tuple(steps)


def _with_suffix(plan: Plan, named: Plan) -> Plan:
    """Return a plan before the stage `deliver` with the hash in the names of another one."""
    if not named.suffix:
        return plan
    found = resolved_plan(plan)._replace(suffix=named.suffix)
    for make in MAKERS[: MAKERS.index(deliver)]:
        found = make(found)
    return found


def resolved_plan(
    plan: Plan, *, job: Tree | None = None, runtime: Tree | None = None, project: Tree | None = None
) -> Plan:
    """Return the plan as it was after its runtime was found; a given TrainJob, runtime or project replaces its own."""
    of_job, of_runtime = plan.job, plan.runtime
    if job is not None:
        of_job = of_job._replace(value=job)
    if runtime is not None:
        spec = get(runtime, ("spec", "template", "spec"), {})
        spec = spec if of_job.is_jobset else as_go_type(spec)
        of_runtime = Runtime.from_value(
            of_runtime.document, plan.release, runtime, spec, of_runtime.level, of_runtime.form
        )
    of_project = plan.project if project is None else plan.project._replace(value=project)
    return Plan(
        job=of_job,
        library=plan.library,
        release=plan.release,
        runtime=of_runtime,
        project=of_project,
        delivery=plan.delivery,
        patches=plan.patches,
        suffix=plan.suffix,
    )


def conformed_again(plan: Plan, *, document: Document | None = None, release: TrainerRelease | None = None) -> Plan:
    """Return a new plan after the stage `conform`, without reports of unknown fields.

    Args:
        plan: the plan of the TrainJob.
        document: another version of its document.
        release: another release than the plan's.
    """
    job = plan.job.as_written
    if document is not None:
        job = TrainJob(document, document.value)
    if plan.job.letters_at is not None:
        from trainc.pipeline.generated_names import with_name

        job = with_name(job._replace(letters_at=plan.job.letters_at), plan.job.name)
    return conform(
        Plan(
            job=job,
            library=plan.library,
            release=release or plan.release,
            gang_scheduler=plan.gang_scheduler,
            field_validation="ignore",
        )
    )


def creating_stages(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield each stage that creates objects, with the plan after it; the plan is from `resolved_plan`."""
    named, plan = plan, plan._replace(suffix="")
    yield "conform", plan
    for make in MAKERS:
        if make is deliver:
            plan = _with_suffix(plan, named)
        plan = make(plan)
        yield make.__name__, plan


def remade(plan: Plan) -> Plan:
    """Return a plan from `resolved_plan` with its objects, without checks."""
    for make in MAKERS:
        plan = make(plan)
    return store(plan)


def objects(plan: Plan) -> list[Tree]:
    """Return the objects of a plan between two stages."""
    return [jobset(plan), *plan.others]


class Writes:
    """The steps that wrote each value. The values before each step are matched with those after it on demand."""

    def __init__(self, steps: Sequence[tuple[list[Tree], list[Tree]]]) -> None:
        """`steps` are the objects before and after each step."""
        self._before = [Correspondence(after, before) for before, after in steps]

    def until(self, number: int, path: Path) -> Iterator[tuple[int, Path]]:
        """Yield the steps that wrote a value, from one step backwards, each with the value's path after it."""
        for step in range(number, -1, -1):
            match = self._before[step].match(path)
            if match.here is not match.there and match.here != match.there:
                yield step, path
            if match.there is GONE:
                return
            path = match.path
