"""What the lint rules of MPI report is what happens: too many ranks, variables that do not reach all, no sshd."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from e2e.cluster import Clusters, Needs, Prove, trainc
from e2e.images import OPENMPI

PROGRAM = ("/opt/venv/bin/python", "/workspace/started.py", "OF_JOB_")
HOSTS = ["keys-launcher-0-0", "keys-node-0-0"]


def trainjob(*command: str) -> dict[str, Any]:
    """Return two nodes of two slots, one of them the launcher, with two variables."""
    env = [{"name": name, "value": "1"} for name in ("OF_JOB_A", "OF_JOB_B")]
    trainer = {"numNodes": 2, "numProcPerNode": 2, "env": env, "command": [*command, *PROGRAM]}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "keys", "namespace": "team"},
        "spec": {"runtimeRef": {"name": "openmpi-distributed"}, "trainer": trainer},
    }


def mpijob(worker: list[str]) -> dict[str, Any]:
    """Return a launcher and a worker that runs a command."""
    user = {"name": "main", "image": "docker.io/acme/openmpi:v1", "securityContext": {"runAsUser": 1000}}
    commands = {"Launcher": ["mpirun", *PROGRAM], "Worker": worker}
    roles = {
        role: {"replicas": 1, "template": {"spec": {"containers": [{**user, "command": command}]}}}
        for role, command in commands.items()
    }
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "keys", "namespace": "team"},
        "spec": {"sshAuthMountPath": "/home/mpiuser/.ssh", "mpiReplicaSpecs": roles},
    }


def written(folder: Path, job: dict[str, Any]) -> tuple[Path, set[str]]:
    """Return the file of a job, and the rules of MPI that it breaks."""
    file = folder / "job.yaml"
    file.write_text(json.dumps(job))
    found = json.loads(trainc("validate", "--legacy", str(file), "--format", "json"))
    return file, {each["id"] for each in found if each["id"].startswith("mpi-")}


@pytest.fixture(autouse=True)
def _programs(needs: Needs) -> None:
    needs("openmpi", modules=("cryptography",), programs=("sshd", "ssh", "mpirun.openmpi"))


@pytest.mark.parametrize(
    ("sent", "rules"),
    [
        pytest.param(["OF_JOB_A", "OF_JOB_B"], set(), id="both are sent"),
        pytest.param(["OF_JOB_A"], {"mpi-ranks-env"}, id="one is not sent"),
    ],
)
def test_variables(tmp_path: Path, cluster: Clusters, prove: Prove, sent: list[str], rules: set[str]) -> None:
    options = [option for name in sent for option in ("-x", name)]
    file, found = written(tmp_path, trainjob("mpirun", *options))
    assert found == rules
    with prove(f"mpi, {' '.join(options)}", 2, 4, "the ranks on the node have the variables that mpirun sends"):
        pods = cluster(file, OPENMPI, secret="keys")
        pods.start("node")
        said = pods.wait(120, pods.start("launcher"))
    of_host = {one["host"]: {*one["variables"]} for one in said}
    assert of_host == dict(zip(HOSTS, ({"OF_JOB_A", "OF_JOB_B"}, {*sent}), strict=True))


@pytest.mark.parametrize(("ranks", "rules"), [("4", set()), ("5", {"mpi-slots"})])
def test_slots(tmp_path: Path, cluster: Clusters, prove: Prove, ranks: str, rules: set[str]) -> None:
    file, found = written(tmp_path, trainjob("mpirun", "-x", "OF_JOB_A", "-x", "OF_JOB_B", "-np", ranks))
    assert found == rules
    with prove(f"mpi, -np {ranks}", 2, int(ranks), "4 slots run 4 ranks, and no 5"):
        pods = cluster(file, OPENMPI, secret="keys")
        pods.start("node")
        (launcher,) = pods.start("launcher")
        assert (launcher.wait(120) != 0) is bool(rules), launcher.text()
    assert ("not enough slots" in launcher.text()) is bool(rules)
    assert len(launcher.reported()) == (0 if rules else int(ranks))


SSHD = ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"]


@pytest.mark.parametrize(("command", "rules"), [(SSHD, set()), (["sleep", "60"], {"mpi-sshd"})])
def test_sshd(tmp_path: Path, cluster: Clusters, prove: Prove, command: list[str], rules: set[str]) -> None:
    file, found = written(tmp_path, mpijob(command))
    assert found == rules
    with prove(f"mpi, {command[0]}", 2, 1, "mpirun starts ranks only where sshd runs"):
        pods = cluster(file, OPENMPI, secret="keys")
        pods.start("worker")
        (launcher,) = pods.start("launcher")
        assert (launcher.wait(120) != 0) is bool(rules), launcher.text()
    assert ("Connection refused" in launcher.text()) is bool(rules)
    assert len(launcher.reported()) == (0 if rules else 1)
