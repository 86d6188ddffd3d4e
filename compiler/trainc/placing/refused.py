"""Diagnoses: what would be refused in a compiled JobSet, told of the lines that caused it.

Reads    a plan, what is wrong with its JobSet, and at which stage of the cluster.
Returns  diagnostics. Imported when there is something to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Related
from trainc.kubernetes.trees import get
from trainc.records import NamedTuple
from trainc.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path, Place, Refused
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.plan import Plan

NAME: Final = ("metadata", "name")
"""Every object's name comes from the TrainJob's: no experiment has to find that out."""
REFERENCE: Final = ("spec", "runtimeRef")
"""Where a TrainJob has what its runtime says from."""
JOBS: Final = ("spec", "replicatedJobs")
TEMPLATE: Final = ("trainingRuntimeSpec", "template", "spec")
"""A JobSet's spec in a patch."""
POD: Final = ("template", "spec", "template", "spec")
"""A pod's spec in a replicated job."""
WORDS: Final = {"containers": "container", "initContainers": "init container"}


class Missing(NamedTuple):
    """Something of the runtime that a patch means, and that is not there: the merge has made it."""

    path: Path
    """Where the new one is in the JobSet."""
    message: str
    help: str


def diagnose(plan: Plan) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each violation in the plan's objects, at the line that caused it, with related lines."""
    trace = Trace(plan)
    for refused in plan.refused:
        for violation in refused.violations:
            yield _diagnosed(trace, refused, worded(plan, violation))


def _diagnosed(trace: Trace, refused: Refused, violation: Violation) -> Diagnostic:
    plan = trace.plan
    place, related = _places(trace, violation)
    return Diagnostic(
        id=violation.rule,
        severity="error",
        stage=refused.stage,
        message=violation.message,
        help=(_lowered(plan, violation, place) or violation.help) + _without_suffix(plan),
        object=refused.object,
        field=violation.field,
        place=place._replace(key=True) if violation.key and not related else place,
        related=related,
    )


def _places(trace: Trace, violation: Violation) -> tuple[Place, tuple[Related, ...]]:
    """Where to look first, and then. What the TrainJob says itself comes before what it has from its runtime."""
    place, related = _point(trace, violation.path)
    seen = [place, *(found.place for found in related)]
    for what, path in violation.related:
        other = trace.plan.job.at(*path) if path == NAME else trace.origin(0, path).place
        if other in seen:
            continue
        seen.append(other)
        if place.path == REFERENCE and other.document is trace.plan.job.document:
            place, related = other, tuple(found._replace(message="in the runtime") for found in related)
        else:
            related = (*related, Related(message=what, place=other))
    return place, related


def _without_suffix(plan: Plan) -> str:
    """The other way out where there is a suffix: without it, the same job had no fault."""
    if not plan.suffix:
        return ""
    option = plan.library.option_names.name_suffix_hash
    return f"; or leave out {option}, which makes names {len(plan.suffix)} characters longer"


def _lowered(plan: Plan, violation: Violation, place: Place) -> str:
    """The way out where the TrainJob's limit is below the runtime's request, which stays unless another is given."""
    if violation.rule != "request-above-limit" or place.path[-2:-1] != ("limits",):
        return ""
    name, limit = place.path[-1], get(plan.job.value, place.path)
    return f"request less as well: `requests: {{{name}: {limit}}}` beside limits; or raise the limit"


def _point(trace: Trace, path: Path) -> tuple[Place, tuple[Related, ...]]:
    return (trace.plan.job.at(*path), ()) if path == NAME else trace.point(0, path)


def worded(plan: Plan, violation: Violation) -> Violation:
    """A violation in words about what somebody has written.

    Of a job that only a patch names, the missing runtime job is the cause of whatever is wrong; so it is of a container
    without an image, which no patch can give it.
    """
    if missing := _job(plan, violation.path):
        return violation._replace(
            path=missing.path,
            key=False,
            message=f"{missing.message}: {violation.message}",
            help=missing.help,
            related=(("in the new job", violation.path), *violation.related),
        )
    if violation.path[-1:] == ("image",) and violation.rule == "required":
        missing = _container(plan, violation.path[:-1])
        if missing:
            return violation._replace(path=missing.path, message=missing.message, help=missing.help)
    return violation


def _job(plan: Plan, path: Path) -> Missing | None:
    """The replicated job that a path leads into, when the runtime has none of its name."""
    if path[:2] != JOBS or len(path) < 3:
        return None
    name, known = str(plan.jobs[int(path[2])].get("name")), _names(plan.runtime.spec.get("replicatedJobs"))
    if name in known:
        return None
    return Missing(
        path=(*path[:3], "name"),
        message=f'the runtime has no job "{name}", so the {plan.job.patch_word} makes a new one',
        help=_meant(name, known) or f"{plan.job.patch_word} a job of the runtime: {', '.join(known)}",
    )


def _container(plan: Plan, path: Path) -> Missing | None:
    """The container at a path, when a patch names it and the runtime's job has none of its name."""
    job, kind = str(plan.jobs[int(path[2])].get("name")), str(path[-2])
    name = str(get(plan.spec, (*path[1:], "name")))
    if not any(name in _containers(get(patch, TEMPLATE), job, kind) for patch in plan.job.patches):
        return None
    others = {key: _containers(plan.runtime.spec, job, key) for key in WORDS}
    known = others.pop(kind)
    if name in known:
        return None
    word = WORDS[kind]
    ((other, theirs),) = others.items()
    if name in theirs:
        help = f"{name} is one of its {WORDS[other]}s: {plan.job.patch_word} it below {other}"
    elif near := _meant(name, known):
        help = near
    else:
        there = f"{plan.job.patch_word} one that it has: {', '.join(known)}" if known else "it has none"
        help = f"{there}; a new one belongs in the runtime, since no {plan.job.patch_word} can set an image"
    return Missing(
        path=(*path, "name"),
        message=f'the runtime\'s job "{job}" has no {word} "{name}", '
        f"so the {plan.job.patch_word} makes a new one, which has no image",
        help=help,
    )


def _containers(spec: Tree | None, job: str, kind: str) -> list[str]:
    """The names of the containers of one kind that a JobSet's spec has in a replicated job."""
    jobs = [each for each in get(spec, ("replicatedJobs",), []) if each.get("name") == job]
    return [name for each in jobs for name in _names(get(each, (*POD, kind), []))]


def _names(items: list[Tree] | None) -> list[str]:
    return [str(item.get("name")) for item in items or ()]


def _meant(name: str, known: list[str]) -> str:
    from trainc.nearest import nearest

    near = nearest(name, known)
    return f"did you mean {near}?" if near else ""
