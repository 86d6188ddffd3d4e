"""The faults that several TrainJobs have because of one line of their runtime: each is reported once.

Reads    the plans of a run, and the diagnostics of each.
Returns  the diagnostics of all of them. One whose cause is a line of a runtime names the TrainJobs that have it, which
         are all users of the runtime or some of them. Imported only for a run with diagnostics.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import THE_RUNTIME, ObjectId, Place, Related, Users

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from trainc.diagnostics import Diagnostic, Identity
    from trainc.pipeline.objects import TrainJob
    from trainc.pipeline.plan import Plan

NAME: Final = "NAME"
"""The name of a TrainJob in the key of a fault."""


def merged(plans: Sequence[Plan], diagnostics: Mapping[int, Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """Yield the diagnostics of plans, by their identity; those of one line of a runtime as one."""
    faults: dict[Hashable, tuple[Diagnostic, list[Plan]]] = {}
    for plan in plans:
        for found in diagnostics[id(plan)]:
            place = line(plan, found)
            if place is None:
                faults[len(faults)] = found, []
                continue
            having = faults.setdefault(_key(plan, found, place), (found, []))[1]
            if not having or having[-1] is not plan:
                having.append(plan)
    accepted = accepted_users(plans)
    for found, having in faults.values():
        yield with_users(found, having, accepted) if having else found


def accepted_users(plans: Iterable[Plan]) -> Counter[Identity]:
    """Return the number of accepted TrainJobs that use each runtime."""
    return Counter(plan.runtime.document.identity for plan in plans if _is_accepted(plan))


def _is_accepted(plan: Plan) -> bool:
    return bool(plan.objects) and not plan.failed


def line(plan: Plan, diagnostic: Diagnostic) -> Place | None:
    """Return the place of the runtime that causes a diagnostic; None if another document does."""
    of_runtime = (related.place for related in diagnostic.related if related.message == THE_RUNTIME)
    places = (diagnostic.place, *of_runtime)
    return next((each for each in places if isinstance(each, Place) and plan.is_of_runtime(each)), None)


def _key(plan: Plan, diagnostic: Diagnostic, place: Place) -> Hashable:
    """Return the key that the diagnostics of one fault share: the names of the TrainJobs are not a part of it."""
    message = diagnostic.message.replace(plan.name, NAME) if plan.name else diagnostic.message
    return diagnostic.id, diagnostic.severity, message, place.document.identity, place.path, place.key, place.part


def with_users(diagnostic: Diagnostic, having: Sequence[Plan], accepted: Counter[Identity]) -> Diagnostic:
    """Return a diagnostic about a line of a runtime with the TrainJobs that have it.

    Args:
        diagnostic: one of a line of a runtime.
        having: the plans of these TrainJobs.
        accepted: the number of accepted TrainJobs of each runtime.
    """
    job, runtime = having[0].job, having[0].runtime.document.identity
    names = tuple(_name(plan.job) for plan in having)
    spared = accepted[runtime] > sum(map(_is_accepted, having))
    at = job.at("spec", "runtimeRef")
    if diagnostic.place == at and len(names) == 1:
        return diagnostic
    related = (Related("the TrainJob", at),) if spared and diagnostic.place != at else ()
    return diagnostic._replace(users=Users(names, not spared), related=(*diagnostic.related, *related))


def _name(job: TrainJob) -> str:
    """Return the name of a TrainJob in its file, which the environments share."""
    id = ObjectId.from_source(job.document.unedited)
    return id.qualified_name
