"""Plain: a runtime without a framework policy. Only the TrainJob's node count and variables apply.

Reads    trainer.numNodes, trainer.env.
Adds     the TrainJob's variables to the `node` container.
Source   kubeflow/trainer v2.3.0, runtime plugin plainml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import NODE, Plan, copied

if TYPE_CHECKING:
    from trainc.pipeline.checks import Check

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec.trainer.env"
TRAITS: Final = Traits(independent_nodes=True)
CHECKS: Final[tuple[Check[[Plan]], ...]] = ()


def apply(plan: Plan) -> Plan:
    """Apply the TrainJob's node count and variables."""
    plan = plan.with_nodes_of_job()
    return plan.on(plan.find(plan.trainer, NODE), env=map(copied, plan.job.trainer.get("env") or []))
