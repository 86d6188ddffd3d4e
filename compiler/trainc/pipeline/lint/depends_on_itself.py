"""Replicated jobs that depend on themselves.

Source: JobSet v0.12.0: its webhook accepts a dependency on the job itself; its controller creates the Jobs only when
the job that they depend on is ready or complete. A longer cycle is an error (`depends-on-unknown`), because a job can
depend only on jobs that are listed before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.lint import lint_rule, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the dependencies of jobs on themselves; a job without pods does not matter."""
    for job, replicated in enumerate(stored(plan).get("replicatedJobs") or ()):
        for number, entry in enumerate(replicated.get("dependsOn") or ()):
            if entry["name"] == replicated["name"] and plan.counts[job]:
                path = ("replicatedJobs", job, "dependsOn", number, "name")
                yield LintFinding("depends-on-itself", path, (replicated["name"],))


@lint_rule("depends-on-itself")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """The Jobs of such a replicated job are never created."""
    (name,) = finding.what
    before = [job["name"] for job in plan.jobs[: int(finding.path[1])]]
    return Finding(
        message=f'job "{name}" depends on itself, so it never starts',
        help=f"use a job that is listed before it ({', '.join(before)}), or remove the dependency",
    )
