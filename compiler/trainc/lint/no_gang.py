"""Nodes that must start together without a gang that places them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.delivery import QUEUE
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

GROUPS: Final = (("labels", "scheduling.x-k8s.io/pod-group"), ("annotations", "scheduling.k8s.io/group-name"))
"""The label and the annotation by which pods name their PodGroup, whether trainc creates it or not."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if several nodes wait for one another without a PodGroup or a queue."""
    if plan.runtime.framework == "plain" or nodes(plan) < 2 or plan.runtime.gang or QUEUE in plan.labels:
        return
    templates = (get(plan.spec, (*pod_spec(job)[:-1], "metadata"), {}) for job in range(len(plan.jobs)))
    if not any(key in template.get(field, {}) for template in templates for field, key in GROUPS):
        yield LintFinding("no-gang", (), shared=True)


@check(
    "no-gang",
    stage="lint",
    severity="warning",
    title="Several nodes without gang scheduling",
    own=True,
)
def no_gang(plan: Plan, _: LintFinding) -> Iterator[Finding]:
    """Without a PodGroup or a queue, some nodes can hold their GPUs while they wait forever for the others."""
    yield Finding(
        message=f'TrainJob "{plan.job.source_name}" has {nodes(plan)} nodes that must start together, but no PodGroup: '
        "the scheduler may place only some of them",
        help="if other jobs compete for the nodes, use a runtime with podGroupPolicy (built in: "
        "torch-distributed-coscheduling and -volcano), or a Kueue queue",
        field="spec.podGroupPolicy",
        place=plan.job.at("spec", "runtimeRef"),
    )


def nodes(plan: Plan) -> int:
    """Return how many nodes wait for one another: numNodes of the TrainJob, else of its runtime.

    For elastic training it is the minimum.
    """
    if plan.needed is not None:
        return plan.needed
    of_job = plan.job.trainer.get("numNodes")
    return int((plan.runtime.policy or {}).get("numNodes", 1) if of_job is None else of_job)


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (no_gang,)
