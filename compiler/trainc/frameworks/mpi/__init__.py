"""MPI: a launcher that reaches every node by ssh, and a file that lists them.

Reads    mpi.mpiImplementation, .numProcPerNode, .runLauncherAsNode, .sshAuthMountPath; trainer.numNodes,
         .numProcPerNode, .resourcesPerNode, .env. The replicated jobs are found by their names, `launcher` and `node`.
Adds     the ConfigMap <trainjob>-mpi-hostfile with a line for every host and its slots; to the pods of both jobs the
         Secret <trainjob>-mpi-ssh-auth, to the launcher's the hostfile; to the launcher's container `node` the
         variables by which mpirun finds it (`implementations`). Where the launcher is a node itself, the job `node`
         gets the TrainJob's resources and variables, too. With Intel MPI and MPICH, the pods of `node` get the search
         domain in which the launcher is found by its short name.
Source   kubeflow/trainer v2.3.0, runtime plugin mpi, and the JobSet builder for runLauncherAsNode. The Secret itself is
         not made (difference no-secret). The search domain: kubeflow/mpi-operator v0.8.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.frameworks import Secret
from trainc.frameworks.mpi.implementations import IMPLEMENTATIONS, Implementation
from trainc.kubernetes.trees import Tree, edit, get
from trainc.plan import NODE, Plan, copied, gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

LAUNCHER: Final = "launcher"
SSH: Final = "mpi-ssh-auth"
HOSTFILE: Final = "mpi-hostfile"
"""Names of volumes, and with the TrainJob's name before them those of the Secret and the ConfigMap."""
HOSTFILE_FOLDER: Final = "/etc/mpi"
KEYS: Final = (
    {"key": "ssh-privatekey", "path": "id_rsa", "mode": 0o640},
    {"key": "ssh-publickey", "path": "id_rsa.pub", "mode": 0o644},
    {"key": "ssh-publickey", "path": "authorized_keys", "mode": 0o644},
)
CLUSTER_DOMAIN: Final = "cluster.local"
RESERVED: Final = IMPLEMENTATIONS["OpenMPI"].reserved
RESERVED_AT: Final = "spec.trainer.env"


def apply(plan: Plan) -> Plan:
    """Count the nodes, let the launcher in, and tell it of them."""
    plan = with_nodes(plan)
    for name in (NODE, LAUNCHER):
        if (job := plan.named(name)) is not None:
            plan = with_keys(plan, job)
    if (launcher := plan.named(LAUNCHER)) is not None:
        plan = with_hostfile(plan, launcher)
    if (node := plan.named(NODE)) is not None and plan.job.namespace and needs_search_domain(plan):
        plan = with_search_domain(plan, node)
    return plan._replace(others=(*plan.others, hostfile(plan)))


def with_nodes(plan: Plan) -> Plan:
    """The job `node` with the TrainJob's count; with its resources and variables where the launcher is a node."""
    node = plan.named(NODE)
    if node is None:
        return plan
    if "numNodes" in plan.job.trainer:
        nodes = plan.job.trainer["numNodes"]
        plan = plan.with_count(node, max(nodes - 1, 1) if launcher_is_node(plan) else nodes)
    if launcher_is_node(plan) and node not in plan.trainers():
        plan = plan.with_resources([node])
        plan = plan.on(plan.find(node, NODE), env=map(copied, plan.job.trainer.get("env") or []))
    return plan


def launcher_is_node(plan: Plan) -> bool:
    """Whether the launcher's pod computes, too."""
    return bool(plan.runtime.settings.get("runLauncherAsNode"))


def slots(plan: Plan) -> int:
    """Processes per node: what the TrainJob says, else the runtime, whose 1 gives way to the GPUs of a node."""
    said = plan.job.trainer.get("numProcPerNode")
    if said is not None:
        return int(said)
    of_runtime = int(plan.runtime.settings["numProcPerNode"])
    return max(1, gpus(plan.node_resources())) if of_runtime == 1 else of_runtime


def with_keys(plan: Plan, job: int) -> Plan:
    """The Secret's keys as a volume of the pods, mounted where sshd and ssh look for them."""
    secret = {"secretName": f"{plan.job.name}-{SSH}", "defaultMode": 0o400, "items": [dict(key) for key in KEYS]}
    plan = plan.with_volumes(job, [{"name": SSH, "secret": secret}])
    mount = {"name": SSH, "mountPath": plan.runtime.settings["sshAuthMountPath"]}
    return plan.on(plan.find(job, NODE), mounts=[mount])


def with_hostfile(plan: Plan, launcher: int) -> Plan:
    """The hostfile as a volume of the launcher, and the variables that point mpirun to it."""
    items = [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]
    volume = {"name": HOSTFILE, "configMap": {"name": f"{plan.name}-{HOSTFILE}", "items": items}}
    plan = plan.with_volumes(launcher, [volume])
    container, mpi = plan.find(launcher, NODE), implementation(plan)
    if container is None or mpi is None:
        return plan
    mounts = [{"name": HOSTFILE, "mountPath": HOSTFILE_FOLDER}]
    plan = plan.on(container, env=mpi.variables(slots(plan)), mounts=mounts)
    there = {variable["name"] for variable in get(plan.spec, (*container.path, "env"), [])}
    return plan.on(container, env=[v for v in mpi.another_release(slots(plan)) if v["name"] not in there])


def with_search_domain(plan: Plan, node: int) -> Plan:
    """Let the pods of `node` find the launcher where it gives its short name: in the JobSet's own domain, last."""
    domain = f"{plan.subdomain}.{plan.job.namespace}.svc.{CLUSTER_DOMAIN}"

    def change(there: Tree | None) -> Tree:
        searches = (there or {}).get("searches") or []
        return (there or {}) | {"searches": [*searches, *({domain} - set(searches))]}

    return plan._replace(spec=edit(plan.spec, (*pod_spec(node), "dnsConfig"), change))


def hostfile(plan: Plan) -> Tree:
    """The ConfigMap with a line for every pod of `node`, and of the launcher where it is one, in the jobs' order."""
    names = {NODE, LAUNCHER} if launcher_is_node(plan) else {NODE}
    jobs = [index for index, job in enumerate(plan.jobs) if job.get("name") in names]
    mpi = implementation(plan)
    behind = mpi.slots.format(slots(plan)) if mpi else ""
    lines = [f"{host}{behind}\n" for job in jobs for host in hosts(plan, job, mpi)] if mpi else []
    metadata = {"name": f"{plan.name}-{HOSTFILE}"}
    if plan.job.namespace:
        metadata["namespace"] = plan.job.namespace
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"hostfile": "".join(lines)}}


def hosts(plan: Plan, job: int, mpi: Implementation) -> Iterator[str]:
    """The names of a job's pods in the hostfile."""
    short = mpi.short_name and plan.jobs[job].get("name") == LAUNCHER
    return (host.partition(".")[0] if short else host for host in plan.endpoints(job))


def secrets(plan: Plan) -> tuple[Secret, ...]:
    """The keys by which the launcher gets in, where there is a pod that they are mounted in."""
    if plan.named(NODE) is None and plan.named(LAUNCHER) is None:
        return ()
    return (Secret(name=f"{plan.job.name}-{SSH}", kind="ssh", holds="a pair of SSH keys"),)


def implementation(plan: Plan) -> Implementation | None:
    """The implementation of MPI; the schema's default is Open MPI, and it lets an empty name pass."""
    return IMPLEMENTATIONS.get(str(plan.runtime.settings["mpiImplementation"]))


def needs_search_domain(plan: Plan) -> bool:
    """Whether the nodes look for the launcher by its short name."""
    mpi = implementation(plan)
    return mpi is not None and mpi.short_name


def reserved(plan: Plan) -> frozenset[str]:
    """The variables that the implementation sets; Trainer's webhook asks for Open MPI's where none is named."""
    mpi = implementation(plan)
    return RESERVED if mpi is None else mpi.reserved


@check("launcher-node-missing", stage="trainjob", title="runLauncherAsNode without a job launcher or node")
def missing_jobs(plan: Plan) -> Iterator[Finding]:
    """Where the launcher is a node, the TrainJob's nodes are the launcher's one and those of the job `node`."""
    missing = [name for name in (LAUNCHER, NODE) if plan.named(name) is None]
    nodes = plan.job.trainer.get("numNodes", 1)
    if launcher_is_node(plan) and nodes >= 2 and missing:
        lacks = " and no ".join(f'job "{name}"' for name in missing)
        yield Finding(
            message=f'{nodes} nodes, and runtime "{plan.runtime.id.name}" has runLauncherAsNode and no {lacks}',
            help="set numNodes: 1, or use a runtime that has both jobs",
            field="spec.trainer.numNodes",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("mpi-implementation", stage="build", title="An MPI runtime does not say whose MPI it is")
def unknown_implementation(plan: Plan) -> Iterator[Finding]:
    """The launcher's variables are the implementation's own; the controller stops at a launcher without one."""
    if implementation(plan) is None and plan.find(plan.named(LAUNCHER), NODE):
        yield Finding(
            message='mpiImplementation is "": it is not said whose mpirun the launcher runs',
            help=f"set {', '.join(IMPLEMENTATIONS)}; when it is left out, it is OpenMPI",
            field="spec.mlPolicy.mpi.mpiImplementation",
            place=plan.runtime.at("spec", "mlPolicy", "mpi", "mpiImplementation"),
        )


@check("mpi-search-domain", stage="build", severity="note", title="The nodes may not find the launcher's short name")
def search_domain(plan: Plan) -> Iterator[Finding]:
    """What Hydra starts on a node calls the launcher back by the name that its pod has for itself."""
    if needs_search_domain(plan) and plan.named(NODE) is not None and not plan.job.namespace:
        name = plan.runtime.settings["mpiImplementation"]
        yield Finding(
            message=f"without a namespace, the nodes are not told where {name} finds the launcher by its short name",
            help="set metadata.namespace, or tell mpirun which interface the pods have: -iface eth0",
            field="metadata.namespace",
            place=plan.job.at("metadata", "namespace"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (missing_jobs, unknown_implementation, search_domain)
