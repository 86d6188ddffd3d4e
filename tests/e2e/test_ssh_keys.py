"""ssh accepts the key of a job exactly if the lint rule `ssh-key-mode` reports nothing: as root and as a user.

Reads    a TrainJob or an MPIJob for each case, with the files of its Secret as the kubelet creates them.
Returns  mpirun's ranks on both hosts, or its exit because ssh ignores the key or cannot read it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from e2e.cluster import Clusters, Needs, Prove, trainc
from e2e.images import MPIUSER, OPENMPI, OPENMPI_OF_ROOT
from manifests import ANCESTOR

HOME = "/home/mpiuser/.ssh"
OF_ROOT = "/root/.ssh"
TOO_OPEN, DENIED = "are too open", 'id_rsa": Permission denied'
HOSTS = ("keys-worker-0-0", "keys-node-0-0")


class Case(NamedTuple):
    """A job, and what ssh says about its key; empty if the job succeeds."""

    name: str
    folder: str
    user: int | None = None
    fs_group: int | None = None
    release: str = ""
    """The release of Trainer; empty for an MPIJob."""
    said: str = ""
    group: int | None = None


CASES = (
    Case("TrainJob of v2.3, root", OF_ROOT, 0, release="2.3", said=TOO_OPEN),
    Case("TrainJob of v2.3, root, fsGroup", OF_ROOT, 0, MPIUSER, release="2.3", said=TOO_OPEN),
    Case("TrainJob of v2.2, root", OF_ROOT, 0, release="2.2", said=TOO_OPEN),
    Case("TrainJob of v2.3, the image's user is root", OF_ROOT, release="2.3", said=TOO_OPEN),
    Case("TrainJob of v2.3, user", HOME, MPIUSER, release="2.3", said=DENIED),
    Case("TrainJob of v2.3, user, fsGroup", HOME, MPIUSER, MPIUSER, release="2.3"),
    Case("TrainJob of v2.3, user in group 0", HOME, MPIUSER, release="2.3", group=0),
    Case("TrainJob of v2.3, user in another group", HOME, MPIUSER, release="2.3", group=3000, said=DENIED),
    Case("TrainJob of v2.2, user", HOME, MPIUSER, release="2.2"),
    Case("TrainJob of v2.2, user, fsGroup", HOME, MPIUSER, MPIUSER, release="2.2"),
    Case("MPIJob, root", OF_ROOT, 0),
    Case("MPIJob, root, fsGroup", OF_ROOT, 0, 1337, said=TOO_OPEN),
    Case("MPIJob, the image's user is root, fsGroup", OF_ROOT, None, 1337, said=TOO_OPEN),
    Case("MPIJob, user", HOME, MPIUSER),
    Case("MPIJob, user, fsGroup", HOME, MPIUSER, 1337),
)


def container(name: str, case: Case, command: list[str]) -> Any:
    context = {"runAsUser": case.user, "runAsGroup": case.group}
    return {
        "name": name,
        "image": "docker.io/acme/openmpi:v1",
        "command": command,
        "securityContext": {key: value for key, value in context.items() if value is not None},
    }


def pod(main: Any, fs_group: int | None) -> Any:
    return {"spec": {"containers": [main], "securityContext": {} if fs_group is None else {"fsGroup": fs_group}}}


MPIRUN = ["mpirun", "--allow-run-as-root", "/opt/venv/bin/python", "/workspace/started.py"]


def sshd(case: Case) -> list[str]:
    return ["/usr/sbin/sshd", "-De", *(["-f", "/home/mpiuser/.sshd_config"] if case.user else [])]


def pods_of(case: Case, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return the pods of the launcher and the node. A node of a user can read the key, which is also its host key."""
    launcher, node = container(names[0], case, MPIRUN), container(names[1], case, sshd(case))
    return pod(launcher, case.fs_group), pod(node, MPIUSER if case.user else case.fs_group)


def trainjob(case: Case) -> list[Any]:
    jobs = [
        {"name": name, "template": {"metadata": {"labels": labels}, "spec": {"template": each}}}
        for name, labels, each in zip(
            ("launcher", "node"), (ANCESTOR, {}), pods_of(case, ("node", "node")), strict=True
        )
    ]
    api = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
    policy = {"numNodes": 1, "mpi": {"sshAuthMountPath": case.folder}}
    runtime = {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": jobs}}}
    trainer = {"numNodes": 1, "numProcPerNode": 1}
    return [
        {**api, "kind": "ClusterTrainingRuntime", "metadata": {"name": "mpi"}, "spec": runtime},
        {
            **api,
            "kind": "TrainJob",
            "metadata": {"name": "keys", "namespace": "team"},
            "spec": {"runtimeRef": {"name": "mpi"}, "trainer": trainer},
        },
    ]


def mpijob(case: Case) -> list[Any]:
    launcher, worker = pods_of(case, ("main", "main"))
    roles = {"Launcher": {"replicas": 1, "template": launcher}, "Worker": {"replicas": 1, "template": worker}}
    spec = {"sshAuthMountPath": case.folder, "mpiReplicaSpecs": roles}
    metadata = {"name": "keys", "namespace": "team"}
    return [{"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": metadata, "spec": spec}]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_rule_is_right(case: Case, tmp_path: Path, needs: Needs, cluster: Clusters, prove: Prove) -> None:
    needs("openmpi", modules=("cryptography",), programs=("sshd", "ssh", "mpirun.openmpi"))
    manifest = tmp_path / "jobs.yaml"
    manifest.write_text("\n---\n".join(json.dumps(each) for each in (trainjob(case) if case.release else mpijob(case))))
    release = ("--trainer-version", case.release) if case.release else ()
    reported = json.loads(trainc("validate", "--legacy", *release, str(manifest), "--format", "json"))
    rules = {each["id"] for each in reported}
    assert ("ssh-key-mode" in rules) is bool(case.said)
    with prove(f"mpi, {case.name}", 2, 1, case.said or "mpirun starts a rank on the node by ssh"):
        pods = cluster(manifest, OPENMPI if case.user else OPENMPI_OF_ROOT, secret="keys", options=release)
        pods.start("node" if case.release else "worker")
        (launcher,) = pods.start("launcher")
        assert (launcher.wait(120) != 0) is bool(case.said), launcher.text()
    assert case.said in launcher.text()
    assert [one["host"] for one in launcher.reported()] == ([] if case.said else [HOSTS[bool(case.release)]])


MIGRATED = [case for case in CASES if case.name in ("MPIJob, root", "MPIJob, user")]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in MIGRATED])
def test_a_migrated_job_trains(case: Case, tmp_path: Path, needs: Needs, cluster: Clusters, prove: Prove) -> None:
    """Root reads its keys in a volume of their own, and a user by its group."""
    needs("openmpi", modules=("cryptography",), programs=("sshd", "ssh", "mpirun.openmpi"))
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(json.dumps(mpijob(case._replace(fs_group=None))[0]))
    new.write_text(trainc("migrate", str(old)).replace("}\n{", "}\n---\n{"))
    with prove(f"mpi, {case.name}, migrated", 2, 1, "mpirun starts a rank on the node by ssh"):
        pods = cluster(new, OPENMPI if case.user else OPENMPI_OF_ROOT, secret="keys")
        pods.start("node")
        (launcher,) = pods.start("launcher")
        assert launcher.wait(120) == 0, launcher.text()
    assert [one["host"] for one in launcher.reported()] == [HOSTS[1]]
