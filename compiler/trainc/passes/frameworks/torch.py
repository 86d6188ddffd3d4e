"""Torch: what torchrun reads to bring its processes together.

Reads    trainer.numNodes, .numProcPerNode, .resourcesPerNode, .env; mlPolicy.torch.envInjection.
Adds     PET_NNODES, PET_NPROC_PER_NODE, PET_NODE_RANK, PET_MASTER_ADDR, PET_MASTER_PORT and container port 29500 to
         the `node` container of the trainer job; the variables alone to the containers that envInjection lists.
Source   kubeflow/trainer v2.3.0, runtime plugin torch. The TrainJob's own variables stand before torch's, so a
         `$(PET_NNODES)` in them is not expanded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import check
from trainc.diagnostics import Finding
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import Tree, get
from trainc.plan import COMPLETION_INDEX, NODE, Plan, Slot, copied, from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT: Final = 29500
RESERVED: Final = frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"})


def apply(plan: Plan) -> Plan:
    """Put the rendezvous on the trainer's node container and on the containers of envInjection."""
    plan = plan.with_nodes_of_job()
    rendezvous = (
        value("PET_NNODES", plan.nodes),
        value("PET_NPROC_PER_NODE", processes(plan)),
        from_field("PET_NODE_RANK", COMPLETION_INDEX),
        value("PET_MASTER_ADDR", plan.endpoint()),
        value("PET_MASTER_PORT", PORT),
    )
    node = plan.find(plan.trainer, NODE)
    own = map(copied, plan.job.trainer.get("env") or [])
    plan = plan.on(node, env=(*own, *rendezvous), ports=[{"containerPort": PORT}])
    for _, _, slot in injected(plan):
        plan = plan.on(slot, env=rendezvous)
    return plan


def processes(plan: Plan) -> str:
    """Processes per node: what the TrainJob says, else `auto` (one a GPU) where there are GPUs, else one a CPU."""
    said = plan.job.trainer.get("numProcPerNode")
    if said is not None:
        return str(said)
    resources = node_resources(plan)
    return "auto" if gpus(resources) else str(max(1, cpus(resources)))


def node_resources(plan: Plan) -> Tree:
    """What a node asks for: trainer.resourcesPerNode alone when it is given, else the runtime's node container.

    The container is that of the first replicated job that is named `node` or is a trainer, and has one.
    """
    if "resourcesPerNode" in plan.job.trainer:
        given: Tree = plan.job.trainer["resourcesPerNode"]
        return given
    trainers = set(plan.trainers())
    for index, job in enumerate(plan.jobs):
        if (job.get("name") == NODE or index in trainers) and (slot := plan.find(index, NODE)):
            found: Tree = get(plan.spec, (*slot.path, "resources"), {})
            return found
    return {}


def gpus(resources: Tree) -> int:
    """GPUs in the requests, else in the limits: whatever has `gpu` in its name, the first by name that is not zero."""

    def among(quantities: Tree) -> int:
        named = (Quantity.from_json(quantities[name]) for name in sorted(quantities) if "gpu" in name.lower())
        return next((quantity.value() for quantity in named if quantity.sign), 0)

    return among(resources.get("requests") or {}) or max(0, among(resources.get("limits") or {}))


def cpus(resources: Tree) -> int:
    """Whole CPUs, rounded up, in the requests; a zero there falls through to the limits."""
    for quantities in (resources.get("requests") or {}, resources.get("limits") or {}):
        if "cpu" in quantities and (count := Quantity.from_json(quantities["cpu"])).sign:
            return count.value()
    return 0


def injected(plan: Plan) -> Iterator[tuple[int, int, Slot | None]]:
    """The containers of envInjection: target index, index of the name in it, and the slot if there is one."""
    for t, target in enumerate(get(plan.runtime.settings, ("envInjection", "targets"), [])):
        job = plan.named(target.get("jobName", ""))
        for n, name in enumerate(target.get("containerNames") or []):
            yield t, n, plan.find(job, name, init=True)


@check("injection-target-missing", stage="trainjob", title="envInjection names a container that is not there")
def missing_targets(plan: Plan) -> Iterator[Finding]:
    """The webhook looks each target up in the patched runtime: containers first, then init containers."""
    targets = get(plan.runtime.settings, ("envInjection", "targets"), [])
    for t, n, slot in injected(plan):
        if slot is not None:
            continue
        job, name = targets[t].get("jobName", ""), targets[t]["containerNames"][n]
        there = plan.named(job) is not None
        known = (
            [other for other in names(plan, job) if other != NODE] if there else [j.get("name", "") for j in plan.jobs]
        )
        yield Finding(
            message=f'envInjection wants a container "{name}" in replicated job "{job}", '
            + ("which has none of that name" if there else "which the runtime does not have"),
            help=f"use {' or '.join(known)}" if known else "leave the target out: node has the variables anyway",
            field="spec.runtimeRef",
            place=plan.runtime.at(
                "spec", "mlPolicy", "torch", "envInjection", "targets", t, "containerNames" if there else "jobName"
            ),
        )


def names(plan: Plan, job: str) -> list[str]:
    """The names of a replicated job's containers and init containers."""
    pod = get(plan.jobs[plan.named(job) or 0], ("template", "spec", "template", "spec"), {})
    return [c.get("name", "") for key in ("containers", "initContainers") for c in pod.get(key) or []]


@check("torchtune-unsupported", stage="build", title="torchtune is not compiled yet")
def torchtune(plan: Plan) -> Iterator[Finding]:
    """`tune run` is another launcher, with arguments of its own."""
    if plan.job.trainer.get("command") == ["tune", "run"]:
        yield Finding(
            message="this release does not compile torchtune jobs (`command: [tune, run]`)",
            help="start the job with torchrun",
            field="spec.trainer.command",
            place=plan.job.at("spec", "trainer", "command"),
        )


CHECKS: Final = (missing_targets, torchtune)
