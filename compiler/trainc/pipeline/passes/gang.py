"""Gang: group the pods so that they start together, or not at all.

Reads    the runtime's podGroupPolicy; the pod counts and requests.
Changes  the pods' labels and annotations; a PodGroup for each scheduler of the policy (`schedulers/<key>.py`).
Source   kubeflow/trainer v2.3.0, the scheduler plugins. The gang includes all jobs, and counts the pods of each job
         once, even if JobSet creates several replicas. Its resources are the requests as they are written; limits do
         not count. Elastic trainers count with their minimum number of nodes (difference elastic-gang). The gang of a
         legacy job has all pods, and their requests with the defaults from limits, as that of its operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.trees import edit
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan
    from trainc.pipeline.schedulers import GangMark


def gang(plan: Plan) -> Plan:
    """Add every pod to the gang, and create its PodGroups."""
    if not plan.runtime.gang:
        return plan
    from trainc.pipeline import schedulers
    from trainc.pipeline.schedulers import gathered

    members = gathered(plan)
    for scheduler in schedulers.schedulers_of(plan.runtime.gang):
        plan = marked(plan, scheduler.MARK)
        plan = plan._replace(others=(*plan.others, scheduler.group(plan, members)))
    return plan


def marked(plan: Plan, mark: GangMark) -> Plan:
    """Set the scheduler's label or annotation on every pod."""
    spec = plan.spec
    for job in range(len(plan.jobs)):
        path = (*pod_spec(job)[:-1], "metadata", mark.field)
        spec = edit(spec, path, lambda there: (there or {}) | {mark.key: plan.name})
    return plan._replace(spec=spec)
