"""Size: set the resources of each node, and the number of pods of each replicated job.

Reads    trainer.resourcesPerNode, mlPolicy.numNodes, the jobs' own parallelism.
Changes  the resources of the `node` container of every trainer job; the pod counts.
Source   kubeflow/trainer v2.3.0, the runtime's info: resourcesPerNode has an effect only if the runtime has an
         mlPolicy. Counts of the runtime below 1 become 1; spec.trainer's count is applied later and not changed. The
         runtime's resource claims are kept (difference claims-kept).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


def size(plan: Plan) -> Plan:
    """Apply the resources, then set the pod counts."""
    has_policy = plan.runtime.policy is not None
    if plan.runtime.gang and plan.release.gang_resources != "nodes":
        counted = has_policy and plan.release.gang_resources == "trainers"
        plan = plan._replace(gang_spec=plan.with_resources(plan.trainers(), whole=True).spec if counted else plan.spec)
    if has_policy or plan.release.resources_without_policy == "applied":
        plan = plan.with_resources(plan.trainers())
    return plan.with_replicas()
