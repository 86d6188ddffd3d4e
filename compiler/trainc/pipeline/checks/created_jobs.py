"""The API server's validation of the Jobs and volume claims that JobSet creates, and of the Jobs' first pods.

Reads    a JobSet as it is stored.
Returns  violations, each of a Job, a Pod or a PersistentVolumeClaim, whose paths lead into the JobSet.
Source   JobSet v0.12.0: how it creates the Jobs of a replicated job. `kubernetes.validation` has the API server's
         rules. If a Pod is rejected but its Job is not, the cluster reports no error to the user: the Job stays
         without pods (difference pod-errors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOB, JOBS_OF_JOBSET, POD_TEMPLATE
from trainc.base.records import NamedTuple
from trainc.diagnostics import ObjectId
from trainc.kubernetes import objectmeta, validation
from trainc.kubernetes.trees import get
from trainc.kubernetes.validation.combinators import PodViolations
from trainc.kubernetes.validation.container import is_reference
from trainc.kubernetes.violations import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import Path, Tree


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
"""With both annotations above, a Job runs on the nodes whose value of this label is its namespace and name."""
SELECTOR: Final = (*JOB.pods[0], "spec", "nodeSelector")
SELECTED: Final = (*SELECTOR, NAMESPACED_JOB)
VOLUMES: Final = (*JOB.pods[0], "spec", "volumes")


class JobFault(NamedTuple):
    """One violation in a Job, one of its Pods or a PersistentVolumeClaim."""

    object: ObjectId
    violation: Violation
    """The violation; its field is relative to `object`."""
    base: Path
    """The path of the object's root in the JobSet, which prefixes the violation's paths."""

    def in_jobset(self) -> Violation:
        """Return the violation with paths that lead into the JobSet."""
        violation = self.violation
        if violation.fix is not None:
            from trainc.base.fixes import prefixed

            violation = violation._replace(fix=prefixed(violation.fix, self.base))
        return violation._replace(
            path=(*self.base, *violation.path),
            related=tuple((label, (*self.base, *path)) for label, path in violation.related),
        )


def faults(jobset: Tree) -> Iterator[JobFault]:
    """Yield the violations of the Jobs and their first pods, then those of the volume claims."""
    spec = jobset["spec"]
    replicated_jobs = spec.get("replicatedJobs") or ()
    odd_labels = any(
        job.get("replicas", 1) < 0 or "-" in (job["name"][:1], job["name"][-1:]) for job in replicated_jobs
    )
    for index, replicated in enumerate(replicated_jobs):
        if replicated.get("replicas", 1) < 1:
            continue
        base: Path = (*JOBS_OF_JOBSET, index, "template")
        job, found = _checked(jobset, replicated)
        for violation in found:
            yield _placed(jobset, JobFault(ObjectId.from_manifest(job), violation, base))
        if odd_labels:
            from trainc.pipeline.checks import joblabels

            for violation in joblabels.violations(jobset, index):
                yield JobFault(first_job(jobset, replicated), violation, ())
        if any(violation.severity == "error" for violation in found) or _runs_nothing(job):
            continue
        pod = job["spec"]["template"]
        for violation in validation.pod_violations(pod):
            yield JobFault(
                ObjectId.from_manifest(job)._replace(apiVersion="v1", kind="Pod"), violation, (*base, *JOB.pods[0])
            )
    if spec.get("volumeClaimPolicies"):
        for claim, violation, path in claim_violations(jobset):
            yield JobFault(claim, violation, path)


def _checked(jobset: Tree, replicated: Tree) -> tuple[Tree, list[Violation]]:
    """Return the first Job of a replicated job that has violations, and these; else the first Job."""
    first = make_job(jobset, replicated)
    found = _violations(jobset, first)
    if not found and replicated.get("replicas", 1) > 1:
        for replica in _other_names(first, replicated["replicas"]):
            job = make_job(jobset, replicated, replica)
            if found := _violations(jobset, job):
                return job, found
    return first, found


def _violations(jobset: Tree, job: Tree) -> list[Violation]:
    return validation.job_violations(job, claims=claims(jobset, job["spec"]["template"]["spec"]))


def _other_names(job: Tree, replicas: int) -> Iterator[int]:
    """Yield replicas whose Jobs may have violations that the first one lacks: the Jobs differ only in their names."""
    if _named_in_labels(job):
        yield 1  # the label is valid for the first Job, and so invalid for all others
    if NAMESPACED_JOB in get(job, SELECTOR, {}):
        digits = 1
        while (replica := 10**digits) < replicas:
            yield replica  # the first one with a longer name
            digits += 1


def _placed(jobset: Tree, fault: JobFault) -> JobFault:
    """Return a fault of a field that JobSet adds to a Job at the JobSet field that it comes from."""
    violation = fault.violation
    if violation.path == SELECTED:
        level: Path = ("metadata", "annotations")
        if EXCLUSIVE not in get(jobset, level, {}) or BY_NODE_SELECTOR not in get(jobset, level, {}):
            level = (*fault.base, *level)
        help = "shorten metadata.name, the namespace or the name of the replicated job"
        return JobFault(fault.object, violation._replace(path=(*level, BY_NODE_SELECTOR)).with_help(help), ())
    if violation.path[:4] != VOLUMES or len(violation.path) < 5:
        return fault
    pod = get(jobset, (*fault.base, *VOLUMES[:-1]), {})
    added = int(violation.path[4]) - len(pod.get("volumes") or ())
    if added < 0:
        return fault
    _, there = list(_claimed(jobset, pod))[added]
    _, _, reason = violation.message.partition(": ")
    message = f"the pods' volume is named after its claim template, and is not a valid DNS label: {reason}"
    return JobFault(fault.object, violation._replace(path=there, message=message).with_help(violation.help), ())


def first_job(jobset: Tree, replicated: Tree) -> ObjectId:
    """Return the first Job of a replicated job."""
    namespace, name = (jobset["metadata"].get(key, "") for key in ("namespace", "name"))
    return ObjectId(JOB.versions[0], JOB.kind, namespace, f"{name}-{replicated['name']}-0")


def make_job(jobset: Tree, replicated: Tree, replica: int = 0) -> Tree:
    """Return a Job of a replicated job, without the fields that JobSet adds and that are always valid."""
    template, name = replicated["template"], f"{jobset['metadata']['name']}-{replicated['name']}-{replica}"
    metadata: Tree = {"name": name, **_kept_metadata(jobset, template.get("metadata") or {})}
    if namespace := jobset["metadata"].get("namespace"):
        metadata["namespace"] = namespace
    pod_template = template["spec"]["template"]
    pod = dict(pod_template.get("spec") or {})
    if get(jobset, ("spec", "network", "enableDNSHostnames"), True):
        pod.pop("subdomain", None)  # JobSet sets its own
    if placed_by_selector(jobset, template):
        # An unknown namespace is left out: the shorter value is valid if the whole one is.
        pod["nodeSelector"] = (pod.get("nodeSelector") or {}) | {
            NAMESPACED_JOB: f"{namespace}_{name}" if namespace else name
        }
    pod_metadata = _kept_metadata(jobset, pod_template.get("metadata") or {})
    spec = template["spec"] | {"template": ({"metadata": pod_metadata} if pod_metadata else {}) | {"spec": pod}}
    return {"apiVersion": JOB.versions[0], "kind": JOB.kind, "metadata": metadata, "spec": spec}


def placed_by_selector(jobset: Tree, template: Tree) -> bool:
    """Return whether JobSet places a Job exclusively by a node selector.

    A Job has the annotations of its template. The JobSet's annotation about the selector is copied to it only with the
    JobSet's own exclusive topology.
    """
    of_jobset, of_job = (get(owner, ("metadata", "annotations"), {}) for owner in (jobset, template))
    if EXCLUSIVE in of_jobset:
        return BY_NODE_SELECTOR in of_jobset or BY_NODE_SELECTOR in of_job
    return EXCLUSIVE in of_job and BY_NODE_SELECTOR in of_job


def _kept_metadata(jobset: Tree, metadata: Tree) -> Tree:
    """Return a template's labels and annotations without overwritten ones; JobSet does not copy other metadata."""
    kept = {}
    for field in ("labels", "annotations"):
        if values := metadata.get(field):
            overwritten = OVERWRITTEN | {COORDINATOR} if "coordinator" in jobset["spec"] else OVERWRITTEN
            kept[field] = {key: value for key, value in values.items() if key not in overwritten}
    return kept


def claims(jobset: Tree, pod: Tree) -> list[Tree]:
    """Return the volumes that JobSet appends to a pod's own: one per claim template that a container mounts."""
    return [
        {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{jobset['metadata']['name']}"}}
        for name, _ in _claimed(jobset, pod)
    ]


def _claimed(jobset: Tree, pod: Tree) -> Iterator[tuple[str, Path]]:
    """Yield the name of each claim template that a container mounts, and the path of the name in the JobSet."""
    policies = jobset["spec"].get("volumeClaimPolicies")
    if not policies:
        return
    mounted = _mounted(pod)
    for p, policy in enumerate(policies):
        for t, template in enumerate(policy.get("templates") or ()):
            if (name := get(template, ("metadata", "name"), "")) in mounted:
                yield name, ("spec", "volumeClaimPolicies", p, "templates", t, "metadata", "name")


def _mounted(pod: Tree) -> set[str]:
    """Return the names of the volumes that a container mounts."""
    containers = [*(pod.get("containers") or ()), *(pod.get("initContainers") or ())]
    return {mount.get("name", "") for container in containers for mount in container.get("volumeMounts") or ()}


def _named_in_labels(job: Tree) -> bool:
    """Return whether the pod template sets a Job name label, which the API server sets itself."""
    labels = get(job, (*JOB.pods[0], "metadata", "labels"), {})
    return any(key in labels for key in ("job-name", "batch.kubernetes.io/job-name"))


def _runs_nothing(job: Tree) -> bool:
    """Return whether the Job never creates a pod."""
    return 0 in (job["spec"].get("parallelism"), job["spec"].get("completions"))


IMAGE_REFERENCE: Final = Declaration("image-reference", ("job",), trainc_only=True, fix="unsafe")
CONTAINER_LISTS: Final = ("containers", "initContainers")


def image_faults(jobset: Tree) -> Iterator[JobFault]:
    """Yield a violation for each container whose image is no image reference."""
    for index, replicated in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        pod = replicated["template"]["spec"]["template"].get("spec") or {}
        for kind in CONTAINER_LISTS:
            for at, container in enumerate(pod.get(kind) or ()):
                image = container.get("image")
                if image and not is_reference(image):
                    base: Path = (*JOBS_OF_JOBSET, index, *POD_TEMPLATE)
                    subject = first_job(jobset, replicated)._replace(apiVersion="v1", kind="Pod")
                    yield JobFault(subject, _image_violation(("spec", kind, at, "image"), image), base)


def _image_violation(path: Path, image: str) -> Violation:
    from trainc.kubernetes.image_grammar import explain

    found = explain(image)
    help: str | Fix = found.help
    if found.meant:
        from trainc.base.fixes import replace

        help = replace(path, found.meant, applicability="unsafe")._replace(form="name")
    return Violation.at(path, IMAGE_REFERENCE, found.message, help)._replace(part=(found.begin, found.end))


def claim_violations(jobset: Tree) -> Iterator[tuple[ObjectId, Violation, Path]]:
    """Yield the violations of each claim; its name is checked by JobSet's webhook (`checks.jobset.claims`)."""
    owner, namespace = (jobset["metadata"].get(key, "") for key in ("name", "namespace"))
    for p, policy in enumerate(jobset["spec"]["volumeClaimPolicies"]):
        for t, template in enumerate(policy.get("templates") or ()):
            metadata = template.get("metadata") or {}
            claim = ObjectId("v1", "PersistentVolumeClaim", namespace, f"{metadata.get('name', '')}-{owner}")
            for violation in _template_violations(metadata, get(template, ("spec",), {})):
                yield claim, violation, ("spec", "volumeClaimPolicies", p, "templates", t)


def _template_violations(metadata: Tree, spec: Tree) -> Iterator[Violation]:
    """Yield the violations of a template's labels, annotations and spec."""
    from trainc.kubernetes.validation.claimtemplates import claim_spec

    copied = {key: metadata[key] for key in ("annotations", "labels") if metadata.get(key)}
    if copied:
        yield from objectmeta.check(copied | {"name": "claim"}, namespaced=True)
    found = PodViolations({})
    claim_spec(found, (None, "spec"), spec)
    yield from found.violations
