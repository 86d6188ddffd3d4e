"""A job starts from an empty namespace with trainc's output and the Secrets of `trainc secret`, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.cases import GOLDEN
from cluster.server import Cluster, load, until
from running import run

from trainc.kubernetes.trees import put

Tree = dict[str, Any]

CASES = ("flux-lammps", "flux-one-node", "intel-mpi", "mpi-solver", "mpich-solver")
OPTIONS: tuple[list[str], ...] = ([], ["--name-suffix-hash"])
SERVED = {"ConfigMap": {"kube-root-ca.crt"}}
"""The objects that the cluster creates in every namespace."""


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "name-suffix-hash"])
@pytest.mark.parametrize("case", CASES)
def test_start(
    alive: Cluster, counted: Callable[[str, int], None], tmp_path: Path, case: str, options: list[str]
) -> None:
    namespace = alive.namespace("clean")
    file = tmp_path / "job.yaml"
    job = _written(file, case, namespace)
    objects = _applied(alive, "build", str(file), "--no-config", *options)
    secrets = _applied(alive, "secret", job, str(file))
    jobset = next(tree for tree in objects if tree["kind"] == "JobSet")
    assert (jobset["metadata"]["name"] != job) == bool(options)
    pods = until(lambda: _running(alive, namespace, jobset), "every pod running")
    for pod in pods:
        for kind, name in _references(pod["spec"]):
            assert alive.get(kind, namespace, name), f"{kind} {name} of pod {pod['metadata']['name']}"
    for kind in ("ConfigMap", "Secret", "JobSet"):
        emitted = {tree["metadata"]["name"] for tree in (*objects, *secrets) if tree["kind"] == kind}
        there = {tree["metadata"]["name"] for tree in alive.list(kind, namespace)}
        assert there - SERVED.get(kind, set()) == emitted
    counted("pods that started in an empty namespace", len(pods))


def test_an_edit_with_a_name_suffix_starts_a_new_jobset(cluster: Cluster, tmp_path: Path) -> None:
    namespace = cluster.namespace("suffix")
    file = tmp_path / "job.yaml"
    _written(file, "mpi-solver", namespace)
    build = ("build", str(file), "--no-config", "--name-suffix-hash")
    first = _applied(cluster, *build)
    text = file.read_text()
    job = load(text)[-1]
    edited = put(job, ("spec", "trainer", "env"), [{"name": "STEP", "value": "2"}])
    file.write_text(yaml.safe_dump_all([*load(text)[:-1], edited]))
    second = _applied(cluster, *build)
    old, new = (sorted((tree["kind"], tree["metadata"]["name"]) for tree in trees) for trees in (first, second))
    assert not set(old) & set(new)
    references = {name for tree in second if tree["kind"] == "JobSet" for _, name in _names_of_jobset(tree)}
    assert {tree["metadata"]["name"] for tree in second if tree["kind"] == "ConfigMap"} <= references
    assert f"{job['metadata']['name']}-mpi-ssh-auth" in references
    assert cluster.get("JobSet", namespace, old[-1][1])


def _written(file: Path, case: str, namespace: str) -> str:
    """Write a golden case's documents with another namespace; return the TrainJob's name."""
    documents = load((GOLDEN / case / "input.yaml").read_text())
    for tree in documents:
        if tree["kind"] != "ClusterTrainingRuntime":
            tree["metadata"]["namespace"] = namespace
    file.write_text(yaml.safe_dump_all(documents))
    return next(str(tree["metadata"]["name"]) for tree in documents if tree["kind"] == "TrainJob")


def _applied(cluster: Cluster, *command: str) -> list[Tree]:
    """Apply the output of a trainc command as a user does: through a pipe."""
    done = run(*command)
    assert done.code == 0, done.err
    applied = cluster.kubectl("apply", "--filename=-", stdin=done.out)
    assert applied.code == 0, applied.err
    return load(done.out)


def _running(cluster: Cluster, namespace: str, jobset: Tree) -> list[Tree] | None:
    """Return the pods of a JobSet, once all of them run."""
    wanted = sum(job["template"]["spec"]["parallelism"] for job in jobset["spec"]["replicatedJobs"])
    pods = [pod for pod in cluster.list("Pod", namespace) if pod["status"].get("phase") == "Running"]
    return pods if len(pods) >= wanted else None


def _names_of_jobset(jobset: Tree) -> Iterator[tuple[str, str]]:
    for replicated in jobset["spec"]["replicatedJobs"]:
        yield from _references(replicated["template"]["spec"]["template"]["spec"])


def _references(spec: Tree) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of the ConfigMaps and Secrets without which a pod does not start."""
    for volume in spec.get("volumes", ()):
        if not volume.get("configMap", {}).get("optional", "configMap" not in volume):
            yield "ConfigMap", volume["configMap"]["name"]
        if not volume.get("secret", {}).get("optional", "secret" not in volume):
            yield "Secret", volume["secret"]["secretName"]
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        for variable in container.get("env", ()):
            for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                reference = variable.get("valueFrom", {}).get(key)
                if reference and not reference.get("optional"):
                    yield kind, reference["name"]
