"""What the release of Kueue in the cluster does not serve, start or manage.

Reads    the documents of other kinds, the plans, and the settings of the run.
Returns  diagnostics at the apiVersion of an object, or at the queue of a job that the cluster gets itself. JobSets have
         none: every release of Kueue manages them.
Source   `base.kueue_releases`. The fields of v1beta1: kubernetes-sigs/kueue, the conversions in apis/kueue/v1beta1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import OLD_GROUP
from trainc.base.kueue_releases import KUEUE_RELEASES, LEGACY_INTEGRATIONS, NEWEST_KUEUE, ranges
from trainc.diagnostics import Diagnostic, ObjectId, Place
from trainc.frontends.training_jobs import training_job
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import listed
from trainc.kueue.admission import LABEL
from trainc.kueue.kueue_objects import GROUP, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.base.declarations import Severity
    from trainc.base.kinds import Kind
    from trainc.base.kueue_releases import KueueRelease
    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document
    from trainc.pipeline.plan import Plan

KUEUE_VERSION: Final = Declaration("kueue-version", ("queue",), severity="warning")
QUEUE_NEVER_STARTS: Final = Declaration("queue-never-starts", ("queue",))
QUEUE_NOT_MANAGED: Final = Declaration("queue-not-managed", ("queue",), severity="warning")
CHANGED_FIELDS: Final = (
    (("ClusterQueue", "spec", "cohort"), "cohort is cohortName"),
    (("ClusterQueue", "spec", "admissionChecks"), "admissionChecks is admissionChecksStrategy.admissionChecks"),
    (("ClusterQueue", "spec", "flavorFungibility"), "the Borrow and Preempt of flavorFungibility are MayStopSearch"),
    (("AdmissionCheck", "spec", "retryDelayMinutes"), "retryDelayMinutes is gone"),
    (("MultiKueueCluster", "spec", "kubeConfig"), "kubeConfig is clusterSource.kubeConfig"),
)
"""The fields of v1beta1 that v1beta2 has in another form: the kind and the path, and the difference."""


def unserved(documents: Iterable[Document], release: KueueRelease | None) -> Iterator[Diagnostic]:
    """Yield an error for each object of Kueue in a version that the release does not serve.

    Without a release it is a warning, about the versions that the newest one does not serve.
    """
    for document in documents:
        kind, whole = document.value.get("kind"), document.value.get("apiVersion")
        group, _, version = whole.partition("/") if isinstance(whole, str) else ("", "", "")
        if group != GROUP or kind not in KINDS or version in (release or NEWEST_KUEUE).served:
            continue
        served = (release or NEWEST_KUEUE).served[0]
        changed = [
            text
            for (of_kind, *path), text in CHANGED_FIELDS
            if kind == of_kind and served == "v1beta2" and get(document.value, tuple(path)) is not None
        ]
        help = f"use {GROUP}/{served}" + (f", where {listed(changed)}" if changed else "")
        if release is None and any(version in known.served for known in KUEUE_RELEASES):
            help += "; or set kueueVersion, if the cluster has an older Kueue"
        found = Diagnostic.declared(
            KUEUE_VERSION,
            f"{(release or NEWEST_KUEUE).title} does not serve {version} of {kind}",
            help,
            object=ObjectId.from_manifest(document.value),
            field="apiVersion",
            place=Place(document, ("apiVersion",)),
        )
        yield found if release is None else found._replace(severity="error")


def never_started(
    plans: Iterable[Plan], release: KueueRelease, trainer: TrainerRelease, severity: Severity
) -> Iterator[Diagnostic]:
    """Yield a fault for each TrainJob with a queue, if Kueue cannot start the TrainJobs of this release of Trainer."""
    if release.starts_jobs_of(trainer):
        return
    matching = [known.name for known in KUEUE_RELEASES if known.starts_jobs_of(trainer)]
    for plan in plans:
        if plan.job.own_runtime is None and get(plan.job.value, LABEL):
            found = Diagnostic.declared(
                QUEUE_NEVER_STARTS,
                f"{release.title} does not work with {trainer.title}: it starts TrainJobs by {release.patches}, as "
                f"Trainer {ranges(release.trainers)} {'reads' if len(release.trainers) == 1 else 'read'} them",
                f"use Kueue {matching[0]} to {matching[-1]}, or Trainer {ranges(release.trainers)}; or apply the "
                "JobSets that `trainc build` renders, which every Kueue starts",
                object=plan.job.id,
                field=".".join(LABEL[:2]),
                place=plan.job.at(*LABEL),
            )
            yield found._replace(severity=severity)


def unmanaged(documents: Iterable[Document], release: KueueRelease | None, option: str) -> Iterator[Diagnostic]:
    """Yield a warning for each legacy job with a queue that the release does not manage by default.

    Args:
        documents: the jobs that the cluster gets themselves, among other documents.
        release: the release; without one, a note says from which release on it does not manage the job.
        option: the option that compiles legacy jobs.
    """
    for document in documents:
        row = training_job(document) if get(document.value, LABEL) else None
        if row is None or (release or NEWEST_KUEUE) in (managing := _managing(row, document)):
            continue
        who = f"Kueue does not manage {row.word}s of {document.value['apiVersion']}"
        fix = "remove the label"
        if managing:
            who = f"{release.title if release else 'Kueue'} does not manage {row.word}s by default"
            if release is None:
                who += f" since v{KUEUE_RELEASES[KUEUE_RELEASES.index(managing[-1]) + 1].name}"
            fix = f"add kubeflow.org/{row.kind.lower()} to integrations.frameworks of Kueue's configuration"
        found = Diagnostic.declared(
            QUEUE_NOT_MANAGED,
            f"{who}: the job starts at once, without quota",
            f"apply the JobSet that trainc compiles it to ({option}), which Kueue manages, or {fix}",
            object=ObjectId.from_manifest(document.value),
            field=".".join(LABEL[:2]),
            place=Place(document, LABEL),
        )
        yield found if release is not None or not managing else found._replace(severity="note")


def _managing(row: Kind, document: Document) -> list[KueueRelease]:
    """Return the releases that manage a legacy job by default."""
    version = document.value.get("apiVersion")
    if row.kind == "MPIJob" and version == row.versions[0]:
        return [*KUEUE_RELEASES]
    if row.kind not in LEGACY_INTEGRATIONS or version != f"{OLD_GROUP}/v1":
        return []
    return [release for release in KUEUE_RELEASES if row.kind in release.legacy]
