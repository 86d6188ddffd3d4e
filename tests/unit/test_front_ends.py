"""A kind with a front end: each output names the job and its own lines, never the generated TrainJob or runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sweeps
import yaml
from committing import commit, git
from running import run
from syrupy.assertion import SnapshotAssertion

SWEEP = """\
apiVersion: lab.kubeflow.org/v1
kind: Sweep
metadata:
  name: grid
spec:
  workers: 4
  keep: 600
  template:
    spec:
      containers:
      - name: node
        image: acme/sweep:v1
        command: [python, sweep.py]
        resources:
          limits: {cpu: 2, memory: 4Gi}
"""
TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: other}
spec: {runtimeRef: {kind: TrainingRuntime, name: grid}}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: grid}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {containers: [{name: node, image: "acme/real:v1"}]}}}}
"""


SETTINGS = """\
namePrefix: dev-
namespace: lab
labels: {team: x}
images: [{name: acme/sweep, newTag: v3}]
patches:
- target: {kind: Sweep}
  patch: |
    spec: {workers: 6, template: {spec: {containers: [{name: node, workingDir: /w}]}}}
- target: {kind: JobSet}
  patch: '{"spec": {"ttlSecondsAfterFinished": 7}}'
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a Sweep, which is the current folder."""
    (tmp_path / "data").mkdir()
    sweeps.install(monkeypatch, tmp_path / "data")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(folder)
    return folder


def built(*options: str) -> list[Any]:
    done = run("build", ".", *options)
    assert done.code == 0, done.err
    return [*yaml.safe_load_all(done.out)]


def test_a_job_of_another_kind_compiles() -> None:
    (jobset,) = built()
    (node,) = jobset["spec"]["replicatedJobs"]
    (container,) = node["template"]["spec"]["template"]["spec"]["containers"]
    assert (jobset["metadata"]["name"], jobset["spec"]["ttlSecondsAfterFinished"]) == ("grid", 600)
    assert (node["template"]["spec"]["completions"], container["image"]) == (4, "acme/sweep:v1")
    assert {"name": "JAX_COORDINATOR_ADDRESS", "value": "grid-node-0-0.grid:29500"} in container["env"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("workers: 4", "workers: 0", id="the schema"),
        pytest.param("keep: 600", "kep: 600", id="an unknown field"),
        pytest.param("cpu: 2", "cpu: 2x", id="a quantity"),
        pytest.param("name: grid", "name: Grid", id="the name"),
        pytest.param("keep: 600", "keep: -1", id="a field of the JobSet"),
        pytest.param("memory: 4Gi", "memory: 64m", id="a lint rule"),
        pytest.param("command:", "volumeMounts: [{name: no, mountPath: /x}]\n        command:", id="a rule of pods"),
    ],
)
def test_a_diagnostic_is_at_the_line_of_the_job(old: str, new: str, project: Path, snapshot: SnapshotAssertion) -> None:
    (project / "sweep.yaml").write_text(SWEEP.replace(old, new))
    assert run("validate", ".").out == snapshot


@pytest.mark.parametrize(
    "command", [("explain", "."), ("explain", ".", "**.image"), ("graph",), ("graph", "--format", "mermaid"), ("pods",)]
)
def test_a_command_names_the_job(command: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    assert run(*command).out == snapshot


def test_diff_shows_one_cause_for_each_edit_of_the_job(project: Path, snapshot: SnapshotAssertion) -> None:
    git("init", "--quiet")
    commit()
    edited = SWEEP.replace("workers: 4", "workers: 5").replace(":v1", ":v2").replace("keep: 600", "keep: 60")
    (project / "sweep.yaml").write_text(edited)
    assert run("diff", "HEAD").out == snapshot


def test_another_trainjob_cannot_refer_to_its_runtime(project: Path) -> None:
    (project / "other.yaml").write_text(TRAINJOB)
    done = run("validate", ".")
    assert (done.code, 'TrainingRuntime "grid" not found' in done.out) == (1, True)
    assert "searched: the given paths (0)" in done.out


def test_a_runtime_of_the_same_name_is_another_one(project: Path) -> None:
    (project / "other.yaml").write_text(TRAINJOB)
    (project / "runtime.yaml").write_text(RUNTIME)
    pods = [jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"] for jobset in built()]
    assert [pod["containers"][0]["image"] for pod in pods] == ["acme/sweep:v1", "acme/real:v1"]
    (project / "sweep.yaml").write_text(SWEEP.replace("workers: 4", "workers: 1"))
    assert run("validate").out == "no problems found: 1 TrainJob and 1 Sweep, 1 runtime\n"


def test_settings_change_the_job_as_it_is_written(project: Path, snapshot: SnapshotAssertion) -> None:
    (project / "trainc.yaml").write_text(SETTINGS)
    assert run("build").out == snapshot
    assert run("explain").out == snapshot


def test_a_name_suffix_reaches_the_host_names(project: Path) -> None:
    (jobset,) = built("--name-suffix-hash")
    name = jobset["metadata"]["name"]
    (container,) = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    assert name.startswith("grid-")
    assert {"name": "JAX_COORDINATOR_ADDRESS", "value": f"{name}-node-0-0.{name}:29500"} in container["env"]


def test_each_environment_has_its_own_job(project: Path) -> None:
    (project / "trainc.yaml").write_text("environments:\n  dev: {nameSuffix: -dev}\n  prod: {namespace: prod}\n")
    names = [
        (jobset["metadata"].get("namespace"), jobset["metadata"]["name"])
        for env in ("dev", "prod")
        for jobset in built("--env", env)
    ]
    assert names == [(None, "grid-dev"), ("prod", "grid")]
