"""XGBoost: every worker knows the tracker, how many workers there are, and which one it is.

Reads    trainer.numNodes, .resourcesPerNode (mlPolicy.xgboost is empty).
Adds     DMLC_TRACKER_URI, DMLC_TRACKER_PORT, DMLC_TASK_ID, DMLC_NUM_WORKER and container port 29500 to the `node`
         container of the trainer job. One worker a GPU, or one a node; numProcPerNode means nothing here.
Source   kubeflow/trainer v2.3.0, runtime plugin xgboost. There, plainml puts the TrainJob's own variables before or
         after these, by chance; here they always come after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.plan import COMPLETION_INDEX, NODE, Plan, from_field, gpus, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT: Final = 29500
TRACKER: Final = frozenset({"DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"})
RESERVED: Final[frozenset[str]] = frozenset()
"""None for the common check: this webhook names each variable where the others name the list, so the check is below."""


def apply(plan: Plan) -> Plan:
    """Put the tracker on the trainer's node container."""
    plan = plan.with_nodes_of_job()
    workers = plan.nodes * max(1, gpus(plan.node_resources()))
    tracker = (
        value("DMLC_TRACKER_URI", plan.endpoint()),
        value("DMLC_TRACKER_PORT", PORT),
        from_field("DMLC_TASK_ID", COMPLETION_INDEX),
        value("DMLC_NUM_WORKER", workers),
    )
    return plan.on(plan.find(plan.trainer, NODE), env=tracker, ports=[{"containerPort": PORT}])


@check("reserved-env", stage="trainjob", title="The TrainJob sets a variable that the framework sets")
def reserved(plan: Plan) -> Iterator[Finding]:
    """The tracker's variables are written for every worker; another value would leave it waiting for the others.

    Wrong:  trainer: {env: [{name: DMLC_NUM_WORKER, value: "4"}]}
    Right:  trainer: {numNodes: 4}
    """
    for index, variable in enumerate(plan.job.trainer.get("env") or []):
        if variable.get("name") in TRACKER:
            yield Finding(
                message=f"{variable['name']} is set by the xgboost framework",
                help="leave it out; how many workers there are follows from numNodes and the GPUs of a node",
                field=f"spec.trainer.env[{index}]",
                place=plan.job.at("spec", "trainer", "env", index, "name"),
            )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (reserved,)
