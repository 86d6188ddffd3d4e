"""The check of runtimes that no TrainJob uses, and the number of users of each runtime.

Reads    the plans of their stand-in TrainJobs (`stand_ins`).
Returns  diagnostics about the runtimes: an error if the cluster rejects every TrainJob that uses one, a warning for a
         value that a TrainJob must replace, and the warnings about fields that the runtime writes. A fault in a field
         that a runtime leaves to TrainJobs is no fault of the runtime.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import PHASES
from trainc.base.kinds import TRAINJOB
from trainc.base.records import NamedTuple
from trainc.compilation.plans import diagnostics_of
from trainc.compilation.sources import read
from trainc.compilation.stand_ins import attempted
from trainc.diagnostics import Path, Place
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.pipeline.objects import TrainJob, ancestor
from trainc.pipeline.passes.conform import conform
from trainc.pipeline.passes.resolve import resolve
from trainc.pipeline.plan import NODE, Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.budget import Meter
    from trainc.compilation.run import Run
    from trainc.compilation.stand_ins import Attempt
    from trainc.diagnostics import Diagnostic, Identity, LintFinding, Location, Related
    from trainc.pipeline.library import Library, LibraryEntry


LONG_NAME: Final = "trainc-stand-in"
"""A name that no runtime contains, so that it can be found in messages."""
SHORT_NAMES: Final = ("a", "b")
"""The shortest names: a name that is too long for them is too long for every TrainJob. Messages differ in them."""
SHOWN_NAME: Final = "stand-in"
"""The name in the output of `explain` and `pods`."""
NO_NAME: Final = "NAME"
"""The text for the name of a TrainJob in messages."""
WITHOUT_RESOURCES: Final = ("gang-asks-for-nothing", "no-resources", "queue-no-requests")
"""The lint rules about pods without resources."""

Key = tuple[str, str, Path | None]


class Fault(NamedTuple):
    """A diagnostic of a stand-in, and its place in the runtime."""

    diagnostic: Diagnostic
    place: Place | None
    """None if no place of the diagnostic is in the runtime."""

    @property
    def key(self) -> Key:
        """The fault's identity, by which it is found in another stand-in."""
        path = None if self.place is None else self.place.path
        return self.diagnostic.id, self.diagnostic.field, path

    @property
    def phase(self) -> int:
        """The position of its admission phase."""
        return PHASES.index(self.diagnostic.stage)


class Rejection(NamedTuple):
    """The errors of one stand-in; none if the cluster accepts it."""

    faults: dict[Key, Fault]
    latest: int
    """The position of the last phase with an error."""

    def may_have(self, fault: Fault) -> bool:
        """Return whether the stand-in has a fault, or is rejected in an earlier phase for other faults."""
        return fault.key in self.faults or self.latest < fault.phase


def unused_entries(library: Library) -> list[LibraryEntry]:
    """Return the runtimes of the given paths that no TrainJob has requested, and that have no errors themselves."""
    entries = (entry for entry in library.levels[0].all_entries() if not entry.requested)
    return [entry for entry in entries if entry.conform_quietly()[0] is not None]


def check(entries: Iterable[LibraryEntry], library: Library, run: Run, meter: Meter) -> list[Diagnostic]:
    """Return the diagnostics about runtimes that no TrainJob uses. Stop when the meter is over its budget."""
    found: list[Diagnostic] = []
    for entry in entries:
        attempt = attempted(entry, library, run, LONG_NAME)
        of_entry = list(_diagnostics(entry, attempt, library, run))
        found += of_entry
        within = meter.charge("replicated jobs", sum(max(1, len(plan.jobs)) for plan in attempt.plans))
        if not (within and meter.charge("errors and warnings", len(of_entry))):
            break
    return found


def shown(
    entries: Sequence[LibraryEntry], library: Library, run: Run, meter: Meter
) -> tuple[list[Plan], list[Diagnostic]]:
    """Return the accepted stand-ins of runtimes for the output of a command, and the diagnostics about the runtimes."""
    plans: list[Plan] = []
    for number, entry in enumerate(entries, 1):
        # A replicated job with a long name may leave only one character to the name of the TrainJob.
        several = (f"{SHOWN_NAME}-{entry.id.name}", f"{SHOWN_NAME}-{number}")
        names = (*((SHOWN_NAME,) if len(entries) == 1 else several), SHORT_NAMES[0])
        attempts = (attempted(entry, library, run, name, shown=True) for name in names)
        plan = next((attempt.accepted for attempt in attempts if attempt.accepted is not None), None)
        if plan is not None:
            plans.append(plan)
        if not meter.charge("replicated jobs", 1 if plan is None else max(1, len(plan.jobs))):
            break
    return plans, check(entries, library, run, meter)


def _diagnostics(entry: LibraryEntry, attempt: Attempt, library: Library, run: Run) -> Iterator[Diagnostic]:
    """Yield the diagnostics about one runtime."""
    accepted = attempt.accepted
    if len(attempt.plans) > 1 or accepted is None:
        of_names = [attempted(entry, library, run, name) for name in SHORT_NAMES]
        yield from _faults(entry, of_names)
        if of_names[0].accepted is not None and accepted is None:
            accepted = of_names[0].accepted
    if accepted is not None:
        yield from _warnings(entry, accepted)


def _faults(entry: LibraryEntry, of_names: list[Attempt]) -> Iterator[Diagnostic]:
    """Yield an error for each fault that all stand-ins have, and a warning for another value that is wrong."""
    attempt, other = of_names
    rejected = [_rejection(entry, plan, again) for plan, again in zip(attempt.plans, other.plans, strict=True)]
    nothing = rejected[0]
    known = {key: fault for each in reversed(rejected) for key, fault in each.faults.items()}
    remaining = {key for key, fault in known.items() if all(each.may_have(fault) for each in rejected)}
    for key in (*nothing.faults, *(key for key in known if key not in nothing.faults)):
        fault = known[key]
        if key in remaining and (key in nothing.faults or fault.place is not None):
            yield _about(entry, fault, "error", f"no TrainJob can use this runtime: {fault.diagnostic.message}")
        elif key in nothing.faults and fault.place is not None and _is_written(fault.place):
            message = f"{fault.diagnostic.message}; a TrainJob that does not replace it is rejected"
            yield _about(entry, fault, "warning", message)


def _rejection(entry: LibraryEntry, plan: Plan, again: Plan) -> Rejection:
    """Return the errors of a plan; `again` has the same ones for a TrainJob with another name."""
    if not plan.failed:
        return Rejection({}, len(PHASES))
    found: dict[Key, Fault] = {}
    for diagnostic, other in zip(_with_lint_errors(plan), _with_lint_errors(again), strict=True):
        if diagnostic.severity == "error":
            texts = (_without_name(diagnostic.message, other.message), _without_name(diagnostic.help, other.help))
            changed = diagnostic._replace(message=texts[0], help=texts[1])
            fault = Fault(changed, _place(entry, changed))
            found.setdefault(fault.key, fault)
    return Rejection(found, max(fault.phase for fault in found.values()))


def _with_lint_errors(plan: Plan) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a plan, and its lint findings if some of them are errors."""
    yield from diagnostics_of(plan)
    if any(finding.error for finding in plan.lint_findings):
        from trainc.provenance.placing import lint_findings

        yield from lint_findings.warnings([plan], ())[0]


def _without_name(text: str, other: str) -> str:
    """Return a text of the stand-in with the first short name, which differs from the text of the second in it.

    >>> _without_name("a-node is a name", "b-node is a name")
    'NAME-node is a name'
    """
    return "".join(NO_NAME if one != two else one for one, two in zip(text, other, strict=True))


def _place(entry: LibraryEntry, diagnostic: Diagnostic) -> Place | None:
    """Return the first place of a diagnostic that is in the runtime."""
    places = (diagnostic.place, *(related.place for related in diagnostic.related))
    return next((place for place in places if _is_in(entry, place)), None)  # type: ignore[return-value]


def _is_in(entry: LibraryEntry, place: Place | Location | None) -> bool:
    return isinstance(place, Place) and place.document.identity == entry.document.identity


def _is_written(place: Place) -> bool:
    """Return whether the runtime writes a value at a place, instead of a mapping or a list that lacks something."""
    value: Any = get(place.document.value, place.path)
    if isinstance(value, str) and "{{" in value:
        return False  # a placeholder, which is reported as such
    return place.key or not isinstance(value, (dict, list)) or not value


def _about(entry: LibraryEntry, fault: Fault, severity: Any, message: str) -> Diagnostic:
    """Return the diagnostic of a stand-in as one about the runtime."""
    place = fault.place or Place(entry.document, ("metadata", "name"))
    related: list[Related] = [
        each for each in fault.diagnostic.related if _is_in(entry, each.place) and each.place != place
    ]
    found = fault.diagnostic
    fixed = found.fixed_in or (found.place.document if isinstance(found.place, Place) else None)
    if fixed is None or fixed.identity != entry.document.identity:
        found = found._replace(fix=None, fixed_in=None)  # a fix of the stand-in
    return found._replace(
        severity=severity,
        message=message,
        object=entry.id,
        field=field_of(place.path),
        place=place,
        related=tuple(related),
    )


def _is_left_to_trainjobs(plan: Plan, finding: LintFinding) -> bool:
    """Return whether a finding is about resources that the runtime leaves to spec.trainer.resourcesPerNode."""
    if finding.rule not in WITHOUT_RESOURCES:
        return False
    job = int(finding.path[1])
    return ancestor(plan.jobs[job]) == "trainer" or plan.jobs[job].get("name") == NODE


def _warnings(entry: LibraryEntry, plan: Plan) -> Iterator[Diagnostic]:
    """Yield the warnings of an accepted stand-in that are about fields of the runtime."""
    found = [diagnostic for diagnostic in diagnostics_of(plan) if diagnostic.severity == "warning"]
    kept = tuple(finding for finding in plan.lint_findings if not _is_left_to_trainjobs(plan, finding))
    if kept:
        from trainc.provenance.placing import lint_findings

        found += lint_findings.warnings([plan._replace(lint_findings=kept)], ())[0]
    for diagnostic in found:
        if (place := _place(entry, diagnostic)) is not None:
            message = diagnostic.message.replace(LONG_NAME, NO_NAME)
            yield _about(entry, Fault(diagnostic, place), "warning", message)


def users(paths: Sequence[str], library: Library, run: Run, meter: Meter) -> Counter[Identity]:
    """Return the number of TrainJobs in paths that use each runtime, by the identity of the runtime's document."""
    reading = read(paths, run, kinds=(TRAINJOB,), meter=meter)
    found: Counter[Identity] = Counter()
    for document in reading.documents["job"]:
        job = TrainJob(document=document, value=document.value)
        plan = conform(Plan(job=job, library=library, release=run.settings.release, field_validation="ignore"))
        if not plan.stopped:
            plan = resolve(plan)
        if plan.runtime.document.text:
            found[plan.runtime.document.identity] += 1
    return found
