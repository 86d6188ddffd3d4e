"""A cluster that gets the JobSet and no TrainJob: the commands that list, suspend and delete it (docs/two-ways.md)."""

from __future__ import annotations

from typing import Any

from cluster.cases import GOLDEN
from cluster.life import EXIT, RUNS_ON, wait, with_endings
from cluster.server import Cluster, until

from trainc.compilation import compile_paths
from trainc.compilation.run import PLAIN
from trainc.kubernetes.trees import put

Tree = dict[str, Any]


def test_only_the_jobset_is_there(alive: Cluster) -> None:
    """Its suspension deletes the pods, and its deletion leaves the PodGroup."""
    namespace, name = _started(alive, "gang-coscheduling")
    until(lambda: _running(alive, namespace) or None, "running pods")
    listed = alive.kubectl("get", "trainjobs", "--namespace", namespace)
    assert (listed.code, listed.out) == (0, "")
    patch = ["patch", "jobset", name, "--namespace", namespace, "--type=merge", "--patch"]
    assert alive.kubectl(*patch, '{"spec": {"suspend": true}}').code == 0
    wait(alive, namespace, name, "Suspended")
    until(lambda: not alive.list("Pod", namespace) or None, "no pods")
    assert alive.kubectl(*patch, '{"spec": {"suspend": false}}').code == 0
    until(lambda: _running(alive, namespace) or None, "running pods again")
    assert alive.kubectl("delete", "jobset", name, "--namespace", namespace).code == 0
    until(lambda: not alive.list("Pod", namespace) or None, "no pods of a deleted JobSet")
    assert [group["metadata"]["name"] for group in alive.list("PodGroup", namespace)] == [name]
    assert alive.list("JobSet", namespace) == []


def _started(cluster: Cluster, case: str) -> tuple[str, str]:
    """Apply a golden case, whose pods run on; return the JobSet's namespace and name."""
    namespace = cluster.namespace("two-ways")
    compiled = compile_paths([str(GOLDEN / case / "input.yaml")], PLAIN).jobs[0].objects
    objects = [put(tree, ("metadata", "namespace"), namespace) for tree in compiled]
    (jobset,) = (tree for tree in objects if tree["kind"] == "JobSet")
    running = with_endings(jobset, lambda _: {EXIT: RUNS_ON})
    cluster.apply([running if tree is jobset else tree for tree in objects])
    return namespace, str(jobset["metadata"]["name"])


def _running(cluster: Cluster, namespace: str) -> bool:
    phases = {pod["status"].get("phase") for pod in cluster.list("Pod", namespace)}
    return phases == {"Running"}
