"""Gang members without requests, which the PodGroup's minResources does not include.

Source: trainc's own. As in Trainer v2.3, a PodGroup's minResources is the sum of the requests as they are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the jobs whose pods request nothing."""
    from trainc.pipeline.schedulers import requests_of

    for job, count in enumerate(plan.counts):
        if count and all(quantity.is_zero for quantity in requests_of(plan, pod_at(plan, job)).values()):
            path = (*pod_spec(job), "containers", 0, "resources")
            yield LintFinding("gang-asks-for-nothing", path, (plan.jobs[job]["name"],))


@lint_rule("gang-asks-for-nothing")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The scheduler reserves the PodGroup's minResources, which do not include pods without requests."""
    from trainc.kubernetes.pod_resources import limits

    (name,) = finding.what
    limited = limits(pod_at(plan, int(finding.path[1])))
    where = "in trainer.resourcesPerNode for the trainer job, in the runtime for other jobs"
    return Finding(
        message=f'the pods of job "{name}" have no requests, so the gang\'s minResources does not include them'
        + ("; their limits do not count" if limited else ""),
        help=f"set requests: {'of its containers' if plan.job.own_runtime else where}",
        field=field_of(("spec", *pod_spec(int(finding.path[1])), "containers")),
    )
