"""The built-in runtimes: each is valid, compiles the smallest TrainJob, and explains its use in a comment."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from manifests import only_built_in
from purposes import internal
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.releases import DEFAULT_RELEASE
from trainc.pipeline.runtime_owners import FORMER, installed, origin

RUNTIMES = Path(__file__).parents[2] / "runtimes"
BUILT_IN = sorted([*RUNTIMES.glob("*.yaml"), *(RUNTIMES / DEFAULT_RELEASE.runtimes).iterdir()])
UPSTREAM = installed(DEFAULT_RELEASE)
MPI = [path for path in BUILT_IN if "mpi:" in path.read_text()]
OURS = [path for path in BUILT_IN if path.stem not in UPSTREAM]
SMALLEST = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: smallest}
spec: {runtimeRef: {name: %s}, trainer: {numNodes: 1}}
"""
"""Only Flux requires numNodes."""


def by_name(path: Path) -> str:
    return path.stem


def pods(path: Path) -> dict[str, Any]:
    """Return the pod specs of a built-in runtime by job."""
    spec = yaml.safe_load(path.read_text())["spec"]["template"]["spec"]
    return {job["name"]: job["template"]["spec"]["template"]["spec"] for job in spec["replicatedJobs"]}


@pytest.mark.parametrize("path", BUILT_IN, ids=by_name)
def test_the_cluster_would_take_it_and_a_trainjob_compiles(path: Path, tmp_path: Path) -> None:
    assert yaml.safe_load(path.read_text())["metadata"]["name"] == path.stem
    assert trainc.compile([str(path)]).diagnostics == ()
    (tmp_path / "job.yaml").write_text(SMALLEST % path.stem)
    compilation = internal(trainc.compile([str(tmp_path)]))
    # A launcher and one node are two hosts.
    expected = ["mpi-nodes"] if "mpi" in yaml.safe_load(path.read_text())["spec"]["mlPolicy"] else []
    assert [d.id for d in compilation.diagnostics if d.severity != "note"] == expected
    assert compilation.objects[0]["kind"] == "JobSet"
    assert compilation.built_in is not None
    assert compilation.built_in.message.startswith(
        f"built-in runtime: {path.stem} ({origin(path.stem, DEFAULT_RELEASE)}"
    )


def test_the_runtimes_of_trainer_are_those_with_recorded_cases() -> None:
    recorded = (Path(__file__).parents[1] / "conformance" / "data" / "trainer-2.3" / "stock").glob("*.yaml")
    assert {yaml.safe_load(case.read_text())["spec"]["runtimeRef"]["name"] for case in recorded} == UPSTREAM
    assert {path.stem for path in BUILT_IN} >= UPSTREAM


@pytest.mark.parametrize("name", FORMER)
def test_a_former_runtime_has_a_successor(name: str) -> None:
    assert FORMER[name].successor in {path.stem for path in BUILT_IN}
    assert name not in {path.stem for path in BUILT_IN}


@pytest.mark.parametrize("path", BUILT_IN, ids=by_name)
def test_it_begins_with_its_story(path: Path) -> None:
    assert path.read_text().startswith("# ")


@pytest.mark.parametrize("path", OURS, ids=by_name)
def test_images_are_pinned_and_the_trainer_has_requests(path: Path) -> None:
    containers = [
        c for pod in pods(path).values() for key in ("containers", "initContainers") for c in pod.get(key, [])
    ]
    assert [c["image"] for c in containers if not re.search(r":[^/:]*[0-9][^/:]*$", c["image"])] == []
    nodes = [c for c in containers if c["name"] == "node"]
    assert all({"cpu", "memory"} <= c["resources"]["requests"].keys() for c in nodes)


@pytest.mark.parametrize("path", MPI, ids=by_name)
def test_of_mpi_the_launcher_decides_and_the_nodes_run_an_sshd(path: Path) -> None:
    spec = yaml.safe_load(path.read_text())["spec"]["template"]["spec"]
    assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    assert pods(path)["node"]["containers"][0]["command"][0] == "/usr/sbin/sshd"


@pytest.mark.parametrize("path", [path for path in MPI if path in OURS], ids=by_name)
def test_of_mpi_the_launcher_waits_for_the_sshd_of_every_other_node(path: Path, tmp_path: Path) -> None:
    hostfile = tmp_path / "hostfile"
    slots = " slots=2" if "mpiImplementation" not in path.read_text() else ":2"
    hostfile.write_text("".join(f"j-{host}.j{slots}\n" for host in ("launcher-0-0", "node-0-0", "node-0-1")))
    commands = {
        "uname": "echo j-launcher-0-0",
        "ssh": f'echo "$4 $5" >> {tmp_path}/asked; [ $(grep -c "$4" {tmp_path}/asked) -gt 1 ]',  # at the second try
        "sleep": ":",
    }
    for name, body in commands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    (waiting,) = pods(path)["launcher"]["initContainers"]
    script = [part.replace("/etc/mpi/hostfile", str(hostfile)) for part in waiting["command"]]
    done = subprocess.run(
        script, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True, text=True, check=True, timeout=20
    )
    assert (tmp_path / "asked").read_text().split("\n") == ["j-node-0-0.j true"] * 2 + ["j-node-0-1.j true"] * 2 + [""]
    assert done.stdout.splitlines() == [f"waiting for the sshd of j-node-0-{i}.j" for i in (0, 1)]


def test_the_wide_list(snapshot: SnapshotAssertion, empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare: dict[str, Any] = {"mlPolicy": {}, "template": {"spec": {}}}
    runtime = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime", "spec": bare}
    (empty_folder / "bare.yaml").write_text(
        yaml.safe_dump(runtime | {"metadata": {"name": "bare", "namespace": "team"}})
    )
    only_built_in(monkeypatch, "deepspeed-distributed", "plain", "tensorflow-ps", "torch-distributed")
    assert run("runtimes", "list", "--wide", "-r", "bare.yaml").out == snapshot


def test_a_name_like_no_other(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(SMALLEST % "no-such")
    (found,) = trainc.compile([str(tmp_path)]).diagnostics
    assert found.id == "runtime-not-found"
    assert found.help.startswith(
        "write the runtime of your cluster to the project with `trainc runtimes pull`; searched: the given paths (0), "
    )
