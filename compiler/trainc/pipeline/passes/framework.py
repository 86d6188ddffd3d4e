"""Framework: apply the runtime's framework policy, which adds variables and ports.

Reads    mlPolicy.
Changes  the fields that the framework's module changes: `frameworks/<key>.py`, or that of a legacy kind in `legacy/`.
         On a runtime of Training Operator v1.9, the fields that this release sets from spec.trainer and
         spec.initializer (`training_operator`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.pipeline.frameworks import framework_of

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


def framework(plan: Plan) -> Plan:
    """Apply the framework."""
    if plan.runtime.is_first_release:
        from trainc.pipeline import training_operator

        return training_operator.apply(plan)
    return framework_of(plan).apply(plan)
