"""Diagnoses: what would be refused in a compiled JobSet, told of the lines that caused it.

Reads    a plan, what is wrong with its JobSet, and at which stage of the cluster.
Returns  diagnostics. Imported when there is something to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Related
from trainc.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import ObjectId, Path, Place, Stage
    from trainc.kubernetes.violations import Violation
    from trainc.plan import Plan

NAME: Final = ("metadata", "name")
"""Every object's name comes from the TrainJob's: no experiment has to find that out."""


def diagnose(plan: Plan, stage: Stage, id: ObjectId, violations: Iterable[Violation]) -> Iterator[Diagnostic]:
    """Each violation at the place that caused it, with the others that have a part in it."""
    trace = Trace(plan)
    for violation in violations:
        message, help = worded(plan, violation)
        place, related = _point(trace, violation.path)
        seen = [place, *(found.place for found in related)]
        for what, path in violation.related:
            other = plan.job.at(*path) if path == NAME else trace.origin(0, path).place
            if other not in seen:
                related = (*related, Related(message=what, place=other))
                seen.append(other)
        yield Diagnostic(
            id=violation.rule,
            severity="error",
            stage=stage,
            message=message,
            help=help,
            object=id,
            field=violation.field,
            place=place,
            related=related,
        )


def _point(trace: Trace, path: Path) -> tuple[Place, tuple[Related, ...]]:
    return (trace.plan.job.at(*path), ()) if path == NAME else trace.point(0, path)


def worded(plan: Plan, violation: Violation) -> tuple[str, str]:
    """Message and help; of a job that only a patch names, the missing runtime job is the cause of whatever is wrong."""
    path, known = violation.path, [str(job.get("name")) for job in plan.runtime.spec.get("replicatedJobs") or []]
    if path[:2] == ("spec", "replicatedJobs") and len(path) > 2:
        name = plan.jobs[int(path[2])].get("name")
        if name not in known:
            message = f'the runtime has no job "{name}", so the patch makes a new one: {violation.message}'
            from trainc.nearest import nearest

            near = nearest(str(name), known)
            return message, f"did you mean {near}?" if near else f"patch a job of the runtime: {', '.join(known)}"
    return violation.message, violation.help
