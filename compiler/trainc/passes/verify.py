"""Verify: what would be refused in the objects that were made, after the API server has taken the JobSet's form.

Reads    the whole plan, when its objects are stored.
Returns  it with diagnostics; nothing is made of a TrainJob with errors.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.checks import jobset
from trainc.diagnostics import ObjectId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.diagnostics import Stage
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.plan import Plan

CHECKS: Final[tuple[tuple[Stage, Callable[[Tree], Iterable[Violation]]], ...]] = (("jobset", jobset.violations),)
"""What looks at every JobSet as it is stored, in the cluster's order, each with the stage that it speaks for."""

LONG: Final = 32 * 1024
"""As many characters can be no text of 128 KiB, the least of the limits."""
LARGE: Final = 128 * 1024
"""As many characters can be no JSON of 1.5 MiB: a character takes at most six bytes, and its quotes and field more."""
ANCHOR: Final = re.compile(r"&(?<![^\s,:?\[{]&)[^\s&]")
"""What looks like an anchor of YAML, which aliases repeat; a shell's `&&` and `2>&1` do not."""
OF_A_JOB: Final = 4 * 1024
"""As many characters stand for what is written into a replicated job without anybody saying so."""


def verify(plan: Plan) -> Plan:
    """Look at the objects as those who get them would; at sizes only where something may be large."""
    for stage, violations in CHECKS:
        plan = _report(plan, stage, violations(plan.objects[0]))
    if any(tree["kind"] == "ConfigMap" for tree in plan.others):
        from trainc.checks import limits

        plan = plan.report(found for check in limits.CHECKS for found in check(plan.job.id, plan))
    return _sizes(plan)


def _sizes(plan: Plan) -> Plan:
    """Measure, unless the texts are so short that it can only be small; an alias may stand for a lot."""
    of_job, of_runtime = plan.job.document.text, plan.runtime.document.text
    aliases = ANCHOR.search(of_job) or ANCHOR.search(of_runtime)
    if not aliases and len(of_job) + len(of_runtime) < LONG:
        return plan
    from trainc.checks import limits

    # What a TrainJob says may reach each of the jobs.
    if aliases or len(of_runtime) + len(plan.jobs) * (len(of_job) + OF_A_JOB) > LARGE:
        plan = _report(plan, "jobset", limits.stored(plan.objects[0]))
    plan = _report(plan, "job", limits.annotated(plan.objects[0]))
    return _report(plan, "job", limits.strings(plan.objects[0]))


def _report(plan: Plan, stage: Stage, violations: Iterable[Violation]) -> Plan:
    """The plan with what is wrong with its JobSet."""
    found = list(violations)
    if not found:
        return plan
    from trainc.tracing.diagnoses import diagnose

    return plan.report(diagnose(plan, stage, ObjectId.of(plan.objects[0]), found))
