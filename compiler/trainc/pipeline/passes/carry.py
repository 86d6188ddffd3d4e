"""Carry: copy the TrainJob's metadata and deadline to the compiled objects. No later pass reads them.

Reads    the TrainJob's labels and annotations, spec.activeDeadlineSeconds.
Changes  labels and annotations of all objects; the jobs' deadlines.
Source   trainc's own (differences metadata-carried, deadline-lowered): in the cluster the TrainJob remains and has
         them; in trainc's output there is no TrainJob.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import Tree, get

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan

NOT_CARRIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
OWN: Final = "trainc.dev/"
"""The prefix of annotations that only trainc reads."""


def carry(plan: Plan) -> Plan:
    """Add the TrainJob's labels and annotations to all objects, and its deadline to the jobs.

    Precedence on the JobSet: runtime template < TrainJob < patches. On the other objects the TrainJob's win.
    """
    labels, annotations = carried(plan.job.metadata("labels")), carried(plan.job.metadata("annotations"))
    plan = plan._replace(
        labels=plan.labels | labels | patched(plan, "labels"),
        annotations=plan.annotations | annotations | patched(plan, "annotations"),
        others=tuple(with_metadata(other, labels, annotations) for other in plan.others),
    )
    deadline = plan.job.spec.get("activeDeadlineSeconds")
    if deadline is None or not plan.jobs:
        return plan
    return plan._replace(spec=plan.spec | {"replicatedJobs": [with_deadline(job, deadline) for job in plan.jobs]})


def carried(metadata: Tree) -> Tree:
    """Return the labels or annotations that are copied."""
    return {key: text for key, text in metadata.items() if key != NOT_CARRIED and not key.startswith(OWN)}


def patched(plan: Plan, key: str) -> Tree:
    """Return the JobSet labels or annotations that patches set."""
    result: Tree = {}
    for patch in plan.job.patches:
        result |= get(patch, ("trainingRuntimeSpec", "template", "metadata", key), {})
    return result


def with_metadata(other: Tree, labels: Tree, annotations: Tree) -> Tree:
    """Return an object with the TrainJob's labels and annotations merged over its own."""
    metadata = dict(other["metadata"])
    for key, added in (("labels", labels), ("annotations", annotations)):
        if added:
            metadata[key] = metadata.get(key, {}) | added
    return other | {"metadata": metadata}


def with_deadline(job: Tree, deadline: int) -> Tree:
    """Return a replicated job with the earlier of the TrainJob's deadline and its own."""
    template = job.get("template") or {}
    spec = template.get("spec") or {}
    earlier = min(spec.get("activeDeadlineSeconds", deadline), deadline)
    return job | {"template": template | {"spec": spec | {"activeDeadlineSeconds": earlier}}}
