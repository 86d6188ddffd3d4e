"""The labels that JobSet sets on its Jobs and their pods: their name, and numbers across replicated jobs and groups.

Reads    a JobSet as it is stored.
Returns  the numbers by label; violations of labels, whose paths lead into the JobSet.
Source   JobSet v0.12.0, its controller. Two label values that start or end with `-` pass the schema and the webhook:
         the name of a replicated job, because only the names of its Jobs are checked; and negative numbers, because a
         replicated job with negative replicas has no Jobs, but is added to the numbers of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.kubernetes import names
from trainc.kubernetes.violations import INVALID_LABEL, Violation, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree

JOBS: Final = "replicatedJobs"
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
        "job-global-index": _jobs_before(replicated, everyone) + replica,
        "job-group-index": _jobs_before(replicated, peers) + replica,
    }


def replicas(replicated: Tree) -> int:
    """Return the number of Jobs of a replicated job."""
    found: int = replicated.get("replicas", 1)
    return found


def violations(jobset: Tree, index: int) -> Iterator[Violation]:
    """Yield the violations of the labels of a replicated job's Jobs, and then of those of their pods."""
    job = jobset["spec"][JOBS][index]
    label, number = min(numbers(jobset, job).items(), key=lambda item: item[1])
    for field, owners in FIELDS.items():
        if names.label_value_errors(job["name"]):
            yield _name(job["name"], index, field, owners)
        if number < 0:
            yield _number(jobset, f'job "{job["name"]}"', f'{PREFIX}{label} with the value "{number}"', field, owners)


def _name(name: str, index: int, field: str, owners: str) -> Violation:
    return Violation.at(
        ("spec", JOBS, index, "name"),
        INVALID_LABEL,
        f"{shown(name)} is not a valid value of {PREFIX}replicatedjob-name, a label of the {owners}: it starts or ends "
        "with `-`",
        "start and end the name with a letter or digit",
        field=field,
    )


def _number(jobset: Tree, job: str, label: str, field: str, owners: str) -> Violation:
    """Return the violation of a negative number, at the first negative replicas."""
    cause, other = next((at, job) for at, job in enumerate(jobset["spec"][JOBS]) if replicas(job) < 0)
    return Violation.at(
        ("spec", JOBS, cause, "replicas"),
        INVALID_LABEL,
        f'replicas {replicas(other)} of job "{other["name"]}" gives the {owners} of {job} the label {label}, which '
        "starts with `-`",
        f'use 0 to create no Jobs, or remove job "{other["name"]}"',
        field=field,
    )


def _jobs_before(replicated: Tree, jobs: list[Tree]) -> int:
    """Return the number of Jobs of the replicated jobs that precede one in a list."""
    return sum(map(replicas, jobs[: jobs.index(replicated)]))
