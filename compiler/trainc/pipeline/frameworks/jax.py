"""JAX: give every process the coordinator's address, the number of processes, and its own index.

Reads    trainer.numNodes (mlPolicy.jax is empty).
Adds     JAX_NUM_PROCESSES, JAX_PROCESS_ID, JAX_COORDINATOR_ADDRESS and container port 29500 to the `node` container of
         the trainer job. One process per node: numProcPerNode has no effect.
Source   kubeflow/trainer v2.3.0, runtime plugin jax. The TrainJob's own variables come later and take precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, from_field, value

if TYPE_CHECKING:
    from trainc.pipeline.checks import Check

PORT: Final = 29500
RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec.trainer.env"
RENDEZVOUS: Final = (("JAX_COORDINATOR_ADDRESS",),)
CHECKS: Final[tuple[Check[[Plan]], ...]] = ()


def apply(plan: Plan) -> Plan:
    """Add the coordinator's variables and port to the trainer's `node` container."""
    plan = plan.with_nodes_of_job()
    coordinator = (
        value("JAX_NUM_PROCESSES", plan.nodes),
        from_field("JAX_PROCESS_ID", COMPLETION_INDEX),
        value("JAX_COORDINATOR_ADDRESS", f"{plan.endpoint()}:{PORT}"),
    )
    return plan.on(plan.find(plan.trainer, NODE), env=coordinator, ports=[{"containerPort": PORT}])
