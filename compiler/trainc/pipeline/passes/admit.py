"""Admit: apply the checks of the TrainJob webhook, which validates the patched runtime.

Reads    the plan.
Returns  the plan with diagnostics. The framework and the gang schedulers add their own checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import failed
from trainc.pipeline import frameworks
from trainc.pipeline.checks import trainjob

if TYPE_CHECKING:
    from trainc.pipeline.frameworks import PlanCheck
    from trainc.pipeline.plan import Plan


def admit(plan: Plan) -> Plan:
    """Run the webhook's checks, including those of the framework and the schedulers."""
    if plan.job.is_jobset:
        return plan
    checks = _release_checks(plan)
    if plan.runtime.gang:
        from trainc.pipeline import schedulers

        checks = (
            *checks,
            *(check for scheduler in schedulers.schedulers_of(plan.runtime.gang) for check in scheduler.CHECKS),
        )
    subject = plan.job.id
    found = [diagnostic for check in checks for diagnostic in check(subject, plan)]
    if plan.job.patches and (plan.release.unknown_job == "refused" or plan.job.has_overrides):
        from trainc.pipeline.checks import dialect

        found += dialect.targets(subject, plan)
    if plan.job.has_overrides:
        from trainc.pipeline.checks import dialect

        found += (diagnostic for check in dialect.CHECKS for diagnostic in check(subject, plan))
        found += dialect.processes(subject, plan, frameworks.traits(plan.runtime))
    if not plan.runtime.is_first_release and _starts_nothing(plan):
        from trainc.pipeline.checks import counts

        found += counts.trainjob_counts(plan, frameworks.traits(plan.runtime))
    if failed(found):
        # Notes are about the output, and an error prevents the output.
        found = [diagnostic for diagnostic in found if diagnostic.severity != "note"]
    return plan.report(found)


def _release_checks(plan: Plan) -> tuple[PlanCheck, ...]:
    """Return the checks of the release that the runtime is written for."""
    if plan.runtime.is_first_release:
        from trainc.pipeline import training_operator

        return training_operator.CHECKS
    return (*trainjob.CHECKS, *frameworks.CHECKS, *frameworks.framework_of(plan).checks)


def _starts_nothing(plan: Plan) -> bool:
    """Return whether a count may be below 1, or there is no job."""
    counts = (plan.job.trainer.get("numNodes"), plan.job.processes)
    return not plan.jobs or any(isinstance(count, int) and count < 1 for count in counts)
