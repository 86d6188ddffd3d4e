"""A gang that needs more pods than its job has.

Source: trainc's own. Only the minAvailable of a legacy job can differ from the number of its pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.texts import plural
from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule
from trainc.pipeline.schedulers import gathered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding if the PodGroup's minMember is more than the number of pods."""
    for group in plan.others:
        if group["kind"] == "PodGroup" and group["spec"]["minMember"] > gathered(plan).members:
            yield LintFinding("gang-too-large", (), (str(group["spec"]["minMember"]),))


@lint_rule("gang-too-large")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The pods of a gang start when minMember of them exist, which never happens."""
    pods = gathered(plan).members
    key = next(iter(plan.runtime.gang or ()))
    place = plan.runtime.at("spec", "podGroupPolicy", key, "minMember")
    return Finding(
        message=f"the gang needs {finding.what[0]} pods, but the job has {plural(pods, 'pod')}",
        help=f"set minAvailable to {pods} or less",
        field=place.field,
        place=place,
    )
