"""JAX: the number of processes, and the address of the coordinator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, container_of, trainer_job


def jax_container(folder: Path, trainer: dict[str, Any], **policy: Any) -> dict[str, Any]:
    return container_of(compiled(folder, trainer_job("workers"), trainer, mlPolicy={"jax": {}, **policy}))


@pytest.mark.parametrize(
    ("trainer", "policy", "processes"),
    [
        pytest.param({}, {}, "1", id="one node"),
        pytest.param({}, {"numNodes": 3}, "3", id="the runtime's nodes"),
        pytest.param({"numNodes": 5}, {"numNodes": 3}, "5", id="the TrainJob's nodes"),
        pytest.param({"numNodes": 2, "numProcPerNode": 8}, {}, "2", id="numProcPerNode means nothing"),
    ],
)
def test_processes(tmp_path: Path, trainer: dict[str, Any], policy: dict[str, Any], processes: str) -> None:
    env = {v["name"]: v.get("value") for v in jax_container(tmp_path, trainer, **policy)["env"]}
    assert env["JAX_NUM_PROCESSES"] == processes


def test_the_coordinator_is_the_first_pod(tmp_path: Path) -> None:
    found = jax_container(tmp_path, {})
    assert found["ports"] == [{"containerPort": 29500, "protocol": "TCP"}]
    assert {v["name"]: v.get("value", v.get("valueFrom")) for v in found["env"]} == {
        "JAX_NUM_PROCESSES": "1",
        "JAX_PROCESS_ID": {
            "fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
        },
        "JAX_COORDINATOR_ADDRESS": "j-workers-0-0.j:29500",
    }


def test_the_trainjob_may_set_another_value(tmp_path: Path) -> None:
    found = jax_container(tmp_path, {"env": [{"name": "JAX_NUM_PROCESSES", "value": "9"}]})
    assert [v["value"] for v in found["env"] if v["name"] == "JAX_NUM_PROCESSES"] == ["9"]
