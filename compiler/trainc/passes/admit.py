"""Admit: what the webhook of TrainJobs would refuse; it looks at the patched runtime.

Reads    the plan.  Returns  it with diagnostics. The framework adds its own checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.checks import trainjob
from trainc.diagnostics import failed
from trainc.passes.frameworks import load

if TYPE_CHECKING:
    from trainc.passes.frameworks import Asked
    from trainc.plan import Plan


def admit(plan: Plan) -> Plan:
    """Run the webhook's checks, the framework's among them."""
    framework = load(plan.runtime.framework)
    checks: tuple[Asked, ...] = (*trainjob.CHECKS, *(framework.CHECKS if framework else ()))
    if plan.job.dialect != "v2.3":
        from trainc.checks import dialect

        checks = (*checks, *dialect.CHECKS)
    found = [diagnostic for check in checks for diagnostic in check(plan.job.id, plan)]
    if plan.failed or failed(found):
        # Notes tell what to do with the output, and there will be none.
        found = [diagnostic for diagnostic in found if diagnostic.severity != "note"]
    return plan.report(found)
