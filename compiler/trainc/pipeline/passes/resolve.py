"""Resolve: find the runtime that runtimeRef names.

Reads    spec.runtimeRef; the library of runtimes.
Returns  the plan with its runtime; or a diagnostic with the searched levels and the nearest names, for several runtimes
         of that name, or for a built-in runtime that the settings forbid.
Source   kubeflow/trainer v2.3.0, the TrainJob webhook. A runtime with errors stops its jobs without a diagnostic: its
         errors are reported once, at the runtime.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import CLUSTER_RUNTIME, GROUP, RUNTIME
from trainc.diagnostics import Diagnostic, Finding, ObjectId, Place, Related
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import listed
from trainc.pipeline.checks import check
from trainc.pipeline.library import BUILT_IN, DUPLICATE_RUNTIME, BuiltIn, known_runtimes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.base.fixes import Fix
    from trainc.pipeline.library import LibraryEntry
    from trainc.pipeline.plan import Plan


BUILT_IN_RUNTIME: Final = Declaration("built-in-runtime", ("trainjob",), severity="note", trainc_only=True)
"""A note about a run, or an error if the settings forbid built-in runtimes."""

KINDS: Final = (CLUSTER_RUNTIME.kind, RUNTIME.kind)
PER_RUNTIME: Final = frozenset({"runtime-not-found", "kustomize-overlays", BUILT_IN_RUNTIME.id, DUPLICATE_RUNTIME.id})
"""The errors that all TrainJobs with one runtimeRef share."""
PIN: Final = "write the runtime of your cluster to the project with `trainc runtimes pull`"
LIKENESS: Final = 0.8
"""The similarity of a misspelled name to the one it suggests: names with a common first word are not misspelled."""


def resolve(plan: Plan) -> Plan:
    """Find the runtime; the later stages work on its template."""
    if plan.job.own_runtime is not None:
        return plan._replace(runtime=plan.job.own_runtime)
    ref = plan.job.runtime_ref
    if plan.failed and not {"kind", "apiGroup", "name"} <= ref.keys():
        return plan._replace(stopped=True)  # the schema check has reported the fault
    if found := tuple(unsupported_runtime_kind(plan.job.id, plan)):
        return plan.report(found)._replace(stopped=True)
    entry = requested(plan)
    if entry is None:
        return plan.report(missing_runtime(plan.job.id, plan))._replace(stopped=True)
    if entry.level == BUILT_IN and plan.library.forbidden is not None:
        return plan.report([_forbidden(plan, plan.library.forbidden)])._replace(stopped=True)
    if entry.namesakes:
        entry, undecided = choose(entry, plan)
        plan = plan.report(undecided)
        if entry is None:
            return plan._replace(stopped=True)
    runtime, _ = entry.conform()
    return plan._replace(stopped=True) if runtime is None else plan._replace(runtime=runtime)


def requested(plan: Plan) -> LibraryEntry | None:
    """Return the entry of the library to which a conformed TrainJob refers; None without one."""
    ref = plan.job.runtime_ref
    if plan.job.own_runtime is not None or not {"kind", "name"} <= ref.keys():
        return None
    # An invalid namespace, such as a placeholder, is not in the conformed TrainJob; a runtime may have the same one.
    namespace = plan.job.namespace or (ObjectId.from_manifest(plan.job.document.value).namespace if plan.failed else "")
    return plan.library.find(ref["kind"], namespace, ref["name"])


@check("unsupported-runtime-kind", phase="trainjob")
def unsupported_runtime_kind(plan: Plan) -> Iterator[Finding]:
    """The webhook supports two kinds of runtime, both of the group trainer.kubeflow.org."""
    ref = plan.job.runtime_ref
    if not ref:
        yield Finding(
            message="the TrainJob has no spec.runtimeRef",
            help="add `spec: {runtimeRef: {name: torch-distributed}}`, or the name of another runtime",
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


@check("runtime-not-found", phase="trainjob", fix="unsafe")
def missing_runtime(plan: Plan) -> Iterator[Finding]:
    """The webhook requires that the runtime exists before the TrainJob."""
    ref = plan.job.runtime_ref
    kind, name = ref["kind"], ref["name"]

    searched = known_runtimes(plan.library.usable_levels).searched
    option = plan.library.option_names.runtimes.format("PATH")
    note = f"searched: {searched}; add a path to search with {option}"
    near = _hint(plan, kind, name)
    yield Finding(
        message=f'{kind} "{name}" not found'
        + (f' for namespace "{plan.job.namespace}"' if kind == RUNTIME.kind and plan.job.namespace else ""),
        help=near + note if isinstance(near, str) else near._replace(note=f"? {note}"),
        # The webhook spells the field with a capital letter for one of the two kinds.
        field="spec.RuntimeRef" if kind == CLUSTER_RUNTIME.kind else "spec.runtimeRef",
        place=plan.job.at("spec", "runtimeRef", "name"),
    )


def _hint(plan: Plan, kind: str, name: str) -> str | Fix:
    """Return the start of the help for the likeliest mistake: another kind, another namespace, a misspelled name."""
    from trainc.base.fixes import replaced_name
    from trainc.pipeline.runtime_owners import FORMER, first_release, is_of_trainc

    known = known_runtimes(plan.library.usable_levels)
    if name in known.by_name:
        other, namespace, _ = known.by_name[name]
        if other == kind:
            return f'there is one in namespace "{namespace}", but a TrainJob can only use those of its own namespace; '
        return f"set `kind: {other}`: there is a {other} of that name; "
    if kind == CLUSTER_RUNTIME.kind and (former := FORMER.get(name)):
        return f"Trainer {former.releases} shipped it: use {former.successor}, or {PIN}; "
    if kind == CLUSTER_RUNTIME.kind and (first := first_release(name)):
        if is_of_trainc(name) and name not in plan.release.unusable_runtimes:
            own = BuiltIn(plan.library.levels[-1].conform, plan.release).find((kind, "", name))
            if own is not None and own.conform_quietly()[0] is None:
                return "only trainc compiles it: set `output` to a folder and apply what trainc renders; "
            return (
                f"only trainc has it: write it to the project with `trainc runtimes export {name}`, and apply it to "
                "the cluster; "
            )
        option = plan.library.option_names.trainer_version
        return (
            f"it exists since Trainer v{first.name}, and the release of the cluster is v{plan.release.name}: pin a "
            f"runtime of your cluster with `trainc runtimes pull`, or change {option}; "
        )
    parts = name.split("-")
    if any("-".join(parts[:count]) in known.by_name for count in range(1, len(parts))):
        return f"{PIN}; "  # a variant of a platform
    near = replaced_name(
        ("spec", "runtimeRef", "name"), name, known.of_framework.get((kind, ""), ()), likeness=LIKENESS
    )
    if near:
        return near._replace(applicability="unsafe")  # the cluster can have the runtime of that name
    framework, _, _ = name.partition("-")
    names = known.of_framework.get((kind, framework))
    return f"{PIN}, or {names.use()}; " if names else f"{PIN}; "


def _forbidden(plan: Plan, setting: Place) -> Diagnostic:
    """Return the error for a built-in runtime that the settings forbid."""
    from trainc.pipeline.runtime_owners import origin

    name = plan.job.runtime_ref["name"]
    found = Diagnostic.declared(
        BUILT_IN_RUNTIME,
        f'"{name}" is a built-in runtime ({origin(name, plan.release)}), which runtimes.builtin forbids',
        f"pin it with `trainc runtimes export {name}` in a folder that trainc reads, or set `builtin: allow`",
        object=plan.job.id,
        field="spec.runtimeRef.name",
        place=plan.job.at("spec", "runtimeRef", "name"),
        related=(Related("the setting", setting),),
    )
    return found._replace(severity="error")


def choose(entry: LibraryEntry, plan: Plan) -> tuple[LibraryEntry | None, list[Diagnostic]]:
    """Return the TrainJob's runtime, an entry or one of its namesakes; None if nothing decides, with the error.

    The runtimes of several kustomizations are only a note if nothing is written.
    """
    first, *others = _nearest_entries([entry, *entry.namesakes], plan.job.document.file)
    differing = [first, *(each for each in others if _spec(each) != _spec(first))]
    if len(differing) == 1:
        return first, []
    overlays = entry.conflict and entry.conflict(differing[1].document, first.document)
    found = (overlays or _ambiguous(differing, plan.library.option_names.exclude))._replace(
        object=plan.job.id,
        field="spec.runtimeRef.name",
        place=plan.job.at("spec", "runtimeRef", "name"),
        related=tuple(Related("one of the runtimes", _name(each)) for each in differing),
    )
    return None if found.severity == "error" else first, [found]


def _nearest_entries(entries: Sequence[LibraryEntry], file: str) -> list[LibraryEntry]:
    """Return the entries in the folder of a file or in the nearest folder above that has one; else all.

    The folder above with the longest path is the nearest one.
    """
    below = _folder(file)
    lengths = [len(above) if below.startswith(above := _folder(each.document.file)) else -1 for each in entries]
    return [each for each, length in zip(entries, lengths, strict=True) if length == max(lengths)]


def _folder(file: str) -> str:
    return os.path.join(os.path.abspath(os.path.dirname(file)), "")


def _spec(entry: LibraryEntry) -> object:
    return get(entry.document.value, ("spec",))


def _name(entry: LibraryEntry) -> Place:
    return Place(entry.document, ("metadata", "name"))


def _ambiguous(entries: Sequence[LibraryEntry], exclude: str) -> Diagnostic:
    id = entries[0].id
    return Diagnostic.declared(
        DUPLICATE_RUNTIME,
        f'{len(entries)} {id.kind}s with different specs are named "{id.name}", and none is nearer to the TrainJob: '
        + listed(str(_name(each).locate()) for each in entries),
        f"rename one of them, or {exclude}",
    )
