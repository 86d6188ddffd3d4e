"""Deadlines that overflow in the Job controller.

Source: Kubernetes 1.36: the Job controller calculates the deadline in nanoseconds, as an integer of 64 bits. The API
server accepts any number of seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Finding, LintFinding
from trainc.kubernetes.trees import get
from trainc.pipeline.lint import lint_rule, stored
from trainc.pipeline.lint.triggers import LONGEST_DEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.pipeline.plan import Plan

DEADLINE: Final = ("template", "spec", "activeDeadlineSeconds")
SECOND: Final = 10**9


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the deadlines of jobs that run."""
    for job, replicated in enumerate(stored(plan).get("replicatedJobs") or ()):
        seconds = get(replicated, DEADLINE, 0)
        if seconds > LONGEST_DEADLINE and plan.counts[job]:
            yield LintFinding("deadline-overflow", ("replicatedJobs", job, *DEADLINE), (str(seconds),))


@lint_rule("deadline-overflow")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """A deadline above 292 years becomes another one, which is usually negative, so that the Job fails at once."""
    (seconds,) = finding.what
    left = effective(int(seconds))
    result = f"the Job fails after {left} seconds" if left > 0 else "the Job fails at once"
    return Finding(
        message=f"activeDeadlineSeconds {seconds} overflows in the Job controller, so {result}",
        help=f"use at most {LONGEST_DEADLINE}, or remove it for no deadline",
    )


def effective(seconds: int) -> int:
    """Return the deadline in whole seconds that results from the overflow.

    >>> effective(9223372036), effective(9223372037) < 0, effective(20000000000)
    (9223372036, True, 1553255926)
    """
    half: int = 2**63
    return ((seconds * SECOND + half) % (2 * half) - half) // SECOND
