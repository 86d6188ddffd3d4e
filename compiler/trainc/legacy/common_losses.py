"""The losses that legacy jobs of all operators share: metadata, the run policy, and what a role's pods do not get.

Reads    a valid job, the paths of its roles, and the gang scheduler.
Returns  the losses, and their rules for docs/legacy.md.
Source   kubeflow/training-operator v1.9.3 and kubeflow/mpi-operator v0.8.0: both have the run policy, and create pods
         from the labels, the annotations and the spec of a role's template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.frontends.lowering import Loss, LossRule, without_effect
from trainc.kubernetes.trees import Path, Tree, get
from trainc.legacy.replica_specs import LABEL, OPERATOR_LABELS, POLICY
from trainc.masking.secret_names import LAST_APPLIED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from trainc.frontends.gangs import GangScheduler

QUEUE: Final = "kueue.x-k8s.io/queue-name"
CONTROLLERS: Final = ("sagemaker.amazonaws.com/", "katib.kubeflow.org/")
"""The prefixes of labels and annotations that other controllers look for at jobs of these kinds."""
OWN: Final = "trainc.dev/"
CARRIED: Final = ("name", "namespace", "generateName", "labels", "annotations")
"""The fields of metadata that the JobSet gets."""
KEPT: Final = ("finalizers", "ownerReferences")
"""The other fields of metadata that an author can set."""

OF_CONTROLLER: Final = LossRule(
    "metadata.*[sagemaker.amazonaws.com/*], metadata.*[katib.kubeflow.org/*]",
    "approximated",
    "it moves to the JobSet, at which its controller does not look for it",
    "replace the controller's feature",
)
OF_SERVER: Final = without_effect("metadata.*", "the API server or a client sets it for each object")
NOT_OF_JOBSET: Final = LossRule(
    "metadata.finalizers, metadata.ownerReferences",
    "not carried",
    "it concerns the job itself, not its JobSet",
    "set it on the JobSet with a patch in trainc.yaml",
)
STATUS: Final = without_effect("status", "the operator writes it")
NO_EXTRA: Final = without_effect(
    "*.template.metadata.*", "the pods have only the labels and annotations of the template"
)
OPERATOR_LABEL: Final = without_effect(f"*.template.metadata.labels[{LABEL}*]", "the operator overwrites it")
POD_RESTART: Final = LossRule(
    "*.template.spec.restartPolicy",
    "without effect",
    "the restart policy of the role overwrites it",
    "set restartPolicy of the role",
)
SHADOWED: Final = without_effect(
    "*.template.spec.*.env[*]", "a later variable of the same name, such as the operator's, overwrites it"
)
HOST_NAME: Final = LossRule(
    "*.template.spec.*: a host name in command, args or env",
    "approximated",
    "the pod has another host name, which replaces it",
    "use the variables of the operator, such as MASTER_ADDR, instead of host names",
)
LABELS: Final = {
    name: LossRule(
        f"*.template.metadata.labels[{LABEL}{name}], of the operator",
        "not carried",
        "the pods lack the label that the operator adds",
        action,
        is_added=True,
    )
    for name, action in {
        "operator-name": f"select pods by {LABEL}job-name",
        "replica-index": "select pods by batch.kubernetes.io/job-completion-index or jobset.sigs.k8s.io/job-index",
        "replica-type": "select pods by batch.kubernetes.io/job-completion-index: that of the first role is 0",
        "job-role": "select the first pod by batch.kubernetes.io/job-completion-index: 0",
    }.items()
}
CLEAN: Final = {
    "None": LossRule(
        "spec.runPolicy.cleanPodPolicy: None",
        "not carried",
        "JobSet deletes the pods that run when the job ends; the operator keeps them",
        "store logs outside of the pods",
    ),
    "Running": without_effect("spec.runPolicy.cleanPodPolicy: Running", "JobSet does the same for every job"),
    "All": LossRule(
        "spec.runPolicy.cleanPodPolicy: All",
        "not carried",
        "JobSet keeps the pods that have finished when the job ends; the operator deletes them",
        "set ttlSecondsAfterFinished to delete the JobSet with its pods",
    ),
}
SUSPEND: Final = LossRule(
    "spec.runPolicy.suspend, of a running job",
    "approximated",
    "pods that have succeeded do not run again when the job resumes",
    "delete the JobSet and apply it again to run all pods again",
    is_added=True,
)
SUSPEND_QUEUED: Final = without_effect("spec.runPolicy.suspend, in a Kueue queue", "Kueue suspends and resumes the job")
NO_GANG: Final = LossRule(
    "spec.runPolicy.schedulingPolicy.*",
    "not carried",
    "without a gang scheduler, the pods have no PodGroup",
    "set --gang or legacy.gang to the operator's --gang-scheduler-name",
)
NOT_IN_GANG: Final = without_effect(
    "spec.runPolicy.schedulingPolicy.*, with a gang scheduler", "the PodGroups of this scheduler do not have it"
)
MIN_RESOURCES: Final = LossRule(
    "spec.runPolicy.schedulingPolicy.minAvailable, with a gang scheduler",
    "approximated",
    "the gang's minResources are the requests of all pods; the operator adds up those of minAvailable pods",
    "set minResources",
)
LOSSES: Final = (
    OF_CONTROLLER,
    NOT_OF_JOBSET,
    OF_SERVER,
    STATUS,
    *CLEAN.values(),
    SUSPEND,
    SUSPEND_QUEUED,
    NO_GANG,
    NOT_IN_GANG,
    MIN_RESOURCES,
    HOST_NAME,
    SHADOWED,
    POD_RESTART,
    OPERATOR_LABEL,
    NO_EXTRA,
)
"""The rules that all kinds share, without those of the operator's labels."""


def common_losses(job: Tree, roles: Iterable[Path], gang: GangScheduler | None) -> Iterator[Loss]:
    """Yield the losses of metadata, of the run policy and of the roles' templates."""
    yield from object_losses(job)
    roles = tuple(roles)
    yield from _run_policy_losses(job, sum(get(job, (*at, "replicas"), 1) for at in roles), gang)
    for at in roles:
        template = get(job, (*at, "template"), {})
        yield from template_losses(at, template, OPERATOR_LABELS)
        if "restartPolicy" in template.get("spec", {}):
            yield Loss((*at, "template", "spec", "restartPolicy"), POD_RESTART)


def object_losses(job: Tree) -> Iterator[Loss]:
    """Yield the losses of metadata and of the status."""
    metadata: Tree = get(job, ("metadata",), {})
    if "status" in job:
        yield Loss(("status",), STATUS)
    for key in metadata:
        if key not in CARRIED:
            yield Loss(("metadata", key), NOT_OF_JOBSET if key in KEPT else OF_SERVER)
    if "name" in metadata and "generateName" in metadata:
        yield Loss(("metadata", "generateName"), OF_SERVER)
    for field in ("labels", "annotations"):
        for key in metadata.get(field) or ():
            if key.startswith(CONTROLLERS):
                yield Loss(("metadata", field, key), OF_CONTROLLER)
            elif key == LAST_APPLIED or key.startswith(OWN):
                yield Loss(("metadata", field, key), OF_SERVER)


def _run_policy_losses(job: Tree, pods: int, gang: GangScheduler | None) -> Iterator[Loss]:
    policy: Tree = get(job, POLICY, {})
    # To the operator, any other word has the effect of All.
    yield Loss((*POLICY, "cleanPodPolicy"), CLEAN.get(policy.get("cleanPodPolicy") or "None", CLEAN["All"]))
    queued = QUEUE in get(job, ("metadata", "labels"), {})
    yield Loss((*POLICY, "suspend"), SUSPEND_QUEUED if queued else SUSPEND)
    scheduling: Tree = policy.get("schedulingPolicy") or {}
    for key in scheduling:
        path = (*POLICY, "schedulingPolicy", key)
        if gang is None:
            yield Loss(path, NO_GANG)
        elif key not in gang.fields:
            yield Loss(path, NOT_IN_GANG)
        elif key == "minAvailable" and (scheduling[key] or 0) < pods and not scheduling.get("minResources"):
            yield Loss(path, MIN_RESOURCES)


def template_losses(
    at: Path, template: Tree, overwritten: Collection[str], rule: LossRule = OPERATOR_LABEL
) -> Iterator[Loss]:
    """Yield the losses of the metadata of a role's template.

    overwritten   the labels that the operator sets
    rule          the rule of these labels
    """
    metadata = (*at, "template", "metadata")
    for key, value in (template.get("metadata") or {}).items():
        if key not in ("labels", "annotations"):
            yield Loss((*metadata, key), NO_EXTRA)
        for name in value or () if key == "labels" else ():
            if name in overwritten:
                yield Loss((*metadata, key, name), rule)


def missing_labels(at: Path, names: Iterable[str]) -> Iterator[Loss]:
    """Yield the labels that the operator adds to the pods of a role, and that the JobSet's pods lack."""
    for name in names:
        yield Loss((*at, "template", "metadata", "labels", f"{LABEL}{name}"), LABELS[name])
