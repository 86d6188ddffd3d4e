"""Unknown rules in the lint-ignore annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, LintFinding
from trainc.lint.triggers import IDS, IGNORE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan


def find(_: Plan) -> Iterator[LintFinding]:
    """Yield nothing: `passes.lint` finds unknown rules while it reads the annotations."""
    yield from ()


@check("unknown-rule", stage="lint", severity="warning", title="Unknown rule in the lint-ignore annotation", own=True)
def unknown_rule(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
    """The rule that the annotation should disable is still reported."""
    from trainc.nearest import nearest

    (name,) = finding.what
    near = nearest(name, sorted(IDS))
    holder = plan.runtime if finding.shared else plan.job
    yield Finding(
        message=f'unknown rule "{name}" in {IGNORE}',
        help=f"did you mean {near}?" if near else f"use one of {', '.join(sorted(IDS))}",
        field=f"metadata.annotations[{IGNORE}]",
        place=holder.at("metadata", "annotations", IGNORE),
    )


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (unknown_rule,)
