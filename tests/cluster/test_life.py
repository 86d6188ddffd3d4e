"""Compiled jobs run to their end, with pods that finish, fail or run on (docs/frameworks.md).

The pods have no processes: annotations determine how each container ends.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from cluster.cases import GOLDEN
from cluster.life import AFTER, EXIT, RUNS_ON, restarts, wait, with_endings
from cluster.server import Cluster

from trainc.compilation import compile_paths
from trainc.compilation.run import PLAIN
from trainc.kubernetes.trees import put

Tree = dict[str, Any]

SUCCEEDS = {EXIT: "0"}


def test_depends_on(alive: Cluster) -> None:
    """The trainer's Job is created when those that it depends on are complete."""
    namespace, name = _started(alive, "preprocess-then-train", lambda job: SUCCEEDS)
    wait(alive, namespace, name, "Completed")
    jobs = {_replicated(job): job for job in alive.list("Job", namespace)}
    jobset = alive.get("JobSet", namespace, name)
    assert jobset is not None
    dependencies = [
        (replicated["name"], on["name"])
        for replicated in jobset["spec"]["replicatedJobs"]
        for on in replicated.get("dependsOn", ())
    ]
    assert dependencies
    for later, earlier in dependencies:
        assert _time(jobs[later]["metadata"]["creationTimestamp"]) >= _time(jobs[earlier]["status"]["completionTime"])


def test_success_policy(alive: Cluster) -> None:
    """The JobSet is complete with its workers; the servers run on until then."""
    endless = {"parameters", "scheduler", "server", "ps"}
    namespace, name = _started(
        alive, "mxnet-parameter-server", lambda job: {EXIT: RUNS_ON} if job in endless else SUCCEEDS
    )
    wait(alive, namespace, name, "Completed")


def test_failure_policy(alive: Cluster) -> None:
    """A failed container fails its Job, whose backoffLimit is 0; all Jobs are recreated, at most maxRestarts times."""
    namespace, name = _started(alive, "paddle-two-nodes", lambda job: {f"{EXIT}-1": "137,0", EXIT: "0", AFTER: "2"})
    jobset = wait(alive, namespace, name, "Completed")
    assert jobset["status"]["restarts"] == 1
    namespace, name = _started(alive, "paddle-two-nodes", lambda job: {EXIT: "1"})
    jobset = wait(alive, namespace, name, "Failed")
    assert jobset["status"]["restarts"] == jobset["spec"]["failurePolicy"]["maxRestarts"]


def test_suspend(alive: Cluster) -> None:
    """A suspended JobSet has no pods; it runs when it is applied without suspend."""
    namespace, name = _started(alive, "suspended", lambda job: SUCCEEDS, suspend=True)
    wait(alive, namespace, name, "Suspended")
    assert alive.list("Pod", namespace) == []
    _started(alive, "suspended", lambda job: SUCCEEDS, namespace=namespace, suspend=False)
    wait(alive, namespace, name, "Completed")


def test_elastic(alive: Cluster) -> None:
    """A failed container of an elastic job restarts in its pod while the others run; the JobSet does not restart."""
    namespace, name = _started(alive, "elastic-up-to-four", lambda job: {f"{EXIT}-1": "137,0", EXIT: "0", AFTER: "3"})
    jobset = wait(alive, namespace, name, "Completed")
    assert jobset["status"].get("restarts", 0) == 0
    (job,) = alive.list("Job", namespace)
    assert sum(restarts(pod) for pod in alive.list("Pod", namespace)) == 1
    assert job["status"]["succeeded"] == job["spec"]["completions"]


def test_deadline(alive: Cluster) -> None:
    """A Job that runs longer than the TrainJob's deadline fails, and the JobSet with it."""
    namespace, name = _started(alive, "deadline", lambda job: {EXIT: RUNS_ON}, deadline=1)
    wait(alive, namespace, name, "Failed")


def _started(
    cluster: Cluster,
    case: str,
    annotations: Callable[[str], Tree],
    *,
    namespace: str = "",
    suspend: bool | None = None,
    deadline: int | None = None,
) -> tuple[str, str]:
    """Apply a golden case with annotations for each replicated job; return the JobSet's namespace and name."""
    namespace = namespace or cluster.namespace("life")
    objects = []
    for tree in compile_paths([str(GOLDEN / case / "input.yaml")], PLAIN).jobs[0].objects:
        moved = put(tree, ("metadata", "namespace"), namespace)
        if moved["kind"] == "JobSet":
            name = moved["metadata"]["name"]
            moved = moved if suspend is None else put(moved, ("spec", "suspend"), suspend)
            moved = with_endings(moved, annotations)
            for index in range(len(moved["spec"]["replicatedJobs"]) if deadline is not None else 0):
                job = ("spec", "replicatedJobs", index, "template", "spec")
                moved = put(moved, (*job, "activeDeadlineSeconds"), deadline)
        objects.append(moved)
    cluster.apply(objects)
    return namespace, name


def _replicated(job: Tree) -> str:
    return str(job["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
