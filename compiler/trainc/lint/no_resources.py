"""Trainers that ask the cluster for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at, training
from trainc.plan import NODE, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[Regret]:
    """The first job that trains, where none of them asks for anything; of a gang `gang-asks-for-nothing` says it."""
    jobs = training(plan)
    if plan.runtime.gang or any(asks(pod_at(plan, job)) for job in jobs):
        return
    for slot in filter(None, (plan.find(job, NODE) for job in jobs[:1])):
        yield Regret("no-resources", (*slot.path, "resources"), (plan.jobs[slot.job]["name"],))


def asks(pod: Tree) -> bool:
    """Whether a pod, or a container of it, asks for anything."""
    holders = (pod, *(pod.get("containers") or ()))
    return "resourceClaims" in pod or any(holder.get("resources") for holder in holders)


@check("no-resources", stage="lint", severity="warning", title="A trainer asks for nothing", own=True)
def no_resources(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """Such a pod has no GPU, is placed on any node however full, and is the first to be evicted from it."""
    (name,) = regret.what
    yield Finding(
        message=f'the pods of job "{name}" ask for no CPU, memory or GPU: they are placed on nodes that are full '
        "already, and evicted first",
        help="set trainer.resourcesPerNode, or resources in the runtime's container"
        if plan.runtime.policy is not None
        else "set resources in the runtime's container (without mlPolicy, resourcesPerNode counts for nothing)",
        field=field_of(("spec", *pod_spec(int(regret.path[1])), "containers")),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (no_resources,)
