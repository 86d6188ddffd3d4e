"""Torch: configure the rendezvous of torchrun, or of torchtune.

Reads    trainer.numNodes, .numProcPerNode, .resourcesPerNode, .env, .command; mlPolicy.torch.envInjection. elastic.py
         handles .elasticPolicy.
Adds     PET_NNODES, PET_NPROC_PER_NODE, PET_NODE_RANK, PET_MASTER_ADDR, PET_MASTER_PORT and container port 29500 to
         the `node` container of the trainer job; only the variables to the containers that envInjection lists. With the
         command `tune run`, `node` has no PET_MASTER_*, and the command is completed instead (torchtune.py).
Source   kubeflow/trainer v2.3.0, runtime plugin torch. The TrainJob's own variables come before torch's, so a
         `$(PET_NNODES)` in them is not expanded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.frameworks import Framework
from trainc.pipeline.frameworks.torch import torchrun
from trainc.pipeline.frameworks.torch.torchrun import ELASTIC, PORT, injected, is_torchtune, master, ranks
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import NODE, Plan, copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId

RESERVED: Final = frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"})
"""The sources for elastic trainers, other trainers, and torchtune."""


def apply(plan: Plan) -> Plan:
    """Add the rendezvous variables to the trainer's `node` container and to the containers of envInjection."""
    if ELASTIC in plan.runtime.settings:
        from trainc.pipeline.frameworks.torch import elastic

        return elastic.apply(plan)
    plan = plan.with_nodes_of_job()
    node = plan.find(plan.trainer, NODE)
    rendezvous, opened = (*ranks(plan), *master(plan)), {"containerPort": PORT}
    own = map(copied, plan.job.trainer.get("env") or [])
    if is_torchtune(plan):
        plan = plan.on(node, env=(*own, *ranks(plan)), ports=[opened])
        if node is not None:
            from trainc.pipeline.frameworks.torch.torchtune import command

            plan = plan._replace(entry=plan.job.trainer | {"command": list(command(plan))})
    else:
        plan = plan.on(node, env=(*own, *rendezvous), ports=[opened])
    for _, _, slot in injected(plan):
        plan = plan.on(slot, env=rendezvous)
    return plan


def reserved_variables(plan: Plan) -> frozenset[str]:
    """Return the variables that only torch can set in the TrainJob."""
    return RESERVED if torchrun.is_checked(plan) else frozenset()


def torchtune_checks(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Run torchtune's checks, which are imported only for its jobs."""
    if is_torchtune(plan) and torchrun.is_checked(plan):
        from trainc.pipeline.frameworks.torch import torchtune

        for check in torchtune.CHECKS:
            yield from check(subject, plan)


def elastic_checks(subject: ObjectId, plan: Plan) -> Iterator[Diagnostic]:
    """Run the checks of elastic policies, which are imported only for runtimes that have one."""
    if ELASTIC in plan.runtime.settings:
        from trainc.pipeline.frameworks.torch import elastic

        for check in elastic.CHECKS:
            yield from check(subject, plan)


FRAMEWORK: Final = Framework(
    apply,
    (*torchrun.CHECKS, torchtune_checks, elastic_checks),
    reserved=reserved_variables,
    traits=Traits(family="torch", process_words="read"),
    rendezvous=(("PET_RDZV_ENDPOINT",), ("PET_MASTER_ADDR", "PET_MASTER_PORT"), ("--rdzv_endpoint",)),
)
