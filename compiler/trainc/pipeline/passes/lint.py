"""Lint: run the lint rules whose triggers apply.

Reads    the whole plan, when its JobSet is complete; the rules that the settings and annotations disable.
Returns  the plan with lint_findings. When all TrainJobs are done, `placing.lint_findings` turns them into warnings, one
         per cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.pipeline.lint.triggers import triggers, turned_off

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


def lint(plan: Plan) -> Plan:
    """Add the lint findings of the compiled objects."""
    quiet, unknown = turned_off(plan)
    if plan.diagnostics and quiet:
        from trainc.base.data import lint_rules  # some of them are checks of an earlier stage

        kept = tuple(found for found in plan.diagnostics if found.id not in quiet or found.id not in lint_rules())
        plan = plan._replace(diagnostics=kept)
    rules = [rule for rule in dict.fromkeys(triggers(plan)) if rule not in quiet]
    if not rules and not unknown:
        return plan
    from trainc.pipeline.lint import load

    found = (finding for rule in sorted(rules) for finding in load(rule).find(plan))
    return plan._replace(lint_findings=(*unknown, *found))
