"""MPI: a launcher that reaches every node by ssh, and a file that lists them.

Reads    mpi.numProcPerNode, .runLauncherAsNode, .sshAuthMountPath; trainer.numNodes, .numProcPerNode,
         .resourcesPerNode, .env. The replicated jobs are found by their names, `launcher` and `node`.
Adds     the ConfigMap <trainjob>-mpi-hostfile with a line for every host and its slots; to the pods of both jobs the
         Secret <trainjob>-mpi-ssh-auth, to the launcher's the hostfile; to the launcher's container `node` the
         variables by which mpirun finds it. Where the launcher is a node itself, the job `node` gets the TrainJob's
         resources and variables, too.
Source   kubeflow/trainer v2.3.0, runtime plugin mpi, and the JobSet builder for runLauncherAsNode. The Secret itself is
         not made (difference no-secret). For Open MPI 5 (difference prte): PRRTE v3.0 and v4.1, the parameters
         registered in src/runtime/prte_mca_params.c, src/util/proc_info.c and src/mca/plm/ssh/plm_ssh_component.c,
         read from the environment with the prefix PRTE_MCA_; tried with Open MPI 5.0.11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import Tree, get
from trainc.passes.frameworks import Secret
from trainc.plan import NODE, Plan, Slot, copied, gpus, value

if TYPE_CHECKING:
    from collections.abc import Iterator

LAUNCHER: Final = "launcher"
OPEN_MPI: Final = "OpenMPI"
SSH: Final = "mpi-ssh-auth"
HOSTFILE: Final = "mpi-hostfile"
"""Names of volumes, and with the TrainJob's name before them those of the Secret and the ConfigMap."""
HOSTFILE_FOLDER: Final = "/etc/mpi"
KEYS: Final = (
    {"key": "ssh-privatekey", "path": "id_rsa", "mode": 0o640},
    {"key": "ssh-publickey", "path": "id_rsa.pub", "mode": 0o644},
    {"key": "ssh-publickey", "path": "authorized_keys", "mode": 0o644},
)
RESERVED: Final = frozenset(
    {
        "OMPI_MCA_orte_default_hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "OMPI_MCA_orte_set_default_slots",
        "OMPI_MCA_plm_rsh_args",
    }
)
RESERVED_AT: Final = "spec.trainer.env"


def apply(plan: Plan) -> Plan:
    """Count the nodes, let the launcher in, and tell it of them."""
    plan = with_nodes(plan)
    for name in (NODE, LAUNCHER):
        if (job := plan.named(name)) is not None:
            plan = with_keys(plan, job)
    if (launcher := plan.named(LAUNCHER)) is not None:
        plan = with_hostfile(plan, launcher)
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
    secret = {"secretName": f"{plan.job.name}-{SSH}", "defaultMode": 0o400, "items": list(KEYS)}
    plan = plan.with_volumes(job, [{"name": SSH, "secret": secret}])
    mount = {"name": SSH, "mountPath": plan.runtime.settings["sshAuthMountPath"]}
    return plan.on(plan.find(job, NODE), mounts=[mount])


def with_hostfile(plan: Plan, launcher: int) -> Plan:
    """The hostfile as a volume of the launcher, and the variables that point mpirun to it."""
    items = [{"key": "hostfile", "path": "hostfile", "mode": 0o444}]
    volume = {"name": HOSTFILE, "configMap": {"name": f"{plan.job.name}-{HOSTFILE}", "items": items}}
    plan = plan.with_volumes(launcher, [volume])
    container = plan.find(launcher, NODE)
    if container is None:
        return plan
    plan = plan.on(container, env=open_mpi_4(slots(plan)), mounts=[{"name": HOSTFILE, "mountPath": HOSTFILE_FOLDER}])
    return plan.on(container, env=open_mpi_5(plan, container))


def open_mpi_4(slots: int) -> tuple[Tree, ...]:
    """What Open MPI 4's own runtime, ORTE, reads."""
    return (
        value("OMPI_MCA_orte_default_hostfile", f"{HOSTFILE_FOLDER}/hostfile"),
        value("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        value("OMPI_MCA_orte_set_default_slots", slots),
        value("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10"),
    )


def open_mpi_5(plan: Plan, container: Slot) -> list[Tree]:
    """What Open MPI 5's, PRRTE, reads instead; one that the runtime sets already stays as it is.

    PRRTE connects to the names as they stand in the hostfile, but compares them with its own short host name. With
    whole names it would not know the launcher in the hostfile for itself, and wait for an sshd there.
    """
    there = {variable["name"] for variable in get(plan.spec, (*container.path, "env"), [])}
    variables = (
        value("PRTE_MCA_prte_default_hostfile", f"{HOSTFILE_FOLDER}/hostfile"),
        value("PRTE_MCA_prte_keep_fqdn_hostnames", "false"),
        value("PRTE_MCA_prte_set_default_slots", slots(plan)),
        value("PRTE_MCA_plm_ssh_args", "-o ConnectionAttempts=10"),
    )
    return [variable for variable in variables if variable["name"] not in there]


def hostfile(plan: Plan) -> Tree:
    """The ConfigMap with a line for every pod of `node`, and of the launcher where it is one, in the jobs' order."""
    names = {NODE, LAUNCHER} if launcher_is_node(plan) else {NODE}
    jobs = [index for index, job in enumerate(plan.jobs) if job.get("name") in names]
    hosts = [host for job in jobs for host in plan.endpoints(job)] if implementation(plan) == OPEN_MPI else []
    metadata = {"name": f"{plan.job.name}-{HOSTFILE}"}
    if plan.job.namespace:
        metadata["namespace"] = plan.job.namespace
    of_each = slots(plan)
    lines = "".join(f"{host} slots={of_each}\n" for host in hosts)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"hostfile": lines}}


def secrets(plan: Plan) -> tuple[Secret, ...]:
    """The keys by which the launcher gets in, where there is a pod that they are mounted in."""
    if plan.named(NODE) is None and plan.named(LAUNCHER) is None:
        return ()
    return (Secret(name=f"{plan.job.name}-{SSH}", kind="ssh", holds="a pair of SSH keys"),)


def implementation(plan: Plan) -> str:
    """The implementation of MPI; the schema's default is Open MPI."""
    return str(plan.runtime.settings["mpiImplementation"])


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


@check("mpi-implementation", stage="build", title="An implementation of MPI that is not compiled")
def unknown_implementation(plan: Plan) -> Iterator[Finding]:
    """The launcher's variables are Open MPI's; the controller stops at a launcher of another implementation."""
    if implementation(plan) != OPEN_MPI and plan.find(plan.named(LAUNCHER), NODE):
        yield Finding(
            message=f'mpiImplementation "{implementation(plan)}" is not compiled: this release knows {OPEN_MPI} alone',
            help=f"set {OPEN_MPI}, or leave mpiImplementation out",
            field="spec.mlPolicy.mpi.mpiImplementation",
            place=plan.runtime.at("spec", "mlPolicy", "mpi", "mpiImplementation"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (missing_jobs, unknown_implementation)
