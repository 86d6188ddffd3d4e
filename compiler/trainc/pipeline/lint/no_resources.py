"""Trainers without resource requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.plan import pod_spec
from trainc.pipeline.training import mains_of, training

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the first job that trains if no such job requests resources. Gangs have `gang-asks-for-nothing`."""
    jobs = training(plan)
    if plan.runtime.gang or any(has_resources(pod_at(plan, job)) for job in jobs):
        return
    for slot in mains_of(plan, jobs[:1]):
        yield LintFinding("no-resources", (*slot.path, "resources"), (plan.jobs[slot.job]["name"],))


def has_resources(pod: Tree) -> bool:
    """Return whether a pod, or one of its containers, sets resources or resource claims."""
    holders = (pod, *(pod.get("containers") or ()))
    return "resourceClaims" in pod or any(holder.get("resources") for holder in holders)


@lint_rule("no-resources")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Such a pod has no GPU, can be placed on a full node, and is the first to be evicted from it."""
    (name,) = finding.what
    return Finding(
        message=f'the pods of job "{name}" request no CPU, memory or GPU: they can be placed on full nodes, and are '
        "evicted first",
        help=_help(plan),
        field=field_of(("spec", *pod_spec(int(finding.path[1])), "containers")),
    )


def _help(plan: Plan) -> str:
    if plan.job.is_jobset:
        return "set resources in the container"
    if plan.job.own_runtime is not None:
        return "set resources in the containers of each role"
    if plan.runtime.policy is not None:
        return "set trainer.resourcesPerNode, or resources in the runtime's container"
    return "set resources in the runtime's container (without mlPolicy, resourcesPerNode has no effect)"
