"""Torchrun's variables: the number of nodes, the node's rank, the processes per node, and the rendezvous endpoint.

Reads    the pod count, trainer.numProcPerNode, .resourcesPerNode; mlPolicy.torch.envInjection.
Returns  the variables, and the containers besides `node` that get them.
Source   kubeflow/trainer v2.3.0, runtime plugin torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import POD
from trainc.diagnostics import Finding
from trainc.kubernetes.quantity import Quantity, int32
from trainc.kubernetes.trees import Tree, get
from trainc.pipeline.checks import check
from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, Slot, from_field, gpus, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT: Final = 29500
ELASTIC: Final = "elasticPolicy"
TUNE_RUN: Final = ["tune", "run"]
"""The exact command of a torchtune job; with further words, the job is an ordinary one."""


def is_torchtune(plan: Plan) -> bool:
    """Return whether torchtune starts the processes."""
    return plan.job.trainer.get("command") == TUNE_RUN


def is_checked(plan: Plan) -> bool:
    """Return whether the webhook applies the rules of torch to the TrainJob."""
    return plan.release.torch_rules == "always" or plan.job.processes is not None


def ranks(plan: Plan) -> tuple[Tree, ...]:
    """Return the variables for the number of nodes, the processes per node, and the node's rank."""
    return (
        value("PET_NNODES", plan.nodes),
        value("PET_NPROC_PER_NODE", processes(plan)),
        from_field("PET_NODE_RANK", COMPLETION_INDEX),
    )


def master(plan: Plan) -> tuple[Tree, ...]:
    """Return the variables for the rendezvous endpoint."""
    return (value("PET_MASTER_ADDR", plan.endpoint()), value("PET_MASTER_PORT", PORT))


def num_proc_per_node(plan: Plan) -> str:
    """Return numProcPerNode of the TrainJob, else of an older runtime, else `auto`."""
    return next((str(count) for count in (plan.job.processes, plan.runtime.processes) if count is not None), "auto")


def processes(plan: Plan) -> str:
    """Return the processes per node: numProcPerNode, else `auto` (one per GPU) if there are GPUs, else one per CPU.

    Older TrainJobs and runtimes also allow words: `cpu` is one per CPU; torchrun itself reads `gpu`.
    """
    word = num_proc_per_node(plan)
    if word not in ("auto", "cpu"):
        return word
    resources = plan.node_resources()
    return "auto" if word == "auto" and gpus(resources) else str(int32(max(1, cpus(resources))))


def cpus(resources: Tree) -> int:
    """Return the CPUs in the requests, rounded up to an integer; if they are zero, those in the limits."""
    for quantities in (resources.get("requests") or {}, resources.get("limits") or {}):
        if "cpu" in quantities and (count := Quantity.from_json(quantities["cpu"])).sign:
            return count.int64()
    return 0


def injected(plan: Plan) -> Iterator[tuple[int, int, Slot | None]]:
    """Yield the containers of envInjection: target index, index of the name in it, and the slot if there is one."""
    for t, target in enumerate(get(plan.runtime.settings, ("envInjection", "targets"), [])):
        job = plan.named(target.get("jobName", ""))
        for n, name in enumerate(target.get("containerNames") or []):
            yield t, n, plan.find(job, name, init=True)


@check("injection-target-missing", phase="trainjob")
def missing_targets(plan: Plan) -> Iterator[Finding]:
    """The webhook looks up each target in the patched runtime: containers first, then init containers."""
    targets = get(plan.runtime.settings, ("envInjection", "targets"), [])
    for t, n, slot in injected(plan):
        if slot is not None:
            continue
        job, name = targets[t].get("jobName", ""), targets[t]["containerNames"][n]
        exists = plan.named(job) is not None
        others = [other.get("jobName") for other in targets]
        jobs = [each.get("name", "") for each in plan.jobs if each.get("name") not in others]
        known = [other for other in names(plan, job) if other != NODE] if exists else jobs
        yield Finding(
            message=f'envInjection targets container "{name}" of replicated job "{job}", but '
            + ("the job has no such container" if exists else "the runtime has no such job"),
            help=f"use {' or '.join(known)}" if known else "remove the target: node always gets the variables",
            field="spec.runtimeRef",
            place=plan.runtime.at(
                "spec", "mlPolicy", "torch", "envInjection", "targets", t, "containerNames" if exists else "jobName"
            ),
        )


def names(plan: Plan, job: str) -> list[str]:
    """Return the names of a replicated job's containers and init containers."""
    pod = get(plan.jobs[plan.named(job) or 0], POD, {})
    return [c.get("name", "") for key in ("containers", "initContainers") for c in pod.get(key) or []]


CHECKS: Final = (missing_targets,)
