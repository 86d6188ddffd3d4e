"""Diagnostics for violations in compiled objects, at the lines that caused them.

Reads    a plan, the violations in its JobSet and PodGroups, and the admission phase that reports each.
Returns  diagnostics; the field is known here, so its secrets are masked in the message. This module is imported only
         if there are violations.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from trainc.base.kinds import JOBS_OF_JOBSET, JOBS_OF_PATCH, POD
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.emit import objects_of_a_job
from trainc.kubernetes.objectmeta import LONGEST_PREFIX, PLACEHOLDER
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import OUT_OF_RANGE, REQUIRED, listed, subject
from trainc.masking.masked_messages import masked_violation
from trainc.pipeline.checks.jobset.jobset_messages import GENERATED_NAME_TOO_LONG
from trainc.provenance.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.diagnostics import Location, Path, Refused
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.pipeline.plan import Plan


NAME: Final = ("metadata", "name")
"""Every object's name comes from the name of the TrainJob, so it needs no trace."""
REFERENCE: Final = ("spec", "runtimeRef")
"""The TrainJob field to which everything from the runtime is attributed."""
WORDS: Final = {"containers": "container", "initContainers": "init container"}


PlaceOrLocation = TypeVar("PlaceOrLocation", "Place", "Place | Location")


class Missing(NamedTuple):
    """A job or container that a patch names and the runtime lacks, so that the merge added it."""

    path: Path
    """The path of the added one in the JobSet."""
    message: str
    help: str | Fix


def diagnose(plan: Plan) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each violation in the plan's objects, at the line that caused it, with related lines."""
    trace = Trace(plan)
    found: list[Diagnostic] = []
    violations: list[Violation] = []
    for refused in plan.refused:
        position, tree = _compiled(trace, refused.object)
        of_object = [explained(plan, masked_violation(violation, tree)) for violation in refused.violations]
        found += [_diagnosed(trace, refused, position, tree, violation) for violation in of_object]
        violations += of_object
    yield from _with_jobs(plan, found, violations) if len(found) > 1 else found


def _with_jobs(plan: Plan, diagnostics: list[Diagnostic], violations: list[Violation]) -> Iterator[Diagnostic]:
    """Yield diagnostics, and one for those of the same cause in several replicated jobs, which names the jobs."""
    groups: dict[Any, list[int]] = {}
    for number, diagnostic in enumerate(diagnostics):
        if violations[number].path[:2] == JOBS_OF_JOBSET and isinstance(diagnostic.place, Place):
            document, *rest = diagnostic.place
            key = (
                diagnostic.id,
                diagnostic.message,
                diagnostic.help,
                document.identity,
                *rest,
                violations[number].path[3:],
            )
            groups.setdefault(key, []).append(number)
    repeated: set[int] = set()
    for same in groups.values():
        names = {number: str(get(plan.spec, (*violations[number].path[1:3], "name"))) for number in same}
        if len({*names.values()}) < len(same) or len(same) == 1:
            continue
        first, *others = same
        repeated.update(others)
        related = tuple(
            each._replace(message=f"{each.message}, {name}")
            for number, name in names.items()
            for each in diagnostics[number].related
        )
        message = f"{diagnostics[first].message}, in the jobs {listed(names.values())}"
        diagnostics[first] = diagnostics[first]._replace(message=message, related=related)
    yield from (diagnostic for number, diagnostic in enumerate(diagnostics) if number not in repeated)


def _diagnosed(trace: Trace, refused: Refused, position: int, tree: Tree, violation: Violation) -> Diagnostic:
    plan = trace.plan
    place, related = _places(trace, violation, position)
    if not plan.is_of_runtime(place):
        violation = _in_terms_of(place, violation)
    if violation.part is not None:
        value = get(plan.objects[0], violation.path)
        pointed = partial(_pointed, value=value, part=violation.part)
        place, related = pointed(place), tuple(found._replace(place=pointed(found.place)) for found in related)
    request = _request_fix(plan, violation, place)
    diagnostic = Diagnostic(
        id=violation.rule,
        severity=violation.severity,
        stage=refused.stage,
        message=violation.message,
        help=(request.title if request else violation.help) + _suffix_hint(plan, violation),
        object=refused.object,
        field=violation.field,
        place=place,
        related=related,
    )
    if request is not None:
        return diagnostic._replace(fix=request, fixed_in=place.document)
    if violation.fix is None:
        return diagnostic
    for source in (place, *(found.place for found in related)):
        if isinstance(source, Place) and (fix := _in_source(violation, tree, source)) is not None:
            return diagnostic._replace(fix=fix, fixed_in=source.document)
    return diagnostic


def _in_source(violation: Violation, tree: Tree, place: Place) -> Fix | None:
    """Return the fix of a value or a name at its source, if the source has the same one."""
    if violation.fix is None or place.part not in (None, violation.part):
        return None
    from trainc.base.fixes import at_source

    value, source = get(tree, violation.path), get(place.document.value, place.path)
    return at_source(violation.fix, violation.path, value, place.path, source)


def _compiled(trace: Trace, wanted: ObjectId) -> tuple[int, Tree]:
    """Return a compiled object and its position; the JobSet for an object that the cluster creates from it."""
    made = objects_of_a_job(trace.steps[-1].after)
    position = next((number for number, tree in enumerate(made) if ObjectId.from_manifest(tree) == wanted), 0)
    return position, made[position]


def _in_terms_of(place: Place, violation: Violation) -> Violation:
    """Return the violation, reworded if the field at its place has another name or an empty value."""
    written = place.in_text()
    value = get(written.document.value, written.path)
    if violation.rule == REQUIRED.id and value in ("", {}):
        message = f"{place.field} is empty, so {violation.message}"
        return violation._replace(message=message).with_help(f"{violation.help}, or remove {place.written_path[-1]}")
    theirs, own = subject(violation.path), subject(place.written_path)
    if violation.rule == OUT_OF_RANGE.id and type(value) is int and violation.message.startswith(f"{theirs} must be "):
        return violation._replace(message=own + violation.message.removeprefix(theirs))
    return violation


def _places(trace: Trace, violation: Violation, position: int) -> tuple[Place, tuple[Related, ...]]:
    """Return the place and the related places of a violation. The TrainJob's own fields come before its runtime's."""
    place, related = _point(trace, position, violation.path)
    seen = [place, *(found.place for found in related)]
    if violation.key:
        place, related = _at_name(place, related)
    reference = trace.plan.job.at(*REFERENCE)
    for label, path in violation.related:
        other = trace.plan.job.at(*path) if path == NAME else trace.origin(0, path).place
        if other in seen:
            continue
        seen.append(other)
        is_own = other.document.identity == reference.document.identity
        if is_own and trace.plan.is_of_runtime(place):
            place, related = other, (Related("in the runtime", place), *related)
        elif is_own and place == reference:  # of a runtime that no file of the tree has
            place, related = other, tuple(found._replace(message="in the runtime") for found in related)
        else:
            related = (*related, Related(message=label, place=other))
    return place, related


def _at_name(place: Place, related: tuple[Related, ...]) -> tuple[Place, tuple[Related, ...]]:
    """Return the places of a fault in the name of a field: the name in the runtime, or in the document of `place`."""
    if not related:
        return place._replace(key=True), ()
    return place, tuple(
        found._replace(place=found.place._replace(key=True)) if isinstance(found.place, Place) else found
        for found in related
    )


def _pointed(place: PlaceOrLocation, value: object, part: tuple[int, int]) -> PlaceOrLocation:
    """Return the place of the characters at fault if it has the violation's value, else the place itself."""
    if isinstance(place, Place) and get(place.document.value, place.path) == value:
        return place._replace(part=part)
    return place


def _suffix_hint(plan: Plan, violation: Violation) -> str:
    """Return the hint to remove the name suffix, if there is one: without it, the same job has no violation."""
    if plan.job.letters_at is not None and violation.rule == GENERATED_NAME_TOO_LONG.id:
        return f"; it has {LONGEST_PREFIX} characters of generateName at most, and {len(PLACEHOLDER)} more"
    if not plan.suffix:
        return ""
    option = plan.library.option_names.name_suffix_hash
    return f"; or remove {option}, which makes names {len(plan.suffix)} characters longer"


def _request_fix(plan: Plan, violation: Violation, place: Place) -> Fix | None:
    """Return the fix of TrainJob limits below the runtime's requests, which stay unless the TrainJob sets its own."""
    if violation.rule != "request-above-limit" or place.path[-2:-1] != ("limits",):
        return None
    from trainc.base.fixes import Addition, Fix

    refused = (each for refused in plan.refused for each in refused.violations)
    above = {each.path[-1] for each in refused if each.path[:-1] == violation.path[:-1]}
    limits = get(plan.job.value, place.path[:-1])
    amounts = {name: limit for name, limit in limits.items() if name in above}
    path = (*place.path[:-2], "requests")
    changes = tuple(Addition((*path, name), limit) for name, limit in amounts.items())
    if not get(plan.job.value, path):
        changes = (Addition(path, amounts),)
    note = " beside limits; or raise the limit"
    return Fix(changes, "set the request, too: ", {"requests": amounts}, "fields", note, "unsafe")


def _point(trace: Trace, position: int, path: Path) -> tuple[Place, tuple[Related, ...]]:
    return (trace.plan.job.at(*path), ()) if path == NAME else trace.point(position, path)


def explained(plan: Plan, violation: Violation) -> Violation:
    """Return the violation, reworded if its cause is a patch for a job or container that the runtime lacks.

    The missing runtime job is the cause of every violation in a job that only a patch names. The missing runtime
    container is the cause if a container that only a patch names has no image, because no patch can set an image.
    """
    if missing := _job(plan, violation.path):
        return violation._replace(
            path=missing.path,
            key=False,
            message=f"{missing.message}: {violation.message}",
            related=(("in the new job", violation.path), *violation.related),
        ).with_help(missing.help)
    if violation.path[-1:] == ("image",) and violation.rule == "required":
        missing = _container(plan, violation.path[:-1])
        if missing:
            return violation._replace(path=missing.path, message=missing.message).with_help(missing.help)
    return violation


def _job(plan: Plan, path: Path) -> Missing | None:
    """Return the replicated job that a path leads into, if the runtime has no job of its name."""
    if path[:2] != JOBS_OF_JOBSET or len(path) < 3:
        return None
    job = plan.jobs[int(path[2])]
    if not isinstance(job, dict):
        return None  # a patch of trainc.yaml can write any value
    name, known = str(job.get("name")), _names(plan.runtime.spec.get("replicatedJobs"))
    if name in known or not _is_of_patch(plan, name):
        return None
    return Missing(
        path=(*path[:3], "name"),
        message=f'the runtime has no job "{name}", so the {plan.job.patch_word} adds one',
        help=_name_fix((*path[:3], "name"), name, known)
        or f"{plan.job.patch_word} a job of the runtime: {', '.join(known)}",
    )


def _is_of_patch(plan: Plan, job: str) -> bool:
    """Return whether a patch of the TrainJob names a replicated job."""
    return any(job in _names(get(patch, JOBS_OF_PATCH)) for patch in plan.job.patches)


def _container(plan: Plan, path: Path) -> Missing | None:
    """Return the container at a path, if a patch names it and the runtime's job has no container of its name."""
    job, kind = str(plan.jobs[int(path[2])].get("name")), str(path[-2])
    name = str(get(plan.spec, (*path[1:], "name")))
    if not any(name in _containers(get(patch, JOBS_OF_PATCH[:-1]), job, kind) for patch in plan.job.patches):
        return None
    others = {key: _containers(plan.runtime.spec, job, key) for key in WORDS}
    known = others.pop(kind)
    if name in known:
        return None
    word, patch = WORDS[kind], plan.job.patch_word
    ((other, theirs),) = others.items()
    help: str | Fix
    if name in theirs:
        help = f"{patch} it under {other}: {name} is one of its {WORDS[other]}s"
    elif near := _name_fix((*path, "name"), name, known):
        help = near
    else:
        existing = f"{patch} an existing one: {', '.join(known)}" if known else f"it has no {word}s"
        help = f"{existing}; add a new one to the runtime, because {plan.job.a_patch} cannot set an image"
    return Missing(
        path=(*path, "name"),
        message=f'the runtime\'s job "{job}" has no {word} "{name}", so the {patch} adds one without an image',
        help=help,
    )


def _containers(spec: Tree | None, job: str, kind: str) -> list[str]:
    """Return the names of the containers of one kind in a replicated job of a JobSetSpec."""
    jobs = [each for each in get(spec, ("replicatedJobs",), []) if each.get("name") == job]
    return [name for each in jobs for name in _names(get(each, (*POD, kind), []))]


def _names(items: list[Tree] | None) -> list[str]:
    return [str(item.get("name")) for item in items or ()]


def _name_fix(path: Path, name: str, known: list[str]) -> Fix | None:
    from trainc.base.fixes import replaced_name

    return replaced_name(path, name, known)
