"""Nodes that must start together without a gang that places them together.

Source: KAI Scheduler v0.14, its podgrouper, which creates a PodGroup for the pods of a JobSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline import schedulers
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import may_have_unread_keys, turned_off
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.plan import pod_spec
from trainc.pipeline.training import has_policy, training, training_traits
from trainc.pipeline.training import nodes as nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

KAI: Final = "kai-scheduler"
"""The name of the KAI Scheduler."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if several nodes wait for one another without a PodGroup or a queue.

    The pods may name a PodGroup that trainc does not create, or a scheduler that creates one. A queue whose key is not
    read is reported as such.
    """
    if training_traits(plan).independent_nodes or nodes(plan) < 2 or plan.runtime.gang or QUEUE in plan.labels:
        return
    marks = [scheduler.MARK for scheduler in schedulers.schedulers_of(dict.fromkeys(schedulers.SCHEDULERS))]
    templates = (get(plan.spec, (*pod_spec(job)[:-1], "metadata"), {}) for job in range(len(plan.jobs)))
    if any(mark.key in template.get(mark.field, {}) for template in templates for mark in marks):
        return
    if not is_of_kai(plan) and not has_unread_queue(plan):
        yield LintFinding("no-gang", (), shared=True)


def is_of_kai(plan: Plan) -> bool:
    """Return whether KAI places all pods that train: its podgrouper makes one gang of a JobSet."""
    names = [pod_at(plan, job).get("schedulerName") for job in range(len(plan.counts))]
    return KAI in names and all(names[job] == KAI for job in training(plan))


def has_unread_queue(plan: Plan) -> bool:
    """Return whether key-not-read reports the key of a queue."""
    if not may_have_unread_keys(plan):
        return False
    from trainc.pipeline.lint import key_not_read

    return key_not_read.has_unread_queue(plan) and "key-not-read" not in turned_off(plan)[0]


@lint_rule("no-gang", "Several nodes without gang scheduling")
def warning(plan: Plan, _: LintFinding) -> Finding:
    """Without a PodGroup or a queue, some nodes can hold their GPUs while they wait forever for the others."""
    runtime = "a runtime with podGroupPolicy (built in: torch-distributed-coscheduling and -volcano), or "
    option = f"{plan.library.option_names.gang} or " if traits(plan.runtime).gangs else ""
    return Finding(
        message=f'{plan.job.word} "{plan.job.source_name}" has {nodes(plan)} nodes that must start together, but no '
        "PodGroup: the scheduler may place only some of them",
        help=f"if other jobs compete for the nodes, use {option if plan.job.own_runtime else runtime}a Kueue queue",
        field="spec.podGroupPolicy",
        place=plan.job.at("spec", "runtimeRef"),
    )


def nodes(plan: Plan) -> int:
    """Return how many nodes wait for one another: numNodes of the TrainJob, else of its runtime.

    For elastic training it is the minimum.
    """
    if plan.needed is not None:
        return plan.needed
    if plan.job.own_runtime is not None or not has_policy(plan):
        return nodes_of(plan)
    of_job = plan.job.trainer.get("numNodes")
    return int((plan.runtime.policy or {}).get("numNodes", 1) if of_job is None else of_job)
