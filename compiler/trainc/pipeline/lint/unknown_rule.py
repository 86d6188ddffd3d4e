"""Ids in the lint-ignore annotation that are no lint rules; `triggers` finds them while it reads the annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.data import declared_in, lint_rules
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.lint.triggers import IGNORE

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


@lint_rule("unknown-rule", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The rule that the annotation should disable is still reported."""
    from trainc.base.fixes import replaced_name

    (name,) = finding.what
    holder = plan.runtime if finding.shared else plan.job
    path = ("metadata", "annotations", IGNORE)
    near = replaced_name(path, name, lint_rules())
    if near is not None and get(holder.document.value, path) != name:
        near = near._replace(changes=())  # it is one of several rules
    is_other = name in declared_in()
    return Finding(
        message=f"{name} is not a lint rule, and cannot be turned off"
        if is_other
        else f'unknown rule "{name}" in {IGNORE}',
        help="remove it" if is_other else near or "use the id of a lint rule, which a report has in brackets",
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )
