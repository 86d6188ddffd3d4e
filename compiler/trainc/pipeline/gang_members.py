"""The members of a gang: the pods that start together, or not at all.

Reads    the pod counts and requests of a plan.
Returns  the number of pods, and their total requests. The gang of a legacy job has all pods, and their requests with
         the defaults from limits, as that of its operator; see `passes.gang` for TrainJobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.trees import get
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from trainc.kubernetes.pod_resources import Amounts
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.pipeline.schedulers import Gang


def gathered(plan: Plan) -> Gang:
    """Return the number of pods that must start together, and their total requests."""
    from trainc.kubernetes.pod_resources import total
    from trainc.pipeline.schedulers import Gang

    needs: Amounts = {}
    counts = plan.counts
    if plan.job.own_runtime is not None:
        counts = tuple(count * int(job.get("replicas", 1)) for job, count in zip(plan.jobs, counts, strict=True))
    elif plan.needed is not None and plan.trainer is not None:
        counts = plan.with_count(plan.trainer, plan.needed).counts
    spec = plan.spec if plan.gang_spec is None else plan.gang_spec
    for job, count in enumerate(counts):
        one = requests_of(plan, get(spec, pod_spec(job), {}))
        needs = total(needs, {name: quantity.mul(count) for name, quantity in one.items()})
    return Gang(sum(counts), {name: str(quantity) for name, quantity in needs.items()})


def requests_of(plan: Plan, pod: Tree) -> Amounts:
    """Return the requests of a pod of the plan that the gang counts."""
    from trainc.kubernetes.pod_resources import defaulted, requests

    return requests(pod if plan.job.own_runtime is None else defaulted(pod))
