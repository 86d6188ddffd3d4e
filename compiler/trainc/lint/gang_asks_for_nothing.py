"""Members of a gang that its sum leaves out.

Source: trainc's own. What a PodGroup sums up is as Trainer v2.3 does it: requests as they are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[Regret]:
    """The jobs whose pods request nothing."""
    from trainc.kubernetes.pods import requests

    for job, count in enumerate(plan.counts):
        if count and all(quantity.is_zero for quantity in requests(pod_at(plan, job)).values()):
            path = (*pod_spec(job), "containers", 0, "resources")
            yield Regret("gang-asks-for-nothing", path, (plan.jobs[job]["name"],))


@check("gang-asks-for-nothing", stage="lint", severity="warning", title="A member of a gang asks for nothing", own=True)
def asks_for_nothing(plan: Plan, regret: Regret) -> Iterator[Finding]:
    """The scheduler reserves what the PodGroup says; pods that request nothing are not in that sum."""
    from trainc.kubernetes.pods import limits

    (name,) = regret.what
    limited = limits(pod_at(plan, int(regret.path[1])))
    yield Finding(
        message=f'the pods of job "{name}" request nothing, so the gang\'s minResources leaves them out'
        + (": they have limits, and only requests count" if limited else ""),
        help="set requests (in trainer.resourcesPerNode for the trainer job, in the runtime for another)",
        field=field_of(("spec", *pod_spec(int(regret.path[1])), "containers")),
    )


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (asks_for_nothing,)
