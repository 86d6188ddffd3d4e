"""The rules of Kueue's webhook for the creation of a JobSet.

Reads    the JobSet as the API server stores it.
Returns  violations, with the fields that the webhook names. The webhook reports a value that it cannot parse alone and
         without a field. This package reports all of them, each at its field, and an invalid slice size once.
Source   Kueue v0.19.2 with its default feature gates: pkg/controller/jobframework/validation.go, tas_validation.go and
         tas.go, pkg/util/webhook, pkg/controller/jobs/jobset. The webhook sees every JobSet, also one without a queue.

The package is imported only for a JobSet with a key of Kueue.

**A check of Kueue's webhook**. Copy from `pipeline/checks/kueue_webhook/pod_set_groups.py`. Write a function that
takes the JobSet's metadata, or the annotated pods of a replicated job, and returns violations; call it in
`violations` of the package, declare its id in the same module, and follow steps 3 and 4 of a check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.kinds import JOBS_OF_JOBSET, POD_TEMPLATE
from trainc.kubernetes.trees import get
from trainc.pipeline.checks.kueue_webhook import jobset_keys, pod_set_groups, topology
from trainc.pipeline.checks.kueue_webhook.annotated_pods import AnnotatedPods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation


def violations(jobset: Tree) -> Iterator[Violation]:
    """Yield a violation for each rule that the JobSet or one of its replicated jobs breaks."""
    yield from jobset_keys.violations(jobset["metadata"])
    annotated = list(_annotated(jobset))
    for pods in annotated:
        yield from topology.request_violations(pods)
        yield from topology.slice_violations(pods)
        yield from pod_set_groups.violations(pods)
    yield from pod_set_groups.inconsistent_groups(annotated)


def _annotated(jobset: Tree) -> Iterator[AnnotatedPods]:
    """Yield the pods of each replicated job with annotations."""
    for index, job in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        annotations = get(job, (*POD_TEMPLATE, "metadata", "annotations"), None)
        if annotations:
            path = (*JOBS_OF_JOBSET, index, *POD_TEMPLATE, "metadata", "annotations")
            yield AnnotatedPods(job["name"], _count(job), annotations, path)


def _count(job: Tree) -> int:
    """Return the number of pods that a replicated job runs at once."""
    spec = job["template"]["spec"]
    parallelism = spec.get("parallelism", 1)
    return int(job["replicas"]) * min(int(parallelism), int(spec.get("completions", parallelism)))
