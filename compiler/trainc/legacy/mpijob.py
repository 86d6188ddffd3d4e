"""MPIJob of kubeflow.org/v2beta1.

Reads    an MPIJob that its schema has admitted.
Returns  the TrainJob and its runtime, with the replicated jobs `launcher` and `worker`.
Adds     what the MPI policy adds to TrainJobs (`frameworks.mpi`), with other modes of the keys and the operator's names
         of volumes, which init containers can mount; variables, after those of the job. Of one name, the last applies.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/mpi-operator v0.8.0: the defaults of MPIJobs, the pods of both roles and their ConfigMap. The object
         names are Trainer's: the operator's own Secret and ConfigMap of a job disappear together with its MPIJob.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.base.trainjob_dialects import PROCESSES_FIELD, TrainJobForm
from trainc.frontends.lowering import FrontEnd, Loss, LossRule, Move, without_effect
from trainc.kubernetes.trees import Path, Tree, get, put
from trainc.legacy import mpi_admission, own_runtime
from trainc.legacy.common_losses import CLEAN, LABELS, common_losses, missing_labels
from trainc.legacy.common_losses import LOSSES as SHARED_LOSSES
from trainc.legacy.layout import COMPLETION_INDEX, GLOBAL_INDEX, Group, Layout, field_paths, with_field_path
from trainc.legacy.mpi_admission import LAUNCHER, OPERATOR, REPLICAS, ROLES, SLOTS
from trainc.legacy.own_runtime import (
    NO_LIMIT,
    PolicySetting,
    Success,
    add_success,
    moves_of_job,
    replicated_job,
    with_labels,
)
from trainc.legacy.pod_environment import unknown_hosts, with_new_hosts, with_variables
from trainc.legacy.replica_specs import (
    CONTAINERS,
    LABEL,
    POLICY,
    REPLICA_INDEX,
    WORKER,
    ReplicaSpec,
    carried_template,
)
from trainc.pipeline.frameworks import Framework, mpi
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.gangs import GangScheduler
    from trainc.frontends.lowering import Lowered
    from trainc.pipeline.plan import Plan, Slot

KEY: Final = "mpijob"
SSHD: Final = ("/usr/sbin/sshd", "-De")
"""The command of a worker that has neither a command nor arguments."""
ROOT_KEYS: Final = "/root/.ssh"
"""The default path of the SSH keys."""
KEYS: Final = "ssh-auth"
HOSTFILE: Final = "mpi-job-config"
"""The operator's names of the volumes with the keys and the hostfile."""
KEY_FILES: Final = {"id_rsa": "ssh-privatekey", "id_rsa.pub": "ssh-publickey", "authorized_keys": "ssh-publickey"}
ROLE: Final = "K_MPI_JOB_ROLE"
NO_GPUS: Final = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")
"""The variables that hide the GPUs of a launcher that only starts processes."""
AS_WORKER: Final = ("spec", "runLauncherAsWorker")
CREATION: Final = ("spec", "launcherCreationPolicy")
KEYS_PATH: Final = ("spec", "sshAuthMountPath")
IMPLEMENTATION: Final = ("spec", "mpiImplementation")
AT_STARTUP: Final = "AtStartup"
"""The launcherCreationPolicy of a launcher that does not wait until the workers are ready, as with any other one."""
POD: Final = ("template", "spec")
OVERWRITTEN: Final = ("hostname", "subdomain", "restartPolicy")
"""The fields of a pod that the operator replaces, and JobSet or the role's restart policy as well."""
DNS_OF_HOST_NETWORK: Final = "ClusterFirstWithHostNet"
"""The dnsPolicy of pods with hostNetwork, whatever the job has."""
ENDS: Final = {
    "activeDeadlineSeconds": LossRule(
        "spec.runPolicy.activeDeadlineSeconds",
        "approximated",
        "all Jobs end at the deadline; the operator ends only the launcher",
        "set a deadline that is longer than the training",
    ),
    "ttlSecondsAfterFinished": LossRule(
        "spec.runPolicy.ttlSecondsAfterFinished",
        "approximated",
        "the JobSet deletes itself with all pods; the operator deletes only the launcher's Job",
        "remove it where Argo CD or Flux applies the JobSet, which would create it and train again",
    ),
}
CLEAN_WORKERS: Final = {
    CLEAN["Running"]: without_effect(
        "spec.runPolicy.cleanPodPolicy: Running, of workers",
        "JobSet deletes the running workers, and with their Job also those that have ended",
    ),
    CLEAN["All"]: without_effect(
        "spec.runPolicy.cleanPodPolicy: All, of workers",
        "JobSet deletes the workers with their Job, unless all of them have succeeded",
    ),
}
"""The rules for workers that share a Job, by those for pods with Jobs of their own."""
NO_WORKERS: Final = without_effect(
    "spec.runPolicy.cleanPodPolicy, without the role Worker", "the operator deletes only workers"
)
FAILED_WORKER: Final = LossRule(
    "*.restartPolicy: Never, of Worker",
    "approximated",
    "the Job of a failed worker creates it again; the operator leaves it",
    "use OnFailure, with which the container restarts in its pod",
)
NO_KEYS: Final = LossRule(
    "spec.sshAuthMountPath: the keys, of the operator",
    "not carried",
    "the operator creates the Secret with the SSH keys",
    "create it with `trainc secret`",
    is_added=True,
)
NO_DISCOVERY: Final = LossRule(
    "*.template.spec.volumes: discover_hosts.sh, of the operator",
    "not carried",
    "the launcher has no /etc/mpi/discover_hosts.sh, which Horovod's elastic mode runs",
    "run Horovod with a fixed number of hosts",
    is_added=True,
)
UNKNOWN_ROLE: Final = without_effect(
    "spec.mpiReplicaSpecs.*, a role other than Launcher and Worker", "the operator ignores the role"
)
WITHOUT_WORKERS: Final = without_effect(
    "spec.launcherCreationPolicy, without the role Worker", "the launcher is the only pod"
)
LOWER_INDEX: Final = LossRule(
    "*.template.spec.containers: replica-index, with runLauncherAsWorker and WaitForWorkersReady",
    "approximated",
    "the index of a worker is lower by one, because the launcher's Job is the last",
    "add one to the index",
)
HOST: Final = without_effect("*.template.spec.hostname and subdomain", "the operator overwrites it")
DNS_POLICY: Final = without_effect("*.template.spec.dnsPolicy, with hostNetwork", "the operator overwrites it")
SCHEDULER: Final = without_effect("*.template.spec.schedulerName, with a gang scheduler", "the operator overwrites it")
LOSSES: Final = (
    *SHARED_LOSSES,
    *CLEAN_WORKERS.values(),
    NO_WORKERS,
    *ENDS.values(),
    FAILED_WORKER,
    NO_KEYS,
    NO_DISCOVERY,
    UNKNOWN_ROLE,
    WITHOUT_WORKERS,
    LOWER_INDEX,
    HOST,
    DNS_POLICY,
    SCHEDULER,
    LABELS["operator-name"],
    LABELS["replica-index"],
)


def lower(job: Tree, gang: GangScheduler | None) -> Lowered:
    """Return the TrainJob and its runtime."""
    specs = get(job, REPLICAS)
    roles = {name: _replica_spec(name, specs[name]) for name in ROLES if name in specs}
    waits = WORKER in roles and (get(job, CREATION) or AT_STARTUP) != AT_STARTUP
    layout = _layout(job, roles, waits=waits)
    template: Tree = {"replicatedJobs": []}
    moves = [Move(REPLICAS, JOBS_OF_RUNTIME)]
    for index, group in enumerate(layout.groups):
        role = roles[group.roles[0][0]]
        template["replicatedJobs"].append(_replicated_job(job, role, group, gang, trains=_trains(job, role, roles)))
        moves += _moves(index, role)
        if waits and role.name == LAUNCHER:
            template["replicatedJobs"][index]["dependsOn"] = [{"name": WORKER.lower(), "status": "Ready"}]
            moves.append(Move(CREATION, (*JOBS_OF_RUNTIME, index, "dependsOn")))
    moves += add_success(template, layout, Success(LAUNCHER, roles[LAUNCHER].at, {}))
    losses = common_losses(job, [role.at for role in roles.values()], gang)
    found = own_runtime.lowered(
        job,
        KEY,
        template,
        manager=OPERATOR,
        settings=_settings(job, layout),
        moves=moves,
        losses=(*(_with_rule_of_workers(loss, layout) for loss in losses), *_losses(job, roles, layout, gang)),
    )
    found = own_runtime.with_gang(found, job, [*roles.values()], gang)
    return found._replace(
        job=put(found.job, ("spec", "trainer"), {PROCESSES_FIELD: get(job, SLOTS, 1)}),
        # Findings about the runtime as a whole, and about the number of nodes, are reported at the last two fields.
        of_job=(
            *found.of_job,
            Move(SLOTS, TrainJobForm.PROCESSES),
            Move(REPLICAS, ("spec", "runtimeRef")),
            Move((*REPLICAS, WORKER, "replicas"), ("spec", "trainer", "numNodes")),
        ),
    )


def _replica_spec(name: str, spec: Tree) -> ReplicaSpec:
    restart, template = spec.get("restartPolicy") or ROLES[name], spec["template"]
    pod = {key: field for key, field in template["spec"].items() if key not in OVERWRITTEN}
    pod["restartPolicy"] = restart
    if pod.get("hostNetwork"):
        pod["dnsPolicy"] = DNS_OF_HOST_NETWORK
    main, *others = pod["containers"]
    if name == WORKER and not main.get("command") and not main.get("args"):
        pod["containers"] = [main | {"command": [*SSHD]}, *others]
    return ReplicaSpec(name, (*REPLICAS, name), spec.get("replicas", 1), restart, carried_template(template, pod))


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
    return Layout(tuple(reversed(groups) if waits else groups), unnumbered=LAUNCHER, in_subdomain=True)


def _reads_index(role: ReplicaSpec) -> bool:
    return REPLICA_INDEX in field_paths(role.template)


def _trains(job: Tree, role: ReplicaSpec, roles: dict[str, ReplicaSpec]) -> bool:
    """Return whether mpirun starts processes in the pods of a role."""
    return _has_index(job, role) or WORKER not in roles


def _has_index(job: Tree, role: ReplicaSpec) -> bool:
    """Return whether the operator gives the pods of a role an index: those of the workers."""
    return role.name == WORKER or bool(get(job, AS_WORKER))


def _replicated_job(job: Tree, role: ReplicaSpec, group: Group, gang: GangScheduler | None, *, trains: bool) -> Tree:
    """Return the replicated job of a role. Its labels are those of the operator that do not depend on the pod."""
    labels = {"job-name": get(job, ("metadata", "name"), ""), "job-role": group.name}
    pod = role.template["spec"]
    if _has_index(job, role):
        pod = with_field_path(pod, REPLICA_INDEX, COMPLETION_INDEX if group.is_one_job else GLOBAL_INDEX)
    if gang is not None:  # the operator overwrites that of the job
        pod = pod | {"schedulerName": gang.scheduler}
    spec: Tree = {"template": with_labels(role.template | {"spec": pod}, labels)}
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


def _with_rule_of_workers(loss: Loss, layout: Layout) -> Loss:
    """Return a loss; that of cleanPodPolicy depends on the workers."""
    if loss.rule not in CLEAN.values():
        return loss
    workers = next((group for group in layout.groups if group.name == WORKER.lower()), None)
    if workers is None:
        return Loss(loss.path, NO_WORKERS)
    return Loss(loss.path, CLEAN_WORKERS.get(loss.rule, loss.rule)) if workers.is_one_job else loss


def _losses(job: Tree, roles: dict[str, ReplicaSpec], layout: Layout, gang: GangScheduler | None) -> Iterator[Loss]:
    """Yield the losses of this kind."""
    policy = get(job, POLICY, {})
    for key, rule in ENDS.items():
        if key in policy:
            yield Loss((*POLICY, key), rule)
    if WORKER in roles and roles[WORKER].restart == "Never":
        yield Loss((*roles[WORKER].at, "restartPolicy"), FAILED_WORKER)
    yield Loss(KEYS_PATH, NO_KEYS)
    yield Loss((*roles[LAUNCHER].at, *POD, "volumes"), NO_DISCOVERY)
    for name in get(job, REPLICAS):
        if name not in roles:
            yield Loss((*REPLICAS, name), UNKNOWN_ROLE)
    if WORKER not in roles and get(job, CREATION) is not None:
        yield Loss(CREATION, WITHOUT_WORKERS)
    for role in roles.values():
        yield from _losses_of_role(job, role, gang)
    worker = next((group for group in layout.groups if group.name == WORKER.lower()), None)
    if worker and worker.is_one_job and get(job, AS_WORKER) and _reads_index(roles[WORKER]):
        yield Loss((*roles[WORKER].at, *CONTAINERS), LOWER_INDEX)


def _losses_of_role(job: Tree, role: ReplicaSpec, gang: GangScheduler | None) -> Iterator[Loss]:
    written = get(job, (*role.at, *POD))
    for key in ("hostname", "subdomain"):
        if key in written:
            yield Loss((*role.at, *POD, key), HOST)
    if written.get("hostNetwork") and "dnsPolicy" in written:
        yield Loss((*role.at, *POD, "dnsPolicy"), DNS_POLICY)
    if gang is not None and "schedulerName" in written:
        yield Loss((*role.at, *POD, "schedulerName"), SCHEDULER)
    yield from missing_labels(role.at, ("operator-name", *(("replica-index",) if _has_index(job, role) else ())))


def apply(plan: Plan) -> Plan:
    """Add the keys, the hostfile, the search domain and the variables."""
    launcher, worker = mpi.launcher_job(plan), mpi.node_job(plan)
    assert launcher is not None, "admission requires a launcher"
    for job in range(len(plan.jobs)):
        plan = mpi.with_keys(plan, job, _keys(plan))
        for slot in (*plan.containers(job), *plan.init_containers(job)):
            plan = with_variables(plan, slot, _variables(plan, slot, launcher))
    plan = mpi.with_hostfile(plan, launcher, HOSTFILE)
    if worker is not None and plan.job.namespace:
        plan = mpi.with_search_domain(plan, worker)
    hosts = sorted(mpi.hostfile_jobs(plan), key=lambda job: job != launcher)
    plan = plan._replace(others=(*plan.others, mpi.hostfile(plan, hosts)))
    return with_new_hosts(plan)


def _keys(plan: Plan) -> Tree:
    """Return the volume with the Secret's keys. Only in the home of root do they have a mode of their own."""
    items = [{"key": key, "path": path} for path, key in KEY_FILES.items()]
    mode = {"defaultMode": 0o600} if plan.runtime.settings["sshAuthMountPath"] == ROOT_KEYS else {}
    return {"name": KEYS, "secret": {"secretName": mpi.secret_name(plan), "items": items, **mode}}


def _variables(plan: Plan, slot: Slot, launcher: int) -> Iterator[Tree]:
    """Yield the variables of a container; only the first container of a pod has any."""
    if slot.containers != "containers" or slot.at:
        return
    yield value(ROLE, plan.jobs[slot.job]["name"])
    implementation = mpi.implementation(plan)
    if slot.job == launcher and implementation is not None:
        yield from implementation.variables(mpi.slots(plan))
        yield from mpi.other_variables(plan, slot, implementation)
        if not mpi.launcher_is_node(plan):
            yield from (value(name, "") for name in NO_GPUS)


FRAMEWORKS: Final = {
    KEY: Framework(
        apply,
        (mpi.search_domain, mpi.large_hostfile),
        traits=Traits(
            family="mpi",
            container="",
            nodes_field="replicas",
            processes_field="slotsPerWorker",
            launcher=LAUNCHER.lower(),
            node=WORKER.lower(),
            checks_counts=True,
        ),
        secrets=mpi.secrets,
        front_end=FrontEnd(mpi_admission.violations, lower, LOSSES),
        unknown_hosts=unknown_hosts,
    )
}
