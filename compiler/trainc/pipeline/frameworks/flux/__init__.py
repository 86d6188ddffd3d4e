"""Flux: run an instance of the Flux resource manager across the pods, which starts the command as one parallel job.

Reads    flux.numProcPerNode; trainer.numNodes, .numProcPerNode, .resourcesPerNode, .command, .args; the variables
         FLUX_VIEW_IMAGE, FLUX_NETWORK_DEVICE, FLUX_QUEUE_POLICY of the runtime's container and of trainer.env.
Adds     to the job named `node` the init container flux-installer, five volumes, and their mounts in its container
         `node`; the ConfigMap <trainjob>-flux-entrypoint with the scripts of both containers; to the trainers'
         containers a command that runs the script. The brokers' key is in the Secret <trainjob>-flux-curve.
Source   kubeflow/trainer v2.3.0, runtime plugin flux (plainml sets the node count). The scripts are trainc's own, based
         on flux-start(1), flux-run(1), flux-broker-attributes(7), flux-config-bootstrap(5) and flux-config-resource(5)
         of flux-core. trainc does not create the Secret (difference no-secret), and keeps the words of the command
         (difference flux-words).
"""

from __future__ import annotations

import os.path
import re
import shlex
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBS_OF_PATCH, JOBS_OF_RUNTIME, POD
from trainc.base.trainjob_dialects import PROCESSES_FIELD, TrainJobForm
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import Tree, edit, get
from trainc.pipeline.checks import check
from trainc.pipeline.frameworks import Framework, Secret
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import NODE, Plan, gpus, pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Path, Place


INSTALLER: Final = "flux-installer"
ENTRYPOINT: Final = "flux-entrypoint"
CURVE: Final = "flux-curve"
"""Name suffixes: the ConfigMap's (and its volume's) after the JobSet name, the Secret's after the TrainJob name."""
SHARED_MEMORY: Final = "shared-memory"
CONFIG: Final = "/etc/flux-config"
SETTINGS: Final = {
    "FLUX_VIEW_IMAGE": "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    "FLUX_NETWORK_DEVICE": "eth0",
    "FLUX_QUEUE_POLICY": "fcfs",
}
"""The variables that configure Flux, and their defaults."""
REFERENCE: Final = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
"""An escaped dollar sign, or a reference to a variable with a valid shell name."""


def apply(plan: Plan) -> Plan:
    """Install Flux in the job `node`, and start the trainer's command with it."""
    plan = plan.with_nodes_of_job()
    variables, scripts = settings(plan), f"{plan.name}-{ENTRYPOINT}"
    words = command(plan)
    text = " ".join(words).strip()
    others = (*plan.others, config_map(plan, variables, words))
    plan = plan._replace(others=others, entry={"command": ["/bin/bash", f"{CONFIG}/entrypoint.sh", text]})
    node = plan.named(NODE)
    if node is None:
        return plan
    installer = {
        "name": INSTALLER,
        "image": variables["FLUX_VIEW_IMAGE"],
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
        *([mount(SHARED_MEMORY, "/dev/shm", read_only=True)] if plan.release.flux_shared_memory == "memory" else ()),
    )
    return plan.on(plan.find(node, NODE), mounts=mounts)


def settings(plan: Plan) -> dict[str, str]:
    """Return image, device and policy: the TrainJob's variables, else the container's, else the defaults.

    The value of a TrainJob variable with `valueFrom` is unknown at compile time, and counts as empty.
    """
    found = dict(SETTINGS)
    slot = plan.find(plan.trainer, NODE)
    for variable in get(plan.spec, (*slot.path, "env"), []) if slot else []:
        if variable["name"] in found and "value" in variable:
            found[variable["name"]] = variable["value"]
    for variable in plan.job.trainer.get("env") or []:
        if variable["name"] in found:
            found[variable["name"]] = variable.get("value", "")
    return found


def command(plan: Plan) -> list[str]:
    """Return the words to run: the TrainJob's command, else the container's, and the TrainJob's args.

    If the TrainJob has no args, the runtime's args stay on the container, and so come after these words.
    """
    slot = plan.find(plan.trainer, NODE) if plan.release.flux_command == "trainjob or runtime" else None
    of_runtime = get(plan.spec, (*slot.path, "command"), []) if slot else []
    return [*plan.job.trainer.get("command", of_runtime), *plan.job.trainer.get("args", [])]


def processes(plan: Plan) -> int:
    """Return the processes per node of the TrainJob, else of the runtime."""
    of_job = plan.job.processes
    return int(plan.runtime.processes if of_job is None else of_job)


def volumes(plan: Plan, scripts: str) -> tuple[Tree, ...]:
    """Return the volumes: the Flux installation, the scripts, shared memory, the brokers' key."""
    memory = {"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory"}}
    return (
        {"name": "spack-install", "emptyDir": {}},
        {"name": "flux-install", "emptyDir": {}},
        {"name": scripts, "configMap": {"name": scripts, "defaultMode": 0o755}},
        *([memory] if plan.release.flux_shared_memory == "memory" else ()),
        {"name": CURVE, "secret": {"secretName": f"{plan.job.name_of_secrets}-{CURVE}", "defaultMode": 0o400}},
    )


def mount(name: str, path: str, *, read_only: bool = False) -> Tree:
    """Return a mount of a volume."""
    return {"name": name, "mountPath": path, **({"readOnly": True} if read_only else {})}


def config_map(plan: Plan, variables: dict[str, str], words: list[str]) -> Tree:
    """Return the ConfigMap with the scripts, which differ between jobs only in the values at the top of the second."""
    metadata = {"name": f"{plan.name}-{ENTRYPOINT}"}
    if plan.job.namespace:
        metadata["namespace"] = plan.job.namespace
    scripts = {
        "init.sh": f"#!/bin/bash\n{script('init.sh')}",
        "entrypoint.sh": f"#!/bin/bash\n{values(plan, variables, words)}{script('entrypoint.sh')}",
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": scripts}


def values(plan: Plan, variables: dict[str, str], words: list[str]) -> str:
    """Return the lines of the entrypoint that differ between jobs."""
    nodes, slots, devices = plan.job.trainer.get("numNodes", plan.nodes), processes(plan), gpus(plan.node_resources())
    host = f"{plan.name}-{NODE}-0-"
    lines = [
        assignment("trainc_lead", f"{host}0"),
        assignment("trainc_hosts", f"{host}[{indices(nodes)}]"),
        assignment("trainc_subdomain", get(plan.spec, ("network", "subdomain"), plan.name)),
        assignment("trainc_device", variables["FLUX_NETWORK_DEVICE"] or SETTINGS["FLUX_NETWORK_DEVICE"]),
        assignment("trainc_policy", variables["FLUX_QUEUE_POLICY"] or SETTINGS["FLUX_QUEUE_POLICY"]),
        assignment("trainc_cores", indices(slots)),
        assignment("trainc_gpus", indices(devices) if devices > 0 else ""),
        assignment("trainc_options", " ".join(options(nodes, slots, devices))),
        "# $1 is the command in one string. Here are its words as they were given; the runtime's args come after them.",
        " ".join(["set --", *map(shell_word, words), '"${@:2}"']),
    ]
    return "".join(f"{line}\n" for line in lines)


def options(nodes: int, slots: int, devices: int) -> list[str]:
    """Return the options of `flux run` that distribute the processes.

    Each process gets an equal share of a node's GPUs, or sees all GPUs if there are fewer GPUs than processes. CPU
    affinity is off because the kubelet assigns cores: a process may use as many threads as the pod has CPUs.
    """
    share = devices // slots if slots > 0 else 0
    of_gpus = [f"-g{share}"] if share > 0 else ["-ogpu-affinity=off"] if devices > 0 else []
    return [f"-N{nodes}", f"-n{nodes * slots}", "-ocpu-affinity=off", *of_gpus]


def indices(count: int) -> str:
    """Return the numbers below `count` in Flux's set notation."""
    return f"0-{count - 1}" if count > 1 else "0"


def script(name: str) -> str:
    """Return the text of a script in this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def secrets(plan: Plan) -> tuple[Secret, ...]:
    """Return the Secret with the key that authenticates the brokers, if there is a job that mounts it."""
    if plan.named(NODE) is None:
        return ()
    return (
        Secret(name=f"{plan.job.name_of_secrets}-{CURVE}", kind="curve", holds="the CURVE key of the Flux brokers"),
    )


@check("flux-node-count", phase="build")
def node_count(plan: Plan) -> Iterator[Finding]:
    """The controller reads numNodes only from the TrainJob, and panics if it is missing."""
    if "numNodes" not in plan.job.trainer:
        yield Finding(
            message="numNodes is required in the TrainJob: the Flux policy reads it from nowhere else",
            help=f"set spec.trainer.numNodes: {(plan.runtime.policy or {}).get('numNodes', 1)}",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("flux-process-count", phase="trainjob")
def process_count(plan: Plan) -> Iterator[Finding]:
    """Flux needs at least one process per node."""
    count = plan.job.processes
    if count is not None and count < 1 and plan.release.flux_processes == "checked":
        yield Finding(
            message=f"{PROCESSES_FIELD} must be at least 1 with Flux, not {count}",
            help=f"set 1 or more, or remove {PROCESSES_FIELD} to use the runtime's",
            place=plan.job.at(*TrainJobForm.PROCESSES),
        )


@check("flux-installer", phase="trainjob")
def installer_taken(plan: Plan) -> Iterator[Finding]:
    """The policy adds an init container of this name to the job `node`."""
    node = plan.named(NODE)
    if node is None:
        return
    for container in get(plan.spec, (*pod_spec(node), "initContainers"), []):
        if container.get("name") == INSTALLER:
            yield Finding(
                message=f'init container "{INSTALLER}" of job "{NODE}" has the name of the one that the Flux policy '
                "adds",
                help="rename it",
                field="spec.trainer.initContainers",
                place=where_named(plan),
            )


def where_named(plan: Plan) -> Place:
    """Return the place of the init container of that name: in the runtime, or else in a patch."""
    inner = (*POD, "initContainers")
    written: list[tuple[Tree, Path, Callable[..., Place]]] = [(plan.runtime.value, JOBS_OF_RUNTIME, plan.runtime.at)]
    for index in range(len(plan.job.patches)):
        patch = ("spec", "runtimePatches", index, *JOBS_OF_PATCH)
        written.append((plan.job.value, patch, plan.job.at))
    for tree, path, at in written:
        for j, job in enumerate(get(tree, path, [])):
            for c, container in enumerate(get(job, inner, [])):
                if job.get("name") == NODE and container.get("name") == INSTALLER:
                    return at(*path, j, *inner, c, "name")
    return plan.job.at("spec", "runtimePatches")


@check("flux-job-name", phase="build", severity="warning", trainc_only=True)
def job_name(plan: Plan) -> Iterator[Finding]:
    """The policy wraps the trainer's command in a script of Flux, but installs Flux only in the job `node`."""
    if plan.trainer is not None and plan.jobs[plan.trainer].get("name") != NODE:
        name = plan.jobs[plan.trainer].get("name")
        yield Finding(
            message=f'the policy installs Flux in job "{NODE}", but the trainer is job "{name}", which will not start',
            help=f'rename the runtime\'s trainer job to "{NODE}"',
            place=plan.runtime.at("spec", "mlPolicy", "flux", key=True),
        )


def shell_word(word: str) -> str:
    r"""Return a word of a command in shell syntax.

    >>> print(shell_word("--lr=$(LR) in $$5"))
    --lr="${LR-\$(LR)}"' in $5'
    """
    parts, literal, at = [], "", 0
    for found in REFERENCE.finditer(word):
        literal += word[at : found.start()]
        at = found.end()
        if found[1] is None:
            literal += "$"
            continue
        parts += [shlex.quote(literal)] if literal else []
        parts.append(f'"${{{found[1]}-\\$({found[1]})}}"')
        literal = ""
    literal += word[at:]
    return "".join([*parts, shlex.quote(literal)] if literal or not parts else parts)


def assignment(name: str, value: str) -> str:
    """Return a line that sets a variable of the script."""
    return f"{name}={shlex.quote(value)}"


FRAMEWORK: Final = Framework(
    apply,
    (node_count, process_count, installer_taken, job_name),
    traits=Traits(finds_jobs_by_name=True, checks_counts=True),
    secrets=secrets,
)
