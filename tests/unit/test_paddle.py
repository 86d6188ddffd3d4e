"""PaddlePaddle: the variables of each node, and those of the user that stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, pods_of, replicated_job

import trainc

INDEX = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
COLLECTIVE = [
    ("PYTHONUNBUFFERED", "1"),
    ("PADDLE_JOB_ID", "j"),
    ("PADDLE_NNODES", "2"),
    ("PADDLE_MASTER", "j-workers-0-0.j:36543"),
    ("PADDLE_RANK", INDEX),
]
HOST = ("POD_IP", "j-workers-0-$(PADDLE_RANK).j")


def on_paddle(tmp_path: Path, trainer: Any = None, paddle: Any = None, env: Any = (), **jobset: Any) -> trainc.Result:
    """Compile a TrainJob of two nodes on a runtime with the job `workers`, which has a sidecar."""
    job = replicated_job("workers", {"env": env}, {"name": "sidecar"}, trainer=True)
    return compiled(tmp_path, job, trainer, jobset=jobset, mlPolicy={"numNodes": 2, "paddle": paddle or {}})


def containers(compilation: trainc.Result) -> list[dict[str, Any]]:
    assert compilation.diagnostics == ()
    return list(pods_of(compilation)["workers"]["containers"])


def variables_of(container: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(variable["name"], variable.get("value", variable.get("valueFrom"))) for variable in container["env"]]


def env(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": text} for name, text in pairs]


def test_a_node_has_all_variables_and_a_sidecar_those_of_the_cluster(tmp_path: Path) -> None:
    node, sidecar = containers(on_paddle(tmp_path))
    assert variables_of(node) == [*COLLECTIVE, HOST]
    assert variables_of(sidecar) == COLLECTIVE
    assert node["ports"] == [{"containerPort": 36543, "protocol": "TCP"}]
    assert "ports" not in sidecar


def test_the_first_pods_name_is_the_one_in_the_masters_address(tmp_path: Path) -> None:
    found = dict(variables_of(containers(on_paddle(tmp_path))[0]))
    assert found["POD_IP"].replace("$(PADDLE_RANK)", "0") == found["PADDLE_MASTER"].partition(":")[0]


@pytest.mark.parametrize(
    ("trainer", "paddle", "template", "name", "text"),
    [
        pytest.param({"numNodes": 7}, {}, {}, "PADDLE_NNODES", "7", id="nodes"),
        pytest.param({}, {"port": 37000}, {}, "PADDLE_MASTER", "j-workers-0-0.j:37000", id="port"),
        pytest.param({}, {}, {"network": {"subdomain": "s"}}, "PADDLE_MASTER", "j-workers-0-0.s:36543", id="subdomain"),
        pytest.param(
            {}, {}, {"network": {"subdomain": "s"}}, "POD_IP", "j-workers-0-$(PADDLE_RANK).s", id="of each pod"
        ),
        pytest.param({"numProcPerNode": 4}, {}, {}, "PADDLE_NPROC_PER_NODE", "4", id="processes"),
        pytest.param(
            {"env": env(("PADDLE_NPROC_PER_NODE", "3"))}, {}, {}, "PADDLE_NPROC_PER_NODE", "3", id="by variable"
        ),
    ],
)
def test_settings(tmp_path: Path, trainer: Any, paddle: Any, template: Any, name: str, text: str) -> None:
    assert dict(variables_of(containers(on_paddle(tmp_path, trainer, paddle, **template))[0]))[name] == text


@pytest.mark.parametrize(
    ("of_runtime", "of_job", "expected"),
    [
        pytest.param([("A", "0")], [("B", "1")], [("A", "0"), *COLLECTIVE, HOST, ("B", "1")], id="before and after"),
        pytest.param(
            [("PYTHONUNBUFFERED", "")],
            [],
            [("PYTHONUNBUFFERED", None), *COLLECTIVE[1:], HOST],
            id="how Python writes is the runtime's",
        ),
        pytest.param(
            [], [("PYTHONUNBUFFERED", "0")], [("PYTHONUNBUFFERED", "0"), *COLLECTIVE[1:], HOST], id="or the TrainJob's"
        ),
        pytest.param(
            [("POD_IP", "x"), ("A", "0")], [], [("A", "0"), *COLLECTIVE, HOST], id="a host name after its rank"
        ),
    ],
)
def test_order(tmp_path: Path, of_runtime: Any, of_job: Any, expected: Any) -> None:
    node, _ = containers(on_paddle(tmp_path, {"env": env(*of_job)}, env=env(*of_runtime)))
    assert variables_of(node) == expected


@pytest.mark.parametrize("name", ["PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "PADDLE_RANK", "POD_IP"])
def test_the_variables_are_reserved(tmp_path: Path, name: str) -> None:
    diagnostics = on_paddle(tmp_path, {"env": env((name, "1"))}).diagnostics
    assert [(d.id, d.field) for d in diagnostics] == [("reserved-env", "spec.trainer.env[0]")]
