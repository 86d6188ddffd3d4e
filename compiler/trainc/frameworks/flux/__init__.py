"""Flux: an instance of the Flux resource manager across the pods, which starts the command as one parallel job.

Reads    flux.numProcPerNode; trainer.numNodes, .numProcPerNode, .resourcesPerNode, .command, .args; the variables
         FLUX_VIEW_IMAGE, FLUX_NETWORK_DEVICE, FLUX_QUEUE_POLICY of the runtime's container and of trainer.env.
Adds     to the job named `node` the init container flux-installer, five volumes, and their mounts in its container
         `node`; the ConfigMap <trainjob>-flux-entrypoint with the scripts of both containers; to the trainers'
         containers a command that runs the script. The brokers' key is in the Secret <trainjob>-flux-curve.
Source   kubeflow/trainer v2.3.0, runtime plugin flux (plainml counts the nodes); the scripts are our own, after
         flux-start(1), flux-run(1), flux-broker-attributes(7), flux-config-bootstrap(5) and flux-config-resource(5) of
         flux-core. The Secret is not made (difference no-secret), the command keeps its words (flux-words).
"""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.frameworks import Secret
from trainc.frameworks.flux.words import assignment, shell_word
from trainc.kubernetes.trees import Tree, edit, get
from trainc.plan import NODE, Plan, gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Path, Place

INSTALLER: Final = "flux-installer"
ENTRYPOINT: Final = "flux-entrypoint"
CURVE: Final = "flux-curve"
"""The ends of names: of the ConfigMap (also of its volume) behind the JobSet's, of the Secret behind the TrainJob's."""
CONFIG: Final = "/etc/flux-config"
SETTINGS: Final = {
    "FLUX_VIEW_IMAGE": "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    "FLUX_NETWORK_DEVICE": "eth0",
    "FLUX_QUEUE_POLICY": "fcfs",
}
"""The variables by which a job sets Flux up, and what they are when nobody sets them."""
RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec.trainer.env"


def apply(plan: Plan) -> Plan:
    """Install Flux in the job `node`, and let it start the trainer's command."""
    plan = plan.with_nodes_of_job()
    said, scripts = settings(plan), f"{plan.name}-{ENTRYPOINT}"
    words = command(plan)
    text = " ".join(words).strip()
    others = (*plan.others, config_map(plan, said, words))
    plan = plan._replace(others=others, entry={"command": ["/bin/bash", f"{CONFIG}/entrypoint.sh", text]})
    node = plan.named(NODE)
    if node is None:
        return plan
    installer = {
        "name": INSTALLER,
        "image": said["FLUX_VIEW_IMAGE"],
        "command": ["/bin/bash", f"{CONFIG}/init.sh"],
        "volumeMounts": [mount("flux-install", "/mnt/flux"), mount(scripts, CONFIG, read_only=True)],
    }
    path = (*pod_spec(node), "initContainers")
    plan = plan._replace(spec=edit(plan.spec, path, lambda there: [*(there or []), installer]))
    plan = plan.with_volumes(node, volumes(plan, scripts))
    mounts = (
        mount("flux-install", "/mnt/flux"),
        mount("spack-install", "/opt/software"),
        mount(scripts, CONFIG, read_only=True),
        mount(CURVE, "/curve", read_only=True),
        mount("shared-memory", "/dev/shm", read_only=True),
    )
    return plan.on(plan.find(node, NODE), mounts=mounts)


def settings(plan: Plan) -> dict[str, str]:
    """Image, device and policy: the TrainJob's variables, else the container's, else the defaults.

    A variable of the TrainJob with `valueFrom` is nothing that can be known here, and counts as empty.
    """
    said = dict(SETTINGS)
    slot = plan.find(plan.trainer, NODE)
    for variable in get(plan.spec, (*slot.path, "env"), []) if slot else []:
        if variable["name"] in said and "value" in variable:
            said[variable["name"]] = variable["value"]
    for variable in plan.job.trainer.get("env") or []:
        if variable["name"] in said:
            said[variable["name"]] = variable.get("value", "")
    return said


def command(plan: Plan) -> list[str]:
    """The words to start: the TrainJob's command, else the container's, and the TrainJob's args.

    The runtime's args, where the TrainJob has none, stay on the container, and so come after these.
    """
    slot = plan.find(plan.trainer, NODE)
    of_runtime = get(plan.spec, (*slot.path, "command"), []) if slot else []
    return [*plan.job.trainer.get("command", of_runtime), *plan.job.trainer.get("args", [])]


def processes(plan: Plan) -> int:
    """Processes a node: what the TrainJob says, else the runtime."""
    said = plan.job.trainer.get("numProcPerNode")
    return int(plan.runtime.settings["numProcPerNode"] if said is None else said)


def volumes(plan: Plan, scripts: str) -> tuple[Tree, ...]:
    """Where Flux is installed, the scripts, shared memory, the brokers' key."""
    return (
        {"name": "spack-install", "emptyDir": {}},
        {"name": "flux-install", "emptyDir": {}},
        {"name": scripts, "configMap": {"name": scripts, "defaultMode": 0o755}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": CURVE, "secret": {"secretName": f"{plan.job.name}-{CURVE}", "defaultMode": 0o400}},
    )


def mount(name: str, path: str, *, read_only: bool = False) -> Tree:
    """A mount of a volume."""
    return {"name": name, "mountPath": path, **({"readOnly": True} if read_only else {})}


def config_map(plan: Plan, said: dict[str, str], words: list[str]) -> Tree:
    """The ConfigMap with the scripts: the same for every job, but for the values at the top of the second."""
    metadata = {"name": f"{plan.name}-{ENTRYPOINT}"}
    if plan.job.namespace:
        metadata["namespace"] = plan.job.namespace
    scripts = {
        "init.sh": f"#!/bin/bash\n{script('init.sh')}",
        "entrypoint.sh": f"#!/bin/bash\n{values(plan, said, words)}{script('entrypoint.sh')}",
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": scripts}


def values(plan: Plan, said: dict[str, str], words: list[str]) -> str:
    """The lines of the entrypoint that differ from job to job."""
    nodes, slots, devices = plan.job.trainer.get("numNodes", plan.nodes), processes(plan), gpus(plan.node_resources())
    host = f"{plan.name}-{NODE}-0-"
    lines = [
        assignment("lead", f"{host}0"),
        assignment("hosts", f"{host}[{indices(nodes)}]"),
        assignment("subdomain", get(plan.spec, ("network", "subdomain"), plan.name)),
        assignment("device", said["FLUX_NETWORK_DEVICE"] or SETTINGS["FLUX_NETWORK_DEVICE"]),
        assignment("policy", said["FLUX_QUEUE_POLICY"] or SETTINGS["FLUX_QUEUE_POLICY"]),
        assignment("cores", indices(slots)),
        assignment("gpus", indices(devices) if devices > 0 else ""),
        assignment("options", " ".join(options(nodes, slots, devices))),
        "# $1 is the command in one string. Here are its words as they were given; the runtime's args come after them.",
        " ".join(["set --", *map(shell_word, words), '"${@:2}"']),
    ]
    return "".join(f"{line}\n" for line in lines)


def options(nodes: int, slots: int, devices: int) -> list[str]:
    """How `flux run` spreads the processes; each has its share of a node's GPUs, or all see all where they are too few.

    The cores of a pod are the kubelet's business: a process on one slot may have as many threads as the pod has CPUs.
    """
    share = devices // slots
    of_gpus = [f"-g{share}"] if share > 0 else ["-ogpu-affinity=off"] if devices > 0 else []
    return [f"-N{nodes}", f"-n{nodes * slots}", "-ocpu-affinity=off", *of_gpus]


def indices(count: int) -> str:
    """That many numbers from 0, as Flux writes a set of them."""
    return f"0-{count - 1}" if count > 1 else "0"


def script(name: str) -> str:
    """A script of this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def secrets(plan: Plan) -> tuple[Secret, ...]:
    """The key by which the brokers know one another, where there is a job that it is mounted in."""
    if plan.named(NODE) is None:
        return ()
    return (Secret(name=f"{plan.job.name}-{CURVE}", kind="curve", holds="the CURVE key of the Flux brokers"),)


@check("flux-node-count", stage="build", title="A Flux job does not say how many nodes it has")
def node_count(plan: Plan) -> Iterator[Finding]:
    """The controller reads the count from the TrainJob alone, and panics where it is missing."""
    if "numNodes" not in plan.job.trainer:
        yield Finding(
            message="the TrainJob does not say numNodes, and the Flux policy takes it from nowhere else",
            help=f"set spec.trainer.numNodes: {(plan.runtime.policy or {}).get('numNodes', 1)}",
            field="spec.trainer.numNodes",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("flux-process-count", stage="trainjob", title="A Flux job asks for less than one process a node")
def process_count(plan: Plan) -> Iterator[Finding]:
    """Flux starts as many processes as it is told to: none is no job."""
    asked = plan.job.trainer.get("numProcPerNode", 1)
    if asked < 1:
        yield Finding(
            message=f"{asked} processes a node: Flux needs one at least",
            help="set 1 or more, or leave numProcPerNode out: the runtime's count is taken then",
            field="spec.trainer.numProcPerNode",
            place=plan.job.at("spec", "trainer", "numProcPerNode"),
        )


@check("flux-installer", stage="trainjob", title="A container has the name of Flux' own init container")
def installer_taken(plan: Plan) -> Iterator[Finding]:
    """The policy adds an init container of this name to the job `node`."""
    node = plan.named(NODE)
    if node is None:
        return
    for container in get(plan.spec, (*pod_spec(node), "initContainers"), []):
        if container.get("name") == INSTALLER:
            yield Finding(
                message=f'the job "{NODE}" has an init container "{INSTALLER}", which the Flux policy adds itself',
                help="give it another name",
                field="spec.trainer.initContainers",
                place=where_named(plan),
            )


def where_named(plan: Plan) -> Place:
    """Where the init container of that name is written: in the runtime, or else in a patch."""
    template: Path = ("template", "spec", "replicatedJobs")
    inner: Path = ("template", "spec", "template", "spec", "initContainers")
    written: list[tuple[Tree, Path, Callable[..., Place]]] = [
        (plan.runtime.value, ("spec", *template), plan.runtime.at)
    ]
    for index in range(len(plan.job.patches)):
        patch = ("spec", "runtimePatches", index, "trainingRuntimeSpec", *template)
        written.append((plan.job.value, patch, plan.job.at))
    for tree, path, at in written:
        for j, job in enumerate(get(tree, path, [])):
            for c, container in enumerate(get(job, inner, [])):
                if job.get("name") == NODE and container.get("name") == INSTALLER:
                    return at(*path, j, *inner, c, "name")
    return plan.job.at("spec", "runtimePatches")


@check("flux-job-name", stage="build", severity="warning", title="Flux is installed in no pod of the trainer", own=True)
def job_name(plan: Plan) -> Iterator[Finding]:
    """The command is wrapped wherever the trainer is; what it is wrapped in comes to the job `node` alone."""
    if plan.trainer is not None and plan.jobs[plan.trainer].get("name") != NODE:
        name = plan.jobs[plan.trainer].get("name")
        yield Finding(
            message=f'the policy installs Flux in the job "{NODE}", but the trainer is "{name}": it will not start',
            help=f'call the runtime\'s trainer "{NODE}"',
            field="spec.mlPolicy.flux",
            place=plan.runtime.at("spec", "mlPolicy", "flux", key=True),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (node_count, process_count, installer_taken, job_name)
