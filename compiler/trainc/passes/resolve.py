"""Resolve: find the runtime that runtimeRef names.

Reads    spec.runtimeRef; the library of runtimes.
Returns  the plan with its runtime; or a diagnostic with the searched levels and the nearest names.
Source   kubeflow/trainer v2.3.0, the TrainJob webhook. A runtime with errors stops its jobs without a diagnostic: its
         errors are reported once, at the runtime.
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
    """Find the runtime; the later stages work on its template."""
    ref = plan.job.runtime_ref
    if plan.failed and not {"kind", "apiGroup", "name"} <= ref.keys():
        return plan._replace(stopped=True)  # the schema check has reported the fault
    if found := tuple(unsupported(plan.job.id, plan)):
        return plan.report(found)._replace(stopped=True)
    entry = plan.library.find(ref["kind"], plan.job.namespace, ref["name"])
    if entry is None:
        return plan.report(missing(plan.job.id, plan))._replace(stopped=True)
    runtime, _ = entry.conform()
    return plan._replace(stopped=True) if runtime is None else plan._replace(runtime=runtime)


@check("unsupported-runtime-kind", stage="trainjob", title="Unsupported kind in runtimeRef")
def unsupported(plan: Plan) -> Iterator[Finding]:
    """The webhook supports two kinds of runtime, both of the group trainer.kubeflow.org."""
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
        message=f'runtimeRef.{wrong} "{ref.get(wrong)}" is not '
        + ("a kind of runtime" if wrong == "kind" else "the API group of runtimes"),
        help=f"use {' or '.join(KINDS)}" if wrong == "kind" else f"use {GROUP}, or remove apiGroup",
        field="spec.runtimeRef",
        place=plan.job.at("spec", "runtimeRef", wrong),
    )


@check("runtime-not-found", stage="trainjob", title="Runtime not found")
def missing(plan: Plan) -> Iterator[Finding]:
    """The webhook requires that the runtime exists before the TrainJob."""
    ref = plan.job.runtime_ref
    kind, name = ref["kind"], ref["name"]
    searched = ", ".join(f"{level.name} ({len(list(level.known()))})" for level in plan.library.levels)
    option = plan.library.option_names.runtimes.format("PATH")
    yield Finding(
        message=f'{kind} "{name}" not found'
        + (f' for namespace "{plan.job.namespace}"' if kind == NAMESPACED and plan.job.namespace else ""),
        help=f"{_hint(plan, kind, name)}searched: {searched}; add a path to search with {option}",
        # The webhook spells the field with a capital letter for one of the two kinds.
        field="spec.RuntimeRef" if kind == CLUSTER else "spec.runtimeRef",
        place=plan.job.at("spec", "runtimeRef", "name"),
    )


def _hint(plan: Plan, kind: str, name: str) -> str:
    """Return the start of the help for the likeliest mistake: another kind, another namespace, a misspelled name."""
    keys = list(plan.library.known())
    for other, namespace, found in keys:
        if found == name and other == kind:
            return f'there is one in namespace "{namespace}", but a TrainJob can only use those of its own namespace; '
        if found == name:
            return f"set `kind: {other}`: there is a {other} of that name; "
    from trainc.nearest import nearest

    near = nearest(name, dict.fromkeys(found for other, _, found in keys if other == kind))
    if near:
        return f"did you mean {near}? "
    names = sorted({found for other, _, found in keys if other == kind})
    if len(names) > 1:
        return f"use one of {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}; "
    return f"use {names[0]}; " if names else ""
