"""Size: what each node asks for, and how many pods each replicated job runs.

Reads    trainer.resourcesPerNode, mlPolicy.numNodes, the jobs' own parallelism.
Changes  the resources of the `node` container of every trainer job; the pod counts.
Source   kubeflow/trainer v2.3.0, the runtime's info: resourcesPerNode counts only where the runtime has an mlPolicy;
         counts below 1 become 1 here, what spec.trainer says comes later and stays as it is. Resource claims of the
         runtime are kept (difference claims-kept).
"""

from __future__ import annotations

from trainc.kubernetes.trees import Tree, edit, get
from trainc.plan import NODE, Plan


def size(plan: Plan) -> Plan:
    """Merge the resources, then count."""
    plan = with_resources(plan)
    return plan._replace(counts=tuple(count(plan, index) for index in range(len(plan.jobs))))


def with_resources(plan: Plan) -> Plan:
    """resourcesPerNode merged into the node container of every trainer job."""
    per_node = plan.job.trainer.get("resourcesPerNode")
    if per_node is None or plan.runtime.policy is None:
        return plan
    from trainc.kubernetes.resources import merge_resources

    def change(resources: Tree | None) -> Tree:
        return merge_resources(resources or {}, per_node)

    spec = plan.spec
    for job in plan.trainers():
        if node := plan.find(job, NODE):
            spec = edit(spec, (*node.path, "resources"), change)
    return plan._replace(spec=spec)


def count(plan: Plan, job: int) -> int:
    """How many pods the runtime gives a replicated job: at least one."""
    if plan.runtime.policy is not None and job in plan.trainers():
        nodes = plan.runtime.policy.get("numNodes", 1)
    else:
        nodes = get(plan.jobs[job], ("template", "spec", "parallelism"), 1)
    return max(int(nodes), 1)
