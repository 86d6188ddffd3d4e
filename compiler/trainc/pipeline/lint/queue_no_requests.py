"""Pods without requests in a JobSet with a Kueue queue.

Source: Kueue v0.19. It assigns a flavor for each requested resource, so such pods get no flavor, and count against no
quota.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import CONTAINERS
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the replicated jobs whose pods request nothing. If no trainer does, `no-resources` reports the JobSet."""
    jobs = [job for job, count in enumerate(plan.counts) if count]
    without = [job for job in jobs if not has_resources(pod_at(plan, job))]
    if len(without) < len(jobs):
        for job in without:
            path = (*pod_spec(job), "containers")
            yield LintFinding("queue-no-requests", path, (plan.jobs[job]["name"],))


def has_resources(pod: Tree) -> bool:
    """Return whether a pod, or one of its containers, requests a resource or a resource claim."""
    holders = (pod, *(container for key in CONTAINERS for container in pod.get(key) or ()))
    return "resourceClaims" in pod or any(holder.get("resources") for holder in holders) or "overhead" in pod


@lint_rule("queue-no-requests")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Kueue gives such pods no flavor: they run on any node, without the node selector of the queue."""
    (name,) = finding.what
    return Finding(
        message=f'the pods of job "{name}" request nothing: Kueue assigns them no flavor, so they get no node selector '
        "and count against no quota",
        help="set resources in the containers of the job",
    )
