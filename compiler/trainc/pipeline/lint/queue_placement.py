"""A node selector or tolerations in the pods of a JobSet with a Kueue queue.

Source: Kueue v0.19. On admission it writes the flavor's node labels and tolerations into the pod templates, whose
`nodeSelector` and `tolerations` are atomic for server-side apply. An apply of the same manifest is then a conflict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

FIELDS: Final = ("nodeSelector", "tolerations")


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the first such field of each replicated job with pods."""
    for job, count in enumerate(plan.counts):
        field = next((field for field in FIELDS if count and pod_at(plan, job).get(field)), None)
        if field:
            yield LintFinding("queue-placement", (*pod_spec(job), field), (plan.jobs[job]["name"], field))


@lint_rule("queue-placement")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Kueue owns these fields while the JobSet runs, so that applying the manifest again is rejected."""
    job, field = finding.what
    return Finding(
        message=f'job "{job}" sets {field}, which Kueue also writes on admission: a server-side apply of the same '
        "manifest is a conflict while the JobSet runs",
        help="put the labels and tolerations of the nodes into the ResourceFlavor"
        + (", or use nodeAffinity" if field == "nodeSelector" else ""),
    )
