"""MPIJob of kubeflow.org/v2beta1.

Reads    an MPIJob that its schema has admitted.
Returns  the TrainJob and its runtime, with the replicated jobs `launcher` and `worker`. `pipeline.frameworks.mpijob`
         adds the hostfile, the SSH keys and the variables.
Source   kubeflow/mpi-operator v0.8.0: the pods of both roles, the launcher's Job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.frontends.legacy import mpi_admission, own_runtime
from trainc.frontends.legacy.field_refs import field_paths, with_field_path
from trainc.frontends.legacy.layout import COMPLETION_INDEX, GLOBAL_INDEX, Group, Layout
from trainc.frontends.legacy.mpi_admission import LAUNCHER, OPERATOR, REPLICAS, ROLES, SLOTS, WORKER
from trainc.frontends.legacy.own_runtime import (
    NO_LIMIT,
    PolicySetting,
    Success,
    add_success,
    moves_of_job,
    pod_metadata,
    replicated_job,
)
from trainc.frontends.legacy.replica_specs import CONTAINERS, LABEL, POLICY, REPLICA_INDEX, ReplicaSpec
from trainc.frontends.lowering import Loss
from trainc.frontends.moves import Move
from trainc.kubernetes.trees import Path, Tree, get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.lowering import Lowered
    from trainc.kubernetes.violations import Violation

SCHEMA: Final = "mpi-operator-0.7"
KEY: Final = "mpijob"
SSHD: Final = ("/usr/sbin/sshd", "-De")
"""The command of a worker that has neither a command nor arguments."""
ROOT_KEYS: Final = "/root/.ssh"
"""The default path of the SSH keys."""
OLDER: Final = {
    "kubeflow.org/v1alpha1": (
        "template is spec.mpiReplicaSpecs.Launcher.template and .Worker.template, replicas is Worker.replicas, and "
        "gpus is Worker.replicas times the GPUs in the limits of a worker, whose number is also slotsPerWorker"
    ),
}
"""What has become of the fields of earlier versions."""
AS_WORKER: Final = ("spec", "runLauncherAsWorker")
CREATION: Final = ("spec", "launcherCreationPolicy")
KEYS_PATH: Final = ("spec", "sshAuthMountPath")
IMPLEMENTATION: Final = ("spec", "mpiImplementation")
AT_STARTUP: Final = "AtStartup"
"""The launcherCreationPolicy of a launcher that does not wait until the workers are ready, as with any other one."""
POD: Final = ("template", "spec")
OVERWRITTEN: Final = ("hostname", "subdomain")
"""The fields of a pod that the operator replaces, and JobSet as well."""
DNS_OF_HOST_NETWORK: Final = "ClusterFirstWithHostNet"
"""The dnsPolicy of pods with hostNetwork, whatever the job has."""


def violations(_: Tree, job: Tree) -> Iterator[Violation]:
    """Return the violations of the operator's validation."""
    return mpi_admission.violations(job)


def lower(job: Tree) -> Lowered:
    """Return the TrainJob and its runtime."""
    specs = get(job, REPLICAS)
    roles = {name: _replica_spec(name, specs[name]) for name in ROLES if name in specs}
    waits = WORKER in roles and (get(job, CREATION) or AT_STARTUP) != AT_STARTUP
    layout = _layout(job, roles, waits=waits)
    template: Tree = {"replicatedJobs": []}
    moves = [Move(REPLICAS, JOBS_OF_RUNTIME)]
    for index, group in enumerate(layout.groups):
        role = roles[group.roles[0][0]]
        template["replicatedJobs"].append(_replicated_job(job, role, group, trains=_trains(job, role, roles)))
        moves += _moves(index, role)
        if waits and role.name == LAUNCHER:
            template["replicatedJobs"][index]["dependsOn"] = [{"name": WORKER.lower(), "status": "Ready"}]
            moves.append(Move(CREATION, (*JOBS_OF_RUNTIME, index, "dependsOn")))
    moves += add_success(template, layout, Success(LAUNCHER, roles[LAUNCHER].at, {}))
    found = own_runtime.lowered(
        job,
        KEY,
        template,
        manager=OPERATOR,
        settings=_settings(job, layout),
        moves=moves,
        trainer=[PolicySetting(("numProcPerNode",), get(job, SLOTS, 1), SLOTS)],
        losses=_losses(job, roles, layout),
    )
    # Findings about the runtime as a whole, and about the number of nodes, are reported at these fields.
    places = (
        Move(REPLICAS, ("spec", "runtimeRef")),
        Move((*REPLICAS, WORKER, "replicas"), ("spec", "trainer", "numNodes")),
    )
    return found._replace(of_job=(*found.of_job, *places))


def _replica_spec(name: str, spec: Tree) -> ReplicaSpec:
    restart, template = spec.get("restartPolicy") or ROLES[name], spec["template"]
    pod = {key: field for key, field in template["spec"].items() if key not in OVERWRITTEN}
    pod["restartPolicy"] = restart
    if pod.get("hostNetwork"):
        pod["dnsPolicy"] = DNS_OF_HOST_NETWORK
    main, *others = pod["containers"]
    if name == WORKER and not main.get("command") and not main.get("args"):
        pod["containers"] = [main | {"command": [*SSHD]}, *others]
    return ReplicaSpec(name, (*REPLICAS, name), spec.get("replicas", 1), restart, template | {"spec": pod})


def _layout(job: Tree, roles: dict[str, ReplicaSpec], *, waits: bool) -> Layout:
    """Return the layout: a Job for each role, of which one that waits for another is the last.

    If the launcher is a worker, too, the indexes of the other workers begin with 1. JobSet counts so if each of them is
    a Job of its own behind the launcher's.
    """
    own_jobs = get(job, AS_WORKER, False) and not waits and WORKER in roles and _reads_index(roles[WORKER])
    groups = [
        Group(name.lower(), ((name, role.replicas),), is_one_job=name == LAUNCHER or not own_jobs)
        for name, role in roles.items()
    ]
    return Layout(tuple(reversed(groups) if waits else groups))


def _reads_index(role: ReplicaSpec) -> bool:
    return REPLICA_INDEX in field_paths(role.template)


def _trains(job: Tree, role: ReplicaSpec, roles: dict[str, ReplicaSpec]) -> bool:
    """Return whether mpirun starts processes in the pods of a role."""
    return _has_index(job, role) or WORKER not in roles


def _has_index(job: Tree, role: ReplicaSpec) -> bool:
    """Return whether the operator gives the pods of a role an index: those of the workers."""
    return role.name == WORKER or bool(get(job, AS_WORKER))


def _replicated_job(job: Tree, role: ReplicaSpec, group: Group, *, trains: bool) -> Tree:
    """Return the replicated job of a role. Its labels are those of the operator that do not depend on the pod."""
    labels = {"job-name": get(job, ("metadata", "name"), ""), "job-role": group.name}
    pod = role.template["spec"]
    if _has_index(job, role):
        pod = with_field_path(pod, REPLICA_INDEX, COMPLETION_INDEX if group.is_one_job else GLOBAL_INDEX)
    spec: Tree = {"template": role.template | {"metadata": pod_metadata(role.template, labels), "spec": pod}}
    if role.name == WORKER:
        spec["backoffLimit"] = NO_LIMIT
    elif (limit := get(job, (*POLICY, "backoffLimit"))) is not None:
        spec["backoffLimit"] = limit
    return replicated_job(group, spec, trains=trains)


def _moves(index: int, role: ReplicaSpec) -> Iterator[Move]:
    """Yield the moves of a role's replicated job."""
    spec: Path = (*JOBS_OF_RUNTIME, index, "template", "spec")
    pod, labels = (*spec, "template", "spec"), (*spec, "template", "metadata", "labels")
    yield from moves_of_job(index, role.at, role.at)
    yield Move((*POLICY, "backoffLimit") if role.name == LAUNCHER else role.at, (*spec, "backoffLimit"))
    yield Move((*role.at, "restartPolicy"), (*pod, "restartPolicy"))
    if role.template["spec"].get("hostNetwork"):
        yield Move((*role.at, *POD, "hostNetwork"), (*pod, "dnsPolicy"))
    yield Move(("metadata", "name"), (*labels, f"{LABEL}job-name"))
    yield Move(role.at, (*labels, f"{LABEL}job-role"))


def _settings(job: Tree, layout: Layout) -> Iterator[PolicySetting]:
    yield PolicySetting(("layout",), layout.tree, REPLICAS)
    yield PolicySetting(("mpiImplementation",), get(job, IMPLEMENTATION), IMPLEMENTATION)
    yield PolicySetting(("runLauncherAsNode",), get(job, AS_WORKER, False), AS_WORKER)
    yield PolicySetting(("sshAuthMountPath",), get(job, KEYS_PATH) or ROOT_KEYS, KEYS_PATH)


def _losses(job: Tree, roles: dict[str, ReplicaSpec], layout: Layout) -> Iterator[Loss]:
    """Yield the fields of the job with defaults, and what the operator adds, that the JobSet does not have."""
    policy, launcher = get(job, POLICY, {}), roles[LAUNCHER]
    yield from _losses_of_clean_policy(policy, layout)
    if "activeDeadlineSeconds" in policy:
        why = "the operator ends only the launcher; all Jobs end in time"
        yield Loss((*POLICY, "activeDeadlineSeconds"), why, approximated=True)
    if "ttlSecondsAfterFinished" in policy:
        why = "the operator removes only the launcher's Job; the JobSet is removed with all pods"
        yield Loss((*POLICY, "ttlSecondsAfterFinished"), why, approximated=True)
    if WORKER in roles and roles[WORKER].restart == "Never":
        why = "the operator leaves a failed worker; its Job creates it again"
        yield Loss((*roles[WORKER].at, "restartPolicy"), why, approximated=True)
    yield Loss(KEYS_PATH, "the operator creates the keys; `trainc secret` creates them", approximated=True)
    why = "the launcher has no /etc/mpi/discover_hosts.sh, which Horovod's elastic mode runs"
    yield Loss((*launcher.at, *POD, "volumes"), why)
    for name in get(job, REPLICAS):
        if name not in roles:
            yield Loss((*REPLICAS, name), "the operator ignores the role")
    for role in roles.values():
        yield from _losses_of_role(job, role)
    worker = next((group for group in layout.groups if group.name == WORKER.lower()), None)
    if worker and worker.is_one_job and get(job, AS_WORKER) and _reads_index(roles[WORKER]):
        why = "the index of a worker is lower by one: the launcher waits, so that its Job is the last"
        yield Loss((*roles[WORKER].at, *CONTAINERS), why, approximated=True)


def _losses_of_clean_policy(policy: Tree, layout: Layout) -> Iterator[Loss]:
    path, workers = (*POLICY, "cleanPodPolicy"), [group for group in layout.groups if group.name == WORKER.lower()]
    if not workers:
        yield Loss(path, "it applies to workers, which the job does not have")
    elif workers[0].is_one_job:
        why = "JobSet deletes the Job of the workers with all its pods, unless all of them have succeeded"
        yield Loss(path, why, approximated=True)
    elif policy.get("cleanPodPolicy", "None") != "Running":
        yield Loss(path, "JobSet deletes the running workers of a finished job and keeps the others", approximated=True)


def _losses_of_role(job: Tree, role: ReplicaSpec) -> Iterator[Loss]:
    written = get(job, (*role.at, *POD))
    for key in (*OVERWRITTEN, "restartPolicy"):
        if key in written:
            yield Loss((*role.at, *POD, key), "the operator overwrites it")
    if written.get("hostNetwork") and written.get("dnsPolicy", DNS_OF_HOST_NETWORK) != DNS_OF_HOST_NETWORK:
        yield Loss((*role.at, *POD, "dnsPolicy"), "the operator overwrites it in pods with hostNetwork")
    for label in ("operator-name", *(("replica-index",) if _has_index(job, role) else ())):
        yield Loss((*role.at, "template", "metadata", "labels", f"{LABEL}{label}"), "the pods lack the label")
