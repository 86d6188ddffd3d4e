"""Volcano's Job of batch.volcano.sh/v1alpha1, with the plugin tensorflow.

Reads    a Job that its schema has admitted.
Returns  the TrainJob and its runtime, with a Job for each task that has a replica; Volcano schedules the pods as a
         gang, as before. `pipeline.frameworks.volcanojob` adds the variables and files of the plugins.
Source   volcano-sh/volcano v1.15.1: the defaults and the validation of its webhook, the job controller, the plugins
         tensorflow, svc and env.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.gangs import VOLCANO, GangScheduler
from trainc.frontends.legacy import own_runtime
from trainc.frontends.legacy.common_losses import (
    HOST_NAME,
    NO_EXTRA,
    NOT_OF_JOBSET,
    OF_CONTROLLER,
    OF_SERVER,
    SHADOWED,
    STATUS,
    object_losses,
    template_losses,
)
from trainc.frontends.legacy.field_refs import with_field_path
from trainc.frontends.legacy.layout import COMPLETION_INDEX, Layout
from trainc.frontends.legacy.own_runtime import GANG, NO_LIMIT, SPEC, PolicySetting, moves_of_job, replicated_job
from trainc.frontends.legacy.replica_specs import (
    CONTAINERS,
    ReplicaSpec,
    carried_template,
    invalid_name,
    too_many_replicas,
)
from trainc.frontends.loss_rules import Loss, LossRule
from trainc.frontends.moves import Move
from trainc.kubernetes import goflags
from trainc.kubernetes.trees import Path, Tree, get, put
from trainc.kubernetes.violations import DUPLICATE_ITEM, ENUM, OUT_OF_RANGE, REQUIRED, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.lowering import Lowered

SCHEMA: Final = "volcano"
KEY: Final = "volcanojob"
OLDER: Final[dict[str, str]] = {}
TASKS: Final = ("spec", "tasks")
PLUGINS: Final = ("spec", "plugins")
TENSORFLOW: Final = (*PLUGINS, "tensorflow")
SVC: Final = (*PLUGINS, "svc")
POD: Final = ("template", "spec")
ROLES: Final = ("ps", "worker", "chief", "evaluator")
"""The roles of TensorFlow, in the plugin's order. An argument of a role's name names its task."""
FLAGS: Final[dict[str, goflags.Type]] = {**dict.fromkeys(ROLES, "string"), "port": "int"}
SVC_FLAGS: Final[dict[str, goflags.Type]] = {"publish-not-ready-addresses": "bool", "disable-network-policy": "bool"}
PORT: Final = 2222
FRAMEWORKS: Final = ("pytorch", "mpi", "ray")
OTHER_PLUGINS: Final = ("ssh", "hcclrank")
KNOWN_PLUGINS: Final = ("tensorflow", "svc", "env", *OTHER_PLUGINS, *FRAMEWORKS)
RETRIES: Final = 3
PREFIX: Final = "volcano.sh/"
INDEXES: Final = tuple(f"metadata.{field}['{PREFIX}task-index']" for field in ("labels", "annotations"))
JOB_NAME: Final = f"{PREFIX}job-name"
TASK: Final = f"{PREFIX}task-spec"
OPERATOR_LABELS: Final = frozenset(
    f"{PREFIX}{name}" for name in ("job-name", "job-namespace", "queue-name", "task-index", "task-spec")
)
GROUP: Final = "scheduling.k8s.io/group-name"
COMPLETE: Final = "CompleteJob"
RESTART: Final = "RestartJob"
EVENTS: Final = {COMPLETE: frozenset({"TaskCompleted"}), RESTART: frozenset({"PodFailed", "PodEvicted", "*"})}
"""The actions of policies that a JobSet has, with their events."""

COMMON: Final = (OF_CONTROLLER, NOT_OF_JOBSET, OF_SERVER, STATUS, HOST_NAME, SHADOWED, NO_EXTRA)
OWN_LABEL: Final = LossRule(
    "*.template.metadata.labels[volcano.sh/*] and annotations[scheduling.k8s.io/group-name]",
    "without effect",
    "Volcano overwrites it",
    "remove it",
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
RESTARTS: Final = LossRule(
    "*.policies[*]: RestartJob",
    "approximated",
    "the JobSet restarts if a pod with restartPolicy Never fails; with OnFailure, an evicted pod is created again",
    "use restartPolicy Never in all tasks",
)
OTHER_POLICY: Final = LossRule(
    "*.policies[*], other than TaskCompleted: CompleteJob and PodFailed or PodEvicted: RestartJob",
    "not carried",
    "a JobSet has no such policy",
    "set successPolicy or failurePolicy with a patch of the JobSet in trainc.yaml",
)
NO_TASK: Final = LossRule(
    "*.policies[*]: CompleteJob, of a task without replicas", "without effect", "the task has no pods", "remove it"
)
NO_RETRY: Final = LossRule(
    "spec.maxRetry, without a policy RestartJob", "without effect", "no policy restarts the job", "remove it"
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
OF_NO_TASK: Final = LossRule(
    "spec.tasks[*].dependsOn: a task without replicas", "without effect", "the task has no pods", "remove it"
)
MIN_RESOURCES: Final = LossRule(
    "spec.minAvailable, less than all pods",
    "approximated",
    "the gang's minResources are the requests of all pods; Volcano adds up those of minAvailable pods",
    "remove it if all pods must start together",
)
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
    "minSuccess": LossRule(
        "spec.minSuccess",
        "not carried",
        "the job succeeds when all pods have, or a task with the policy TaskCompleted: CompleteJob",
        "add the policy to the task that decides",
    ),
    "networkTopology": LossRule(
        "spec.networkTopology",
        "not carried",
        "the PodGroup does not have it",
        "add it to the PodGroup with a tool such as kustomize",
    ),
    "runningEstimate": LossRule("spec.runningEstimate", "not carried", "the PodGroup does not have it", "remove it"),
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
"""The fields that have no counterpart."""
CLAIM: Final = LossRule(
    "spec.volumes[*].volumeClaim",
    "not carried",
    "trainc creates no PersistentVolumeClaim; without volumeClaimName, the pods have no volume",
    "create the claim, and set volumeClaimName",
)
NETWORK_POLICY: Final = LossRule(
    "spec.plugins.svc: the NetworkPolicy, of Volcano",
    "not carried",
    "other pods can connect to those of the job",
    "create a NetworkPolicy for the label volcano.sh/job-name",
    is_added=True,
)
ARGUMENT: Final = LossRule(
    "spec.plugins.svc[*], spec.plugins.env[*]",
    "without effect",
    "a JobSet publishes the addresses of all pods; trainc creates no NetworkPolicy",
    "remove it",
)
UNREAD: Final = LossRule(
    "spec.plugins.tensorflow[*], after an invalid argument",
    "without effect",
    "the plugin stops at the first invalid flag",
    "correct or remove the invalid argument",
)
SINGLE: Final = LossRule(
    "spec.plugins.tensorflow[*], of a job with one pod", "without effect", "such a job has no TF_CONFIG", "remove it"
)
PLUGIN: Final = LossRule(
    "spec.plugins.ssh, spec.plugins.hcclrank",
    "not carried",
    "the pods lack what the plugin adds",
    "add it to the templates of the tasks",
)
LOSSES: Final = (
    *COMMON,
    OWN_LABEL,
    LABEL,
    HOST,
    ALWAYS,
    NEVER,
    RESTARTS,
    OTHER_POLICY,
    NO_TASK,
    NO_RETRY,
    TASK_RETRY,
    DEPENDS,
    ITERATION,
    OF_NO_TASK,
    NO_PODS,
    MIN_RESOURCES,
    SUMMED,
    NOT_SUMMED,
    *NO_FIELD.values(),
    CLAIM,
    NETWORK_POLICY,
    ARGUMENT,
    UNREAD,
    SINGLE,
    PLUGIN,
)


def violations(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the webhook's rules, and of other frameworks beside TensorFlow."""
    yield from invalid_name(job)
    yield from _wrong_plugins(get(job, PLUGINS))
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
    if (cycle := _cycle(job)) is not None:
        message = f'task "{task_name(*tasks[cycle])}" depends on itself through other tasks'
        yield Violation.at((*TASKS, cycle, "dependsOn"), ENUM, message, "remove one of the dependencies")
    for index, volume in enumerate(get(job, ("spec", "volumes"), [])):
        if not volume.get("volumeClaimName") and not volume.get("volumeClaim"):
            path = ("spec", "volumes", index, "volumeClaimName")
            yield Violation.at(path, REQUIRED, "the volume has no claim", "set volumeClaimName")


def _wrong_plugins(plugins: Tree) -> Iterator[Violation]:
    for name in plugins:
        if name in FRAMEWORKS:
            message = f"the plugin {name} is the second one of a framework beside tensorflow"
            yield Violation.at((*PLUGINS, name), ENUM, message, f"remove {name} or tensorflow", key=True)
        elif name not in KNOWN_PLUGINS:
            from trainc.base.suggestions import suggestion_or

            help = suggestion_or(name, KNOWN_PLUGINS, "remove it")
            yield Violation.at((*PLUGINS, name), ENUM, f'unknown plugin "{name}"', help, key=True)


def _wrong_task(name: str, task: Tree, at: Path, names: dict[str, int]) -> Iterator[Violation]:
    if not get(task, CONTAINERS):
        yield Violation.at((*at, *CONTAINERS), REQUIRED, f'task "{name}" has no container', "add its template")
    replicas, fewest = task.get("replicas", 0), task.get("minAvailable", 0)
    yield from too_many_replicas(name, replicas, (*at, "replicas"))
    if replicas < fewest:
        message = f'minAvailable of task "{name}" is {fewest}, but it has {replicas} replicas'
        yield Violation.at((*at, "minAvailable"), OUT_OF_RANGE, message, f"use {replicas} or fewer")
    for index, other in enumerate(get(task, ("dependsOn", "name"), [])):
        if other not in names:
            from trainc.base.suggestions import suggestion_or

            message = f'task "{name}" depends on "{other}", which the job does not have'
            help = suggestion_or(other, [*names], "remove it")
            yield Violation.at((*at, "dependsOn", "name", index), ENUM, message, help)


def _cycle(job: Tree) -> int | None:
    """Return the index of the first task that depends on itself; None without one."""
    needed = {task_name(i, task): set(get(task, ("dependsOn", "name"), [])) for i, task in enumerate(get(job, TASKS))}
    while free := [name for name, others in needed.items() if not others & needed.keys()]:
        for name in free:
            del needed[name]
    return next((index for index, task in enumerate(get(job, TASKS)) if task_name(index, task) in needed), None)


def task_name(index: int, task: Tree) -> str:
    """Return the name of a task: that of the webhook if the job sets none."""
    return task.get("name") or f"default{index}"


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
    """Return the TrainJob and its runtime. The gang scheduler is Volcano, whatever another one is set."""
    roles = _roles(job)
    layout = Layout.by_role((role.name, role.replicas) for role in roles)._replace(in_subdomain=True)
    template: Tree = {"replicatedJobs": []}
    moves = [Move(TASKS, JOBS_OF_RUNTIME)]
    for index, (group, role) in enumerate(zip(layout.groups, roles, strict=True)):
        limit = 0 if role.restart == "Never" else NO_LIMIT
        replicated = replicated_job(group, {"backoffLimit": limit, "template": role.template})
        needed = dict.fromkeys(
            name for name in _dependencies(get(job, role.at)) if name in {each.name for each in roles}
        )
        if needed:
            replicated["dependsOn"] = [{"name": name, "status": "Ready"} for name in needed]
        template["replicatedJobs"].append(replicated)
        moves += _moves(job, index, role)
    for key, value, source in _policies(job, roles):
        template[key] = value
        moves.append(Move(source, (*SPEC, key)))
    found = own_runtime.lowered(
        job,
        KEY,
        template,
        manager="",
        settings=_settings(job, layout),
        moves=(*moves, *_gang_moves()),
        losses=_losses(job, roles),
        at=("spec",),
    )
    return found._replace(runtime=put(found.runtime, ("spec", GANG), _gang(job)))


def _roles(job: Tree) -> list[ReplicaSpec]:
    """Return the tasks that have a replica, each after its dependencies."""
    tasks = list(enumerate(get(job, TASKS)))
    pending = {task_name(*each): each for each in tasks if each[1].get("replicas")}
    found = []
    while pending:
        name = next(name for name, (_, task) in pending.items() if not pending.keys() & set(_dependencies(task)))
        found.append(_replica_spec(job, name, *pending.pop(name)))
    return found


def _dependencies(task: Tree) -> list[str]:
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


def _moves(job: Tree, index: int, role: ReplicaSpec) -> Iterator[Move]:
    replicated: Path = (*JOBS_OF_RUNTIME, index)
    pod, labels = (*replicated, *SPEC[1:], "spec"), (*replicated, *SPEC[1:], "metadata", "labels")
    yield from moves_of_job(index, role.at, role.at)
    yield Move((*role.at, *POD, "restartPolicy"), (*replicated, "template", "spec", "backoffLimit"))
    yield Move((*role.at, *POD, "restartPolicy"), (*pod, "restartPolicy"))
    yield Move((*role.at, "dependsOn"), (*replicated, "dependsOn"))
    for key in ("schedulerName", "priorityClassName"):
        if not get(job, (*role.at, *POD, key)):
            yield Move(("spec", key), (*pod, key))
    if not get(job, (*role.at, *POD, "dnsPolicy")):
        yield Move((*role.at, *POD, "hostNetwork"), (*pod, "dnsPolicy"))
    yield Move(("metadata", "name"), (*labels, JOB_NAME))
    yield Move((*role.at, "name"), (*labels, TASK))
    yield Move((*role.at, "name"), (*replicated, "name"))


def _gang(job: Tree) -> Tree:
    """Return the podGroupPolicy: Volcano creates a PodGroup for each of its Jobs."""
    spec = job["spec"]
    fewest = spec.get("minAvailable") or sum(
        each.get("minAvailable", each.get("replicas", 0)) for each in spec["tasks"]
    )
    scheduling = {"minAvailable": fewest, "queue": spec.get("queue"), "priorityClass": spec.get("priorityClassName")}
    return GangScheduler(VOLCANO).policy(scheduling, fewest)


def _gang_moves() -> Iterator[Move]:
    at = ("spec", GANG, VOLCANO)
    yield Move(TASKS, at)
    for source, to in (("minAvailable", "minMember"), ("queue", "queue"), ("priorityClassName", "priorityClassName")):
        yield Move(("spec", source), (*at, to))


def all_policies(job: Tree) -> Iterator[tuple[Path, str, Tree]]:
    """Yield the policies of a job and of its tasks: the path, the name of the task or an empty string, the policy."""
    owners: list[tuple[Path, str, Tree]] = [(("spec",), "", job["spec"])]
    owners += [((*TASKS, index), task_name(index, task), task) for index, task in enumerate(get(job, TASKS))]
    for at, name, owner in owners:
        for index, policy in enumerate(owner.get("policies") or ()):
            yield (*at, "policies", index), name, policy


def action(policy: Tree) -> str:
    """Return the action of a policy that a JobSet has; empty for any other one."""
    found = policy.get("action", "")
    events = {*(policy.get("events") or ()), *filter(None, [policy.get("event")])}
    is_exact = events and events <= EVENTS.get(found, frozenset()) and not {"exitCode", "timeout"} & policy.keys()
    return found if is_exact else ""


def _policies(job: Tree, roles: list[ReplicaSpec]) -> Iterator[tuple[str, Tree, Path]]:
    """Yield the success policy and the failure policy of the JobSet, each with the path of its policy."""
    names = [role.name for role in roles]
    completing = [(path, task) for path, task, policy in all_policies(job) if action(policy) == COMPLETE]
    targets = {each for _, task in completing for each in ((task,) if task else names)}
    if found := [name for name in names if name in targets]:
        path = next(path for path, task in completing if not task or task in targets)
        operator = "Any" if len(found) > 1 else "All"
        yield "successPolicy", {"operator": operator, "targetReplicatedJobs": found}, path
    for path, _, policy in all_policies(job):
        if action(policy) == RESTART:
            yield "failurePolicy", {"maxRestarts": get(job, ("spec", "maxRetry"), RETRIES)}, path
            return


def flags(job: Tree) -> goflags.Flags:
    """Return the arguments of the plugin tensorflow."""
    return goflags.parse(get(job, TENSORFLOW), FLAGS)


def is_single(job: Tree) -> bool:
    """Return whether the plugin adds nothing: to a job with one task and one replica."""
    tasks = get(job, TASKS)
    return len(tasks) == 1 and tasks[0].get("replicas", 0) == 1


def _settings(job: Tree, layout: Layout) -> Iterator[PolicySetting]:
    values: dict[str, Any] = flags(job).values
    yield PolicySetting(("layout",), layout.tree, TASKS)
    for index, task in enumerate(get(job, TASKS)):
        path = (*TASKS, index, "replicas")
        yield PolicySetting(("tasks", task_name(index, task), "replicas"), task.get("replicas", 0), path)
    for role in ROLES:
        yield PolicySetting(("roles", role), values.get(role, role), TENSORFLOW)
    yield PolicySetting(("port",), values.get("port", PORT), TENSORFLOW)
    yield PolicySetting(("addsConfig",), not is_single(job), TASKS)
    yield PolicySetting(("addsIndex",), "env" in get(job, PLUGINS), (*PLUGINS, "env"))


def _losses(job: Tree, roles: list[ReplicaSpec]) -> Iterator[Loss]:
    yield from object_losses(job)
    spec = job["spec"]
    yield from (Loss(("spec", key), rule) for key, rule in NO_FIELD.items() if key in spec)
    pods = sum(role.replicas for role in roles)
    if 0 < spec.get("minAvailable", 0) < pods:
        yield Loss(("spec", "minAvailable"), MIN_RESOURCES)
    for index, volume in enumerate(spec.get("volumes") or ()):
        if volume.get("volumeClaim"):
            yield Loss(("spec", "volumes", index, "volumeClaim"), CLAIM)
        if not volume.get("volumeClaimName"):
            yield Loss(("spec", "volumes", index, "mountPath"), CLAIM)
    restarts = any(action(policy) == RESTART for _, _, policy in all_policies(job))
    if "maxRetry" in spec and not restarts:
        yield Loss(("spec", "maxRetry"), NO_RETRY)
    yield from _losses_of_policies(job, {role.name for role in roles})
    yield from _losses_of_plugins(job)
    for index, task in enumerate(spec["tasks"]):
        yield from _losses_of_task(spec, task, (*TASKS, index), {role.name for role in roles}, restarts=restarts)


def _losses_of_policies(job: Tree, names: set[str]) -> Iterator[Loss]:
    for path, task, policy in all_policies(job):
        if action(policy) == RESTART:
            yield Loss(path, RESTARTS)
        elif action(policy) != COMPLETE:
            yield Loss(path, OTHER_POLICY)
        elif task and task not in names:
            yield Loss(path, NO_TASK)


def _losses_of_plugins(job: Tree) -> Iterator[Loss]:
    plugins = get(job, PLUGINS)
    if not goflags.parse(plugins.get("svc", ()), SVC_FLAGS).values.get("disable-network-policy"):
        yield Loss(SVC, NETWORK_POLICY)
    for name in ("svc", "env"):
        for index in range(len(plugins.get(name, ()))):
            yield Loss((*PLUGINS, name, index), ARGUMENT)
    for name in OTHER_PLUGINS:
        if name in plugins:
            yield Loss((*PLUGINS, name), PLUGIN)
    first = 0 if is_single(job) else flags(job).read
    for index in range(first, len(get(job, TENSORFLOW))):
        yield Loss((*TENSORFLOW, index), SINGLE if is_single(job) else UNREAD)


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
    if _dependencies(task):
        yield Loss((*at, "dependsOn"), DEPENDS)
    if get(task, ("dependsOn", "iteration")) is not None:
        yield Loss((*at, "dependsOn", "iteration"), ITERATION)
    for index, name in enumerate(_dependencies(task)):
        if name not in names:
            yield Loss((*at, "dependsOn", "name", index), OF_NO_TASK)
