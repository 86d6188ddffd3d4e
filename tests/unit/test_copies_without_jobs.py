"""A project without TrainJobs renders its copied documents: `diff` and `build` agree on them, and on lost data."""

from __future__ import annotations

from pathlib import Path

import pytest
from committing import git
from running import run

SETTINGS = """\
passthrough: true
output: rendered
environments:
  dev: {namespaceSuffix: -dev}
  prod: {}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: nlp}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "registry.example/a:1", numNodes: 1}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: nlp}
spec: {accessModes: [ReadWriteOnce]}
"""
LOST = "deleted with its data by a tool that prunes"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trainc.yaml").write_text(SETTINGS)
    Path("job.yaml").write_text(JOB)
    Path("claim.yaml").write_text(CLAIM)
    git("init", "-q", at=tmp_path)
    assert run("build").code == 0
    git("add", "-A", at=tmp_path)
    git("commit", "-qm", "a job and its claim", at=tmp_path)


def test_the_claims_stay_when_the_last_job_is_removed() -> None:
    Path("job.yaml").unlink()
    shown = run("diff").out
    assert "1 JobSet in each of dev and prod is removed; 2 objects are unchanged" in shown
    assert LOST not in shown
    built = run("build")
    assert "rendered/dev: 0 written, 1 removed, 1 unchanged" in built.err
    assert LOST not in built.err


def test_a_build_says_once_which_removed_objects_lose_data() -> None:
    Path("claim.yaml").unlink()
    assert LOST in run("diff").out
    built = run("build").err
    assert f"rendered/dev: removed PersistentVolumeClaim nlp-dev/data: {LOST}\n" in built
    assert f"rendered/prod: removed PersistentVolumeClaim nlp/data: {LOST}\n" in built
    assert LOST not in run("build").err


def test_a_setting_decides_what_is_omitted() -> None:
    assert "omitted" not in run("build", "--passthrough").err
    Path("trainc.yaml").write_text('passthrough: ["other.yaml"]\n')
    assert "omitted" not in run("build", "job.yaml", "claim.yaml", "-o", "-").err
    Path("trainc.yaml").write_text("")
    assert "omitted 1 document of other kinds" in run("build", "job.yaml", "claim.yaml").err
