"""Torchrun's variables: which node of how many this is, how many processes it runs, and where they all meet.

Reads    the pod count, trainer.numProcPerNode, .resourcesPerNode; mlPolicy.torch.envInjection.
Returns  the variables, and the containers they go to beside `node`.
Source   kubeflow/trainer v2.3.0, runtime plugin torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import check
from trainc.diagnostics import Finding
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import Tree, get
from trainc.plan import COMPLETION_INDEX, NODE, Plan, Slot, from_field, gpus, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT: Final = 29500
ELASTIC: Final = "elasticPolicy"
TUNE_RUN: Final = ["tune", "run"]
"""The command, word for word, that makes a job one of torchtune: with another word behind it, it is one like any."""


def is_torchtune(plan: Plan) -> bool:
    """Whether torchtune starts the processes."""
    return plan.job.trainer.get("command") == TUNE_RUN


def ranks(plan: Plan) -> tuple[Tree, ...]:
    """Nodes, processes per node, and which node this is."""
    return (
        value("PET_NNODES", plan.nodes),
        value("PET_NPROC_PER_NODE", processes(plan)),
        from_field("PET_NODE_RANK", COMPLETION_INDEX),
    )


def master(plan: Plan) -> tuple[Tree, ...]:
    """Where the processes meet."""
    return (value("PET_MASTER_ADDR", plan.endpoint()), value("PET_MASTER_PORT", PORT))


def said(plan: Plan) -> str:
    """Processes per node in the words of the TrainJob, or in those of an older runtime; else `auto`."""
    return str(plan.job.trainer.get("numProcPerNode", plan.runtime.settings.get("numProcPerNode", "auto")))


def processes(plan: Plan) -> str:
    """Processes per node: what the TrainJob says, else `auto` (one a GPU) where there are GPUs, else one a CPU.

    Older TrainJobs and runtimes also say it in words: `cpu` is one a CPU, `gpu` is torchrun's own.
    """
    word = said(plan)
    if word not in ("auto", "cpu"):
        return word
    resources = plan.node_resources()
    return "auto" if word == "auto" and gpus(resources) else str(max(1, cpus(resources)))


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


CHECKS: Final = (missing_targets,)
