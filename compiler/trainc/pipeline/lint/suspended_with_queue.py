"""A JobSet that is to be suspended and has a Kueue queue, which suspends it in any case.

Source: Kueue v0.19. Its webhook suspends a queued JobSet on creation, and Kueue resumes it on admission. A manifest
with `suspend: true` suspends a running JobSet again whenever it is applied, and all its pods are deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.texts import escape
from trainc.diagnostics import Finding, LintFinding, Related
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.objects import QUEUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

SUSPEND: Final = ("spec", "suspend")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding for each of TrainJob, option and patch that suspends a JobSet that has a queue."""
    if not plan.labels.get(QUEUE):
        return
    if plan.job.spec.get("suspend"):
        yield LintFinding("suspended-with-queue", (), ("TrainJob",))
    elif plan.delivery.suspend:
        yield LintFinding("suspended-with-queue", (), ("option",), shared=True)
    if plan.patches is not None and plan.patches.suspends is not None:
        yield LintFinding("suspended-with-queue", (), ("patch",), shared=True)


@lint_rule("suspended-with-queue", fix="unsafe")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Kueue suspends the JobSet on creation; `suspend: true` in the manifest would stop it at each later apply."""
    from trainc.base.fixes import removal

    queue = plan.job.metadata("labels").get(QUEUE)
    at_label = plan.job.at("metadata", "labels", QUEUE)
    (source,) = finding.what
    if source == "TrainJob":
        removed, place = "suspend", plan.job.at(*SUSPEND)
    elif source == "option":
        removed = plan.library.option_names.suspend
        place = at_label if queue else plan.job.at("spec", "runtimeRef")
    else:
        assert plan.patches is not None
        assert plan.patches.suspends is not None
        removed, place = "suspend from the patch", plan.patches.suspends
    title = f"remove {removed}; to hold the jobs of a queue, set its stopPolicy"
    return Finding(
        message=f"suspend: true is left out: the JobSet has the Kueue queue {escape(plan.labels[QUEUE])}, which "
        "suspends it until admission, and applying suspend: true again would stop a running training",
        help=removal(SUSPEND, title) if source == "TrainJob" else title,
        field=".".join(SUSPEND),
        place=place,
        related=(Related("the queue", at_label),) if queue and source != "option" else (),
    )
