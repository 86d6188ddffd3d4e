"""Override: merge runtimePatches into the runtime's JobSetSpec with a strategic merge.

Reads    runtimePatches[].trainingRuntimeSpec.template.{metadata,spec}.
Changes  the JobSetSpec, the JobSet's labels and annotations.
Source   kubeflow/trainer v2.3.0, the runtime's merge of patches. Each patch is converted to Go types first, so an empty
         list clears nothing. Patches are merged in list order. Then the runtime's order of replicated jobs is restored
         by a stable sort in which unknown names have rank 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.trainjob_dialects import TrainJobForm
from trainc.diagnostics import Diagnostic, Finding
from trainc.kubernetes.gotypes import as_go_type, as_patch
from trainc.kubernetes.trees import Memory, Tree, get
from trainc.pipeline.checks import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.merge import MergeError
    from trainc.pipeline.plan import Plan

PATCHES: Final = frozenset(
    {
        "jobset/v1alpha2.JobSetSpec",
        "jobset/v1alpha2.ReplicatedJob",
        "batch/v1.JobTemplateSpec",
        "batch/v1.JobSpec",
        "core/v1.PodTemplateSpec",
        "core/v1.PodSpec",
        "core/v1.Container",
    }
)
"""The Go types for which patches have their own variants, in which every field is optional."""
_MERGED: Final = Memory()
"""Merged specs by the identity of spec and patch, which are kept alive: platforms put the same patch into many jobs."""

_CONVERTED: Final = Memory()
"""Patches in the form for a merge, by their identity: `trainc explain` merges each patch many times."""


def override(plan: Plan) -> Plan:
    """Start from the runtime's template, and merge every patch into it."""
    labels, annotations = plan.runtime.metadata("labels"), plan.runtime.metadata("annotations")
    plan = plan._replace(spec=plan.runtime.spec, labels=labels, annotations=annotations)
    return patched(plan) if plan.job.patches else plan


def patched(plan: Plan) -> Plan:
    """Return the plan with all patches merged in list order."""
    from trainc.kubernetes.merge import MergeError

    spec, labels, annotations = plan.spec, plan.labels, plan.annotations
    found: list[Diagnostic] = []
    for index, patch in enumerate(plan.job.patches):
        template = get(patch, ("trainingRuntimeSpec", "template"), {})
        labels = labels | get(template, ("metadata", "labels"), {})
        annotations = annotations | get(template, ("metadata", "annotations"), {})
        try:
            spec = merged(spec, template.get("spec"))
        except MergeError as error:
            found += merge_failed(plan.job.id, plan, index, error)
    spec = in_runtime_order(spec, plan.runtime.spec)
    return plan._replace(spec=spec, labels=labels, annotations=annotations).report(found)


def merged(spec: Tree, patch: Tree | None) -> Tree:
    """Return the JobSetSpec with one patch merged. Raises MergeError."""
    if not patch:
        return spec
    known = _MERGED.get((id(spec), id(patch)))
    if known is not None:
        merged_before: Tree = known[2]
        return merged_before
    from trainc.kubernetes.merge import strategic_merge

    known = _CONVERTED.get(id(patch)) or _CONVERTED.keep(id(patch), (patch, as_patch(patch, sparse=PATCHES)))
    result = as_go_type(strategic_merge(spec, known[1]))
    _MERGED.keep((id(spec), id(patch)), (spec, patch, result))
    return result


def in_runtime_order(spec: Tree, runtime: Tree) -> Tree:
    """Return the spec with its replicated jobs in the runtime's order."""
    jobs = spec.get("replicatedJobs") or []
    order = {job.get("name"): index for index, job in enumerate(runtime.get("replicatedJobs") or [])}
    ranks = [order.get(job.get("name"), 0) for job in jobs]
    if ranks == sorted(ranks):
        return spec
    return spec | {
        "replicatedJobs": [job for _, job in sorted(zip(ranks, jobs, strict=True), key=lambda pair: pair[0])]
    }


@check("patch-not-mergeable", phase="build")
def merge_failed(plan: Plan, index: int, error: MergeError) -> Iterator[Finding]:
    """The controller fails on a patch that cannot be merged, such as one with an invalid `$patch` directive."""
    at = (*TrainJobForm.PATCHES, index, "trainingRuntimeSpec", "template", "spec", *error.path)
    owner = f' of "{plan.job.patches[index].get("manager")}"' if not plan.job.has_overrides else ""
    yield Finding(
        message=f"the {plan.job.patch_word}{owner} cannot be merged: {error}",
        help="set $patch to replace or delete" if "$patch" in str(error) else "use the same type as in the runtime",
        field=plan.job.patches_field,
        place=plan.job.at(*at),
    )
