"""The pods of a running JobSet, and how they end.

On the cluster program, pods have no processes: annotations determine how each container ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from cluster.server import Cluster, until

from trainc.kubernetes.trees import get, put

Tree = dict[str, Any]

EXIT: Final = "cluster.test/exit"
"""The exit codes of a pod and of those that replace it, separated by commas. `EXIT-1` is for the pod with index 1."""
AFTER: Final = "cluster.test/after"
"""The seconds until a pod ends."""
RUNS_ON: Final = "-"
"""The exit code of a pod that runs on."""

FIELD: Final = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
"""A field of a pod to which a variable refers."""


def with_endings(jobset: Tree, annotations: Callable[[str], Tree]) -> Tree:
    """Return a JobSet with annotations for the pods of each replicated job, by its name."""
    for index, replicated in enumerate(jobset["spec"]["replicatedJobs"]):
        path = ("spec", "replicatedJobs", index, "template", "spec", "template", "metadata", "annotations")
        jobset = put(jobset, path, get(jobset, path, {}) | annotations(replicated["name"]))
    return jobset


def wait(cluster: Cluster, namespace: str, name: str, condition: str) -> Tree:
    """Return the JobSet, once it has a condition."""

    def found() -> Tree | None:
        jobset = cluster.get("JobSet", namespace, name) or {}
        return jobset if condition in conditions(jobset) else None

    return until(found, f"JobSet {name} {condition}")


def conditions(jobset: Tree) -> set[str]:
    """Return the types of the conditions that are true."""
    found = get(jobset, ("status", "conditions"), ())
    return {condition["type"] for condition in found if condition["status"] == "True"}


def restarts(pod: Tree) -> int:
    """Return the number of times that the containers of a pod were restarted."""
    return sum(container["restartCount"] for container in pod["status"]["containerStatuses"])
