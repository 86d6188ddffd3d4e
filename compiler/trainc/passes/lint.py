"""Lint: what nobody refuses, and its user would regret.

Reads    the whole plan, when the JobSet is made.  Returns  it with warnings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import get
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from trainc.plan import Plan

QUEUE: Final = "kueue.x-k8s.io/queue-name"
GROUPS: Final = (("labels", "scheduling.x-k8s.io/pod-group"), ("annotations", "scheduling.k8s.io/group-name"))
"""How pods say that they are in a PodGroup, be it one that trainc has made or not."""


def lint(plan: Plan) -> Plan:
    """Look at what was made as a whole."""
    if not plan.runtime.gang:
        return plan
    from trainc.checks import gang

    return plan.report(diagnostic for check in gang.CHECKS for diagnostic in check(plan.job.id, plan))


def scattered(plan: Plan) -> bool:
    """Whether several nodes wait for one another, and nobody sees to it that they are placed together."""
    if plan.runtime.framework == "plain" or nodes(plan) < 2 or plan.runtime.gang or QUEUE in plan.labels:
        return False
    templates = (get(plan.spec, (*pod_spec(job)[:-1], "metadata"), {}) for job in range(len(plan.jobs)))
    return not any(key in template.get(field, {}) for template in templates for field, key in GROUPS)


def nodes(plan: Plan) -> int:
    """How many nodes the TrainJob asks for, else its runtime."""
    said = plan.job.trainer.get("numNodes")
    return int((plan.runtime.policy or {}).get("numNodes", 1) if said is None else said)
