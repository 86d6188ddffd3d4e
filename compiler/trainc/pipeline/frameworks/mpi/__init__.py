"""MPI: configure a launcher that connects to every node by SSH, and a hostfile that lists the nodes.

Reads    mpi.mpiImplementation, .numProcPerNode, .runLauncherAsNode, .sshAuthMountPath; trainer.numNodes,
         .numProcPerNode, .resourcesPerNode, .env. The replicated jobs are found by their names in the traits.
Adds     the ConfigMap <trainjob>-mpi-hostfile with a line for every host and its slots; the Secret
         <trainjob>-mpi-ssh-auth to the pods of both jobs; the hostfile to the launcher's pod; the variables by which
         mpirun finds the hostfile (`implementations`) to the launcher's main container. If the launcher is also a
         node, the node job also gets the TrainJob's resources and variables. With Intel MPI and MPICH, the pods of the
         node job get the search domain in which they resolve the launcher's short name.
Source   kubeflow/trainer v2.3.0, runtime plugin mpi, and the JobSet builder for runLauncherAsNode. trainc does not
         create the Secret (difference no-secret). The search domain: kubeflow/mpi-operator v0.8.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Finding
from trainc.kubernetes.quantity import int32
from trainc.kubernetes.trees import Tree, edit, get
from trainc.pipeline.checks import check, limits
from trainc.pipeline.frameworks import Framework, Secret, main_container, traits
from trainc.pipeline.frameworks.mpi.implementations import IMPLEMENTATIONS, Implementation
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import Plan, copied, gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import ObjectId
    from trainc.pipeline.plan import Slot

SSH: Final = "mpi-ssh-auth"
HOSTFILE: Final = "mpi-hostfile"
"""The volume names; with the TrainJob name as a prefix, the names of the Secret and the ConfigMap."""
HOSTFILE_FOLDER: Final = "/etc/mpi"
KEYS: Final = (
    {"key": "ssh-privatekey", "path": "id_rsa", "mode": 0o640},
    {"key": "ssh-publickey", "path": "id_rsa.pub", "mode": 0o644},
    {"key": "ssh-publickey", "path": "authorized_keys", "mode": 0o644},
)
CLUSTER_DOMAIN: Final = "cluster.local"
TRAITS: Final = Traits(
    process_words="rejected", starter="mpirun", launcher="launcher", node="node", finds_jobs_by_name=True
)


def apply(plan: Plan) -> Plan:
    """Set the node count, and add the SSH keys, the hostfile and the search domain."""
    plan = with_nodes(plan)
    launcher, node = launcher_job(plan), node_job(plan)
    for job in (node, launcher):
        if job is not None:
            plan = with_image(with_keys(plan, job, keys(plan)), job)
    if launcher is not None:
        plan = with_variables(with_hostfile(plan, launcher), launcher)
    if node is not None and plan.job.namespace and needs_search_domain(plan):
        plan = with_search_domain(plan, node)
    return plan._replace(others=(*plan.others, hostfile(plan, hostfile_jobs(plan))))


def launcher_job(plan: Plan) -> int | None:
    """Return the index of the launcher's replicated job."""
    return plan.named(traits(plan.runtime).launcher)


def node_job(plan: Plan) -> int | None:
    """Return the index of the replicated job of the nodes."""
    return plan.named(traits(plan.runtime).node)


def with_nodes(plan: Plan) -> Plan:
    """Return the plan with the TrainJob's numNodes in the node job, and its resources and variables if needed.

    They are needed if the launcher is also a node and the node job is not a trainer.
    """
    node = node_job(plan)
    if node is None:
        return plan
    if "numNodes" in plan.job.trainer:
        nodes = plan.job.trainer["numNodes"]
        plan = plan.with_count(node, max(nodes - 1, 1) if launcher_is_node(plan) else nodes)
    if launcher_is_node(plan) and node not in plan.trainers():
        plan = plan.with_resources([node])
        plan = plan.on(main_container(plan, node), env=map(copied, plan.job.trainer.get("env") or []))
    return plan


def launcher_is_node(plan: Plan) -> bool:
    """Return whether the launcher's pod is also a node."""
    return bool(plan.runtime.settings.get("runLauncherAsNode"))


def slots(plan: Plan) -> int:
    """Return the processes per node of the TrainJob, else of the runtime, where 1 means one per GPU of a node."""
    of_job = plan.job.processes
    if of_job is not None:
        return int(of_job)
    of_runtime = int(plan.runtime.processes)
    return int32(max(1, gpus(plan.node_resources()))) if of_runtime == 1 else of_runtime


def counted_processes(plan: Plan) -> int | None:
    """Return the slots of a node if neither the TrainJob nor the runtime sets them; 1 in the runtime sets none."""
    is_set = plan.job.processes is not None or plan.runtime.processes != 1
    return None if is_set else slots(plan)


def keys(plan: Plan) -> Tree:
    """Return the volume with the Secret's keys, as sshd and ssh require them."""
    if plan.release.ssh_modes == "strict":
        secret: Tree = {"secretName": secret_name(plan), "defaultMode": 0o400, "items": [dict(key) for key in KEYS]}
    else:
        items = [{"key": key["key"], "path": key["path"]} for key in KEYS]
        secret = {"secretName": secret_name(plan), "items": items}
    return {"name": SSH, "secret": secret}


def secret_name(plan: Plan) -> str:
    """Return the name of the Secret with the SSH keys."""
    return f"{plan.job.name_of_secrets}-{SSH}"


def with_keys(plan: Plan, job: int, volume: Tree) -> Plan:
    """Return the plan with the volume of the keys, mounted in the main container where sshd and ssh look for them."""
    plan = plan.with_volumes(job, [volume])
    mount = {"name": volume["name"], "mountPath": plan.runtime.settings["sshAuthMountPath"]}
    return plan.on(main_container(plan, job), mounts=[mount])


def with_image(plan: Plan, job: int) -> Plan:
    """Return the plan with the TrainJob's image in the main container of a job, if the release sets it there."""
    image = plan.job.trainer.get("image")
    if image is None or plan.release.mpi_image == "trainers":
        return plan
    return plan.on(main_container(plan, job), fields={"image": image})


def with_hostfile(plan: Plan, launcher: int, name: str = HOSTFILE) -> Plan:
    """Return the plan with the hostfile as a volume of the launcher, mounted in its main container.

    name   the name of the volume
    """
    items = [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]
    volume = {"name": name, "configMap": {"name": f"{plan.name}-{HOSTFILE}", "items": items}}
    plan = plan.with_volumes(launcher, [volume])
    if implementation(plan) is None:
        return plan
    return plan.on(main_container(plan, launcher), mounts=[{"name": name, "mountPath": HOSTFILE_FOLDER}])


def with_variables(plan: Plan, launcher: int) -> Plan:
    """Return the plan with the variables that point mpirun to the hostfile."""
    container, mpi = main_container(plan, launcher), implementation(plan)
    if container is None or mpi is None:
        return plan
    plan = plan.on(container, env=mpi.variables(slots(plan)))
    return plan.on(container, env=other_variables(plan, container, mpi))


def other_variables(plan: Plan, container: Slot, mpi: Implementation) -> list[Tree]:
    """Return the variables of another release that a container does not have yet."""
    existing = {variable["name"] for variable in get(plan.spec, (*container.path, "env"), [])}
    return [variable for variable in mpi.another_release(slots(plan)) if variable["name"] not in existing]


def with_search_domain(plan: Plan, node: int) -> Plan:
    """Return the plan with the JobSet's domain as the nodes' last search domain, for the launcher's short name."""
    domain = f"{plan.subdomain}.{plan.job.namespace}.svc.{CLUSTER_DOMAIN}"

    def change(there: Tree | None) -> Tree:
        searches = (there or {}).get("searches") or []
        return (there or {}) | {"searches": [*searches, *({domain} - set(searches))]}

    return plan._replace(spec=edit(plan.spec, (*pod_spec(node), "dnsConfig"), change))


def hostfile(plan: Plan, jobs: Iterable[int]) -> Tree:
    """Return the ConfigMap with a line for every pod of some jobs, in their order."""
    plan, mpi = with_listed_replicas(plan), implementation(plan)
    suffix = mpi.slots.format(slots(plan)) if mpi else ""
    lines = [f"{host}{suffix}\n" for job in jobs for host in hosts(plan, job, mpi)] if mpi else []
    metadata = {"name": f"{plan.name}-{HOSTFILE}"}
    if plan.job.namespace:
        metadata["namespace"] = plan.job.namespace
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"hostfile": "".join(lines)}}


def hostfile_jobs(plan: Plan) -> list[int]:
    """Return the replicated jobs whose pods are in the hostfile, in their order: the launcher may be a node."""
    launcher, node = traits(plan.runtime).launcher, traits(plan.runtime).node
    names = {node, launcher} if launcher_is_node(plan) else {node}
    return [index for index, job in enumerate(plan.jobs) if job.get("name") in names]


def with_listed_replicas(plan: Plan) -> Plan:
    """Return the plan with the replicas whose pods the release lists in the hostfile."""
    if plan.release.hostfile == "all replicas":
        return plan
    jobs = [job | {"replicas": min(1, job.get("replicas", 1))} for job in plan.jobs]
    return plan._replace(spec=plan.spec | {"replicatedJobs": jobs})


def host_count(plan: Plan) -> int:
    """Return the number of hosts in the hostfile."""
    listed = with_listed_replicas(plan)
    return sum(map(listed.pods, hostfile_jobs(listed)))


def hostfile_size(plan: Plan) -> int:
    """Return the hostfile's size in bytes, by arithmetic."""
    mpi, size = implementation(plan), 0
    if mpi is None:
        return 0
    plan = with_listed_replicas(plan)
    for job in hostfile_jobs(plan):
        end = len(mpi.slots.format(slots(plan))) + 1
        size += limits.host_names_length(plan, job, short=is_short(plan, job, mpi)) + end * plan.pods(job)
    return size


def is_short(plan: Plan, job: int, mpi: Implementation) -> bool:
    """Return whether the hostfile has the short names of a job's pods."""
    return mpi.short_name and plan.jobs[job].get("name") == traits(plan.runtime).launcher


def hosts(plan: Plan, job: int, mpi: Implementation) -> Iterator[str]:
    """Return the host names of a job's pods in the hostfile."""
    short = is_short(plan, job, mpi)
    return (host.partition(".")[0] if short else host for host in plan.endpoints(job))


def secrets(plan: Plan) -> tuple[Secret, ...]:
    """Return the Secret with the SSH keys, if there is a pod that mounts it."""
    if node_job(plan) is None and launcher_job(plan) is None:
        return ()
    return (Secret(name=secret_name(plan), kind="ssh", holds="a pair of SSH keys"),)


def implementation(plan: Plan) -> Implementation | None:
    """Return the MPI implementation, or None for an empty name, which the schema allows; its default is OpenMPI."""
    return IMPLEMENTATIONS.get(str(plan.runtime.settings["mpiImplementation"]))


def needs_search_domain(plan: Plan) -> bool:
    """Return whether the nodes connect to the launcher by its short name."""
    mpi = implementation(plan)
    return mpi is not None and mpi.short_name


def reserved_variables(plan: Plan) -> frozenset[str]:
    """Return the variables that the implementation sets; as in Trainer's webhook, those of Open MPI if unknown."""
    if plan.release.mpi_variables == "free":
        return frozenset()
    mpi = implementation(plan) or IMPLEMENTATIONS["OpenMPI"]
    if plan.release.mpi_variables == "reserved with PRRTE":
        return mpi.reserved_names | {str(variable["name"]) for variable in mpi.another_release(1)}
    return mpi.reserved_names


@check("launcher-node-missing", phase="trainjob")
def missing_jobs(plan: Plan) -> Iterator[Finding]:
    """If the launcher is a node, the TrainJob's nodes are the launcher and the pods of job `node`."""
    missing = [name for name in (TRAITS.launcher, TRAITS.node) if plan.named(name) is None]
    nodes = plan.job.trainer.get("numNodes", 1)
    if launcher_is_node(plan) and nodes >= 2 and missing:
        lacks = " and no ".join(f'job "{name}"' for name in missing)
        yield Finding(
            message=f'{nodes} nodes with runLauncherAsNode require jobs "{TRAITS.launcher}" and "{TRAITS.node}", but '
            f'runtime "{plan.runtime.id.name}" has no {lacks}',
            help="set numNodes: 1, or use a runtime with both jobs",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("mpi-implementation", phase="build")
def unknown_implementation(plan: Plan) -> Iterator[Finding]:
    """The launcher's variables depend on the implementation; without one, the controller fails."""
    if implementation(plan) is None and main_container(plan, launcher_job(plan)):
        yield Finding(
            message='mpiImplementation must not be ""',
            help=f"set one of {', '.join(IMPLEMENTATIONS)}, or remove it to use OpenMPI",
            place=plan.runtime.at("spec", "mlPolicy", "mpi", "mpiImplementation"),
        )


@check("mpi-search-domain", phase="build", severity="note", trainc_only=True)
def search_domain(plan: Plan) -> Iterator[Finding]:
    """Hydra's process on a node connects to the launcher by the launcher pod's own host name, which is short."""
    if needs_search_domain(plan) and node_job(plan) is not None and not plan.job.namespace:
        name = plan.runtime.settings["mpiImplementation"]
        yield Finding(
            message=f"without a namespace, the nodes get no search domain for the launcher's short name, which {name} "
            "uses",
            help="set metadata.namespace, or pass the pods' interface to mpirun: -iface eth0",
            place=plan.job.at("metadata", "namespace"),
        )


def large_hostfile(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Yield an error if the hostfile is too large for its ConfigMap: before it is written, because a count is cheap."""
    is_number = plan.job.processes is None or str(plan.job.processes).isdecimal()  # else another check reports it
    size = hostfile_size(with_nodes(plan.with_replicas())) if is_number and not plan.failed else 0
    if size > limits.MAX_DATA:
        found = limits.config_map(plan, f"{plan.name}-{HOSTFILE}", size)
        yield Diagnostic.declared(
            limits.config_maps.declared, found.message, found.help, object=subject, place=found.place
        )


FRAMEWORK: Final = Framework(
    apply,
    (missing_jobs, unknown_implementation, search_domain, large_hostfile),
    reserved=reserved_variables,
    traits=TRAITS,
    secrets=secrets,
    counted_processes=counted_processes,
)
