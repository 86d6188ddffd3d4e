"""Nodes that must start together without a gang that places them together.

Source: Kubernetes v1.36, `schedulingGroup` of a pod (v1.35: `workloadRef`). Volcano v1.14, its controller of PodGroups,
which creates one with a minimum of 1 for pods without the annotation `group-min-member`. The gangs of other schedulers:
KAI Scheduler v0.14, whose podgrouper creates a PodGroup for a JobSet; YuniKorn v1.7, its task groups; Koordinator v1.6;
scheduler-plugins v0.18, whose label has an older name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline import schedulers
from trainc.pipeline.frameworks import traits
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import DEFAULT_SCHEDULERS, NODES, may_have_unread_keys, turned_off
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.plan import pod_spec
from trainc.pipeline.training import has_policy, main_slots, node_range, training, training_traits
from trainc.pipeline.training import nodes as nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

WITHOUT_GANGS: Final = (*DEFAULT_SCHEDULERS, "scheduler-plugins-scheduler", "volcano")
"""The values of schedulerName with which pods without a PodGroup are placed one by one. The others are unknown."""
GROUPS: Final = ("schedulingGroup", "workloadRef")
"""The fields of a pod that name its group."""
MARKS: Final = frozenset(
    {
        *("yunikorn.apache.org/task-group-name", "yunikorn.apache.org/task-groups"),
        *("gang.scheduling.koordinator.sh/name", "scheduling.volcano.sh/group-min-member"),
        *("pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.sigs.k8s.io/name"),
    }
)
"""The labels and annotations of pods by which other schedulers form groups."""


ONE: Final = {"labels": "label", "annotations": "annotation"}


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if several nodes wait for one another without a PodGroup or a queue.

    The pods may name a group that trainc does not create, or a scheduler that creates one. A queue whose key is not
    read is reported as such. A JobSet of the paths is reported only if it names a scheduler for gangs.
    """
    if training_traits(plan).independent_nodes or nodes(plan) < 2 or plan.runtime.gang or QUEUE in plan.labels:
        return
    if not names_group(plan) and not is_of_other_scheduler(plan) and not has_unread_queue(plan):
        if not plan.job.is_jobset:
            yield LintFinding("no-gang", (), shared=True)
        for job in training(plan) if plan.job.is_jobset else ():
            if pod_at(plan, job).get("schedulerName") not in DEFAULT_SCHEDULERS:
                yield LintFinding("no-gang", (*pod_spec(job), "schedulerName"))


def names_group(plan: Plan) -> bool:
    """Return whether some pods name the group of pods that is placed as a whole."""
    of_policies = schedulers.schedulers_of(dict.fromkeys(schedulers.SCHEDULERS))
    marks = MARKS.union(scheduler.MARK.key for scheduler in of_policies)
    for job in range(len(plan.jobs)):
        template = get(plan.spec, pod_spec(job)[:-1], {})
        keys = (get(template, ("metadata", field), {}) for field in ("labels", "annotations"))
        if any(not marks.isdisjoint(names) for names in keys) or any(get(template, ("spec", key)) for key in GROUPS):
            return True
    return False


def is_of_other_scheduler(plan: Plan) -> bool:
    """Return whether another scheduler, which may form gangs on its own, places all pods that train."""
    jobs = training(plan)
    return bool(jobs) and all(pod_at(plan, job).get("schedulerName") not in WITHOUT_GANGS for job in jobs)


def has_unread_queue(plan: Plan) -> bool:
    """Return whether key-not-read reports the key of a queue."""
    if not may_have_unread_keys(plan):
        return False
    from trainc.pipeline.lint import key_not_read

    return key_not_read.has_unread_queue(plan) and "key-not-read" not in turned_off(plan)[0]


@lint_rule("no-gang")
def warning(plan: Plan, _: LintFinding) -> Finding:
    """Without a PodGroup or a queue, some nodes can hold their GPUs while they wait forever for the others."""
    message = (
        f'{plan.job.word} "{plan.job.source_name}" has {nodes(plan)} nodes that must start together, but no '
        "PodGroup: the scheduler may place only some of them"
    )
    if plan.job.is_jobset:
        of_policies = schedulers.schedulers_of(dict.fromkeys(schedulers.SCHEDULERS))
        marks = " or ".join(f"{ONE[scheduler.MARK.field]} {scheduler.MARK.key}" for scheduler in of_policies)
        return Finding(message, f"create a PodGroup, and name it in the {marks} of the pod templates")
    runtime = "a runtime with podGroupPolicy (`trainc runtimes export torch-distributed-volcano` writes one), or "
    option = f"{plan.library.option_names.gang} or " if traits(plan.runtime).gangs else ""
    return Finding(
        message=message,
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
    if plan.job.is_legacy:
        return nodes_of(plan)
    if not has_policy(plan):
        return min([nodes_of(plan), *(least for least, _ in ranges(plan))])
    of_job = plan.job.trainer.get("numNodes")
    return int((plan.runtime.policy or {}).get("numNodes", 1) if of_job is None else of_job)


def ranges(plan: Plan) -> Iterator[tuple[int, int]]:
    """Yield the least and most nodes with which torchrun may start by its variable, of a container with a range."""
    for slot in main_slots(plan):
        for variable in get(plan.spec, (*slot.path, "env"), ()):
            text = variable.get("value") or ""
            if variable["name"] == NODES and ":" in text and (found := node_range(text)):
                yield found
