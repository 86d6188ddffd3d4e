"""Host names of pods that a legacy job does not have.

Source: trainc's own. Host names of the job's pods are replaced (`legacy.pod_environment`); these are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.pipeline.frameworks import framework_of
from trainc.pipeline.lint import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield a finding for each text with such a host name."""
    for path, host in framework_of(plan).unknown_hosts(plan):
        yield LintFinding("legacy-host", path, (host,))


@lint_rule("legacy-host")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """A host name in the form of the operator that no pod has resolved with the operator as little as in a JobSet."""
    (host,) = finding.what
    return Finding(
        message=f'"{host}" is not the host name of a pod of {plan.job.word} "{plan.job.source_name}"',
        help="use the host name of one of its pods, which trainc replaces, or remove it",
        field=field_of(("spec", *finding.path)),
    )
