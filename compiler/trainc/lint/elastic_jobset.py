"""The annotation for Kueue's elastic jobs on a JobSet.

Source: Kueue v0.19. Its webhook rejects a JobSet with the annotation: elastic jobs support other kinds only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, LintFinding
from trainc.lint.triggers import ELASTIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if the JobSet has the annotation."""
    if plan.annotations.get(ELASTIC) == "true":
        yield LintFinding("elastic-jobset", (), shared=ELASTIC not in plan.job.metadata("annotations"))


@check("elastic-jobset", stage="lint", severity="warning", title="Elastic job of Kueue in a JobSet", own=True)
def elastic_jobset(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
    """Kueue rejects a JobSet with this annotation."""
    yield Finding(
        message=f"Kueue rejects a JobSet with the annotation {ELASTIC}",
        help="remove the annotation",
        field=f"metadata.annotations.{ELASTIC}",
        place=plan.job.at("spec", "runtimeRef") if finding.shared else plan.job.at("metadata", "annotations", ELASTIC),
    )


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (elastic_jobset,)
