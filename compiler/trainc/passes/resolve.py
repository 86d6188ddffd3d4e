"""Resolve: runtimeRef -> the runtime's template.

Reads    spec.runtimeRef; the library of runtimes.
Returns  the plan with its runtime; a diagnostic where there is none, with what was searched and the nearest names.
Source   kubeflow/trainer v2.3.0, webhook of TrainJobs. A runtime that has errors of its own stops its jobs silently:
         they are reported once, at the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import check
from trainc.diagnostics import Finding
from trainc.frontends import CLUSTER, GROUP, NAMESPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan

KINDS: Final = (CLUSTER, NAMESPACED)


def resolve(plan: Plan) -> Plan:
    """Find the runtime; the stages after this one work on its template."""
    ref = plan.job.runtime_ref
    if plan.failed and not {"kind", "apiGroup", "name"} <= ref.keys():
        return plan._replace(stopped=True)  # the schema has said what is wrong with it
    if found := tuple(unsupported(plan.job.id, plan)):
        return plan.report(found)._replace(stopped=True)
    entry = plan.library.find(ref["kind"], plan.job.namespace, ref["name"])
    if entry is None:
        return plan.report(missing(plan.job.id, plan))._replace(stopped=True)
    runtime, _ = entry.conform()
    return plan._replace(stopped=True) if runtime is None else plan._replace(runtime=runtime)


@check("unsupported-runtime-kind", stage="trainjob", title="runtimeRef names a kind that is no runtime")
def unsupported(plan: Plan) -> Iterator[Finding]:
    """The webhook knows two kinds of runtime, both of the group trainer.kubeflow.org."""
    ref = plan.job.runtime_ref
    if not ref:
        yield Finding(
            message="the TrainJob has no spec.runtimeRef",
            help="add `spec: {runtimeRef: {name: torch-distributed}}`, or the name of another runtime",
            field="spec.runtimeRef",
            place=plan.job.at("spec", "runtimeRef"),
        )
        return
    if ref.get("kind") in KINDS and ref.get("apiGroup") == GROUP:
        return
    wrong = "kind" if ref.get("kind") not in KINDS else "apiGroup"
    yield Finding(
        message=f'runtimeRef.{wrong} "{ref.get(wrong)}" is no '
        + ("kind of runtime" if wrong == "kind" else "API group of a runtime"),
        help=f"use {' or '.join(KINDS)}" if wrong == "kind" else f"use {GROUP}, or leave apiGroup out",
        field="spec.runtimeRef",
        place=plan.job.at("spec", "runtimeRef", wrong),
    )


@check("runtime-not-found", stage="trainjob", title="runtimeRef names a runtime that is not there")
def missing(plan: Plan) -> Iterator[Finding]:
    """The webhook wants the runtime to exist before the TrainJob."""
    ref = plan.job.runtime_ref
    kind, name = ref["kind"], ref["name"]
    searched = ", ".join(f"{level.name} ({len(list(level.known()))})" for level in plan.library.levels)
    option = plan.library.option_names.runtimes.format("PATH")
    yield Finding(
        message=f'no {kind} "{name}"'
        + (f' for namespace "{plan.job.namespace}"' if kind == NAMESPACED and plan.job.namespace else ""),
        help=f"{_way_out(plan, kind, name)}searched: {searched}; add a place to look with {option}",
        # The webhook spells the field so, with a capital, for one kind and not for the other.
        field="spec.RuntimeRef" if kind == CLUSTER else "spec.runtimeRef",
        place=plan.job.at("spec", "runtimeRef", "name"),
    )


def _way_out(plan: Plan, kind: str, name: str) -> str:
    """The likeliest mistake: another kind, another namespace, a misspelt name."""
    keys = list(plan.library.known())
    for other, namespace, found in keys:
        if found == name and other == kind:
            return f'there is one in namespace "{namespace}", and a TrainJob finds only those of its own; '
        if found == name:
            return f"there is a {other} of that name: set `kind: {other}`; "
    from trainc.nearest import nearest

    near = nearest(name, dict.fromkeys(found for other, _, found in keys if other == kind))
    if near:
        return f"did you mean {near}? "
    names = sorted({found for other, _, found in keys if other == kind})
    return f"there are {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}; " if names else ""
