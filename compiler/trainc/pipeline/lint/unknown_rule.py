"""Unknown rules in the lint-ignore annotation, which `triggers` finds while it reads the annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.ids import LINT_RULES
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.lint.triggers import IGNORE

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


@lint_rule("unknown-rule", "Unknown rule in the lint-ignore annotation", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The rule that the annotation should disable is still reported."""
    from trainc.base.fixes import replaced_name

    (name,) = finding.what
    holder = plan.runtime if finding.shared else plan.job
    path = ("metadata", "annotations", IGNORE)
    near = replaced_name(path, name, LINT_RULES)
    if near is not None and get(holder.document.value, path) != name:
        near = near._replace(changes=())  # it is one of several rules
    return Finding(
        message=f'unknown rule "{name}" in {IGNORE}',
        help=near or f"use one of {', '.join(LINT_RULES)}",
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )
