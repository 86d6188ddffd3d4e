"""Pods with overhead and no RuntimeClass.

Source: Kubernetes 1.36: the admission plugin RuntimeClass, which is on by default, sets a pod's overhead from its
RuntimeClass, and rejects any other overhead. The API server accepts the Job, which then gets no pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import has_own_overhead
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the overhead of jobs that run."""
    for job, replicated in enumerate(plan.jobs):
        if has_own_overhead(pod_at(plan, job)) and plan.counts[job]:
            yield LintFinding("overhead-without-runtime-class", (*pod_spec(job), "overhead"), (replicated["name"],))


@lint_rule("overhead-without-runtime-class")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """Only a RuntimeClass can define the overhead of a pod."""
    (name,) = finding.what
    return Finding(
        message=f'the pods of job "{name}" set overhead but no runtimeClassName, so the cluster rejects them',
        help="remove overhead; or set runtimeClassName to a RuntimeClass that defines this overhead",
    )
