"""Lint: what nobody refuses, and its user would finding.

Reads    the whole plan, when the JobSet is made; the rules that the settings and annotations turn off.
Returns  it with lint_findings, which become warnings when all TrainJobs are done (`lint.warnings`): one for each cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.lint.triggers import triggers, turned_off

if TYPE_CHECKING:
    from trainc.plan import Plan


def lint(plan: Plan) -> Plan:
    """Look at what was made as a whole."""
    quiet, unknown = turned_off(plan)
    if plan.diagnostics and quiet:
        kept = tuple(found for found in plan.diagnostics if found.stage != "lint" or found.id not in quiet)
        plan = plan._replace(diagnostics=kept)
    rules = [rule for rule in dict.fromkeys(triggers(plan)) if rule not in quiet]
    if not rules and not unknown:
        return plan
    from trainc.lint import load

    found = (finding for rule in sorted(rules) for finding in load(rule).find(plan))
    return plan._replace(lint_findings=(*unknown, *found))
