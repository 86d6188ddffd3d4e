"""Patch: apply the patches of trainc.yaml to the JobSet.

Reads    the patches that match the TrainJob; the JobSet so far.
Changes  the JobSetSpec, the JobSet's metadata, the pod counts; or returns diagnostics. The environment's labels and
         annotations win over those of patches, and a JobSet with a Kueue queue has no spec.suspend (`deliver`).
Source   trainc's own. In a cluster, a mutating webhook or `kubectl patch` would make the same changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.diagnostics import Diagnostic, Place
from trainc.kubernetes.trees import get
from trainc.pipeline.passes.deliver import suspended
from trainc.pipeline.passes.store import jobset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Edit
    from trainc.edits.patching.applying import JobSetPatches
    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Plan

OWN = frozenset({"name", "namespace", "labels", "annotations"})
"""The metadata fields that a plan has elsewhere."""
SUSPEND = ("spec", "suspend")


def patch(plan: Plan) -> Plan:
    """Apply the patches in their order."""
    if plan.patches is None:
        return plan
    edits: list[Edit] = []
    for patched, edit in patched_plans(plan):
        plan = patched
        edits += [edit] if edit is not None else []
    return plan if plan.failed else _without_unknown_fields(_with_suspend(completed(plan), plan, edits), edits)


def patched_plans(plan: Plan) -> Iterator[tuple[Plan, Edit | None]]:
    """Yield the plan after each patch, with its edit; without one if the patch cannot be applied."""
    assert plan.patches is not None  # the stage has returned
    for found in plan.patches.apply(jobset(plan), plan.job.at("metadata", "name")):
        if isinstance(found, Diagnostic):
            plan = plan.report([found._replace(object=plan.job.id)])
            yield plan, None
        else:
            plan = _with_jobset(plan, found.tree)
            yield plan, found.edit


def completed(plan: Plan) -> Plan:
    """Return a patched plan with the rules that no patch can change."""
    patches: JobSetPatches | None = plan.patches
    assert patches is not None
    labels, annotations = _restored(plan.labels, patches.labels), _restored(plan.annotations, patches.annotations)
    return suspended(plan._replace(labels=labels, annotations=annotations))


def _restored(tree: Tree, wins: Any) -> Tree:
    return tree | dict(wins) if wins else tree


def _with_jobset(plan: Plan, tree: Tree) -> Plan:
    """Return the plan with the content of a JobSet."""
    metadata: Tree = get(tree, ("metadata",), {})
    spec: Tree = get(tree, ("spec",), {})
    return plan._replace(
        spec=spec,
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        metadata={key: value for key, value in metadata.items() if key not in OWN},
        counts=_counts(plan, spec),
    )


def _counts(plan: Plan, spec: Tree) -> tuple[int, ...]:
    """Return the number of pods of each replicated job of a spec, which the schema has not admitted yet."""
    if spec.get("replicatedJobs") is plan.spec.get("replicatedJobs"):
        return plan.counts
    known = {str(job.get("name")): count for job, count in zip(plan.jobs, plan.counts, strict=True)}
    jobs = spec.get("replicatedJobs")
    return tuple(_count(job, known) for job in (jobs if isinstance(jobs, list) else ()))


def _count(job: Any, known: dict[str, int]) -> int:
    pods = get(job, ("template", "spec", "parallelism"))
    if type(pods) is int and pods > 0:
        return pods
    return known.get(str(get(job, ("name",))), 1)


def _with_suspend(plan: Plan, before: Plan, edits: list[Edit]) -> Plan:
    """Return a completed plan with the patch's line of a suspend that is left out, for the lint rule."""
    assert plan.patches is not None
    if not before.spec.get("suspend") or "suspend" in plan.spec:
        return plan
    return plan._replace(patches=plan.patches._replace(suspends=_written(edits, SUSPEND)))


def _without_unknown_fields(plan: Plan, edits: list[Edit]) -> Plan:
    """Report the fields of patches that a JobSet does not have; all other fields have passed through Go types."""
    if plan.field_validation == "ignore":
        return plan
    from trainc.kubernetes.structural import load

    unknown = load("JobSet", plan.release.jobset).admit(jobset(plan)).unknown
    found = []
    for violation in unknown:
        from trainc.edits.patching.applying import named_in

        place, fix = named_in(_place(plan, edits, violation.path), violation.fix)
        strict = plan.field_validation == "strict"
        shown = violation if strict else violation.dropped()
        found.append(
            Diagnostic(
                id=violation.rule,
                severity="error" if strict else "warning",
                stage="schema",
                message=shown.message,
                help=violation.help,
                object=plan.job.id,
                field=violation.field,
                place=place,
                fix=fix,
            )
        )
    return plan.report(found)


def _place(plan: Plan, edits: list[Edit], path: Path) -> Place:
    """Return the place in the patch that wrote a field of the JobSet."""
    return _written(edits, path) or plan.job.at()


def _written(edits: list[Edit], path: Path) -> Place | None:
    for edit in reversed(edits):
        found = edit.source(path)
        if isinstance(found, Place):
            return found
        path = found
    return None
