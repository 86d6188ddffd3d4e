"""Nodes that start together, and nobody who sees to it that they are placed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, Regret
from trainc.kubernetes.trees import get
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

QUEUE: Final = "kueue.x-k8s.io/queue-name"
GROUPS: Final = (("labels", "scheduling.x-k8s.io/pod-group"), ("annotations", "scheduling.k8s.io/group-name"))
"""How pods say that they are in a PodGroup, be it one that trainc has made or not."""


def find(plan: Plan) -> Iterator[Regret]:
    """Whether several nodes wait for one another, and neither a PodGroup nor a queue holds them together."""
    if plan.runtime.framework == "plain" or nodes(plan) < 2 or plan.runtime.gang or QUEUE in plan.labels:
        return
    templates = (get(plan.spec, (*pod_spec(job)[:-1], "metadata"), {}) for job in range(len(plan.jobs)))
    if not any(key in template.get(field, {}) for template in templates for field, key in GROUPS):
        yield Regret("no-gang", (), shared=True)


@check(
    "no-gang",
    stage="lint",
    severity="warning",
    title="Several nodes start together, and nothing places them so",
    own=True,
)
def no_gang(plan: Plan, _: Regret) -> Iterator[Finding]:
    """Without a PodGroup or a queue, some nodes may hold their GPUs and wait for ever for the others."""
    yield Finding(
        message=f'TrainJob "{plan.job.name}" has {nodes(plan)} nodes that start together, and no PodGroup makes the '
        "scheduler place all of them or none",
        help="where others compete for the nodes, use a runtime with podGroupPolicy (stock ones are "
        "torch-distributed-coscheduling and -volcano), or a queue of Kueue",
        field="spec.podGroupPolicy",
        place=plan.job.at("spec", "runtimeRef"),
    )


def nodes(plan: Plan) -> int:
    """How many nodes wait for one another: what the TrainJob asks for, else its runtime; of elastic ones the least."""
    if plan.needed is not None:
        return plan.needed
    said = plan.job.trainer.get("numNodes")
    return int((plan.runtime.policy or {}).get("numNodes", 1) if said is None else said)


CHECKS: Final[tuple[Check[[Plan, Regret]]]] = (no_gang,)
