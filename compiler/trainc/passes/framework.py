"""Framework: apply the runtime's framework policy, which adds variables and ports.

Reads    mlPolicy.
Changes  the fields that the framework's module changes (`frameworks/<key>.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.frameworks import load

if TYPE_CHECKING:
    from trainc.plan import Plan


def framework(plan: Plan) -> Plan:
    """Apply the framework."""
    found = load(plan.runtime.framework)
    return plan if found is None else found.apply(plan)
