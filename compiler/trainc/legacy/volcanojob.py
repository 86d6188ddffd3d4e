"""Volcano's Job of batch.volcano.sh/v1alpha1, with the plugin tensorflow.

Reads    a Job that its schema has admitted.
Returns  the TrainJob and its runtime, with a Job for each task that has a replica; Volcano schedules the pods as a
         gang, as before.
Adds     after the variables of the job: VK_TASK_INDEX and VC_TASK_INDEX with the plugin env, the hosts and numbers of
         the tasks, TF_CONFIG. Init containers have no TF_CONFIG. The pods of a task share one template, so TF_CONFIG
         refers to the index by $(TF_TASK_INDEX), which the kubelet expands. A ConfigMap with the hosts in /etc/volcano.
Source   volcano-sh/volcano v1.15.1: the defaults of its webhook, the job controller, the plugins tensorflow, svc and
         env. The ConfigMap has another name than Volcano's, which disappears together with its Job.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.gangs import VOLCANO, GangScheduler
from trainc.frontends.lowering import FrontEnd, Loss, LossRule, Move
from trainc.kubernetes.trees import Path, Tree, get, put
from trainc.kubernetes.violations import REQUIRED, Violation
from trainc.legacy import (
    own_runtime,
    volcano_plugins,
    volcano_policies,
    volcano_tasks,
)
from trainc.legacy.common_losses import (
    HOST_NAME,
    NO_EXTRA,
    NOT_OF_JOBSET,
    OF_CONTROLLER,
    OF_SERVER,
    SHADOWED,
    STATUS,
    object_losses,
)
from trainc.legacy.layout import Layout
from trainc.legacy.own_runtime import GANG, NO_LIMIT, REPLICA_SPECS, SPEC, PolicySetting, moves_of_job, replicated_job
from trainc.legacy.pod_environment import Pods, long_variable, unknown_hosts, with_new_hosts, with_variables
from trainc.legacy.replica_specs import invalid_name
from trainc.legacy.volcano_plugins import PLUGINS, PORT, ROLES, TENSORFLOW
from trainc.legacy.volcano_tasks import JOB_NAME, POD, TASK, TASKS, dependencies, task_name
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId
    from trainc.frontends.lowering import Lowered
    from trainc.legacy.replica_specs import ReplicaSpec
    from trainc.pipeline.plan import Plan

KEY: Final = "volcanojob"
CONFIG: Final = "TF_CONFIG"
INDEX: Final = "TF_TASK_INDEX"
HOSTS: Final = "volcano-hosts"
"""The end of the ConfigMap's name, and the name of its volume."""
FOLDER: Final = "/etc/volcano"
TYPES: Final = ("chief", "worker", "ps", "evaluator")
"""The roles in the order in which the plugin compares them with the name of a task."""

COMMON: Final = (OF_CONTROLLER, NOT_OF_JOBSET, OF_SERVER, STATUS, HOST_NAME, SHADOWED, NO_EXTRA)
MIN_RESOURCES: Final = LossRule(
    "spec.minAvailable, less than all pods",
    "approximated",
    "the gang's minResources are the requests of all pods; Volcano adds up those of minAvailable pods",
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
}
"""The fields of a job that a JobSet and its PodGroup do not have."""
CLAIM: Final = LossRule(
    "spec.volumes[*].volumeClaim",
    "not carried",
    "trainc creates no PersistentVolumeClaim; without volumeClaimName, the pods have no volume",
    "create the claim, and set volumeClaimName",
)
LOSSES: Final = (
    *COMMON,
    MIN_RESOURCES,
    *NO_FIELD.values(),
    CLAIM,
    *volcano_tasks.LOSSES,
    *volcano_policies.LOSSES,
    *volcano_plugins.LOSSES,
)


def violations(_: Tree, job: Tree) -> Iterator[Violation]:
    """Yield the violations of the webhook's rules, and of other frameworks beside TensorFlow."""
    yield from invalid_name(job)
    yield from volcano_plugins.violations(job)
    yield from volcano_policies.violations(job)
    yield from volcano_tasks.violations(job)
    for index, volume in enumerate(get(job, ("spec", "volumes"), [])):
        if not volume.get("volumeClaimName") and not volume.get("volumeClaim"):
            path = ("spec", "volumes", index, "volumeClaimName")
            yield Violation.at(path, REQUIRED, "the volume has no claim", "set volumeClaimName")


def lower(job: Tree, gang: GangScheduler | None) -> Lowered:
    """Return the TrainJob and its runtime. The gang scheduler is Volcano, whatever another one is set."""
    roles = volcano_tasks.roles(job)
    layout = Layout.by_role((role.name, role.replicas) for role in roles)._replace(in_subdomain=True)
    names = {role.name for role in roles}
    template: Tree = {"replicatedJobs": []}
    moves = [Move(TASKS, JOBS_OF_RUNTIME)]
    for index, (group, role) in enumerate(zip(layout.groups, roles, strict=True)):
        limit = 0 if role.restart == "Never" else NO_LIMIT
        replicated = replicated_job(group, {"backoffLimit": limit, "template": role.template})
        needed = dict.fromkeys(name for name in dependencies(get(job, role.at)) if name in names)
        if needed:
            replicated["dependsOn"] = [{"name": name, "status": "Ready"} for name in needed]
        template["replicatedJobs"].append(replicated)
        moves += _moves(job, index, role)
    for key, policy, source in volcano_policies.policies(job, roles):
        template[key] = policy
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


def _settings(job: Tree, layout: Layout) -> Iterator[PolicySetting]:
    values: dict[str, Any] = volcano_plugins.flags(job).values
    yield PolicySetting(("layout",), layout.tree, TASKS)
    for index, task in enumerate(get(job, TASKS)):
        path = (*TASKS, index, "replicas")
        yield PolicySetting((REPLICA_SPECS, task_name(index, task), "replicas"), task.get("replicas", 0), path)
    for role in ROLES:
        yield PolicySetting(("taskOfRole", role), values.get(role, role), TENSORFLOW)
    yield PolicySetting(("port",), values.get("port", PORT), TENSORFLOW)
    yield PolicySetting(("addsConfig",), not volcano_plugins.is_single(job), TASKS)
    yield PolicySetting(("addsIndex",), "env" in get(job, PLUGINS), (*PLUGINS, "env"))


def _losses(job: Tree, roles: list[ReplicaSpec]) -> Iterator[Loss]:
    spec, names = job["spec"], {role.name for role in roles}
    yield from object_losses(job)
    yield from (Loss(("spec", key), rule) for key, rule in NO_FIELD.items() if key in spec)
    if 0 < spec.get("minAvailable", 0) < sum(role.replicas for role in roles):
        yield Loss(("spec", "minAvailable"), MIN_RESOURCES)
    for index, volume in enumerate(spec.get("volumes") or ()):
        if volume.get("volumeClaim"):
            yield Loss(("spec", "volumes", index, "volumeClaim"), CLAIM)
        if not volume.get("volumeClaimName"):
            yield Loss(("spec", "volumes", index, "mountPath"), CLAIM)
    yield from volcano_policies.losses(job, names)
    yield from volcano_plugins.losses(job)
    yield from volcano_tasks.losses(job, names, restarts=volcano_policies.restarts(job))


def apply(plan: Plan) -> Plan:
    """Add the variables and the files to each task."""
    pods = Pods.from_plan(plan)
    hosts = {task: pods.hosts(task) for task in pods.roles}
    cluster = {role: hosts[task] for role, task in _tasks_of_roles(pods).items()}
    for job, group in enumerate(pods.layout.groups):
        index = [from_field(f"{prefix}_TASK_INDEX", group.index_field) for prefix in ("VK", "VC")]
        shared = [*(index if pods.settings["addsIndex"] else ()), *_variables(hosts)]
        own = [from_field(INDEX, group.index_field), value(CONFIG, _config(pods, group.name, cluster))]
        for slot in (*plan.containers(job), *plan.init_containers(job)):
            has_config = pods.settings["addsConfig"] and slot.containers == "containers"
            plan = with_variables(plan, slot, [*shared, *(own if has_config else ())])
            plan = plan.on(slot, mounts=[{"name": HOSTS, "mountPath": FOLDER}])
        plan = plan.with_volumes(job, [{"name": HOSTS, "configMap": {"name": f"{plan.name}-{HOSTS}"}}])
    return with_new_hosts(plan._replace(others=(*plan.others, _files(plan, hosts))))


def _tasks_of_roles(pods: Pods) -> dict[str, str]:
    """Return the task of each role of the cluster, in the plugin's order; two roles of one name are the first one."""
    found: dict[str, str] = {}
    for role in ROLES:
        name = pods.settings["taskOfRole"][role]
        if name not in found.values() and pods.replicas(name):
            found[role] = name
    return found


def _prefix(task: str) -> str:
    """Return the beginning of the names of a task's variables."""
    return f"VC_{task.replace('-', '_').upper()}"


def _variables(hosts: dict[str, list[str]]) -> Iterator[Tree]:
    """Yield the variables of the plugin svc, by name.

    hosts   the host names of each task
    """
    for task in sorted(hosts, key=_prefix):
        yield value(f"{_prefix(task)}_HOSTS", ",".join(hosts[task]))
        yield value(f"{_prefix(task)}_NUM", len(hosts[task]))


def _files(plan: Plan, hosts: dict[str, list[str]]) -> Tree:
    """Return the ConfigMap of the plugin svc."""
    data = {variable["name"]: variable["value"] for variable in _variables(hosts)}
    data |= {f"{task.replace('-', '_')}.host": "\n".join(hosts[task]) for task in hosts}
    metadata = plan.object_metadata() | {"name": f"{plan.name}-{HOSTS}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _config(pods: Pods, task: str, cluster: dict[str, list[str]]) -> str:
    """Return TF_CONFIG for the pods of a task.

    cluster   the host names of each role
    """
    settings = pods.settings
    addresses = {role: [f"{host}:{settings['port']}" for host in hosts] for role, hosts in cluster.items()}
    kind = next((role for role in TYPES if settings["taskOfRole"][role] == task), task)
    text = json.dumps(addresses, separators=(",", ":"))
    return f'{{"cluster":{text},"task":{{"type":"{kind}","index":$({INDEX})}}}}'


def long_hosts(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if a variable is too long for a process: before it is written, because a count is cheap."""
    pods = Pods.from_plan(plan)
    lengths = {task: pods.hosts_length(task) for task in pods.roles if pods.replicas(task)}
    for task, length in lengths.items():
        yield from long_variable(subject, plan, f"{_prefix(task)}_HOSTS", length + pods.replicas(task) - 1)
    of_role = _tasks_of_roles(pods) if pods.settings["addsConfig"] else {}
    around = len(f'"":{pods.settings["port"]},')
    size = sum(lengths[task] + around * pods.replicas(task) - 1 for task in of_role.values())
    empty = max(len(_config(pods, task, {role: [] for role in of_role})) for task in pods.roles)
    yield from long_variable(subject, plan, CONFIG, empty + size)


FRAMEWORKS: Final = {
    KEY: Framework(
        apply,
        (long_hosts,),
        traits=Traits(family="tensorflow", container="", nodes_field="replicas"),
        front_end=FrontEnd(violations, lower, LOSSES),
        unknown_hosts=unknown_hosts,
    )
}
