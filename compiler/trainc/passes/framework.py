"""Framework: the runtime's one policy puts its variables and ports in.

Reads    mlPolicy.  Changes  what the framework of that name changes (`frameworks/<key>.py`); on a runtime of Training
         Operator v1.9, what that release does with spec.trainer and spec.initializer (`training_operator`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.frameworks import load

if TYPE_CHECKING:
    from trainc.plan import Plan


def framework(plan: Plan) -> Plan:
    """Apply the framework; a check has made sure that there is one."""
    if plan.runtime.dialect == "v1.9":
        from trainc import training_operator

        return training_operator.apply(plan)
    found = load(plan.runtime.framework)
    return plan if found is None else found.apply(plan)
