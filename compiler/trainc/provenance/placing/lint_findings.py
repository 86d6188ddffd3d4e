"""The lint findings of all TrainJobs as warnings: one per cause, at the line that caused it.

Reads    plans after the last stage of the pipeline.
Returns  diagnostics, each at the first TrainJob that has it, with the number of the others. A finding whose only place
         is a built-in runtime is no diagnostic, because the user cannot edit that line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.texts import and_others
from trainc.diagnostics import Path, Place, Related
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import in_jobset, load, stored
from trainc.provenance.placing.runtime_faults import accepted_users, line, with_users
from trainc.provenance.tracing import Trace, edited_by, nearest_existing, reported_at
from trainc.provenance.tracing.correspondence import GONE, corresponding_path, value_at

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Hashable, Iterable, Sequence

    from trainc.diagnostics import Diagnostic, Identity, LintFinding, Location
    from trainc.pipeline.plan import Plan


def warnings(linted: Iterable[Plan], plans: Sequence[Plan]) -> tuple[list[Diagnostic], dict[str, set[str]]]:
    """Return the lint findings of plans as warnings, one per cause and per place.

    Those in a runtime name its users among all plans of the run, if there are any. The second value has the rules of
    the findings in built-in runtimes, by the runtime's name.
    """
    reported: dict[Hashable, Diagnostic] = {}
    built_in: dict[str, set[str]] = {}
    causes: dict[Hashable, list[tuple[Plan, LintFinding]]] = {}
    for plan in linted:
        of_plan = {cause(plan, finding): (plan, finding) for finding in reversed(plan.lint_findings)}
        for key, found in reversed(of_plan.items()):
            causes.setdefault(key, []).append(found)
    traces: dict[int, Trace] = {}
    accepted = accepted_users(plans) if plans else None
    for (plan, finding), *others in causes.values():
        for warning in load(finding.rule).warning(plan.job.id, plan, finding):
            place, related = warning.place, warning.related
            if place is None:
                place, related = placed(plan, finding.path, traces)
                place = narrowed(place, plan, finding)
                related = tuple(other._replace(place=narrowed(other.place, plan, finding)) for other in related)
            assert isinstance(place, Place)
            if warning.fix is not None and warning.place is None:
                warning = _with_fix_at(warning, (place, *(other.place for other in related)), plan, finding.path)  # noqa: PLW2901 (the same warning)
            for label, path in finding.related:
                other, more = placed(plan, path, traces)
                related = (*related, *(more or (Related(message=label, place=other),)))
            if plan.library.is_built_in(plan.runtime.document) and _in_runtime(plan, place, related):
                built_in.setdefault(plan.runtime.id.name, set()).add(warning.id)
                continue
            key = (warning.id, warning.message, id(place.document), place.path, place.part)
            if key not in reported:
                subject = plan.runtime.id if plan.is_of_runtime(place) else warning.object
                warning = warning._replace(object=subject, place=place, related=related)  # noqa: PLW2901 (the same warning)
                warning = plan.in_own_names(warning)  # noqa: PLW2901 (the same warning)
                reported[key] = _counted(warning, [plan, *(other for other, _ in others)], accepted)
    return list(reported.values()), built_in


def _counted(warning: Diagnostic, having: Sequence[Plan], accepted: Counter[Identity] | None) -> Diagnostic:
    """Return a warning with the TrainJobs that have it: the users of a runtime, or the number of the others."""
    if accepted is not None and line(having[0], warning) is not None:
        return with_users(warning, having, accepted)
    return warning._replace(message=warning.message + and_others(len(having) - 1))


def _with_fix_at(warning: Diagnostic, places: Iterable[Place | Location], plan: Plan, path: Path) -> Diagnostic:
    """Return a warning with its fix at the first source of the field that has the same value, without one if none."""
    from trainc.base.fixes import at_source

    value = value_at(stored(plan), path)
    for place in places:
        if isinstance(place, Place):
            source = get(place.document.value, place.path)
            if fix := at_source(warning.fix, path, value, place.path, source):
                return warning._replace(fix=fix, fixed_in=place.document)
    return warning._replace(fix=None)


def narrowed(place: Place | Location, plan: Plan, finding: LintFinding) -> Place | Location:
    """Return the part of a place, or its key, that the finding is about, if the place has the finding's value."""
    if not isinstance(place, Place) or (finding.part is None and not finding.key):
        return place
    if finding.key:
        return place._replace(key=place.path[-1:] == finding.path[-1:])
    same = get(place.document.value, place.path) == value_at(stored(plan), finding.path)
    return place._replace(part=finding.part) if same else place


def _in_runtime(plan: Plan, place: Place, related: Iterable[Related]) -> bool:
    """Return whether the runtime has all places of a finding, except for the runtimeRef that leads to it."""
    places = (place, *(relation.place for relation in related))
    others = [at for at in places if at != plan.job.at("spec", "runtimeRef")]
    return bool(others) and all(_is_of_runtime(plan, at) for at in others)


def _is_of_runtime(plan: Plan, place: Place | Location) -> bool:
    """Return whether the runtime's own document has the line of a place, not the settings."""
    return isinstance(place, Place) and plan.is_of_runtime(place) and not edited_by(place)


def cause(plan: Plan, finding: LintFinding) -> Hashable:
    """Return a key that two findings share if one fix resolves both: rule, document, and path or subject."""
    shared = finding.shared or runtime_path(plan, finding.path) is not None
    document = plan.runtime.document if shared else plan.job.document
    return finding.rule, document.identity, finding.what or finding.path


def runtime_path(plan: Plan, path: Path) -> Path | None:
    """Return the path in the runtime's template with the same value as a path of the JobSetSpec.

    A field that both lack, or that is empty, counts as the same value. Return None if the values differ.
    """
    if path[:1] == ("metadata",):
        return None
    made, template = stored(plan), plan.runtime.spec
    there = corresponding_path(made, path, template)
    if there is None and path and isinstance(path[-1], str):
        above = corresponding_path(made, path[:-1], template)
        there = None if above is None else (*above, path[-1])
    if there is None:
        return None
    ours, theirs = (
        None if found is GONE or found in ("", [], {}) else found
        for found in (value_at(made, path), value_at(template, there))
    )
    return there if ours == theirs else None


def placed(plan: Plan, path: Path, traces: dict[int, Trace]) -> tuple[Place, tuple[Related, ...]]:
    """Return the source of a field of the JobSetSpec: the runtime, also of a field that it lacks, or by a trace."""
    if (there := runtime_path(plan, path)) is not None:
        return reported_at(plan, nearest_existing(plan.runtime.at("spec", "template", "spec", *there)))
    trace = traces.get(id(plan)) or traces.setdefault(id(plan), Trace(plan))
    return trace.point(0, in_jobset(path))
