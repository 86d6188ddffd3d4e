"""Volcano's PodGroup without Volcano's scheduler.

Source: kubeflow/trainer v2.3.0, runtime plugin volcano, which creates the PodGroup and leaves the pods' schedulerName
as the runtime sets it. Coscheduling is not reported: it can be part of the default scheduler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import DEFAULT_SCHEDULERS
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

VOLCANO: Final = "volcano"
"""The policy's key, and the usual name of the scheduler."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the first pods of the gang that the default scheduler places."""
    jobs = [job for job, count in enumerate(plan.counts) if count and is_default(plan, job)]
    if jobs and VOLCANO in (plan.runtime.gang or {}):
        names = ", ".join(f'"{plan.jobs[job]["name"]}"' for job in jobs)
        yield LintFinding("gang-scheduler", (*pod_spec(jobs[0]), "schedulerName"), (names,))


def is_default(plan: Plan, job: int) -> bool:
    """Return whether the default scheduler places the pods of a replicated job."""
    return pod_at(plan, job).get("schedulerName") in DEFAULT_SCHEDULERS


@lint_rule("gang-scheduler")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """Only Volcano reads its PodGroup: the default scheduler places the pods one by one."""
    (names,) = finding.what
    jobs = "jobs" if "," in names else "job"
    return Finding(
        message="podGroupPolicy.volcano creates a PodGroup, but the default scheduler, which does not read it, places "
        f"the pods of {jobs} {names}",
        help=f"set schedulerName: {VOLCANO} in the pod templates",
    )
