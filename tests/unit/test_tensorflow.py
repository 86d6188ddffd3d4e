"""TensorFlow: the tasks of the cluster, TF_CONFIG after the kubelet's expansion, and tasks without an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, replicated_job
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc import Result
from trainc.base.releases import RELEASES, TrainerRelease

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def with_sidecar(name: str, *, trainer: bool = False, pods: int = 1, env: Any = None, **fields: Any) -> dict[str, Any]:
    first = {"initContainers": [{"name": "first", "image": "i:1"}]}
    containers = {"env": env or []}, {"name": "side"}
    return replicated_job(name, *containers, trainer=trainer, pod=first, job={"parallelism": pods}, **fields)


WORKER = with_sidecar("node", trainer=True)


def on_tensorflow(
    tmp_path: Path, jobs: Any, policy: Any = None, trainer: Any = None, release: str | None = None
) -> Result:
    return compiled(tmp_path, jobs, trainer, release=release, mlPolicy={"tensorflow": policy or {}})


def configs(compilation: Result, index: int = 0) -> dict[str, Any]:
    """Return TF_CONFIG of the pods with that index by job; it is the same in all containers."""
    assert [d.message for d in compilation.diagnostics] == []
    read: dict[str, Any] = {}
    for job in compilation.objects[0]["spec"]["replicatedJobs"]:
        pod = job["template"]["spec"]["template"]["spec"]
        seen = [expanded(container.get("env", []), index).get("TF_CONFIG") for container in pod["containers"]]
        assert len(set(seen)) == 1
        assert "env" not in pod["initContainers"][0]
        read[job["name"]] = seen[0] and json.loads(seen[0])
    return read


def expanded(env: list[Any], index: int) -> dict[str, str]:
    """Expand variables as the kubelet does: a reference is to an earlier variable."""
    known: dict[str, str] = {}
    for variable in env:
        text = variable.get("value", str(index) if "valueFrom" in variable else "")
        for name, value in known.items():
            text = text.replace(f"$({name})", value)
        known[variable["name"]] = text
    return known


def hosts(job: str, count: int, port: int = 2222) -> list[str]:
    return [f"j-{job}-0-{pod}.j:{port}" for pod in range(count)]


@pytest.mark.parametrize(
    ("jobs", "policy", "nodes", "cluster"),
    [
        pytest.param([WORKER], {}, 3, {"worker": hosts("node", 3)}, id="workers"),
        pytest.param([WORKER], {"port": 80}, 2, {"worker": hosts("node", 2, 80)}, id="another port"),
        pytest.param(
            [WORKER, with_sidecar("ps", pods=2), with_sidecar("chief"), with_sidecar("evaluator")],
            {},
            1,
            {
                "chief": hosts("chief", 1),
                "evaluator": hosts("evaluator", 1),
                "ps": hosts("ps", 2),
                "worker": hosts("node", 1),
            },
            id="roles by their names",
        ),
        pytest.param(
            [WORKER, with_sidecar("server"), with_sidecar("other")],
            {"roles": {"ps": "server"}},
            1,
            {"ps": hosts("server", 1), "worker": hosts("node", 1)},
            id="a role by another name",
        ),
        pytest.param(
            [with_sidecar("chief", trainer=True), with_sidecar("worker", pods=2)],
            {},
            1,
            {"chief": hosts("chief", 1), "worker": hosts("worker", 2)},
            id="the trainer has another role by its name",
        ),
        pytest.param(
            [WORKER, with_sidecar("helper", pods=2)],
            {"roles": {"chief": "node", "worker": "helper"}},
            1,
            {"chief": hosts("node", 1), "worker": hosts("helper", 2)},
            id="the trainer is given another role",
        ),
        pytest.param(
            [with_sidecar("worker", trainer=True), with_sidecar("ps", replicas=2)],
            {},
            1,
            {"ps": ["j-ps-0-0.j:2222", "j-ps-1-0.j:2222"], "worker": hosts("worker", 1)},
            id="replicas of one pod",
        ),
    ],
)
def test_the_cluster(tmp_path: Path, jobs: Any, policy: Any, nodes: int, cluster: Any) -> None:
    read = configs(on_tensorflow(tmp_path, jobs, policy, {"numNodes": nodes}), 1)
    clusters = [(config["cluster"], config["task"]["index"]) for config in read.values() if config]
    assert clusters == [(cluster, 1)] * len(cluster)
    assert {config["task"]["type"] for config in read.values() if config} == set(cluster)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_the_cluster_has_all_replicas_in_every_release(tmp_path: Path, release: TrainerRelease) -> None:
    jobs = [with_sidecar("worker", trainer=True), with_sidecar("ps", replicas=2)]
    jobset = on_tensorflow(tmp_path, jobs, release=release.name).objects[0]
    env = jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert '"ps":["j-ps-0-0.j:2222","j-ps-1-0.j:2222"]' in env[1]["value"]


@pytest.mark.parametrize(
    ("jobs", "policy"),
    [
        pytest.param([WORKER], {}, id="a single worker"),
        pytest.param([WORKER], {"dynamicWorkers": True}, id="a single worker, dynamic"),
        pytest.param([WORKER, with_sidecar("data", pods=3)], {}, id="beside a job without a role"),
    ],
)
def test_a_single_worker_has_no_variables(tmp_path: Path, jobs: Any, policy: Any) -> None:
    assert set(configs(on_tensorflow(tmp_path, jobs, policy)).values()) == {None}


def test_dynamic_workers_know_the_servers_and_themselves(tmp_path: Path) -> None:
    jobs = [WORKER, with_sidecar("ps", pods=2), with_sidecar("chief")]
    read = configs(on_tensorflow(tmp_path, jobs, {"dynamicWorkers": True}, {"numNodes": 3}), 1)
    assert read["node"] == {
        "cluster": {"worker": {"1": "j-node-0-1.j:2222"}, "ps": hosts("ps", 2)},
        "task": {"type": "worker", "index": 1},
    }
    assert read["ps"]["cluster"] == {"ps": {"1": "j-ps-0-1.j:2222"}}
    assert set(read["chief"]["cluster"]) == {"chief", "ps"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        pytest.param({"pods": 2}, INDEX, id="in the Job"),
        pytest.param({"replicas": 2}, "metadata.labels['jobset.sigs.k8s.io/job-index']", id="among the replicas"),
    ],
)
def test_where_the_index_comes_from(tmp_path: Path, fields: Any, path: str) -> None:
    jobset = on_tensorflow(tmp_path, [WORKER, with_sidecar("ps", **fields)]).objects[0]
    pod = jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] == path


@pytest.mark.parametrize(
    "env",
    [
        pytest.param([{"name": "TF_CONFIG", "value": "{}"}], id="the config"),
        pytest.param([{"name": "TF_CONFIG", "value": "{}"}, {"name": "TF_TASK_INDEX", "value": "7"}], id="both"),
    ],
)
def test_the_index_comes_first_whatever_the_runtime_sets(tmp_path: Path, env: Any) -> None:
    jobs = [with_sidecar("node", trainer=True, env=[*env, {"name": "OWN", "value": "o"}])]
    jobset = on_tensorflow(tmp_path, jobs, None, {"numNodes": 2}).objects[0]
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert [v["name"] for v in pod["containers"][0]["env"]] == ["OWN", "TF_TASK_INDEX", "TF_CONFIG"]


@pytest.mark.parametrize(
    ("jobs", "policy", "trainer", "ids"),
    [
        pytest.param([WORKER], {"roles": {"ps": "no"}}, {}, ["tensorflow-roles"], id="no such job"),
        pytest.param([WORKER], {"roles": {"chief": "node", "worker": "node"}}, {}, ["tensorflow-roles"] * 2, id="two"),
        pytest.param([WORKER], {"roles": {"chief": "node"}}, {}, [], id="the trainer is the chief"),
        pytest.param([WORKER, with_sidecar("ps", replicas=2, pods=2)], {}, {}, ["tensorflow-replicas"], id="no index"),
        pytest.param([WORKER, with_sidecar("data", replicas=2, pods=2)], {}, {}, [], id="needs no index"),
        pytest.param([WORKER], {"roles": {"master": "node"}}, {}, ["unknown-field"], id="an unknown role"),
        pytest.param([WORKER], {"port": 0}, {}, ["out-of-range"], id="no port"),
        pytest.param([WORKER], {}, {"env": [{"name": "TF_CONFIG", "value": "{}"}]}, ["reserved-env"], id="reserved"),
    ],
)
def test_diagnostics(
    tmp_path: Path, jobs: Any, policy: Any, trainer: Any, ids: list[str], snapshot: SnapshotAssertion
) -> None:
    found = on_tensorflow(tmp_path, jobs, policy, trainer).diagnostics
    assert [d.id for d in found] == ids
    assert not ids or texts(found) == snapshot
