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
from trainc.plan import COMPLETION_INDEX, NODE, Plan, Slot, copied, from_field, gpus, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT: Final = 29500
RESERVED: Final = frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"})
RESERVED_AT: Final = "spec.trainer.env"


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
    """Processes per node: what the TrainJob says, else `auto` (one a GPU) where there are GPUs, else one a CPU.

    Older TrainJobs and runtimes also say it in words: `cpu` is one a CPU, `gpu` is torchrun's own.
    """
    said = str(plan.job.trainer.get("numProcPerNode", plan.runtime.settings.get("numProcPerNode", "auto")))
    if said not in ("auto", "cpu"):
        return said
    resources = plan.node_resources()
    return "auto" if said == "auto" and gpus(resources) else str(max(1, cpus(resources)))


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
