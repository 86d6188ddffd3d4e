"""The API server's validation of the Jobs that JobSet creates, and of their first pods.

Reads    a JobSet as it is stored.
Returns  violations, each of a Job or a Pod, whose paths lead into the JobSet.
Source   JobSet v0.12.0: how it creates the Jobs of a replicated job. `kubernetes.validation` has the API server's
         rules. If a Pod is rejected but its Job is not, the cluster reports no error to the user: the Job stays
         without pods (difference pod-errors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import ObjectId
from trainc.kubernetes import validation
from trainc.kubernetes.trees import get
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation

OVERWRITTEN: Final = frozenset(
    f"jobset.sigs.k8s.io/{name}"
    for name in (
        "global-replicas",
        "group-name",
        "group-replicas",
        "job-global-index",
        "job-group-index",
        "job-index",
        "job-key",
        "jobset-name",
        "jobset-uid",
        "replicatedjob-name",
        "replicatedjob-replicas",
        "restart-attempt",
    )
)
"""Labels and annotations that JobSet sets on each Job and its pods, overriding the template."""
COORDINATOR: Final = "jobset.sigs.k8s.io/coordinator"
"""One more, if the JobSet has a coordinator."""
EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
BY_NODE_SELECTOR: Final = "alpha.jobset.sigs.k8s.io/node-selector"
NAMESPACED_JOB: Final = "alpha.jobset.sigs.k8s.io/namespaced-job"
"""With both annotations above, a Job runs on the nodes whose value of this label is the Job's name."""


class JobFault(NamedTuple):
    """One violation in a Job or one of its Pods."""

    object: ObjectId
    violation: Violation
    """The violation; its field is relative to `object`."""
    base: Path
    """The path of the object's root in the JobSet, which prefixes the violation's paths."""

    def in_jobset(self) -> Violation:
        """Return the violation with paths that lead into the JobSet."""
        violation = self.violation
        return violation._replace(
            path=(*self.base, *violation.path),
            related=tuple((label, (*self.base, *path)) for label, path in violation.related),
        )


def faults(jobset: Tree) -> Iterator[JobFault]:
    """Yield the violations of the first Job of each replicated job; its other Jobs are the same."""
    for index, replicated in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        if replicated.get("replicas") == 0:
            continue
        job = made(jobset, replicated)
        found = validation.of_job(job, claims=claims(jobset, job["spec"]["template"]["spec"]))
        if not found and replicated.get("replicas", 1) > 1 and _named_in_labels(job):
            # The label is valid for the first Job, and so invalid for all others.
            job = made(jobset, replicated, 1)
            found = validation.of_job(job, claims=claims(jobset, job["spec"]["template"]["spec"]))
        base: Path = ("spec", "replicatedJobs", index, "template")
        for violation in found:
            yield JobFault(ObjectId.of(job), violation, base)
        if found or _runs_nothing(job):
            continue
        pod = job["spec"]["template"]
        for violation in validation.of_pod(pod):
            yield JobFault(
                ObjectId.of(job)._replace(apiVersion="v1", kind="Pod"), violation, (*base, "spec", "template")
            )


def first(jobset: Tree, replicated: Tree) -> ObjectId:
    """Return the first Job of a replicated job."""
    namespace, name = (jobset["metadata"].get(key, "") for key in ("namespace", "name"))
    return ObjectId("batch/v1", "Job", namespace, f"{name}-{replicated['name']}-0")


def made(jobset: Tree, replicated: Tree, replica: int = 0) -> Tree:
    """Return a Job of a replicated job, without the fields that JobSet adds and that are always valid."""
    template, name = replicated["template"], f"{jobset['metadata']['name']}-{replicated['name']}-{replica}"
    metadata: Tree = {"name": name, **_kept(jobset, template.get("metadata") or {})}
    if namespace := jobset["metadata"].get("namespace"):
        metadata["namespace"] = namespace
    pod_template = template["spec"]["template"]
    pod = dict(pod_template.get("spec") or {})
    if get(jobset, ("spec", "network", "enableDNSHostnames"), True):
        pod.pop("subdomain", None)  # JobSet sets its own
    annotations = (get(jobset, ("metadata", "annotations"), {})) | (get(template, ("metadata", "annotations"), {}))
    if EXCLUSIVE in annotations and BY_NODE_SELECTOR in annotations:
        pod["nodeSelector"] = (pod.get("nodeSelector") or {}) | {NAMESPACED_JOB: f"{namespace or ''}_{name}"}
    pod_metadata = _kept(jobset, pod_template.get("metadata") or {})
    spec = template["spec"] | {"template": ({"metadata": pod_metadata} if pod_metadata else {}) | {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _kept(jobset: Tree, metadata: Tree) -> Tree:
    """Return a template's labels and annotations without overwritten ones; JobSet does not copy other metadata."""
    kept = {}
    for field in ("labels", "annotations"):
        if values := metadata.get(field):
            overwritten = OVERWRITTEN | {COORDINATOR} if "coordinator" in jobset["spec"] else OVERWRITTEN
            kept[field] = {key: value for key, value in values.items() if key not in overwritten}
    return kept


def claims(jobset: Tree, pod: Tree) -> list[Tree]:
    """Return the volumes that JobSet adds to a pod for claim templates that a container mounts."""
    templates = [
        get(template, ("metadata", "name"), "")
        for policy in jobset["spec"].get("volumeClaimPolicies") or ()
        for template in policy.get("templates") or ()
    ]
    return [
        {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{jobset['metadata']['name']}"}}
        for name in templates
        if name in _mounted(pod)
    ]


def _mounted(pod: Tree) -> set[str]:
    """Return the names of the volumes that a container mounts."""
    containers = [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]
    return {mount.get("name", "") for container in containers for mount in container.get("volumeMounts") or ()}


def _named_in_labels(job: Tree) -> bool:
    """Return whether the pod template sets a Job name label, which the API server sets itself."""
    labels = get(job, ("spec", "template", "metadata", "labels"), {})
    return any(key in labels for key in ("job-name", "batch.kubernetes.io/job-name"))


def _runs_nothing(job: Tree) -> bool:
    """Return whether the Job never creates a pod."""
    return 0 in (job["spec"].get("parallelism"), job["spec"].get("completions"))
