"""A gang in which some wait for others.

Source: trainc's own. The gang is as Trainer v2.3 makes it, all jobs of the JobSet; whether it can ever be complete is
nobody's check in the cluster. Which jobs wait for which follows JobSet v0.12.0: `dependsOn` and the startup policy. A
queue of Kueue does not mind: it admits the JobSet as a whole, and lets it start in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path
    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[Regret]:
    """The jobs with pods that wait for another one's."""
    waiting = [(job, path) for job, path in _waiting(plan) if plan.counts[job]]
    if not waiting or not any(plan.counts[job] for job in range(len(plan.jobs)) if job != waiting[0][0]):
        return
    for job, path in waiting:
        yield Regret("gang-waits-for-itself", path, (plan.jobs[job]["name"], _before(plan, job)))


@check("gang-waits-for-itself", stage="lint", severity="warning", title="A gang waits for itself", own=True)
def waits_for_itself(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """No pod of a gang starts before all of them are there, and a job that waits for another has no pods yet."""
    name, before = regret.what
    yield Finding(
        message=f'the gang counts the pods of job "{name}", which are made only after {before}; until all are made, '
        "no pod of the gang starts",
        help="use a runtime without podGroupPolicy, or one whose jobs do not wait for one another "
        "(fetch data and model in a TrainJob of their own)",
        field=field_of(("spec", *regret.path)),
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


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (waits_for_itself,)
