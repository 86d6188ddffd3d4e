"""Torch: the processes per node, and the rendezvous endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, pods_of, replicated_job, trainer_job


def variables(
    tmp_path: Path, trainer: dict[str, Any], *jobs: dict[str, Any], policy: Any = None, spec: Any = None
) -> dict[str, str]:
    """Return the variables of the first container of the first job that has any, or of `job`."""
    policy = {"torch": {}} if policy is None else policy
    compilation = compiled(tmp_path, jobs or trainer_job(), trainer, jobset=spec, mlPolicy=policy)
    assert [d.message for d in compilation.diagnostics if d.severity == "error"] == []
    for job, pod in pods_of(compilation).items():
        for container in pod["containers"]:
            if "env" in container:
                return {v["name"]: v.get("value", "") for v in container["env"]} | {"job": job}
    return {}


@pytest.mark.parametrize(
    ("resources", "processes"),
    [
        pytest.param({"limits": {"nvidia.com/gpu": 8}}, "auto", id="gpu: left to torchrun"),
        pytest.param({"limits": {"amd.com/GPU": "4"}}, "auto", id="gpu: any name, any case"),
        pytest.param({"limits": {"nvidia.com/mig-1g.5gb": 1}}, "1", id="no gpu in the name"),
        pytest.param({"requests": {"cpu": 4}, "limits": {"nvidia.com/gpu": 0}}, "4", id="no gpus are none"),
        pytest.param(
            {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 1}}, "auto", id="gpu: in both places"
        ),
        pytest.param({"requests": {"cpu": "2500m"}}, "3", id="cpu: rounded up"),
        pytest.param({"requests": {"cpu": "2"}, "limits": {"cpu": "6"}}, "2", id="cpu: requests first"),
        pytest.param({"requests": {"cpu": "0"}, "limits": {"cpu": "6"}}, "6", id="cpu: a zero falls through"),
        pytest.param({"requests": {"cpu": "0"}}, "1", id="never below one"),
        pytest.param({}, "1", id="nothing asked for"),
    ],
)
def test_processes_per_node(tmp_path: Path, resources: dict[str, Any], processes: str) -> None:
    in_runtime = trainer_job(resources=resources)
    assert variables(tmp_path, {}, in_runtime)["PET_NPROC_PER_NODE"] == processes
    assert variables(tmp_path, {"resourcesPerNode": resources})["PET_NPROC_PER_NODE"] == processes


def test_only_resources_of_the_trainjob_count(tmp_path: Path) -> None:
    big = trainer_job(resources={"limits": {"nvidia.com/gpu": 8}})
    assert variables(tmp_path, {"resourcesPerNode": {}}, big)["PET_NPROC_PER_NODE"] == "1"
    assert variables(tmp_path, {"resourcesPerNode": {"requests": {"cpu": 3}}}, big)["PET_NPROC_PER_NODE"] == "3"


def test_the_trainjob_takes_precedence(tmp_path: Path) -> None:
    trainer = {"numProcPerNode": 5, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}
    assert variables(tmp_path, trainer)["PET_NPROC_PER_NODE"] == "5"
    assert variables(tmp_path, {"numProcPerNode": 0})["PET_NPROC_PER_NODE"] == "0"


@pytest.mark.parametrize(
    ("trainer", "policy", "nodes"),
    [
        pytest.param({"numNodes": 4}, {"torch": {}, "numNodes": 2}, "4", id="the TrainJob first"),
        pytest.param({"numNodes": 0}, {"torch": {}, "numNodes": 2}, "0", id="zero stays zero"),
        pytest.param({}, {"torch": {}, "numNodes": 2}, "2", id="then the runtime"),
        pytest.param({}, {"torch": {}, "numNodes": 0}, "1", id="which is at least one"),
        pytest.param({}, {"torch": {}}, "1", id="else one"),
    ],
)
def test_nodes(tmp_path: Path, trainer: dict[str, Any], policy: dict[str, Any], nodes: str) -> None:
    assert variables(tmp_path, trainer, policy=policy)["PET_NNODES"] == nodes


@pytest.mark.parametrize(
    ("jobs", "spec", "host"),
    [
        pytest.param([trainer_job()], {}, "j-node-0-0.j", id="as in the controller"),
        pytest.param([trainer_job("work")], {}, "j-work-0-0.j", id="the job's own name"),
        pytest.param([trainer_job()], {"network": {"subdomain": "s"}}, "j-node-0-0.s", id="subdomain"),
        pytest.param(
            [replicated_job("data", {"name": "d"}), trainer_job("a"), trainer_job("b")],
            {},
            "j-a-0-0.j",
            id="the first trainer of several",
        ),
    ],
)
def test_rendezvous_host(tmp_path: Path, jobs: list[Any], spec: dict[str, Any], host: str) -> None:
    assert variables(tmp_path, {}, *jobs, spec=spec)["PET_MASTER_ADDR"] == host


def test_without_a_trainer_job_there_are_no_variables(tmp_path: Path) -> None:
    assert variables(tmp_path, {}, replicated_job("node", trainer=False)) == {}


def test_the_variables_of_the_job_precede_those_of_torch(tmp_path: Path) -> None:
    found = variables(tmp_path, {"env": [{"name": "LATER", "value": "$(PET_NNODES)"}]})
    assert list(found)[:2] == ["LATER", "PET_NNODES"]
