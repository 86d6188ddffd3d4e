"""TrainJobs of one name in several files: commands that show or judge files take each; a build refuses both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from files import write
from manifests import job_text
from running import run

PODS = {"spec": {"containers": [{"name": "pytorch", "image": "registry.acme.io/train:1"}]}}


@pytest.fixture(autouse=True)
def jobs(empty_folder: None) -> None:
    runtime = "name: torch-distributed"
    for number in (1, 2):
        write(f"j{number}.yaml", job_text("name: same", runtime, f"numNodes: {number}"))
    write("j3.yaml", job_text("name: other", runtime, "numNodes: 4"))


@pytest.mark.parametrize("command", ["pods", "graph", "explain"])
def test_a_command_that_shows_has_both_with_their_files(command: str) -> None:
    done = run(command, ".")
    assert done.code == 0, done.err
    assert "j1.yaml" in done.out
    assert "j2.yaml" in done.out


def test_queues_has_both() -> None:
    assert run("queues", ".").code == 0


@pytest.mark.parametrize("command", ["build", "pods", "graph", "explain"])
def test_only_ignores_other_names(command: str) -> None:
    done = run(command, ".", "--only", "other")
    assert done.code == 0, done.err
    assert "duplicate-trainjob" not in done.out + done.err


def test_a_build_refuses_the_two() -> None:
    done = run("build", ".")
    assert done.code == 1
    assert 'j2.yaml:3:18: error[duplicate-trainjob]: two TrainJobs are named "same"' in done.err
    assert "other" not in done.err.partition("[duplicate-trainjob]")[2].partition("\n\n")[0]


def test_migrate_judges_each_file() -> None:
    legacy = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": PODS}}},
    }
    for number, name in enumerate(("one", "one", "two")):
        write(f"legacy/p{number}.yaml", json.dumps({**legacy, "metadata": {"name": name}}))
    done = run("migrate", "legacy", "--write")
    assert done.code == 0, done.err
    for number in range(3):
        assert json.loads(Path(f"legacy/p{number}.yaml").read_text())["kind"] == "TrainJob"
