"""Conform: what the API server does with a TrainJob or a runtime when it is created.

Reads    a document as it was written.
Returns  the object as it is stored: unknown fields pruned (a warning each), nulls dropped, defaults filled in; or the
         diagnostics of its CRD's schema and rules, of its metadata, and for a runtime of its webhook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import runtime as runtime_checks
from trainc.checks.rules import broken_rules
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, failed
from trainc.frontends import CLUSTER
from trainc.kubernetes import objectmeta
from trainc.kubernetes.gotypes import typed
from trainc.kubernetes.structural import Violation, load
from trainc.kubernetes.trees import Tree, get, put
from trainc.objects import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Path
    from trainc.plan import Plan

RELEASE: Final = "trainer-2.3"


def conform(plan: Plan) -> Plan:
    """The plan with its TrainJob as the API server would store it, less what it would refuse."""
    job = plan.job
    value, found = admit(job.document, "TrainJob", namespaced=True)
    for diagnostic in found:
        if diagnostic.severity == "error" and isinstance(diagnostic.place, Place):
            value = without(value, diagnostic.place.path)
    return plan._replace(job=job._replace(value=value)).report(found)


def without(value: Tree, path: Path) -> Tree:
    """A copy without the field at a path, so that whoever reads it keeps silent.

    Of an item the whole list goes, and of a missing field what lacks it; apiVersion, kind, metadata and spec stay.
    """
    while len(path) > 1:
        parent = get(value, path[:-1])
        if isinstance(parent, dict) and path[-1] in parent:
            left: Tree = put(value, path[:-1], {key: field for key, field in parent.items() if key != path[-1]})
            return left
        path = path[:-1]
    return value


def conform_runtime(document: Document, level: str) -> tuple[Runtime | None, tuple[Diagnostic, ...]]:
    """The runtime as the controller sees it; None where the cluster would refuse it."""
    kind = ObjectId.of(document.value).kind
    value, found = admit(document, kind, namespaced=kind != CLUSTER)
    if failed(found):
        return None, tuple(found)
    template = get(value, ("spec", "template", "spec"), {})
    runtime = Runtime(document=document, value=value, spec=typed(template), level=level)
    for check in runtime_checks.CHECKS:
        found += check(runtime.id, runtime)
    return None if failed(found) else runtime, tuple(found)


def admit(document: Document, kind: str, *, namespaced: bool) -> tuple[Tree, list[Diagnostic]]:
    """One object through schema, defaults, metadata and rules."""
    schema = load(kind, RELEASE)
    admitted = schema.admit(document.value)
    violations = [*objectmeta.check(document.value.get("metadata"), namespaced=namespaced), *admitted.violations]
    violations += broken_rules(kind, admitted.value, tuple(violations))
    return admitted.value, [*diagnose(document, violations), *diagnose(document, admitted.unknown, warn=True)]


def diagnose(document: Document, violations: Iterable[Violation], *, warn: bool = False) -> Iterator[Diagnostic]:
    """What is wrong with an object, as diagnostics at the fields that are wrong."""
    subject = ObjectId.of(document.value)
    for violation in violations:
        yield Diagnostic(
            id=violation.rule,
            severity="warning" if warn else "error",
            stage=violation.stage,
            message=violation.message,
            help=violation.help,
            object=subject,
            field=violation.field,
            place=Place(document=document, path=violation.path, key=violation.key),
        )
