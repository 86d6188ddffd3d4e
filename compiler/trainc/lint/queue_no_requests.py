"""Pods without requests in a JobSet with a Kueue queue.

Source: Kueue v0.19. It assigns a flavor for each requested resource, so such pods get no flavor, and count against no
quota.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at
from trainc.lint.triggers import CONTAINERS
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.plan import Plan


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


@check("queue-no-requests", stage="lint", severity="warning", title="Pods without requests in a Kueue queue", own=True)
def queue_no_requests(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
    """Kueue gives such pods no flavor: they run on any node, without the node selector of the queue."""
    (name,) = finding.what
    yield Finding(
        message=f'the pods of job "{name}" request nothing: Kueue assigns them no flavor, so they get no node selector '
        "and count against no quota",
        help="set resources in the containers of the job",
        field=field_of(("spec", *finding.path)),
    )


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (queue_no_requests,)
