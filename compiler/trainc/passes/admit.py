"""Admit: what the webhook of TrainJobs would refuse; it looks at the patched runtime.

Reads    the plan.  Returns  it with diagnostics. The framework adds its own checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.checks import trainjob
from trainc.passes.frameworks import load

if TYPE_CHECKING:
    from trainc.plan import Plan


def admit(plan: Plan) -> Plan:
    """Run the webhook's checks, the framework's among them."""
    framework = load(plan.runtime.framework)
    checks = (*trainjob.CHECKS, *(framework.CHECKS if framework else ()))
    if plan.job.dialect != "v2.3":
        from trainc.checks import dialect

        checks = (*checks, *dialect.CHECKS)
    return plan.report(found for check in checks for found in check(plan.job.id, plan))
