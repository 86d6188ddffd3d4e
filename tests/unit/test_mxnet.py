"""MXNet: the roles of the jobs, the variables of each pod, and invalid combinations of roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, replicated_job
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc

INDEX = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}


def with_sidecar(
    name: str, *, trainer: bool = False, replicas: int = 1, pods: int = 1, **container: Any
) -> dict[str, Any]:
    """Return a replicated job with its container `node`, and a sidecar."""
    job = {"parallelism": pods}
    return replicated_job(name, container, {"name": "sidecar"}, trainer=trainer, job=job, replicas=replicas)


SCHEDULER, SERVER, NODE = with_sidecar("scheduler"), with_sidecar("server"), with_sidecar("node", trainer=True)
CAST = (SCHEDULER, SERVER, NODE)


def on_mxnet(
    tmp_path: Path, mxnet: Any = None, jobs: Any = CAST, trainer: Any = None, numbers: Any = None, **jobset: Any
) -> trainc.Result:
    return compiled(tmp_path, jobs, trainer, jobset=jobset, mlPolicy={"mxnet": mxnet or {}, **(numbers or {})})


def job_variables(compilation: trainc.Result) -> dict[str, dict[str, Any]]:
    """Return the variables of the first container by job."""
    assert compilation.diagnostics == ()
    return {
        job["name"]: {
            variable["name"]: variable.get("value", variable.get("valueFrom"))
            for variable in job["template"]["spec"]["template"]["spec"]["containers"][0].get("env", [])
        }
        for job in compilation.objects[0]["spec"]["replicatedJobs"]
    }


def shared(servers: int = 1, workers: int = 1, host: str = "j-scheduler-0-0.j", port: int = 9091) -> dict[str, str]:
    """Return the variables that all pods have."""
    return {
        "DMLC_PS_ROOT_URI": host,
        "DMLC_PS_ROOT_PORT": str(port),
        "DMLC_NUM_SERVER": str(servers),
        "DMLC_NUM_WORKER": str(workers),
    }


def test_each_pod_has_its_role_and_the_endpoint(tmp_path: Path) -> None:
    found = job_variables(on_mxnet(tmp_path, trainer={"numNodes": 3}))
    known = {**shared(workers=3), "DMLC_USE_KUBERNETES": "1"}
    assert found == {
        "scheduler": known | {"DMLC_ROLE": "scheduler"},
        "server": known | {"DMLC_ROLE": "server"},
        "node": known | {"DMLC_ROLE": "worker", "DMLC_WORKER_ID": INDEX},
    }
    assert list(found["node"]) == [
        "DMLC_PS_ROOT_URI",
        "DMLC_PS_ROOT_PORT",
        "DMLC_NUM_SERVER",
        "DMLC_NUM_WORKER",
        "DMLC_ROLE",
        "DMLC_USE_KUBERNETES",
        "DMLC_WORKER_ID",
    ]


def test_every_container_has_variables_and_the_scheduler_a_port(tmp_path: Path) -> None:
    compilation = on_mxnet(tmp_path, {"port": 7000})
    pods = [job["template"]["spec"]["template"]["spec"] for job in compilation.objects[0]["spec"]["replicatedJobs"]]
    assert all(pod["containers"][0]["env"] == pod["containers"][1]["env"] for pod in pods)
    ports = [[container.get("ports") for container in pod["containers"]] for pod in pods]
    assert ports == [[[{"containerPort": 7000, "protocol": "TCP"}], None], [None, None], [None, None]]


def test_the_runtimes_variables_of_these_names_are_replaced_and_the_trainjobs_come_last(tmp_path: Path) -> None:
    mine = with_sidecar("node", trainer=True, env=[{"name": "DMLC_ROLE", "value": "x"}, {"name": "A", "value": "1"}])
    found = job_variables(
        on_mxnet(tmp_path, jobs=[SCHEDULER, SERVER, mine], trainer={"env": [{"name": "B", "value": "2"}]})
    )
    assert list(found["node"])[:3] == ["DMLC_ROLE", "A", "DMLC_PS_ROOT_URI"]
    assert found["node"]["DMLC_ROLE"] == "worker"
    assert list(found["node"])[-1] == "B"
    assert "B" not in found["server"]


@pytest.mark.parametrize(
    ("mxnet", "jobs", "template", "expected"),
    [
        pytest.param({"mode": "dist", "port": 8888}, CAST, {}, shared(port=8888), id="port"),
        pytest.param(
            {}, CAST, {"network": {"subdomain": "s"}}, shared(host="j-scheduler-0-0.s"), id="in the subdomain"
        ),
        pytest.param({}, [SCHEDULER, with_sidecar("server", pods=4), NODE], {}, shared(servers=4), id="servers"),
        pytest.param(
            {},
            [SCHEDULER, with_sidecar("server", replicas=2, pods=3), NODE],
            {},
            shared(servers=6),
            id="in all replicas",
        ),
        pytest.param(
            {"roles": {"scheduler": "boss", "server": "shelf"}},
            [with_sidecar("boss"), with_sidecar("shelf"), NODE],
            {},
            shared(host="j-boss-0-0.j"),
            id="jobs of other names",
        ),
    ],
)
def test_the_cluster(tmp_path: Path, mxnet: Any, jobs: Any, template: Any, expected: dict[str, str]) -> None:
    for variables in job_variables(on_mxnet(tmp_path, mxnet, jobs, **template)).values():
        assert {name: variables[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("roles", "jobs", "nodes", "worker", "workers"),
    [
        pytest.param({}, CAST, 2, "node", "2", id="the trainer, whatever it is called"),
        pytest.param({}, [*CAST, with_sidecar("worker", pods=5)], 2, "node", "2", id="even beside a worker"),
        pytest.param(
            {"worker": "worker"}, [*CAST, with_sidecar("worker", pods=5)], 2, "worker", "5", id="unless it is set"
        ),
        pytest.param(
            {},
            [with_sidecar("scheduler", trainer=True), SERVER, with_sidecar("worker", pods=5)],
            1,
            "worker",
            "5",
            id="not a trainer that schedules",
        ),
        pytest.param({}, [SCHEDULER, SERVER, with_sidecar("worker", pods=3)], 2, "worker", "3", id="without a trainer"),
    ],
)
def test_who_works(tmp_path: Path, roles: Any, jobs: Any, nodes: int, worker: str, workers: str) -> None:
    found = job_variables(on_mxnet(tmp_path, {"roles": roles}, jobs, {"numNodes": nodes}))
    assert [name for name, variables in found.items() if variables.get("DMLC_ROLE") == "worker"] == [worker]
    assert {variables["DMLC_NUM_WORKER"] for variables in found.values() if variables} == {workers}


def test_a_single_worker_has_no_variables_and_nothing_is_reserved(tmp_path: Path) -> None:
    trainer = {"env": [{"name": "DMLC_ROLE", "value": "worker"}]}
    assert job_variables(on_mxnet(tmp_path, {"mode": "local"}, [NODE], trainer)) == {"node": {"DMLC_ROLE": "worker"}}


@pytest.mark.parametrize(
    "name",
    ["DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_SERVER", "DMLC_NUM_WORKER", "DMLC_ROLE", "DMLC_WORKER_ID"],
)
def test_the_variables_are_reserved(tmp_path: Path, name: str) -> None:
    diagnostics = on_mxnet(tmp_path, trainer={"env": [{"name": name, "value": "1"}]}).diagnostics
    assert [(d.id, d.field) for d in diagnostics] == [("reserved-env", "spec.trainer.env[0]")]


@pytest.mark.parametrize(
    ("mxnet", "jobs", "trainer", "expected"),
    [
        pytest.param(
            {},
            [SERVER, NODE],
            {},
            ["mode dist requires a scheduler, but no job of the runtime is the scheduler"],
            id="scheduler",
        ),
        pytest.param(
            {},
            [SCHEDULER, NODE],
            {},
            ["mode dist requires a server, but no job of the runtime is the server"],
            id="server",
        ),
        pytest.param(
            {},
            [SCHEDULER, SERVER],
            {},
            ["mode dist requires a worker, but no job of the runtime is the worker"],
            id="worker",
        ),
        pytest.param(
            {"roles": {"server": "shelf"}},
            CAST,
            {},
            ['the server is job "shelf", which the runtime does not have'],
            id="a role of an unknown job",
        ),
        pytest.param(
            {"roles": {"worker": "server"}},
            CAST,
            {},
            ['job "server" is both the server and the worker'],
            id="two roles of one",
        ),
        pytest.param(
            {"mode": "local"},
            CAST,
            {},
            [
                'mode local allows only a worker, but job "scheduler" is a scheduler',
                'mode local allows only a worker, but job "server" is a server',
            ],
            id="company in local",
        ),
        pytest.param(
            {},
            [with_sidecar("scheduler", pods=2), SERVER, NODE],
            {},
            ['job "scheduler" runs 2 schedulers, but MXNet requires exactly one'],
            id="two schedulers",
        ),
        pytest.param(
            {},
            [with_sidecar("scheduler", replicas=3), SERVER, NODE],
            {},
            ['job "scheduler" runs 3 schedulers, but MXNet requires exactly one'],
            id="in replicas",
        ),
        pytest.param(
            {},
            CAST,
            {"numNodes": 0},
            ['job "node" runs no worker, so the other pods would wait forever'],
            id="no worker",
        ),
        pytest.param(
            {"roles": {"worker": "worker"}},
            [*CAST, with_sidecar("worker", replicas=2)],
            {},
            ['job "worker" has 2 replicas, and the worker ids of each start from 0'],
            id="workers of one number",
        ),
        pytest.param(
            {"mode": "local"},
            [NODE],
            {"numNodes": 2},
            ["mode local allows 1 worker, but there are 2: each would train separately"],
            id="two workers",
        ),
        pytest.param({"mode": "local"}, [NODE], {"numNodes": 1}, [], id="one worker"),
        pytest.param({"mode": "dist"}, CAST, {"numNodes": 9}, [], id="all there"),
    ],
)
def test_roles(
    tmp_path: Path, mxnet: Any, jobs: Any, trainer: Any, expected: list[str], snapshot: SnapshotAssertion
) -> None:
    found = [d for d in on_mxnet(tmp_path, mxnet, jobs, trainer).diagnostics if d.id != "node-count"]
    assert [d.message for d in found] == expected
    assert not expected or texts(found) == snapshot


@pytest.mark.parametrize(
    ("mode", "jobs", "trainer", "numbers", "place"),
    [
        pytest.param("local", [NODE], {"numNodes": 2}, {}, ("spec", "trainer", "numNodes"), id="the TrainJob's count"),
        pytest.param("local", [NODE], {}, {"numNodes": 2}, ("spec", "mlPolicy", "numNodes"), id="the runtime's"),
        pytest.param(
            "dist",
            [with_sidecar("scheduler", pods=2), SERVER, NODE],
            {},
            {},
            ("spec", "mlPolicy", "mxnet"),
            id="a job's own",
        ),
    ],
)
def test_where_pods_are_counted(tmp_path: Path, mode: str, jobs: Any, trainer: Any, numbers: Any, place: Any) -> None:
    (diagnostic,) = on_mxnet(tmp_path, {"mode": mode}, jobs, trainer, numbers).diagnostics
    assert diagnostic.id == "mxnet-pods"
    assert isinstance(diagnostic.place, trainc.diagnostics.Place)
    assert diagnostic.place.path == place


@pytest.mark.parametrize(
    ("mxnet", "expected"),
    [
        pytest.param({"mode": "both"}, "enum", id="mode"),
        pytest.param({"port": 0}, "out-of-range", id="port"),
        pytest.param({"roles": {"judge": "x"}}, "unknown-field", id="role"),
    ],
)
def test_the_schema(tmp_path: Path, mxnet: Any, expected: str) -> None:
    assert expected in [d.id for d in on_mxnet(tmp_path, mxnet).diagnostics]
