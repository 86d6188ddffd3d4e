"""Lint: what nobody refuses, and its user would regret.

Reads    the whole plan, when the JobSet is made; the rules that the settings and annotations turn off.
Returns  it with regrets, which become warnings when all TrainJobs are done (`lint.warnings`): one for each cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.lint.signs import signs, turned_off

if TYPE_CHECKING:
    from trainc.plan import Plan


def lint(plan: Plan) -> Plan:
    """Look at what was made as a whole."""
    quiet, unknown = turned_off(plan)
    if plan.diagnostics and quiet:
        kept = tuple(found for found in plan.diagnostics if found.stage != "lint" or found.id not in quiet)
        plan = plan._replace(diagnostics=kept)
    rules = [rule for rule in dict.fromkeys(signs(plan)) if rule not in quiet]
    if not rules and not unknown:
        return plan
    from trainc.lint import load

    found = (regret for rule in sorted(rules) for regret in load(rule).find(plan))
    return plan._replace(regrets=(*unknown, *found))
