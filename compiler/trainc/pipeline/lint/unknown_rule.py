"""Unknown rules in the lint-ignore annotation, which `triggers` finds while it reads the annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.ids import LINT_RULES
from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.lint.triggers import IGNORE

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


@lint_rule("unknown-rule", "Unknown rule in the lint-ignore annotation")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The rule that the annotation should disable is still reported."""
    from trainc.base.suggestions import suggestion_or

    (name,) = finding.what
    holder = plan.runtime if finding.shared else plan.job
    return Finding(
        message=f'unknown rule "{name}" in {IGNORE}',
        help=suggestion_or(name, LINT_RULES, f"use one of {', '.join(LINT_RULES)}"),
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )
