"""What is wrong with a gang although the cluster takes it, and the note that there is none.

Source: trainc's own. The gang is as Trainer v2.3 makes it, all jobs of the JobSet; whether it can ever be complete is
nobody's check in the cluster. Which jobs wait for which follows JobSet v0.12.0: `dependsOn` and the startup policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field
from trainc.passes.lint import nodes
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Diagnostic, ObjectId, Path
    from trainc.plan import Plan


@check("gang-waits-for-itself", stage="lint", severity="warning", title="A gang waits for itself")
def waits_for_itself(plan: Plan) -> Iterator[Finding]:
    """No pod of a gang starts before all of them are there, and a job that waits for another has no pods yet."""
    waiting = [(job, path) for job, path in _waiting(plan) if plan.counts[job]]
    if not waiting or not any(plan.counts[job] for job in range(len(plan.jobs)) if job != waiting[0][0]):
        return
    from trainc.tracing import Trace

    trace = Trace(plan)
    for job, path in waiting:
        place, related = trace.point(0, ("spec", *path))
        yield Finding(
            message=f'the gang counts the pods of job "{plan.jobs[job]["name"]}", which are made only after '
            f"{_before(plan, job)}; until all are made, no pod of the gang starts",
            help="use a runtime without podGroupPolicy, or one whose jobs do not wait for one another "
            "(fetch data and model in a TrainJob of their own)",
            field=field(("spec", *path)),
            place=place,
            related=related,
        )


def _waiting(plan: Plan) -> Iterator[tuple[int, Path]]:
    """The jobs whose pods are made later than others', and what says so in the JobSetSpec."""
    in_order = get(plan.spec, ("startupPolicy", "startupPolicyOrder")) == "InOrder"
    for index, job in enumerate(plan.jobs):
        if job.get("dependsOn"):
            yield index, ("replicatedJobs", index, "dependsOn")
        elif in_order and index:
            yield index, ("startupPolicy", "startupPolicyOrder")


def _before(plan: Plan, job: int) -> str:
    """The jobs for which one waits, in words."""
    names = [entry["name"] for entry in plan.jobs[job].get("dependsOn") or [plan.jobs[job - 1]]]
    return " and ".join(f'job "{name}"' for name in names)


@check("gang-asks-for-nothing", stage="lint", severity="warning", title="A member of a gang asks for nothing")
def asks_for_nothing(plan: Plan) -> Iterator[Finding]:
    """The scheduler reserves what the PodGroup says; pods that request nothing are not in that sum."""
    from trainc.kubernetes.pods import limits, requests

    empty = [
        job
        for job, count in enumerate(plan.counts)
        if count and all(q.is_zero for q in requests(get(plan.spec, pod_spec(job), {})).values())
    ]
    if not empty:
        return
    from trainc.tracing import Trace

    trace = Trace(plan)
    for job in empty:
        path = (*pod_spec(job), "containers")
        place, related = trace.point(0, ("spec", *path))
        but = ": they have limits, and only requests count" if limits(get(plan.spec, pod_spec(job), {})) else ""
        yield Finding(
            message=f'the pods of job "{plan.jobs[job]["name"]}" request nothing, so the gang\'s minResources '
            f"leaves them out{but}",
            help="set requests (in trainer.resourcesPerNode for the trainer job, in the runtime for another)",
            field=field(("spec", *path)),
            place=place,
            related=related,
        )


@check("no-gang", stage="lint", severity="warning", title="Several nodes start together, and nothing places them so")
def no_gang(plan: Plan, nodes: int, others: int) -> Iterator[Finding]:
    """Without a PodGroup or a queue, some nodes may hold their GPUs and wait for ever for the others."""
    more = f" (and {others} more of this runtime)" if others else ""
    yield Finding(
        message=f'TrainJob "{plan.job.name}"{more} has {nodes} nodes that start together, and no PodGroup '
        "makes the scheduler place all of them or none",
        help="where others compete for the nodes, use a runtime with podGroupPolicy (stock ones are "
        "torch-distributed-coscheduling and -volcano), or a queue of Kueue",
        field="spec.podGroupPolicy",
        place=plan.job.at("spec", "runtimeRef"),
    )


def scattered_warnings(plans: Sequence[Plan]) -> Iterator[Diagnostic]:
    """One warning for each runtime of the plans, at its first TrainJob: a thousand jobs get one."""
    by_runtime: dict[ObjectId, list[Plan]] = {}
    for plan in plans:
        by_runtime.setdefault(plan.runtime.id, []).append(plan)
    for plan, *others in by_runtime.values():
        yield from no_gang(plan.job.id, plan, nodes(plan), len(others))


CHECKS: Final[tuple[Check[[Plan]], ...]] = (waits_for_itself, asks_for_nothing)
