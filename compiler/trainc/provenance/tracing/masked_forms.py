"""Masked forms: the secrets in the objects of a TrainJob that no name marks, because patches of trainc.yaml removed it.

Reads    a plan that has passed through the pipeline.
Returns  the texts with their masked forms (`source.unnamed_secrets`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.trees import Memory
from trainc.provenance.tracing.history import replay
from trainc.source.unnamed_secrets import NOTHING, document_forms, edit_forms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.pipeline.plan import Plan

_FORMS: Final = Memory()


def masked_forms(*plans: Plan) -> Mapping[str, str]:
    """Return the texts of the unnamed secrets of some TrainJobs, with their masked forms; mostly none."""
    found = [_forms(plan) for plan in plans if _is_edited(plan)]
    return found[0] if len(found) == 1 else {text: form for each in found for text, form in each.items()} or NOTHING


def _is_edited(plan: Plan) -> bool:
    return plan.patches is not None or bool(plan.job.document.edits or plan.runtime.document.edits)


def _forms(plan: Plan) -> Mapping[str, str]:
    known: tuple[Plan, dict[str, str]] | None = _FORMS.get(id(plan))
    if known is None:
        found = {**document_forms(plan.job.document), **document_forms(plan.runtime.document)}
        for step in replay(plan) if plan.patches is not None and plan.objects else ():
            if step.edit is not None:
                found |= edit_forms(step.edit, step.after[0])
        known = _FORMS.keep(id(plan), (plan, found))
    return known[1]
