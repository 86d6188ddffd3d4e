"""Pods with overhead and no RuntimeClass.

Source: Kubernetes 1.36: the admission plugin RuntimeClass, which is on by default, sets a pod's overhead from its
RuntimeClass, and rejects any other overhead. The API server accepts the Job, which then gets no pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.violations import field_of
from trainc.lint import pod_at
from trainc.lint.triggers import has_own_overhead
from trainc.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the overhead of jobs that run."""
    for job, replicated in enumerate(plan.jobs):
        if has_own_overhead(pod_at(plan, job)) and plan.counts[job]:
            yield LintFinding("overhead-without-runtime-class", (*pod_spec(job), "overhead"), (replicated["name"],))


@check(
    "overhead-without-runtime-class",
    stage="lint",
    severity="warning",
    title="Pod overhead without RuntimeClass",
    own=True,
)
def overhead_without_runtime_class(plan: Plan, finding: LintFinding) -> Iterator[Finding]:
    """Only a RuntimeClass can define the overhead of a pod."""
    (name,) = finding.what
    yield Finding(
        message=f'the pods of job "{name}" set overhead but no runtimeClassName, so the cluster rejects them',
        help="remove overhead; or set runtimeClassName to a RuntimeClass that defines this overhead",
        field=field_of(("spec", *finding.path)),
    )


CHECKS: Final[tuple[Check[[Plan, LintFinding]]]] = (overhead_without_runtime_class,)
