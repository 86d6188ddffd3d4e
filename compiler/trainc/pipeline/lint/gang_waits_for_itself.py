"""A gang whose jobs wait for one another.

Source: trainc's own. As in Trainer v2.3, the gang includes all jobs of the JobSet; nothing in the cluster checks
whether it can ever be complete. Jobs wait for others as in JobSet v0.12.0: by `dependsOn` and the startup policy. A
Kueue queue is not affected: it admits the JobSet as a whole, and the jobs start in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path
    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the jobs whose pods wait for the pods of another job."""
    waiting = [(job, path) for job, path in _waiting(plan) if plan.counts[job]]
    if _starts_without(plan, {job for job, _ in waiting}):
        return
    if not waiting or not any(plan.counts[job] for job in range(len(plan.jobs)) if job != waiting[0][0]):
        return
    for job, path in waiting:
        yield LintFinding("gang-waits-for-itself", path, (plan.jobs[job]["name"], _dependencies_text(plan, job)))


@lint_rule("gang-waits-for-itself")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """No pod of a gang starts before all of them exist, and a job that waits for another has no pods yet."""
    name, before = finding.what
    return Finding(
        message=f'the gang includes the pods of job "{name}", which are created only after {before}; no pod of the '
        "gang starts until all are created",
        help=f'{_without_waiting(plan)}, or set a minAvailable that does not count the pods of job "{name}"'
        if plan.job.own_runtime
        else "use a runtime without podGroupPolicy, or one whose jobs do not wait for one another "
        "(fetch data and model in a separate TrainJob)",
    )


def _without_waiting(plan: Plan) -> str:
    """Return what makes the pods of a legacy job start together."""
    return "set launcherCreationPolicy: AtStartup" if traits(plan.runtime).launcher else "remove dependsOn"


def _starts_without(plan: Plan, waiting: set[int]) -> bool:
    """Return whether the gang of a legacy job starts with the pods of the jobs that do not wait."""
    if plan.job.own_runtime is None:
        return False
    pods = [plan.pods(job) for job in range(len(plan.jobs)) if job not in waiting]
    return any(group["spec"]["minMember"] <= sum(pods) for group in plan.others if group["kind"] == "PodGroup")


def _waiting(plan: Plan) -> Iterator[tuple[int, Path]]:
    """Yield the jobs whose pods are created later, each with the path of the JobSetSpec field that delays them."""
    in_order = get(plan.spec, ("startupPolicy", "startupPolicyOrder")) == "InOrder"
    for index, job in enumerate(plan.jobs):
        if job.get("dependsOn"):
            yield index, ("replicatedJobs", index, "dependsOn")
        elif in_order and index:
            yield index, ("startupPolicy", "startupPolicyOrder")


def _dependencies_text(plan: Plan, job: int) -> str:
    """Return the names of the jobs that a job waits for, for a message."""
    names = [entry["name"] for entry in plan.jobs[job].get("dependsOn") or [plan.jobs[job - 1]]]
    return " and ".join(f'job "{name}"' for name in names)
