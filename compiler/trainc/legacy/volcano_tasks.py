"""The tasks of a Volcano Job.

Reads    spec.tasks.
Returns  the tasks that have a replica as roles, in the order of their replicated jobs; the violations of the rules; and
         the losses.
Source   volcano-sh/volcano v1.15.1: the names that its webhook gives to tasks and their validation, the pods of its job
         controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.gangs import VOLCANO
from trainc.frontends.lowering import Loss, LossRule, without_effect
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, OUT_OF_RANGE, REQUIRED, Violation
from trainc.legacy.common_losses import template_losses
from trainc.legacy.layout import COMPLETION_INDEX, with_field_path
from trainc.legacy.replica_specs import CONTAINERS, ReplicaSpec, carried_template, too_many_replicas

if TYPE_CHECKING:
    from collections.abc import Iterator

TASKS: Final = ("spec", "tasks")
POD: Final = ("template", "spec")
PREFIX: Final = "volcano.sh/"
INDEXES: Final = tuple(f"metadata.{field}['{PREFIX}task-index']" for field in ("labels", "annotations"))
JOB_NAME: Final = f"{PREFIX}job-name"
TASK: Final = f"{PREFIX}task-spec"
OPERATOR_LABELS: Final = frozenset(
    f"{PREFIX}{name}" for name in ("job-name", "job-namespace", "queue-name", "task-index", "task-spec")
)
GROUP: Final = "scheduling.k8s.io/group-name"

OWN_LABEL: Final = without_effect(
    "*.template.metadata.labels[volcano.sh/*] and annotations[scheduling.k8s.io/group-name]", "Volcano overwrites it"
)
LABEL: Final = LossRule(
    "*.template.metadata.labels[volcano.sh/*], of Volcano",
    "not carried",
    "the pods have only the labels job-name and task-spec",
    "select pods by volcano.sh/job-name, volcano.sh/task-spec and batch.kubernetes.io/job-completion-index",
    is_added=True,
)
HOST: Final = LossRule(
    "*.template.spec.hostname and subdomain",
    "not carried",
    "each pod has a host name of its own in the subdomain of the JobSet",
    "use the host names that `trainc pods` lists",
)
ALWAYS: Final = LossRule(
    "*.template.spec.restartPolicy: Always, the default",
    "approximated",
    "a pod that succeeds does not restart",
    "use OnFailure",
)
NEVER: Final = LossRule(
    "*.template.spec.restartPolicy: Never, without a policy RestartJob",
    "approximated",
    "the JobSet fails with its first failed pod; Volcano waits until all pods have ended",
    "use OnFailure, with which the container restarts in its pod",
)
TASK_RETRY: Final = LossRule(
    "spec.tasks[*].maxRetry",
    "not carried",
    "the limit of restarts is that of a Job",
    "set backoffLimit with a patch of the JobSet in trainc.yaml",
)
DEPENDS: Final = LossRule(
    "spec.tasks[*].dependsOn",
    "approximated",
    "the task starts when all pods of its dependencies are ready",
    "remove it if the containers wait for one another",
)
ITERATION: Final = LossRule(
    "spec.tasks[*].dependsOn.iteration",
    "not carried",
    "the task waits for all its dependencies",
    "depend on the one task that must be first",
)
NO_PODS: Final = LossRule(
    "spec.tasks[*].template and dependsOn, of a task without replicas",
    "without effect",
    "the task has no pods",
    "remove the task",
)
OF_NO_TASK: Final = without_effect("spec.tasks[*].dependsOn: a task without replicas", "the task has no pods")
SUMMED: Final = LossRule(
    "spec.tasks[*].minAvailable",
    "approximated",
    "the PodGroup has a minimum for all tasks, not for each of them",
    "remove it if all pods must start together",
)
NOT_SUMMED: Final = LossRule(
    "spec.tasks[*].minAvailable, with spec.minAvailable",
    "not carried",
    "the PodGroup has a minimum for all tasks, not for each of them",
    "remove it if all pods must start together",
)
NO_FIELD: Final = {
    "partitionPolicy": LossRule(
        "spec.tasks[*].partitionPolicy",
        "not carried",
        "the PodGroup has no groups of pods",
        "split the task, or set podAffinity",
    ),
    "topologyPolicy": LossRule(
        "spec.tasks[*].topologyPolicy",
        "not carried",
        "the pods lack the annotation that Volcano adds",
        "set the annotation volcano.sh/numa-topology-policy in the template",
    ),
}
"""The fields of a task that a JobSet does not have."""
LOSSES: Final = (
    OWN_LABEL,
    LABEL,
    HOST,
    ALWAYS,
    NEVER,
    TASK_RETRY,
    DEPENDS,
    ITERATION,
    OF_NO_TASK,
    NO_PODS,
    SUMMED,
    NOT_SUMMED,
    *NO_FIELD.values(),
)


def task_name(index: int, task: Tree) -> str:
    """Return the name of a task: that of the webhook if the job sets none."""
    return task.get("name") or f"default{index}"


def order(tasks: dict[str, Tree]) -> tuple[str, ...]:
    """Return the names of tasks, each after its dependencies. Raises CycleError if a task depends on itself."""
    from graphlib import TopologicalSorter

    needed = {name: [each for each in dependencies(task) if each in tasks] for name, task in tasks.items()}
    return tuple(TopologicalSorter(needed).static_order())


def roles(job: Tree) -> list[ReplicaSpec]:
    """Return the tasks that have a replica, each after its dependencies."""
    indexes = {task_name(index, task): index for index, task in enumerate(get(job, TASKS)) if task.get("replicas")}
    tasks = {name: get(job, (*TASKS, index)) for name, index in indexes.items()}
    return [_replica_spec(job, name, indexes[name], tasks[name]) for name in order(tasks)]


def dependencies(task: Tree) -> list[str]:
    """Return the names of the tasks that must start before a task."""
    names: list[str] = get(task, ("dependsOn", "name"), [])
    return names


def _replica_spec(job: Tree, name: str, index: int, task: Tree) -> ReplicaSpec:
    spec, template = job["spec"], task["template"]
    pod = {key: field for key, field in template["spec"].items() if key not in ("hostname", "subdomain")}
    if pod.get("restartPolicy", "Always") == "Always":
        pod["restartPolicy"] = "OnFailure"
    pod["schedulerName"] = pod.get("schedulerName") or spec.get("schedulerName") or VOLCANO
    if spec.get("priorityClassName") and not pod.get("priorityClassName"):
        pod["priorityClassName"] = spec["priorityClassName"]
    if pod.get("hostNetwork") and not pod.get("dnsPolicy"):
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"
    for number, volume in enumerate(spec.get("volumes") or ()):
        if volume.get("volumeClaimName"):
            pod = _with_volume(pod, f"volcano-volume-{number}", volume)
    for field in INDEXES:
        pod = with_field_path(pod, field, COMPLETION_INDEX)
    labels = {JOB_NAME: get(job, ("metadata", "name"), ""), TASK: name}
    carried = carried_template(template, pod, labels, OPERATOR_LABELS)
    return ReplicaSpec(name, (*TASKS, index), task["replicas"], pod["restartPolicy"], carried)


def _with_volume(pod: Tree, name: str, volume: Tree) -> Tree:
    """Return a pod with a claim of the job in all containers."""
    claim = {"name": name, "persistentVolumeClaim": {"claimName": volume["volumeClaimName"]}}
    mount = {"name": name, "mountPath": volume["mountPath"]}
    containers = [each | {"volumeMounts": [*(each.get("volumeMounts") or []), mount]} for each in pod["containers"]]
    return pod | {"volumes": [*(pod.get("volumes") or []), claim], "containers": containers}


def losses(job: Tree, names: set[str], *, restarts: bool) -> Iterator[Loss]:
    """Yield the losses of the tasks.

    names      the tasks that have a replica
    restarts   whether a policy restarts the job
    """
    for index, task in enumerate(get(job, TASKS)):
        yield from _losses_of_task(job["spec"], task, (*TASKS, index), names, restarts=restarts)


def _losses_of_task(spec: Tree, task: Tree, at: Path, names: set[str], *, restarts: bool) -> Iterator[Loss]:
    yield from (Loss((*at, key), rule) for key, rule in NO_FIELD.items() if key in task)
    if "maxRetry" in task:
        yield Loss((*at, "maxRetry"), TASK_RETRY)
    if "minAvailable" in task:
        yield Loss((*at, "minAvailable"), NOT_SUMMED if spec.get("minAvailable") else SUMMED)
    template: Tree = task["template"]
    if not task.get("replicas"):
        yield from (Loss((*at, key), NO_PODS) for key in ("template", "dependsOn") if key in task)
        return
    yield from template_losses(at, template, OPERATOR_LABELS, OWN_LABEL)
    if GROUP in get(template, ("metadata", "annotations"), {}):
        yield Loss((*at, "template", "metadata", "annotations", GROUP), OWN_LABEL)
    yield Loss((*at, "template", "metadata", "labels", f"{PREFIX}task-index"), LABEL)
    pod, restart = template["spec"], template["spec"].get("restartPolicy", "Always")
    for key in ("hostname", "subdomain"):
        if key in pod:
            yield Loss((*at, *POD, key), HOST)
    if restart == "Always" or (restart == "Never" and not restarts):
        yield Loss((*at, *POD, "restartPolicy"), ALWAYS if restart == "Always" else NEVER)
    if dependencies(task):
        yield Loss((*at, "dependsOn"), DEPENDS)
    if get(task, ("dependsOn", "iteration")) is not None:
        yield Loss((*at, "dependsOn", "iteration"), ITERATION)
    for index, name in enumerate(dependencies(task)):
        if name not in names:
            yield Loss((*at, "dependsOn", "name", index), OF_NO_TASK)


def violations(job: Tree) -> Iterator[Violation]:
    """Yield the violations of the webhook's rules for tasks, their pods and their dependencies."""
    tasks = list(enumerate(get(job, TASKS)))
    names = {task_name(index, task): index for index, task in reversed(tasks)}
    for index, task in tasks:
        name, at = task_name(index, task), (*TASKS, index)
        if names[name] != index:
            label = (("the first one", (*TASKS, names[name])),)
            message = f'two tasks are named "{name}"'
            yield Violation.at((*at, "name"), DUPLICATE_ITEM, message, "rename one of them", related=label)
        yield from _wrong_task(name, task, at, names)
    pods = sum(task.get("replicas", 0) for _, task in tasks)
    if not pods:
        help = "set the replicas of a task, which are 0 by default"
        yield Violation.at((*TASKS, 0, "replicas"), REQUIRED, "no task has a replica", help, field="spec.tasks")
    elif get(job, ("spec", "minAvailable"), 0) > pods:
        message = f"minAvailable is {job['spec']['minAvailable']}, but the tasks have {pods} replicas"
        yield Violation.at(("spec", "minAvailable"), OUT_OF_RANGE, message, f"use {pods} or fewer")
    if cycle := _cycle({name: get(job, (*TASKS, index)) for name, index in names.items()}):
        first = min(cycle, key=names.__getitem__)
        message = f'task "{first}" depends on itself through other tasks'
        yield Violation.at((*TASKS, names[first], "dependsOn"), ENUM, message, "remove one of the dependencies")


def _wrong_task(name: str, task: Tree, at: Path, names: dict[str, int]) -> Iterator[Violation]:
    if not get(task, CONTAINERS):
        yield Violation.at((*at, *CONTAINERS), REQUIRED, f'task "{name}" has no container', "add its template")
    replicas, fewest = task.get("replicas", 0), task.get("minAvailable", 0)
    yield from too_many_replicas(name, replicas, (*at, "replicas"))
    if replicas < fewest:
        message = f'minAvailable of task "{name}" is {fewest}, but it has {replicas} replicas'
        yield Violation.at((*at, "minAvailable"), OUT_OF_RANGE, message, f"use {replicas} or fewer")
    for index, other in enumerate(dependencies(task)):
        if other not in names:
            from trainc.base.fixes import replaced_name

            message = f'task "{name}" depends on "{other}", which the job does not have'
            there = (*at, "dependsOn", "name", index)
            yield Violation.at(there, ENUM, message, replaced_name(there, other, [*names]) or "remove it")


def _cycle(tasks: dict[str, Tree]) -> tuple[str, ...]:
    """Return the names of tasks that depend on one another in a circle; empty if there are none."""
    from graphlib import CycleError

    try:
        order(tasks)
    except CycleError as error:
        return tuple(error.args[1])
    return ()
