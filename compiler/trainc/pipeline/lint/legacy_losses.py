"""Fields of a legacy job that its JobSet lacks, or has with another effect.

Source: the losses of the kind's front end, of which the rule counts those of fields that the author wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.texts import plural
from trainc.diagnostics import Finding, LintFinding, Place
from trainc.frontends.lowering import losses_with_effect
from trainc.pipeline.lint import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield one finding for a job with a lost field that its author wrote."""
    if losses_with_effect(plan.job.document, plan.losses):
        yield LintFinding("legacy-losses", ())


@lint_rule("legacy-losses")
def warning(plan: Plan, _: LintFinding) -> Finding:
    """The author of a legacy job expects the effects of its fields, of which a JobSet cannot keep all."""
    import shlex

    losses = losses_with_effect(plan.job.document, plan.losses)
    verb = "is lost or changes its" if len(losses) == 1 else "are lost or change their"
    first = Place(plan.job.document, losses[0].path)
    return Finding(
        message=f'{plural(len(losses), "field")} of {plan.job.word} "{plan.job.source_name}" {verb} meaning',
        help=f"list the fields and what to do: trainc explain --losses {shlex.quote(plan.job.document.file)}",
        field=first.field,
        place=first,
    )
