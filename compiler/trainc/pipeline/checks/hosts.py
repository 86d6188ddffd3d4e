"""Sizes of host lists, by arithmetic: a count may be much larger than a list that fits in memory.

Reads    a plan with the number of pods of each replicated job.
Returns  the number of a job's pods, and the length of all their host names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.pipeline.plan import Plan


def count(plan: Plan, job: int) -> int:
    """Return the number of pods of a replicated job, in all its Jobs: the length of `plan.endpoints(job)`."""
    return replicas(plan, job) * max(0, plan.counts[job])


def replicas(plan: Plan, job: int) -> int:
    """Return the number of Jobs of a replicated job."""
    return max(0, int(plan.jobs[job].get("replicas", 1)))


def length(plan: Plan, job: int, *, short: bool = False) -> int:
    """Return the total length of the host names of a replicated job's pods, in bytes; `short` is without the domain.

    A name is the same in all pods, except for the index of the Job and the index of the pod in its Job.
    """
    jobs, pods = replicas(plan, job), max(0, plan.counts[job])
    name = plan.host(job, "", "")
    own = len((name.partition(".")[0] if short else name).encode("utf-8", "surrogatepass"))
    return jobs * pods * own + pods * digits(jobs) + jobs * digits(pods)


def digits(count: int) -> int:
    """Return the number of digits of all numbers from 0 to `count` - 1.

    >>> [digits(count) for count in (0, 1, 10, 12, 100)] == [0, 1, 10, 14, 190]
    True
    """
    total, first, long = 0, 0, 1
    while first < count:
        last = min(count, 10**long)
        total += (last - first) * long
        first, long = last, long + 1
    return total
