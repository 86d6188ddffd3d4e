"""Gangs: the members, the resources, and the warnings for gangs that cannot start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from manifests import cluster_runtime, replicated_job, train_job, write_json
from running import run

import trainc

HEAD = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
ONE_CPU = {"requests": {"cpu": 1}}


def named_job(name: str, *, pod: Any = None, resources: Any = ONE_CPU, **fields: Any) -> dict[str, Any]:
    """Return a replicated job of one container with its name."""
    return replicated_job(name, {"name": name, "resources": resources}, pod=pod, **fields)


def gang(
    tmp_path: Path, *jobs: Any, trainer: Any = None, labels: Any = None, of_jobset: Any = None, **spec: Any
) -> str:
    """Write a file with a runtime of these jobs and a TrainJob for it: by default two nodes in a gang."""
    usual = {"mlPolicy": {"numNodes": 2, "torch": {}}, "podGroupPolicy": {"coscheduling": {}}}
    runtime = cluster_runtime(*jobs or [named_job("node")], jobset=of_jobset, **{**usual, **spec})
    return write_json(tmp_path, runtime, train_job(trainer or {}, metadata={"labels": labels or {}}))


def group(file: str) -> dict[str, Any]:
    compilation = trainc.compile([file])
    assert [d.message for d in compilation.diagnostics if d.severity == "error"] == []
    (found,) = (made["spec"] for made in compilation.objects if made["kind"] == "PodGroup")
    return dict(found)


@pytest.mark.parametrize(
    ("jobs", "trainer", "members", "resources"),
    [
        pytest.param([named_job("node")], {}, 2, {"cpu": "2"}, id="the runtime's nodes"),
        pytest.param([named_job("node")], {"numNodes": 3}, 3, {"cpu": "3"}, id="the TrainJob's"),
        pytest.param(
            [named_job("node"), named_job("ps")], {"numNodes": 0}, 1, {"cpu": "1"}, id="no nodes, but another job"
        ),
        pytest.param([named_job("node"), named_job("ps", replicas=4)], {}, 3, {"cpu": "3"}, id="replicas count once"),
        pytest.param(
            [named_job("node")], {"resourcesPerNode": {"requests": {"cpu": "1500m"}}}, 2, {"cpu": "3"}, id="resources"
        ),
        pytest.param([named_job("node", resources={"limits": {"cpu": 1}})], {}, 2, {}, id="only limits"),
        pytest.param(
            [named_job("node", pod={"overhead": {"cpu": "250m"}})], {}, 2, {"cpu": "2500m"}, id="with overhead"
        ),
    ],
)
def test_what_a_gang_needs(tmp_path: Path, jobs: Any, trainer: Any, members: int, resources: Any) -> None:
    found = group(gang(tmp_path, *jobs, trainer=trainer))
    assert (found["minMember"], found["minResources"]) == (members, resources)


@pytest.mark.parametrize(
    ("classes", "priority"),
    [
        pytest.param([None, None], None, id="not set"),
        pytest.param(["low", None], "low", id="the only one's"),
        pytest.param(["low", "high"], "high", id="the last one's"),
    ],
)
def test_the_priority(tmp_path: Path, classes: list[Any], priority: Any) -> None:
    pods = [{"priorityClassName": name} if name else {} for name in classes]
    jobs = [named_job(name, pod=pod) for name, pod in zip(("node", "b"), pods, strict=True)]
    found = group(gang(tmp_path, *jobs, podGroupPolicy={"volcano": {}}))
    assert found.get("priorityClassName") == priority


WAITS = {"dependsOn": [{"name": "fetch", "status": "Complete"}]}
IN_ORDER = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"jobs": [named_job("fetch"), named_job("node")]}, [], id="side by side"),
        pytest.param(
            {"jobs": [named_job("fetch"), named_job("node", **WAITS)]}, ["gang-waits-for-itself"], id="dependsOn"
        ),
        pytest.param(
            {"jobs": [named_job("fetch"), named_job("node", **WAITS)], "trainer": {"numNodes": 0}},
            [],
            id="no job waits",
        ),
        pytest.param(
            {"jobs": [named_job("fetch"), named_job("node", **WAITS)], "podGroupPolicy": None}, [], id="in no gang"
        ),
        pytest.param(
            {"jobs": [named_job("a"), named_job("node")], "of_jobset": IN_ORDER},
            ["gang-waits-for-itself"],
            id="order",
        ),
        pytest.param({"of_jobset": IN_ORDER}, [], id="one job in order"),
        pytest.param({"jobs": [named_job("node", resources={})]}, ["gang-asks-for-nothing"], id="asks for nothing"),
        pytest.param(
            {"jobs": [named_job("node", resources={"requests": {"cpu": 0}})]}, ["gang-asks-for-nothing"], id="a zero"
        ),
        pytest.param(
            {"jobs": [named_job("node", resources={}, pod={"resources": ONE_CPU})]}, [], id="the pod as a whole asks"
        ),
    ],
)
def test_warnings_for_a_gang(tmp_path: Path, file: dict[str, Any], expected: list[str]) -> None:
    jobs = file.pop("jobs", [])
    diagnostics = trainc.compile([gang(tmp_path, *jobs, **file)]).diagnostics
    assert [(d.id, d.severity) for d in diagnostics] == [(id, "warning") for id in expected]


ELASTIC: Any = {"numNodes": 4, "torch": {"elasticPolicy": {}}}
ELASTIC_FROM_TWO: Any = {"numNodes": 4, "torch": {"elasticPolicy": {"minNodes": 2}}}
QUEUED = {"kueue.x-k8s.io/queue-name": "q"}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param({"podGroupPolicy": None}, 1, id="two nodes"),
        pytest.param({"podGroupPolicy": {}}, 1, id="an empty policy"),
        pytest.param({}, 0, id="in a gang"),
        pytest.param({"podGroupPolicy": None, "trainer": {"numNodes": 1}}, 0, id="one node"),
        pytest.param({"podGroupPolicy": None, "mlPolicy": {"numNodes": 2}}, 0, id="nodes without rendezvous"),
        pytest.param({"podGroupPolicy": None, "mlPolicy": ELASTIC}, 0, id="one of the nodes is enough"),
        pytest.param({"podGroupPolicy": None, "mlPolicy": ELASTIC_FROM_TWO}, 1, id="two of the nodes are enough"),
        pytest.param({"podGroupPolicy": None, "labels": QUEUED}, 0, id="Kueue admits it as a whole"),
    ],
)
def test_a_note_that_there_is_no_gang(tmp_path: Path, file: dict[str, Any], expected: int) -> None:
    path = gang(tmp_path, **file)
    checked = run("validate", path)
    assert (checked.code, checked.out.count("warning[no-gang]")) == (0, expected)
    assert "no-gang" not in run("build", path).err


def test_one_note_for_all_jobs_of_a_runtime(tmp_path: Path) -> None:
    jobs = [
        {
            **HEAD,
            "kind": "TrainJob",
            "metadata": {"name": name},
            "spec": {"runtimeRef": {"name": runtime}, "trainer": {}},
        }
        for name, runtime in (("a", "r"), ("b", "r"), ("c", "r"))
    ]
    path = Path(gang(tmp_path, podGroupPolicy=None))
    path.write_text("\n".join([path.read_text(), *map(json.dumps, jobs)]))
    report = run("validate", str(path)).out
    assert report.count("warning[no-gang]") == 1
    assert 'TrainJob "a" has 2 nodes that must start together' in report
    assert "may place only some of them (and 3 more TrainJobs)" in report
