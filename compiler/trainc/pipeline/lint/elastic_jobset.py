"""The annotation for Kueue's elastic jobs on a JobSet.

Source: Kueue v0.19. Its webhook rejects a JobSet with the annotation: elastic jobs support other kinds only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.fixes import removal
from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.lint.triggers import ELASTIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if the JobSet has the annotation."""
    if plan.annotations.get(ELASTIC) == "true":
        yield LintFinding("elastic-jobset", (), shared=ELASTIC not in plan.job.metadata("annotations"))


@lint_rule("elastic-jobset", "Elastic job of Kueue in a JobSet", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Kueue rejects a JobSet with this annotation."""
    path, title = ("metadata", "annotations", ELASTIC), "remove the annotation"
    return Finding(
        message=f"Kueue rejects a JobSet with the annotation {ELASTIC}",
        help=title
        if finding.shared
        else removal(path, title)
        if finding.shared
        else removal(("metadata", "annotations", ELASTIC), "remove the annotation"),
        field=f"metadata.annotations.{ELASTIC}",
        place=plan.job.at("spec", "runtimeRef") if finding.shared else plan.job.at(*path),
    )
