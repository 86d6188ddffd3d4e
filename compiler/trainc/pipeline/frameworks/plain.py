"""Plain: a runtime without a framework policy. Only the TrainJob's node count and variables apply.

Reads    trainer.numNodes, trainer.env.
Adds     the TrainJob's variables to the `node` container.
Source   kubeflow/trainer v2.3.0, runtime plugin plainml.
"""

from __future__ import annotations

from typing import Final

from trainc.pipeline.frameworks import Framework
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import NODE, Plan, copied


def apply(plan: Plan) -> Plan:
    """Apply the TrainJob's node count and variables."""
    plan = plan.with_nodes_of_job()
    return plan.on(plan.find(plan.trainer, NODE), env=map(copied, plan.job.trainer.get("env") or []))


FRAMEWORK: Final = Framework(apply, traits=Traits(independent_nodes=True))
