"""The labels with which JobSet numbers its Jobs and their pods, across replicated jobs and groups.

Reads    a JobSet as it is stored.
Returns  the numbers by label; violations if one is negative, whose paths lead into the JobSet.
Source   JobSet v0.12.0, its controller. A replicated job with negative replicas passes the schema and the webhook. It
         has no Jobs, but its number is added to the others, and a label value must not start with `-`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes.violations import INVALID_LABEL, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree

PREFIX: Final = "jobset.sigs.k8s.io/"
FIELDS: Final = {"metadata.labels": "Jobs", "spec.template.labels": "pods"}
"""The fields of the API server's errors, each with the objects that have the label."""


def numbers(jobset: Tree, replicated: Tree, replica: int = 0) -> dict[str, int]:
    """Return the numbers of one Job by label, without the labels' prefix."""
    everyone, group = jobset["spec"]["replicatedJobs"], replicated.get("groupName", "")
    peers = [other for other in everyone if other.get("groupName", "") == group]
    return {
        "global-replicas": sum(map(replicas, everyone)),
        "group-replicas": sum(map(replicas, peers)),
        "job-global-index": _before(replicated, everyone) + replica,
        "job-group-index": _before(replicated, peers) + replica,
    }


def replicas(replicated: Tree) -> int:
    """Return the number of Jobs of a replicated job."""
    found: int = replicated.get("replicas", 1)
    return found


def violations(jobset: Tree, index: int) -> Iterator[Violation]:
    """Yield a violation for the labels of a Job and one for those of its pods, if a number is negative."""
    jobs = jobset["spec"]["replicatedJobs"]
    numbered = numbers(jobset, jobs[index])
    label = next((label for label, number in numbered.items() if number < 0), None)
    if label is None:
        return
    cause = next(number for number, job in enumerate(jobs) if replicas(job) < 0)
    for field, owners in FIELDS.items():
        yield Violation.at(
            ("spec", "replicatedJobs", cause, "replicas"),
            INVALID_LABEL,
            f'replicas {replicas(jobs[cause])} of job "{jobs[cause]["name"]}" gives the {owners} of job '
            f'"{jobs[index]["name"]}" the label {PREFIX}{label} with the value "{numbered[label]}", which starts '
            "with `-`",
            f'use 0 to create no Jobs, or remove job "{jobs[cause]["name"]}"',
            field=field,
        )


def _before(replicated: Tree, jobs: list[Tree]) -> int:
    """Return the number of Jobs of the replicated jobs that precede one in a list."""
    return sum(map(replicas, jobs[: jobs.index(replicated)]))
