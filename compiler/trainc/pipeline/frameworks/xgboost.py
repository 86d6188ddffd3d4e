"""XGBoost: give every worker the tracker's address, the number of workers, and its own index.

Reads    trainer.numNodes, .resourcesPerNode (mlPolicy.xgboost is empty).
Adds     DMLC_TRACKER_URI, DMLC_TRACKER_PORT, DMLC_TASK_ID, DMLC_NUM_WORKER and container port 29500 to the `node`
         container of the trainer job. One worker per GPU, or one per node; numProcPerNode has no effect.
Source   kubeflow/trainer v2.3.0, runtime plugin xgboost. There, the plugin plainml puts the TrainJob's own variables
         before or after these in random order; here they always come after.
"""

from __future__ import annotations

from typing import Final

from trainc.kubernetes.quantity import int32
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, from_field, gpus, value

PORT: Final = 29500
RESERVED: Final = frozenset({"DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"})


def apply(plan: Plan) -> Plan:
    """Add the tracker's variables and port to the trainer's `node` container."""
    plan = plan.with_nodes_of_job()
    workers = int32(plan.nodes * counted_processes(plan))
    tracker = (
        value("DMLC_TRACKER_URI", plan.endpoint()),
        value("DMLC_TRACKER_PORT", PORT),
        from_field("DMLC_TASK_ID", COMPLETION_INDEX),
        value("DMLC_NUM_WORKER", workers),
    )
    return plan.on(plan.find(plan.trainer, NODE), env=tracker, ports=[{"containerPort": PORT}])


def counted_processes(plan: Plan) -> int:
    """Return the workers of a node: one per GPU, or one."""
    return max(1, gpus(plan.node_resources()))


FRAMEWORK: Final = Framework(
    apply,
    reserved=lambda _: RESERVED,
    reserved_at="spec.trainer.env[{index}]",
    traits=Traits(starter="XGBoost"),
    rendezvous=(("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT"),),
    counted_processes=counted_processes,
)
