"""Lint rules for MPI: SSH keys, sshd, ranks and slots; inputs with and without findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from linting import clean_container, env, fires, replicated, runtime_of, silent, trainjob, warnings
from manifests import ANCESTOR
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.base.releases import V2_2, V2_3
from trainc.compilation.run import Options
from trainc.pipeline.lint.triggers import IGNORE
from trainc.settings import Settings

OF_USER, OF_ROOT = "/home/mpiuser/.ssh", "/root/.ssh"
SSHD = ["/usr/sbin/sshd", "-De"]
MPIRUN = ["mpirun", "solve"]


def of_job(main: Any, name: str, pod: Any, labels: Any) -> dict[str, Any]:
    """Return a replicated job with these labels."""
    job = replicated(main, pod=pod, name=name)
    job["template"]["metadata"] = {"labels": labels}
    return job


def runtime(
    *others: Any, launcher: Any = None, node: Any = None, labels: Any = None, of_node: Any = None, **more: Any
) -> dict[str, Any]:
    """Return an MPI runtime: `launcher` and `node` are fields of its containers, and other arguments of the policy.

    pod       fields of the launcher's pod; by default, its ssh can read the key
    of_node   fields of the pods of the nodes
    labels    the labels of job `node`
    """
    pod = more.pop("pod", {"securityContext": {"fsGroup": 1000}})
    user = {"securityContext": {"runAsUser": 1000}}
    launcher = of_job(clean_container(**{"command": MPIRUN, **user, **(launcher or {})}), "launcher", pod, ANCESTOR)
    nodes = of_job(clean_container(**{"command": SSHD, **user, **(node or {})}), "node", of_node or pod, labels or {})
    settings = {"sshAuthMountPath": OF_USER, "runLauncherAsNode": True, **more}
    return runtime_of(launcher, nodes, *others, policy={"numNodes": 1, "mpi": settings})


def keys(*, path: str = OF_USER, pod: Any = None, **launcher: Any) -> tuple[Any, Any]:
    """Return a TrainJob whose launcher has a security context, and other fields."""
    context = launcher.pop("context", {})
    made = runtime(launcher={**launcher, "securityContext": context}, pod={"securityContext": pod or {}})
    made["spec"]["mlPolicy"]["mpi"]["sshAuthMountPath"] = path
    return made, trainjob(numNodes=2)


def mpijob(launcher: Any = None, worker: Any = None, pod: Any = None, of_workers: Any = None, **spec: Any) -> Any:
    """Return an MPIJob with two workers: `launcher` and `worker` are fields of containers, `pod` of both pods."""
    mains = (
        clean_container(**{"name": "main", **more})
        for more in ({"command": MPIRUN, **(launcher or {})}, {"command": SSHD, **(worker or {})})
    )
    roles = {
        role: {"replicas": count, "template": {"spec": {"containers": [main], **(pod or {}), **more}}}
        for role, count, main, more in zip(("Launcher", "Worker"), (1, 2), mains, ({}, of_workers or {}), strict=True)
    }
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "solve"},
        "spec": {"mpiReplicaSpecs": roles, **spec},
    }


def secured(**context: Any) -> dict[str, Any]:
    """Return the fields of a pod with a security context."""
    return {"securityContext": context}


ROOT, USER = {"runAsUser": 0}, {"runAsUser": 1000}
COPIES = ["sh", "-c", "cp /keys/id_rsa /tmp/key; mpirun solve"]

KEYS = [
    fires("ssh-key-mode", *keys(context=ROOT, path=OF_ROOT), id="root"),
    fires("ssh-key-mode", *keys(context=ROOT), id="root, in the home of another user"),
    fires("ssh-key-mode", *keys(pod=ROOT, path=OF_ROOT), id="root, by the pod"),
    fires("ssh-key-mode", *keys(context=ROOT, path=OF_ROOT, pod={"fsGroup": 1000}), id="root with fsGroup"),
    fires("ssh-key-mode", *keys(path=f"{OF_ROOT}/"), id="the user of the image, with keys of root"),
    fires("ssh-key-mode", *keys(context=USER), id="a user without fsGroup"),
    fires("ssh-key-mode", *keys(context=USER | {"runAsGroup": 3000}), id="a user of another group"),
    fires("ssh-key-mode", *keys(context=USER, pod={"supplementalGroups": [5]}), id="a user with another group"),
    silent("ssh-key-mode", *keys(context=USER, pod={"fsGroup": 1000}), id="a user with fsGroup"),
    silent("ssh-key-mode", *keys(context=USER, pod={"fsGroup": 5}), id="a user with any fsGroup"),
    silent("ssh-key-mode", *keys(context=USER | {"runAsGroup": 0}), id="a user of group 0"),
    silent("ssh-key-mode", *keys(context=USER, pod={"runAsGroup": 0}), id="a user of group 0, by the pod"),
    silent("ssh-key-mode", *keys(context=USER, pod={"supplementalGroups": [0]}), id="a user with group 0"),
    silent("ssh-key-mode", *keys(pod=ROOT, context=USER | {"runAsGroup": 0}), id="the container's user"),
    silent("ssh-key-mode", *keys(), id="the user of the image"),
    silent("ssh-key-mode", *keys(pod={"fsGroup": 1000}), id="the user of the image, with fsGroup"),
    silent("ssh-key-mode", *keys(path=OF_ROOT, context={"runAsNonRoot": True}), id="the user of the image, not root"),
    silent("ssh-key-mode", *keys(context=ROOT, path="/keys"), id="not where ssh looks"),
    silent("ssh-key-mode", *keys(context=ROOT, command=COPIES), id="a copy"),
    silent("ssh-key-mode", *keys(context=ROOT, env=env(SSH_OPTIONS="-i /keys/id_ed25519")), id="another key"),
    silent(
        "ssh-key-mode",
        runtime(
            launcher={**secured(**ROOT), "volumeMounts": [{"name": "config", "mountPath": "/etc/ssh/ssh_config.d"}]},
            pod={"volumes": [{"name": "config", "configMap": {"name": "ssh"}}]},
        ),
        trainjob(numNodes=2),
        id="a configuration of ssh",
    ),
    silent(
        "ssh-key-mode",
        runtime(launcher=secured(**ROOT), runLauncherAsNode=False),
        trainjob(numNodes=0),
        id="no nodes",
    ),
    silent("ssh-key-mode", keys(context=ROOT)[0], trainjob(annotations={IGNORE: "ssh-key-mode"}), id="turned off"),
    fires("ssh-key-mode", mpijob(pod=secured(fsGroup=5)), id="fsGroup of an MPIJob"),
    fires("ssh-key-mode", mpijob(secured(**ROOT), pod=secured(fsGroup=5)), id="fsGroup of an MPIJob of root"),
    fires("ssh-key-mode", mpijob(secured(**ROOT), sshAuthMountPath=OF_USER), id="root in another folder, MPIJob"),
    fires(
        "ssh-key-mode",
        mpijob(secured(**ROOT), pod=secured(fsGroup=5), sshAuthMountPath=OF_USER),
        id="root with fsGroup in another folder, MPIJob",
    ),
    fires("ssh-key-mode", mpijob(secured(**USER)), id="a user in the folder of root, MPIJob"),
    silent("ssh-key-mode", mpijob(), id="root, MPIJob"),
    silent("ssh-key-mode", mpijob(secured(**ROOT)), id="runAsUser of root, MPIJob"),
    silent("ssh-key-mode", mpijob(secured(**USER), sshAuthMountPath=OF_USER), id="a user, MPIJob"),
    silent(
        "ssh-key-mode",
        mpijob(secured(**USER), pod=secured(fsGroup=5), sshAuthMountPath=OF_USER),
        id="a user with fsGroup, MPIJob",
    ),
]


@pytest.mark.parametrize(("documents", "rules"), KEYS)
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    found = [d for d in warnings(tmp_path, *documents, options=Options(legacy=True)) if d.stage == "lint"]
    assert [d.id for d in found] == rules
    assert not rules or texts(found).replace(f"{tmp_path}/", "") == snapshot


@pytest.mark.parametrize(
    ("release", "context", "rules"),
    [
        pytest.param(V2_2, USER, [], id="a user reads the mode 0644"),
        pytest.param(V2_2, ROOT, ["ssh-key-mode"], id="0644 is too open for root"),
        pytest.param(V2_3, USER, ["ssh-key-mode"], id="a user does not read the mode 0640"),
        pytest.param(V2_3, ROOT, ["ssh-key-mode"], id="0640 is too open for root"),
    ],
)
def test_modes_of_the_releases(tmp_path: Path, release: Any, context: Any, rules: list[str]) -> None:
    options = Options(settings=Settings(release=release))
    found = warnings(tmp_path, *keys(context=context), options=options)
    assert [d.id for d in found if d.stage == "lint"] == rules
