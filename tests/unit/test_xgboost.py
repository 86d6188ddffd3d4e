"""XGBoost: the address of the tracker, and the number of workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, container_of, trainer_job

from trainc import Result


def on_xgboost(tmp_path: Path, trainer: dict[str, Any], node: Any = None, **policy: Any) -> Result:
    """Compile a TrainJob on a runtime with the job `workers`."""
    return compiled(tmp_path, trainer_job("workers", **(node or {})), trainer, mlPolicy={"xgboost": {}, **policy})


def variables(compilation: Result) -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in container_of(compilation)["env"]}


@pytest.mark.parametrize(
    ("nodes", "resources", "workers"),
    [
        pytest.param(3, {}, "3", id="one a node"),
        pytest.param(3, {"requests": {"cpu": 64}}, "3", id="whatever its CPUs"),
        pytest.param(2, {"limits": {"nvidia.com/gpu": 4}}, "8", id="one a GPU"),
        pytest.param(2, {"requests": {"amd.com/GPU": "2"}, "limits": {"amd.com/GPU": "2"}}, "4", id="in both places"),
        pytest.param(2, {"limits": {"nvidia.com/gpu": 0}}, "2", id="no GPUs are none"),
        pytest.param(0, {"limits": {"nvidia.com/gpu": 4}}, "0", id="no nodes, no workers"),
    ],
)
def test_workers(tmp_path: Path, nodes: int, resources: dict[str, Any], workers: str) -> None:
    asked = {"numNodes": nodes, "resourcesPerNode": resources}
    assert variables(on_xgboost(tmp_path, asked))["DMLC_NUM_WORKER"] == workers
    in_runtime = on_xgboost(tmp_path, {"numNodes": nodes}, {"resources": resources})
    assert variables(in_runtime)["DMLC_NUM_WORKER"] == workers


def test_nodes_are_those_of_the_policy_where_the_trainjob_does_not_say(tmp_path: Path) -> None:
    assert variables(on_xgboost(tmp_path, {}, numNodes=5))["DMLC_NUM_WORKER"] == "5"
    assert variables(on_xgboost(tmp_path, {}))["DMLC_NUM_WORKER"] == "1"


def test_processes_per_node_mean_nothing(tmp_path: Path) -> None:
    assert variables(on_xgboost(tmp_path, {"numProcPerNode": 7}))["DMLC_NUM_WORKER"] == "1"


def test_the_tracker_is_the_first_pod(tmp_path: Path) -> None:
    found = container_of(on_xgboost(tmp_path, {}))
    assert found["ports"] == [{"containerPort": 29500, "protocol": "TCP"}]
    assert {v["name"]: v.get("value", v.get("valueFrom")) for v in found["env"]} == {
        "DMLC_TRACKER_URI": "j-workers-0-0.j",
        "DMLC_TRACKER_PORT": "29500",
        "DMLC_TASK_ID": {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}},
        "DMLC_NUM_WORKER": "1",
    }


def test_the_order_is_the_runtimes_then_the_trackers_then_the_trainjobs(tmp_path: Path) -> None:
    node = {"env": [{"name": "DMLC_NUM_WORKER", "value": "9"}, {"name": "A", "value": "1"}]}
    found = variables(on_xgboost(tmp_path, {"env": [{"name": "B", "value": "2"}, {"name": "A", "value": "3"}]}, node))
    assert list(found) == ["DMLC_NUM_WORKER", "A", "DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "B"]
    assert (found["DMLC_NUM_WORKER"], found["A"]) == ("1", "3")


def test_the_trackers_variables_are_reserved_each_at_its_place(tmp_path: Path) -> None:
    names = ["A", "DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER", "DMLC_ROLE"]
    refused = on_xgboost(tmp_path, {"env": [{"name": name, "value": "1"} for name in names]})
    assert [(d.id, d.field) for d in refused.diagnostics] == [
        ("reserved-env", f"spec.trainer.env[{index}]") for index in (1, 2, 3, 4)
    ]
