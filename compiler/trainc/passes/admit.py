"""Admit: apply the checks of the TrainJob webhook, which validates the patched runtime.

Reads    the plan.
Returns  the plan with diagnostics. The framework and the gang schedulers add their own checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc import frameworks
from trainc.checks import trainjob
from trainc.diagnostics import failed

if TYPE_CHECKING:
    from trainc.frameworks import PlanCheck
    from trainc.plan import Plan


def admit(plan: Plan) -> Plan:
    """Run the webhook's checks, including those of the framework and the schedulers."""
    framework = frameworks.load(plan.runtime.framework)
    checks: tuple[PlanCheck, ...] = (*trainjob.CHECKS, *frameworks.CHECKS, *(framework.CHECKS if framework else ()))
    if plan.runtime.gang:
        from trainc import schedulers

        checks = (*checks, *(check for scheduler in schedulers.of(plan.runtime.gang) for check in scheduler.CHECKS))
    if plan.job.dialect != "v2.3":
        from trainc.checks import dialect

        checks = (*checks, *dialect.CHECKS)
    subject = plan.job.id
    found = [diagnostic for check in checks for diagnostic in check(subject, plan)]
    if plan.failed or failed(found):
        # Notes are about the output, and an error prevents the output.
        found = [diagnostic for diagnostic in found if diagnostic.severity != "note"]
    return plan.report(found)
