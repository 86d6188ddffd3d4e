"""Size: what each node asks for, and how many pods each replicated job runs.

Reads    trainer.resourcesPerNode, mlPolicy.numNodes, the jobs' own parallelism.
Changes  the resources of the `node` container of every trainer job; the pod counts.
Source   kubeflow/trainer v2.3.0, the runtime's info: resourcesPerNode counts only where the runtime has an mlPolicy;
         counts below 1 become 1 here, what spec.trainer says comes later and stays as it is. Resource claims of the
         runtime are kept (difference claims-kept).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.plan import Plan


def size(plan: Plan) -> Plan:
    """Merge the resources, then count."""
    if plan.runtime.policy is not None:
        plan = plan.with_resources(plan.trainers())
    return plan._replace(counts=tuple(map(plan.count_of_runtime, range(len(plan.jobs)))))
