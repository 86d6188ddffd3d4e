"""Origins in streams: a diagnostic names the file that kustomize or a KRM function read."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from running import run

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: finetune
  annotations:
{annotations}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer: {{numNodes: two}}
"""


def stream(annotations: dict[str, object]) -> bytes:
    lines = "\n".join(f"    {key}: {json.dumps(value)}" for key, value in annotations.items())
    return JOB.format(annotations=lines).encode()


ORIGINS: dict[str, tuple[dict[str, object], list[str]]] = {
    "kustomize": (
        {"config.kubernetes.io/origin": "path: ../../base/job.yaml\n"},
        ["from ../../base/job.yaml (relative to the overlay)"],
    ),
    "a remote base": (
        {"config.kubernetes.io/origin": "path: jobs/a.yaml\nrepo: https://git.example.com/a/b\nref: v1\n"},
        ["from jobs/a.yaml in https://git.example.com/a/b at v1"],
    ),
    "a generator": (
        {"config.kubernetes.io/origin": "configuredIn: ../compile.yaml\nconfiguredBy: {kind: Jobs}\n"},
        ["from ../compile.yaml (relative to the overlay)"],
    ),
    "a KRM function": ({"internal.config.kubernetes.io/path": "jobs/a.yaml"}, ["from jobs/a.yaml"]),
    "its index": (
        {"internal.config.kubernetes.io/path": "jobs/a.yaml", "internal.config.kubernetes.io/index": "2"},
        ["from jobs/a.yaml, document 3"],
    ),
    "the legacy names": (
        {"config.kubernetes.io/path": "a.yaml", "config.kubernetes.io/index": "0"},
        ["from a.yaml"],
    ),
    "not YAML": ({"config.kubernetes.io/origin": "path: [\n"}, []),
    "not a mapping": ({"config.kubernetes.io/origin": "- a\n"}, []),
    "not a path": ({"config.kubernetes.io/origin": "path: {a: b}\n"}, []),
    "too long": ({"config.kubernetes.io/path": "a" * 5000}, []),
    "none": ({"a": "b"}, []),
}


@pytest.mark.parametrize(("annotations", "expected"), [pytest.param(*row, id=name) for name, row in ORIGINS.items()])
def test_the_origin_of_an_object(annotations: dict[str, object], expected: list[str]) -> None:
    (found,) = json.loads(run("validate", "-", "--format", "json", stdin=stream(annotations)).out)
    assert [related["message"] for related in found["related"]] == expected
    assert {(related["file"], related["line"]) for related in found["related"]} <= {("-", found["line"])}


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github", "gitlab"])
def test_every_report_names_the_origin(form: str) -> None:
    given = stream({"config.kubernetes.io/origin": "path: ../../base/job.yaml\n"})
    out = run("validate", "-", "--format", form, stdin=given).out
    assert "from ../../base/job.yaml (relative to the overlay)" in out


def test_control_characters_are_escaped() -> None:
    given = stream({"config.kubernetes.io/path": "a\x1b[31m\nb"})
    assert r"from a\x1b[31m\nb" in run("validate", "-", stdin=given).out


def test_the_runtime_has_its_own_origin() -> None:
    job = stream({"config.kubernetes.io/origin": "path: job.yaml\n"}).replace(b"two", b"2").replace(b"torch-d", b"d")
    runtime = b"""---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: distributed, annotations: {config.kubernetes.io/origin: "path: ../runtime.yaml"}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "a:1", ports: [{containerPort: 0}]}]}}}
"""
    found = json.loads(run("validate", "-", "--format", "json", stdin=job + runtime).out)
    messages = [related["message"] for each in found for related in each["related"]]
    assert messages.count("from ../runtime.yaml (relative to the overlay)") == 1


@pytest.mark.skipif(shutil.which("kustomize") is None, reason="kustomize on the PATH")
def test_the_stream_of_kustomize(tmp_path: Path) -> None:
    base, overlay = tmp_path / "base", tmp_path / "overlays" / "prod"
    for folder in (base, overlay):
        folder.mkdir(parents=True)
    (base / "kustomization.yaml").write_text("resources: [job.yaml]\n")
    (base / "job.yaml").write_text(JOB.replace("  annotations:\n{annotations}\n", "").format())
    (overlay / "kustomization.yaml").write_text("resources: [../../base]\nbuildMetadata: [originAnnotations]\n")
    built = subprocess.run(["kustomize", "build", overlay], check=True, capture_output=True).stdout
    (found,) = json.loads(run("validate", "-", "--format", "json", stdin=built).out)
    assert [related["message"] for related in found["related"]] == [
        "from ../../base/job.yaml (relative to the overlay)"
    ]
