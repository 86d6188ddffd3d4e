"""Conform: what the API server does with a TrainJob or a runtime when it is created.

Reads    a document as it was written, in whichever dialect.
Returns  the object as it is stored: unknown fields pruned, nulls dropped, defaults filled in, and
         then in the form of v2.3; or the diagnostics of its CRD's schema and rules, of its metadata, and of its
         webhook: of a TrainJob's as far as it does not look at the runtime.
"""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING, Any, Final

from trainc import extensions
from trainc.checks import runtime as runtime_checks
from trainc.checks import trainjob as trainjob_checks
from trainc.checks.cel import broken_rules
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, failed
from trainc.frontends import CLUSTER, OLD_VERSION
from trainc.frontends.dialects import V2_3, tell
from trainc.frontends.dialects import load as load_dialect
from trainc.kubernetes import objectmeta
from trainc.kubernetes.gotypes import typed
from trainc.kubernetes.structural import Violation, load
from trainc.kubernetes.trees import Memory, Tree, get, put
from trainc.kubernetes.violations import field_of
from trainc.objects import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.declarations import Severity
    from trainc.diagnostics import Path
    from trainc.frontends.dialects import Told
    from trainc.kubernetes.structural import StructuralSchema
    from trainc.kubernetes.violations import FieldValidation
    from trainc.plan import Plan

RELEASE: Final = "trainer-2.3"
RELEASE_NAME: Final = "v2.3"
PROCESSES: Final = ("spec", "mlPolicy", "torch", "numProcPerNode")
"""What runtimes of Trainer v2.0 and v2.1 say of torch's processes; v2.3 drops it."""
_SHARED: Final = Memory()
"""Parts of TrainJobs by their contents: bytes that are equal only for equal values in equal order."""
_WITHOUT_REFERENCES: Final = 2
"""The form of these bytes that does not depend on which values are one object."""


def conform(plan: Plan) -> Plan:
    """The plan with its TrainJob as the API server would store it, less what it would refuse, in the form of v2.3."""
    told = tell(plan.job.document.value)
    plan = conform_v2_3(plan) if told is V2_3 else conform_older(plan, told)
    if plan.stopped:
        return plan
    subject = plan.job.id
    return plan.report(found for check in trainjob_checks.OF_ITSELF for found in check(subject, plan))


def conform_v2_3(plan: Plan) -> Plan:
    """A TrainJob that is in that form already."""
    document = plan.job.document
    value, violations, unknown = admit(with_shared_parts(document.value), load("TrainJob", RELEASE))
    violations += broken_rules("TrainJob", value, tuple(violations))
    found = list(diagnose(document, violations))
    value = less(value, found)  # without unknown fields, which are not in it
    found += unknown_fields(document, unknown, plan.field_validation, plan.library.option_names.field_validation)
    return plan._replace(job=plan.job._replace(value=value)).report(found)


def with_shared_parts(job: Tree) -> Tree:
    """The TrainJob with what an earlier one has, too, as the same object: patches, resources, variables.

    What is made of these is then made once, and looked at once: platforms write their patches into many jobs. On the
    benchmark's thousand, this included, a job takes 970 us instead of 1,230.
    """
    spec = job.get("spec")
    if not isinstance(spec, dict):
        return job
    changed = dict(spec)
    if isinstance(patches := spec.get("runtimePatches"), list):
        changed["runtimePatches"] = [*map(shared, patches)]
    if isinstance(trainer := spec.get("trainer"), dict):
        changed["trainer"] = trainer = dict(trainer)
        if isinstance(env := trainer.get("env"), list):
            trainer["env"] = [*map(shared, env)]
        if "resourcesPerNode" in trainer:
            trainer["resourcesPerNode"] = shared(trainer["resourcesPerNode"])
    return job | {"spec": changed}


def shared(part: Any) -> Any:
    """The first part with the same contents, as far as these are remembered."""
    content = marshal.dumps(part, _WITHOUT_REFERENCES)
    return _SHARED[content] if content in _SHARED else _SHARED.keep(content, part)


def conform_older(plan: Plan, told: Told) -> Plan:
    """A TrainJob of an older dialect: admitted by its own schema, then moved; v2.3's rules look at what it became."""
    from trainc.checks import dialect as checks
    from trainc.frontends.moves import moved

    document, subject = plan.job.document, plan.job.id
    if told.against:
        return plan.report(checks.mixed(subject, document, told))._replace(stopped=True)
    dialect = load_dialect(told.key)
    value, violations, unknown = admit(document.value, load("TrainJob", dialect.SCHEMA))
    found = list(diagnose(document, violations))
    value = less(value, found)
    found += unknown_fields(document, unknown, plan.field_validation, plan.library.option_names.field_validation)
    if not isinstance(value.get("spec"), dict):
        return plan.report(found)._replace(stopped=True)
    moves = tuple(dialect.moves(value))
    job = plan.job._replace(value=moved(value, moves, dialect.GONE), dialect=told.key, moves=moves)
    for broken in broken_rules("TrainJob", job.value):
        job = job._replace(value=without(job.value, broken.path))
        written = job.written(broken.path)
        found += diagnose(document, [broken._replace(path=written, field=field_of(written))])
    found += checks.older(subject, document, told)
    found += checks.no_counterpart(subject, document)
    return plan._replace(job=job).report(found)


def less(value: Tree, found: Iterable[Diagnostic]) -> Tree:
    """An object without the fields of which an error speaks."""
    copies: dict[Path, dict[Any, Any]] = {}  # a mapping of a hundred thousand wrong fields is copied once
    for diagnostic in found:
        if diagnostic.severity == "error" and isinstance(diagnostic.place, Place):
            value = without(value, diagnostic.place.path, copies)
    return value


def without(value: Tree, path: Path, copies: dict[Path, dict[Any, Any]] | None = None) -> Tree:
    """A copy without the field at a path, so that whoever reads it keeps silent.

    Of an item the whole list goes, and of a missing field what lacks it; apiVersion, kind, metadata and spec stay.

    copies   mappings of `value` that are copies already: the field is taken out of these
    """
    copies = {} if copies is None else copies
    while len(path) > 1:
        *above, key = path
        path = tuple(above)
        parent = get(value, path)
        if isinstance(parent, dict) and key in parent:
            if copies.get(path) is not parent:
                copies[path] = dict(parent)
                value = put(value, path, copies[path])
            del copies[path][key]
            break
    return value


def conform_runtime(
    document: Document, level: str, *, field_validation: FieldValidation, option: str
) -> tuple[Runtime | None, tuple[Diagnostic, ...]]:
    """The runtime as the controller sees it; None where the cluster would refuse it.

    option   the name of the option that drops unknown fields with a warning
    """
    subject = ObjectId.of(document.value)
    written, processes = document.value, get(document.value, PROCESSES)
    if processes is not None:
        written = without(written, PROCESSES)
    value, violations, unknown = admit(written, extensions.load(subject.kind), namespaced=subject.kind != CLUSTER)
    violations += broken_rules(subject.kind, value, tuple(violations))
    found = list(diagnose(document, violations))
    unknown_found = tuple(unknown_fields(document, unknown, field_validation, option))
    if processes is not None or subject.apiVersion == OLD_VERSION:
        from trainc.checks.dialect import older_runtime, runtime_processes

        found += older_runtime(subject, document, processes)
        if processes is not None:
            found += runtime_processes(subject, document, processes)
            value = put(value, PROCESSES, processes)
    if failed(found):
        return None, (*found, *unknown_found)
    found += unknown_found
    template = get(value, ("spec", "template", "spec"), {})
    runtime = Runtime.of(document, value, typed(template), level)
    for check in runtime_checks.CHECKS:
        found += check(runtime.id, runtime)
    return None if failed(found) else runtime, tuple(found)


def admit(
    written: Tree, schema: StructuralSchema, *, namespaced: bool = True
) -> tuple[Tree, list[Violation], tuple[Violation, ...]]:
    """One object through its schema and the rules of metadata: as it is stored, what is wrong, what is dropped."""
    admitted = schema.admit(written)
    violations = [*objectmeta.check(written.get("metadata"), namespaced=namespaced), *admitted.violations]
    return admitted.value, violations, admitted.unknown


def unknown_fields(
    document: Document, unknown: Iterable[Violation], validation: FieldValidation, option: str
) -> Iterator[Diagnostic]:
    """Report unknown fields: as errors, or as warnings about what is dropped, or not at all.

    option   the name of the option that drops them with a warning
    """
    if validation == "strict":
        for found in diagnose(document, unknown):
            newer = f"se {option} if a Trainer release after {RELEASE_NAME} has the field"
            yield found._replace(help=f"{found.help} U{newer}" if found.help[-1] == "?" else f"{found.help}; u{newer}")
    elif validation == "warn":
        yield from diagnose(document, (violation.dropped() for violation in unknown), severity="warning")


def diagnose(
    document: Document, violations: Iterable[Violation], *, severity: Severity = "error"
) -> Iterator[Diagnostic]:
    """What is wrong with an object, as diagnostics at the fields that are wrong."""
    for violation in violations:
        from trainc.checks.dialect import later_spelling

        said = get(document.value, violation.path)
        yield Diagnostic(
            id=violation.rule,
            severity=severity,
            stage=violation.stage,
            message=violation.message,
            help=later_spelling(violation.path, violation.rule, said)
            or (_unpatchable(document.value, violation.path) if violation.rule == "unknown-field" else "")
            or violation.help,
            object=ObjectId.of(document.value),
            field=violation.field,
            place=Place(document=document, path=violation.path, key=violation.key),
        )


def _unpatchable(job: Tree, path: Path) -> str:
    """Where to write what a patch cannot set, if this is a patch."""
    if path[1:2] != ("runtimePatches",):
        return ""
    from trainc.checks.unpatchable import way_out

    return way_out(job, path, RELEASE)
