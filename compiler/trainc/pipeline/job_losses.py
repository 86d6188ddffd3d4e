"""The losses of a compiled legacy job, in the order of its file.

Reads    the losses of the job's front end and framework, and the job's document.
Returns  the losses of fields that the author wrote, each once. Defaults of the operator, and the labels and Services
         that it adds, concern every job of the kind: docs/legacy.md lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Place
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from trainc.frontends.lowering import Loss
    from trainc.pipeline.plan import Plan


def ordered(plan: Plan) -> list[Loss]:
    """Return the losses of written fields, in the order of the file."""

    def position(loss: Loss) -> tuple[int, int]:
        at = place(plan, loss).locate()
        return at.line, at.column

    return sorted(dict.fromkeys(loss for loss in plan.losses if _is_written(plan, loss)), key=position)


def with_effect(plan: Plan) -> list[Loss]:
    """Return a loss for each written field that had an effect, in the order of the file."""
    found = {loss.path: loss for loss in reversed(ordered(plan)) if loss.rule.effect != "without effect"}
    return [*reversed(found.values())]


def _is_written(plan: Plan, loss: Loss) -> bool:
    """Return whether the job has the field of a loss, which is not one that the operator adds."""
    return not loss.rule.is_added and get(plan.job.document.value, loss.path) is not None


def place(plan: Plan, loss: Loss) -> Place:
    """Return the field of a loss in the job's document."""
    return Place(plan.job.document, loss.path)
