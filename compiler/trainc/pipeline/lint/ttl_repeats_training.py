"""A time to live with which a finished training starts again.

Source: JobSet v0.12, which deletes a finished JobSet after `ttlSecondsAfterFinished`. kubeflow/trainer, the controller
of TrainJobs: v2.1 creates a missing JobSet of any TrainJob, v2.2 and v2.3 that of a failed one (kubeflow/trainer#3779).
Argo CD v3.2 and Flux v2.7 create a missing object of their source; Argo CD creates a hook only at a sync.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

FIELD: Final = "ttlSecondsAfterFinished"
HOOK: Final = "argocd.argoproj.io/hook"
"""The annotation of an object that Argo CD does not miss when it is deleted."""
FINISHED: Final = {"created again": "finished", "created again after a failure": "failed"}
"""The TrainJobs whose JobSet the controller creates again, by the behavior of its release."""


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the time to live, unless nothing is known to create the JobSet again."""
    is_of_trainer = plan.job.own_runtime is None and plan.release.removed_jobset in FINISHED
    returns = HOOK not in plan.annotations if plan.renders else is_of_trainer
    if FIELD in stored(plan) and returns:
        yield LintFinding("ttl-repeats-training", (FIELD,))


@lint_rule("ttl-repeats-training")
def warning(plan: Plan, _: LintFinding) -> Finding:
    """A JobSet that deletes itself is created again by what keeps it in the cluster, and the training repeats."""
    when = f"when it is deleted {stored(plan)[FIELD]} s after its end, so that the training repeats"
    if plan.renders:
        return Finding(
            message=f"a tool that keeps the output in the cluster creates the JobSet again {when}",
            help="remove it, or set an option of Argo CD or Flux",
        )
    jobs = FINISHED[plan.release.removed_jobset]
    return Finding(
        message=f"{plan.release.title} creates the JobSet of a {jobs} TrainJob again {when}",
        help="remove it, and delete finished TrainJobs instead",
    )
