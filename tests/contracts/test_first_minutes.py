"""A new user's first five minutes after the README: the demo, an own TrainJob, a pinned runtime, an edit, a review."""

from __future__ import annotations

from pathlib import Path

import pytest
from committing import git
from running import Done, run
from syrupy.assertion import SnapshotAssertion

pytestmark = pytest.mark.usefixtures("empty_repository")

ROOT = Path(__file__).parents[2]
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: mnist, namespace: research}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    image: registry.example.com/mnist:1
    command: [torchrun, mnist.py]
    resourcesPerNode: {limits: {nvidia.com/gpu: 2}}
"""
SHARED_MEMORY = """\
                  volumeMounts:
                  - name: shm
                    mountPath: /dev/shm
                volumes:
                - name: shm
                  emptyDir: {medium: Memory}
"""


def shown(done: Done) -> str:
    return f"exit {done.code}\n{done.out}{done.err}"


def test_the_demo(snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    (command,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if "/trainc build" in line]
    monkeypatch.chdir(ROOT)
    assert run(*command.split()[1:]).err == snapshot


def test_an_own_trainjob_and_a_pinned_runtime(snapshot: SnapshotAssertion) -> None:
    Path("jobs").mkdir()
    Path("jobs/mnist.yaml").write_text(JOB)
    assert shown(run("validate", "jobs")) == snapshot(name="an own TrainJob")
    before = run("build", "jobs").out

    assert run("runtimes", "export", "-o", "exported").code == 0
    Path("runtimes").mkdir()
    pinned = Path("exported/torch-distributed.yaml").rename("runtimes/torch-distributed.yaml")
    assert shown(run("validate", "jobs", "-r", "runtimes")) == snapshot(name="the pinned runtime")
    assert run("build", "jobs", "-r", "runtimes").out == before

    Path("trainc.yaml").write_text("runtimes: {paths: [runtimes], builtin: forbid}\n")
    assert run("build", "jobs").out == before
    git("add", "jobs", "runtimes", "trainc.yaml")
    git("commit", "-qm", "A job and its runtime")

    pinned.write_text(pinned.read_text() + SHARED_MEMORY)
    assert shown(run("validate", "jobs")) == snapshot(name="the edited runtime")
    assert shown(run("diff", "HEAD", "jobs")) == snapshot(name="the review of the edit")
