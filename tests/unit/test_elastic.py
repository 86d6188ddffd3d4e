"""Elastic torch: the number of nodes, the variables of torchrun, and invalid policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, replicated_job

from trainc import Result

ONE_CPU = {"resources": {"requests": {"cpu": 1}}}


def on_torch(tmp_path: Path, policy: Any, trainer: Any = None, nodes: Any = None, **spec: Any) -> Result:
    """Compile a TrainJob on a runtime with this elastic policy, a trainer, and a job of three pods."""
    jobs = [
        replicated_job("node", ONE_CPU),
        replicated_job("data", {"name": "data", **ONE_CPU}, job={"parallelism": 3}),
    ]
    ml_policy = {"torch": {"elasticPolicy": policy}} | ({} if nodes is None else {"numNodes": nodes})
    return compiled(tmp_path, jobs, trainer, mlPolicy=ml_policy, **spec)


def trainer_pods(
    tmp_path: Path, policy: Any, trainer: Any = None, nodes: Any = None
) -> tuple[int, list[tuple[str, str]]]:
    """Return the number of trainer pods, and their variables."""
    compilation = on_torch(tmp_path, policy, trainer, nodes)
    assert [d.message for d in compilation.diagnostics if d.severity == "error"] == []
    job = compilation.objects[0]["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert (job["completions"], job["completionMode"]) == (job["parallelism"], "Indexed")
    (container,) = job["template"]["spec"]["containers"]
    return job["parallelism"], [(variable["name"], variable["value"]) for variable in container["env"]]


@pytest.mark.parametrize(
    ("policy", "asked", "nodes", "pods", "bounds"),
    [
        pytest.param({}, None, None, 1, "1:1", id="nothing is set"),
        pytest.param({}, None, 3, 3, "1:3", id="the runtime's nodes"),
        pytest.param({}, 4, 3, 4, "1:4", id="the TrainJob's nodes"),
        pytest.param({"maxNodes": 5}, None, 3, 5, "1:5", id="as many as may train"),
        pytest.param({"maxNodes": 5}, 2, 3, 2, "1:5", id="fewer, to begin with"),
        pytest.param({"minNodes": 2}, None, 3, 3, "2:3", id="a least number"),
        pytest.param({"minNodes": 2, "maxNodes": 4}, 2, None, 2, "2:4", id="as few as may train"),
        pytest.param({"minReplicas": 2, "maxReplicas": 4}, None, None, 4, "2:4", id="in the words of PyTorchJob"),
        pytest.param({"minReplicas": 2, "maxNodes": 4}, None, None, 4, "2:4", id="in the words of both"),
        pytest.param({"minNodes": 2, "minReplicas": 2}, 3, None, 3, "2:3", id="twice the same"),
    ],
)
def test_counts(tmp_path: Path, policy: Any, asked: Any, nodes: Any, pods: int, bounds: str) -> None:
    running, variables = trainer_pods(tmp_path, policy, {} if asked is None else {"numNodes": asked}, nodes)
    assert (running, dict(variables)["PET_NNODES"]) == (pods, bounds)


@pytest.mark.parametrize(
    ("policy", "requested", "nodes", "message"),
    [
        pytest.param(
            {"minNodes": 3, "maxNodes": 2},
            None,
            None,
            "the minimum of 3 nodes exceeds the maximum of 2",
            id="upside down",
        ),
        pytest.param(
            {"minNodes": 2}, None, None, "the minimum of 2 nodes exceeds the maximum of 1", id="no greatest number"
        ),
        pytest.param({}, None, 0, "the minimum of 1 nodes exceeds the maximum of 0", id="no nodes"),
        pytest.param(
            {"minNodes": 2, "maxNodes": 4}, 1, None, 'numNodes must be from 2 to 4 for runtime "r", not 1', id="few"
        ),
        pytest.param(
            {"minNodes": 2, "maxNodes": 4}, 5, None, 'numNodes must be from 2 to 4 for runtime "r", not 5', id="many"
        ),
        pytest.param(
            {"minNodes": 2, "minReplicas": 1},
            3,
            None,
            "minNodes is 2 and minReplicas is 1, but they are two names of the same bound",
            id="twice, differently",
        ),
    ],
)
def test_counts_that_contradict(tmp_path: Path, policy: Any, requested: Any, nodes: Any, message: str) -> None:
    found = on_torch(tmp_path, policy, {} if requested is None else {"numNodes": requested}, nodes).diagnostics
    assert [(d.id, d.message) for d in found] == [("elastic-nodes", message)]


USUAL = {
    "PET_RDZV_ENDPOINT": "j-node-0-0.j:29500",
    "PET_RDZV_BACKEND": "c10d",
    "PET_NNODES": "1:1",
    "PET_NPROC_PER_NODE": "1",
}


@pytest.mark.parametrize(
    ("policy", "trainer", "differs"),
    [
        pytest.param({}, {}, {}, id="nothing but defaults"),
        pytest.param({"rdzvPort": 23456}, {}, {"PET_RDZV_ENDPOINT": "j-node-0-0.j:23456"}, id="port"),
        pytest.param(
            {"rdzvBackend": "etcd-v2", "rdzvHost": "etcd", "rdzvPort": 2379},
            {},
            {"PET_RDZV_BACKEND": "etcd-v2", "PET_RDZV_ENDPOINT": "etcd:2379"},
            id="a server",
        ),
        pytest.param({"maxRestarts": 0}, {}, {"PET_MAX_RESTARTS": "0"}, id="restarts"),
        pytest.param({"nProcPerNode": 4}, {}, {"PET_NPROC_PER_NODE": "4"}, id="processes"),
        pytest.param({"nProcPerNode": 4}, {"numProcPerNode": 2}, {"PET_NPROC_PER_NODE": "2"}, id="the TrainJob's"),
        pytest.param(
            {}, {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}, {"PET_NPROC_PER_NODE": "auto"}, id="one a GPU"
        ),
        pytest.param({"rdzvId": "a"}, {}, {"PET_RDZV_ID": "a"}, id="id"),
        pytest.param(
            {"rdzvConf": [{"key": "b", "value": "2"}, {"key": "a", "value": "x=y"}]},
            {},
            {"PET_RDZV_CONF": "b=2,a=x=y"},
            id="options, in their order",
        ),
        pytest.param({"rdzvConf": []}, {}, {}, id="no options"),
        pytest.param({"standalone": True}, {}, {"PET_STANDALONE": "1"}, id="standalone, a number"),
        pytest.param({"standalone": False}, {}, {}, id="not standalone"),
        pytest.param({}, {"env": [{"name": "PET_RDZV_ID", "value": "m"}]}, {"PET_RDZV_ID": "m"}, id="of the TrainJob"),
    ],
)
def test_variables(tmp_path: Path, policy: Any, trainer: Any, differs: Any) -> None:
    assert dict(trainer_pods(tmp_path, policy, trainer)[1]) == USUAL | differs


def test_the_order_of_the_variables(tmp_path: Path) -> None:
    everything = {
        "standalone": True,
        "rdzvConf": [{"key": "a", "value": "b"}],
        "rdzvId": "i",
        "nProcPerNode": 1,
        "maxRestarts": 1,
        "maxNodes": 1,
    }
    assert [name for name, _ in trainer_pods(tmp_path, everything)[1]] == [
        "PET_RDZV_ENDPOINT",
        "PET_RDZV_BACKEND",
        "PET_NNODES",
        "PET_MAX_RESTARTS",
        "PET_NPROC_PER_NODE",
        "PET_RDZV_ID",
        "PET_RDZV_CONF",
        "PET_STANDALONE",
    ]


@pytest.mark.parametrize(
    ("policy", "ports"),
    [
        pytest.param({}, [29500], id="here"),
        pytest.param({"rdzvPort": 1234}, [1234], id="here, by another port"),
        pytest.param({"rdzvHost": "etcd", "rdzvPort": 2379}, [], id="elsewhere"),
    ],
)
def test_the_port_that_is_opened(tmp_path: Path, policy: Any, ports: list[int]) -> None:
    jobset = on_torch(tmp_path, policy).objects[0]
    container = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert [port["containerPort"] for port in container.get("ports", [])] == ports


@pytest.mark.parametrize(
    ("policy", "asked", "members", "cpu"),
    [
        pytest.param({"minNodes": 2, "maxNodes": 6}, None, 5, "5", id="the least, and the other job"),
        pytest.param({"minNodes": 2, "maxNodes": 6}, 4, 5, "5", id="whatever the TrainJob asks for"),
        pytest.param({}, 4, 4, "4", id="one is enough"),
    ],
)
def test_a_gang_is_what_can_start(tmp_path: Path, policy: Any, asked: Any, members: int, cpu: str) -> None:
    trainer = {} if asked is None else {"numNodes": asked}
    compilation = on_torch(tmp_path, policy, trainer, podGroupPolicy={"coscheduling": {}})
    (group,) = (found["spec"] for found in compilation.objects if found["kind"] == "PodGroup")
    assert (group["minMember"], group["minResources"]) == (members, {"cpu": cpu})


@pytest.mark.parametrize(
    ("policy", "trainer", "ids"),
    [
        pytest.param({"metrics": []}, {}, ["elastic-metrics"], id="metrics, be they none"),
        pytest.param({"rdzvConf": [{"key": "a", "value": "1,2"}]}, {}, ["elastic-rdzv-conf"], id="a comma"),
        pytest.param({"rdzvConf": [{"key": "a", "value": " "}]}, {}, ["elastic-rdzv-conf"], id="no value"),
        pytest.param({"rdzvConf": [{"key": "a=b", "value": "1"}]}, {}, ["elastic-rdzv-conf"], id="a key with ="),
        pytest.param({"rdzvBackend": "static"}, {}, ["elastic-backend"], id="static"),
        pytest.param({"rdzvBackend": "etcd"}, {}, ["elastic-backend"], id="a server without host"),
        pytest.param({"rdzvBackend": "ours"}, {}, [], id="a plug-in's backend"),
        pytest.param({"standalone": True}, {"numNodes": 1}, [], id="one node"),
        pytest.param({"standalone": True}, {"numNodes": 2}, ["elastic-standalone"], id="two nodes"),
        pytest.param({"minNodes": 0}, {}, ["out-of-range"], id="no node at all"),
        pytest.param({"maxnodes": 2}, {}, ["unknown-field"], id="a misspelt field"),
        pytest.param({}, {"env": [{"name": "PET_NNODES", "value": "2"}]}, ["reserved-env"], id="torch's own variable"),
    ],
)
def test_diagnostics(tmp_path: Path, policy: Any, trainer: Any, ids: list[str]) -> None:
    assert [d.id for d in on_torch(tmp_path, policy, trainer).diagnostics] == ids


def test_torchtune_needs_a_number_that_stays(tmp_path: Path) -> None:
    found = on_torch(tmp_path, {}, {"command": ["tune", "run"]}).diagnostics
    assert "elastic-torchtune" in [d.id for d in found]
