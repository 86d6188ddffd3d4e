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
    from trainc.base.suggestions import nearest_name

    (name,) = finding.what
    near = nearest_name(name, LINT_RULES)
    holder = plan.runtime if finding.shared else plan.job
    return Finding(
        message=f'unknown rule "{name}" in {IGNORE}',
        help=f"did you mean {near}?" if near else f"use one of {', '.join(LINT_RULES)}",
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )
