"""Admit: what the webhook of TrainJobs would refuse; it looks at the patched runtime.

Reads    the plan.  Returns  it with diagnostics. The framework and the gang's schedulers add their own checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc import frameworks
from trainc.checks import trainjob
from trainc.diagnostics import failed

if TYPE_CHECKING:
    from trainc.frameworks import Asked
    from trainc.plan import Plan


def admit(plan: Plan) -> Plan:
    """Run the webhook's checks, those of the framework and the schedulers among them."""
    checks = _of_runtime(plan)
    if plan.runtime.gang:
        from trainc import schedulers

        checks = (*checks, *(check for scheduler in schedulers.of(plan.runtime.gang) for check in scheduler.CHECKS))
    if plan.job.dialect != "v2.3":
        from trainc.checks import dialect

        checks = (*checks, *dialect.CHECKS)
    subject = plan.job.id
    found = [diagnostic for check in checks for diagnostic in check(subject, plan)]
    if plan.failed or failed(found):
        # Notes tell what to do with the output, and there will be none.
        found = [diagnostic for diagnostic in found if diagnostic.severity != "note"]
    return plan.report(found)


def _of_runtime(plan: Plan) -> tuple[Asked, ...]:
    """Return the checks of the release that the runtime is written for."""
    if plan.runtime.dialect == "v1.9":
        from trainc import training_operator

        return training_operator.CHECKS
    framework = frameworks.load(plan.runtime.framework)
    return (*trainjob.CHECKS, *frameworks.CHECKS, *(framework.CHECKS if framework else ()))
