"""The diagnostics of a run about Kueue: faults of the objects of queues, and JobSets that no queue can ever admit.

Reads    the plans after the last stage, and the documents of other kinds.
Returns  diagnostics at the line of the TrainJob or runtime that caused them, with the queue's lines as related places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.texts import plural
from trainc.diagnostics import Diagnostic, Place, Related
from trainc.kubernetes.violations import field_of
from trainc.kueue import kueue_objects, references
from trainc.kueue.alternatives import Alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Document
    from trainc.kueue.admission import Verdict
    from trainc.kueue.reasons import Never
    from trainc.pipeline.plan import Plan

NEVER_ADMITTED: Final = Declaration("never-admitted", ("queue",), "JobSet that its Kueue queue never admits")
ADMISSION_UNKNOWN: Final = Declaration(
    "admission-unknown",
    ("queue",),
    "Admission by Kueue that the manifests do not decide",
    severity="note",
    trainc_only=True,
)
SHOWN: Final = 3
"""The number of reasons that the note lists."""


def check(plans: Iterable[Plan], documents: Iterable[Document], *, all_faults: bool = False) -> Iterator[Diagnostic]:
    """Yield the diagnostics about the TrainJobs, and the faults of the objects that decide about them.

    all_faults   whether to yield the faults of all objects
    """
    cluster, found = kueue_objects.read(documents)
    found += references.queue_faults(cluster)
    compiled = [plan for plan in plans if plan.objects and not plan.failed]
    admission = Alternatives(cluster)
    if found and not all_faults:
        deciding = admission.deciding(plan.objects[0] for plan in compiled)
        found = [fault for fault in found if kueue_objects.key_of(fault.object) in deciding]
    yield from found
    yield from references.job_faults(compiled, cluster)
    for plan in compiled:
        verdict = admission.verdict(plan.objects[0])
        if verdict.never is not None:
            yield _never_admitted(plan, verdict, verdict.never)


def _never_admitted(plan: Plan, verdict: Verdict, never: Never) -> Diagnostic:
    place, related = references.point(plan, never.path)
    return Diagnostic.declared(
        NEVER_ADMITTED,
        f"with Kueue's defaults, queue {verdict.queue} never admits the JobSet: {never.message}",
        never.help,
        object=plan.job.id,
        field=field_of(never.path),
        place=place,
        related=(*related, *(Related(label, _nearest_present(there)) for label, there in never.related)),
    )


def _nearest_present(place: Place) -> Place:
    from trainc.provenance.tracing import nearest_existing

    return nearest_existing(place)


def undecided_notes(plans: Iterable[Plan], documents: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield one note for the TrainJobs with a queue whose admission the manifests do not decide."""
    cluster, _ = kueue_objects.read(documents)
    admission = Alternatives(cluster)
    reasons: dict[str, list[str]] = {}
    for plan in plans:
        verdict = admission.verdict(plan.objects[0])
        if verdict.undecided:
            reasons.setdefault(verdict.undecided, []).append(plan.job.id.name)
    if not reasons:
        return
    total = sum(map(len, reasons.values()))
    listed = [
        f"{reason} ({', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''})"
        for reason, names in list(reasons.items())[:SHOWN]
    ]
    more = len(reasons) - len(listed)
    yield Diagnostic.declared(
        ADMISSION_UNKNOWN,
        f"trainc cannot tell whether Kueue admits {plural(total, 'job')}: {'; '.join(listed)}"
        + (f"; and {plural(more, 'other reason')}" if more else ""),
        "add the manifests of the LocalQueue, its ClusterQueue, the flavors and the cohort to the paths",
    )
