"""What the API server refuses in the Jobs that JobSet makes, and in their first pods.

Reads    a JobSet as it is stored.
Returns  violations, each of a Job or a Pod, whose paths lead into the JobSet.
Source   JobSet v0.12.0: how it makes Jobs of a replicated job. `kubernetes.validation` has the API server's rules. That
         a Pod is refused when its Job is not is nobody's error in the cluster: the Job stays without pods (difference
         pod-errors).
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
"""Labels and annotations that JobSet gives each Job and its pods, whatever the template says."""
COORDINATOR: Final = "jobset.sigs.k8s.io/coordinator"
"""One more, where there is a coordinator."""
EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
BY_NODE_SELECTOR: Final = "alpha.jobset.sigs.k8s.io/node-selector"
NAMESPACED_JOB: Final = "alpha.jobset.sigs.k8s.io/namespaced-job"
"""With both annotations above, a Job goes to the nodes that have its name in this label."""


class JobFault(NamedTuple):
    """One violation of a Job or a Pod of it."""

    object: ObjectId
    violation: Violation
    """Its field is relative to that object."""
    base: Path
    """Where the object's root is in the JobSet: in front of the violation's paths."""

    def in_jobset(self) -> Violation:
        """The violation with paths that lead into the JobSet."""
        violation = self.violation
        return violation._replace(
            path=(*self.base, *violation.path),
            related=tuple((words, (*self.base, *path)) for words, path in violation.related),
        )


def faults(jobset: Tree) -> Iterator[JobFault]:
    """Everything that is wrong with the first Job of each replicated job: its others are the same."""
    for index, replicated in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        if replicated.get("replicas") == 0:
            continue
        job = made(jobset, replicated)
        found = validation.of_job(job, claims=claims(jobset, job["spec"]["template"]["spec"]))
        if not found and replicated.get("replicas", 1) > 1 and _named_in_labels(job):
            # The label is right for the first Job, and so for no other.
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
    """The first Job of a replicated job."""
    namespace, name = (jobset["metadata"].get(key, "") for key in ("namespace", "name"))
    return ObjectId("batch/v1", "Job", namespace, f"{name}-{replicated['name']}-0")


def made(jobset: Tree, replicated: Tree, replica: int = 0) -> Tree:
    """A Job of a replicated job, without what JobSet adds and nobody can get wrong."""
    template, name = replicated["template"], f"{jobset['metadata']['name']}-{replicated['name']}-{replica}"
    metadata: Tree = {"name": name, **_kept(jobset, template.get("metadata") or {})}
    if namespace := jobset["metadata"].get("namespace"):
        metadata["namespace"] = namespace
    pod_template = template["spec"]["template"]
    pod = dict(pod_template.get("spec") or {})
    if get(jobset, ("spec", "network", "enableDNSHostnames"), True):
        pod.pop("subdomain", None)  # JobSet writes its own
    placed = (get(jobset, ("metadata", "annotations"), {})) | (get(template, ("metadata", "annotations"), {}))
    if EXCLUSIVE in placed and BY_NODE_SELECTOR in placed:
        pod["nodeSelector"] = (pod.get("nodeSelector") or {}) | {NAMESPACED_JOB: f"{namespace or ''}_{name}"}
    of_pod = _kept(jobset, pod_template.get("metadata") or {})
    spec = template["spec"] | {"template": ({"metadata": of_pod} if of_pod else {}) | {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _kept(jobset: Tree, metadata: Tree) -> Tree:
    """The labels and annotations of a template that are not overwritten; the rest of its metadata is not copied."""
    kept = {}
    for field in ("labels", "annotations"):
        if values := metadata.get(field):
            gone = OVERWRITTEN | {COORDINATOR} if "coordinator" in jobset["spec"] else OVERWRITTEN
            kept[field] = {key: value for key, value in values.items() if key not in gone}
    return kept


def claims(jobset: Tree, pod: Tree) -> list[Tree]:
    """The volumes that JobSet adds to a pod, for its claim templates that some container mounts."""
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
    """The names of the volumes that some container mounts."""
    containers = [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]
    return {mount.get("name", "") for container in containers for mount in container.get("volumeMounts") or ()}


def _named_in_labels(job: Tree) -> bool:
    """Whether the pods are labelled with the name of a Job, which the API server does itself."""
    labels = get(job, ("spec", "template", "metadata", "labels"), {})
    return any(key in labels for key in ("job-name", "batch.kubernetes.io/job-name"))


def _runs_nothing(job: Tree) -> bool:
    """Whether the Job never makes a pod."""
    return 0 in (job["spec"].get("parallelism"), job["spec"].get("completions"))
