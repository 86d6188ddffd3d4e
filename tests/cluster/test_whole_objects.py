"""`kubectl apply` does what the review of a changed TrainJob says about each object and each field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.server import Cluster, load, stream
from running import run

from trainc.kubernetes.trees import get

Tree = dict[str, Any]
APPLIED = frozenset({"in-place", "ahead"})
"""The effects of changes that the API server stores while the job runs."""


def labelled_job(namespace: str, runtime: str, labels: Tree, **trainer: Any) -> Tree:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a", "namespace": namespace, "labels": labels},
        "spec": {"runtimeRef": {"name": runtime}, "trainer": {"numNodes": 2, "image": "acme/ft:1"} | trainer},
    }


@pytest.mark.parametrize(
    ("runtime", "labels", "trainer", "expected"),
    [
        pytest.param("torch-distributed", {"x": "a"}, {}, {"JobSet": "in-place"}, id="a label"),
        pytest.param(
            "torch-distributed", {"x": "a"}, {"image": "acme/ft:2"}, {"JobSet": "new-object"}, id="a label and an image"
        ),
        pytest.param(
            "openmpi-distributed",
            {"x": "a"},
            {"numNodes": 4},
            {"JobSet": "new-object", "ConfigMap": "ahead"},
            id="the nodes of MPI",
        ),
    ],
)
def test_an_apply_does_what_the_review_says(
    cluster: Cluster,
    counted: Callable[[str, int], None],
    tmp_path: Path,
    runtime: str,
    labels: Tree,
    trainer: Tree,
    expected: dict[str, str],
) -> None:
    namespace = cluster.namespace("review")
    files = [tmp_path / "old.yaml", tmp_path / "new.yaml"]
    jobs = labelled_job(namespace, runtime, {"x": "z"}), labelled_job(namespace, runtime, labels, **trainer)
    sides = []
    for file, tree in zip(files, jobs, strict=True):
        file.write_text(yaml.safe_dump(tree))
        sides.append(load(run("build", str(file)).out))
    reviewed = json.loads(run("diff", *map(str, files), "--format", "json").out)
    assert {each["kind"]: each["effect"] for each in reviewed["objects"]} == expected

    assert cluster.kubectl("apply", "--filename=-", stdin=stream(sides[0])).code == 0
    done = cluster.kubectl("apply", "--filename=-", stdin=stream(sides[1]))
    assert (done.code == 0) is all(each["allowed"] for each in reviewed["objects"])
    checked = 0
    for each in reviewed["objects"]:
        stored = cluster.get(each["kind"], namespace, each["name"])
        for change in each["changes"]:
            path = tuple(int(step) if step.isdigit() else step for step in change["path"].split("/")[1:])
            value = change["new" if change["effect"] in APPLIED else "old"]
            assert get(stored, path) == value, change
            checked += 1
    counted("changes of applied TrainJobs, as the review says", checked)


def test_what_kubectl_prints_is_what_was_applied(cluster: Cluster, tmp_path: Path) -> None:
    namespace = cluster.namespace("live")
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(labelled_job(namespace, "torch-distributed", {"x": "a"})))
    rendered = tmp_path / "rendered.yaml"
    rendered.write_text(run("build", str(tmp_path / "a.yaml")).out)
    assert cluster.kubectl("apply", "--filename", str(rendered)).code == 0
    live = cluster.kubectl("get", "jobset", "--namespace", namespace, "--output=yaml", "--show-managed-fields")
    done = run("diff", "-", str(rendered), stdin=live.out.encode())
    assert done.out == f"- -> {rendered}\nnothing changes: 1 object is unchanged\n", done.out + done.err
