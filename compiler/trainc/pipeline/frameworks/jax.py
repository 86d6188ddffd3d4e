"""JAX: give every process the coordinator's address, the number of processes, and its own index.

Reads    trainer.numNodes (mlPolicy.jax is empty).
Adds     JAX_NUM_PROCESSES, JAX_PROCESS_ID, JAX_COORDINATOR_ADDRESS and container port 29500 to the `node` container of
         the trainer job. One process per node: numProcPerNode has no effect.
Source   kubeflow/trainer v2.3.0, runtime plugin jax. The TrainJob's own variables come later and take precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding
from trainc.pipeline.checks import check
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import ANCESTOR
from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, from_field, value

if TYPE_CHECKING:
    from collections.abc import Iterator


PORT: Final = 29500


@check("jax-trainer-missing", phase="build")
def trainer_missing(plan: Plan) -> Iterator[Finding]:
    """The controllers of Trainer v2.1 and v2.2 panic if the runtime has no job with the trainer's label."""
    if plan.release.jax_trainer == "required" and plan.trainer is None:
        yield Finding(
            message=f'the jax policy of {plan.release.title} fails with runtime "{plan.runtime.id.name}", which has no '
            "trainer job",
            help=f"add the label {ANCESTOR}: trainer to the Job template of one of its jobs",
            field="spec.mlPolicy.jax",
            place=plan.runtime.at("spec", "mlPolicy", "jax", key=True),
        )


def apply(plan: Plan) -> Plan:
    """Add the coordinator's variables and port to the trainer's `node` container."""
    plan = plan.with_nodes_of_job()
    coordinator = (
        value("JAX_NUM_PROCESSES", plan.nodes),
        from_field("JAX_PROCESS_ID", COMPLETION_INDEX),
        value("JAX_COORDINATOR_ADDRESS", f"{plan.endpoint()}:{PORT}"),
    )
    return plan.on(plan.find(plan.trainer, NODE), env=coordinator, ports=[{"containerPort": PORT}])


FRAMEWORK: Final = Framework(apply, (trainer_missing,), rendezvous=(("JAX_COORDINATOR_ADDRESS",),))
