"""Restarts of a JobSet that start each Job with all its retries again.

Source: JobSet v0.12, which counts only its own restarts against `failurePolicy.maxRestarts`, and creates all Jobs
again; Kubernetes 1.36, the Job controller: it counts failed pods, and with OnFailure also restarts of containers,
against `backoffLimit`. Verified: with both at 1, a container that always fails runs four times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule, stored
from trainc.pipeline.training import training, training_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

LIMIT: Final = ("template", "spec", "backoffLimit")
RESTARTS: Final = ("template", "spec", "template", "spec", "restartPolicy")
DEFAULT: Final = 6
"""The limit of a Job without one."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the limits of training jobs beside restarts of the JobSet."""
    restarts = get(stored(plan), ("failurePolicy", "maxRestarts"), 0)
    is_elastic = get(plan.runtime.policy, ("torch", "elasticPolicy")) is not None
    # In other trainings, such as those with parameter servers, the other nodes can go on without a lost one.
    depends = training_traits(plan).family == "torch" and not is_elastic
    if restarts <= 0 or plan.job.is_legacy or not depends:
        return
    for job in training(plan):
        replicated = plan.jobs[job]
        has_policy = get(replicated, ("template", "spec", "podFailurePolicy")) is not None
        in_place = get(replicated, RESTARTS) == "OnFailure"
        written = get(replicated, LIMIT)
        retries = DEFAULT if written is None else written
        if retries > 0 and not has_policy and (in_place or written is not None):
            path = ("replicatedJobs", job, *(LIMIT if written is not None else RESTARTS))
            yield LintFinding("restarts-multiply", path, (str(retries), str(restarts)))


@lint_rule("restarts-multiply")
def warning(_: Plan, finding: LintFinding) -> Finding:
    """A training that cannot succeed holds its nodes for all retries of all restarts."""
    retries, restarts = map(int, finding.what)
    return Finding(
        message=f"backoffLimit {retries} of the Job multiplies with maxRestarts {restarts} of the JobSet: a container "
        f"that always fails runs {(retries + 1) * (restarts + 1)} times",
        help="set backoffLimit: 0 and restartPolicy: Never, so that only maxRestarts counts, or remove failurePolicy",
    )
