"""Ids in the lint-ignore annotation that are no lint rules; `triggers` finds them while it reads the annotations.

`lint.disable` and `lint.paths` of trainc.yaml reject unknown ids, and accept those of `ERRORS` with the same warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.data import lint_rules
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.lint.triggers import IGNORE

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan

ERRORS: Final = ("elastic-jobset",)
"""The ids that settings and annotations may still disable as lint rules, although the cluster reports errors."""


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
    message, help = f'unknown rule "{name}" in {IGNORE}', near or f"use one of {', '.join(lint_rules())}"
    if name in ERRORS:
        message, help = error_of_cluster(name)
    return Finding(
        message=message,
        help=help,
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )


def error_of_cluster(name: str) -> tuple[str, str]:
    """Return the message and the hint for one of `ERRORS` in a list of lint rules."""
    return f"{name} is an error of the cluster now, and cannot be disabled", f"remove {name} from the list"
