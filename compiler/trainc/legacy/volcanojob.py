"""Volcano's Job of batch.volcano.sh/v1alpha1, with the plugin tensorflow.

Reads    a Job that its schema has admitted.
Returns  the TrainJob and its runtime, with a Job for each task that has a replica; Volcano schedules the pods as a
         gang, as before. `pipeline.frameworks.volcanojob` adds the variables and files of the plugins.
Source   volcano-sh/volcano v1.15.1: the defaults of its webhook, the job controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.gangs import VOLCANO, GangScheduler
from trainc.frontends.lowering import Loss, LossRule
from trainc.frontends.moves import Move
from trainc.kubernetes.trees import Path, Tree, get, put
from trainc.legacy import (
    own_runtime,
    volcano_admission,
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
from trainc.legacy.own_runtime import GANG, NO_LIMIT, SPEC, PolicySetting, moves_of_job, replicated_job
from trainc.legacy.volcano_plugins import PLUGINS, PORT, ROLES, TENSORFLOW
from trainc.legacy.volcano_tasks import JOB_NAME, POD, TASK, TASKS, dependencies, task_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.lowering import Lowered
    from trainc.kubernetes.violations import Violation
    from trainc.legacy.replica_specs import ReplicaSpec

SCHEMA: Final = "volcano"
KEY: Final = "volcanojob"
OLDER: Final[dict[str, str]] = {}

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
    yield from volcano_admission.violations(job)


def lower(job: Tree, gang: GangScheduler | None = None) -> Lowered:
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
    for key, value, source in volcano_policies.policies(job, roles):
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
        yield PolicySetting(("tasks", task_name(index, task), "replicas"), task.get("replicas", 0), path)
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
