"""kustomize runs `trainc krm`, in a copy of the example of docs/kustomize.md, whose consoles run, too.

Requires `kustomize` on the PATH; otherwise the tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BUILD = ["kustomize", "build", "--enable-alpha-plugins", "--enable-exec"]

pytestmark = pytest.mark.skipif(shutil.which("kustomize") is None, reason="kustomize on the PATH")


@pytest.fixture(autouse=True)
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a copy of the example, and put this trainc on the PATH."""
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "trainc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trainc "$@"\n')
    (bin / "trainc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "compiler"))
    shutil.copytree(ROOT / "integrations" / "kustomize", tmp_path / "kustomize")
    monkeypatch.chdir(tmp_path / "kustomize")
    return tmp_path / "kustomize"


def build(folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*BUILD, folder], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("folder", ["transformer/overlays/team", "generator"])
def test_the_objects_are_those_of_build(folder: str) -> None:
    done = build(folder)
    assert (done.returncode, done.stderr) == (0, "")
    objects = {tree["kind"]: tree for tree in yaml.safe_load_all(done.stdout)}
    assert set(objects) == {"JobSet", "PersistentVolumeClaim"}
    assert all("annotations" not in tree["metadata"] for tree in objects.values())
    name = "nightly-finetune" if folder.startswith("transformer") else "finetune"
    source = Path("generator/jobs/finetune.yaml").read_text().replace("name: finetune", f"name: {name}", 1)
    alone = subprocess.run(
        ["trainc", "build", "-", "--namespace", "team"], input=source, capture_output=True, text=True, check=True
    )
    assert objects["JobSet"] == yaml.safe_load(alone.stdout)


def test_a_prefix_of_an_overlay_comes_too_late(example: Path) -> None:
    """As the documentation warns, kustomize changes the name but not the address."""
    (example / "late").mkdir()
    (example / "late" / "kustomization.yaml").write_text("resources: [../generator]\nnamePrefix: late-\n")
    jobset = next(tree for tree in yaml.safe_load_all(build("late").stdout) if tree["kind"] == "JobSet")
    assert jobset["metadata"]["name"] == "late-finetune"
    assert "late-finetune" not in str(jobset["spec"])


def test_an_error_has_the_file_if_kustomize_sets_it(example: Path) -> None:
    team = example / "transformer" / "overlays" / "team" / "kustomization.yaml"
    team.write_text(team.read_text() + "buildMetadata: [originAnnotations]\n")
    job = example / "transformer" / "base" / "finetune.yaml"
    job.write_text(job.read_text().replace("torch-distributed", "torch-distribute"))
    done = build("transformer/overlays/team")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "../../base/finetune.yaml: error[runtime-not-found]: TrainJob team/nightly-finetune, "
    )


def test_nothing_outside_the_kustomization_is_read(example: Path) -> None:
    (example / "generator" / "jobs" / "out.yaml").symlink_to(ROOT / "golden" / "llm-finetune-4x8" / "input.yaml")
    done = build("generator")
    assert (done.returncode, done.stdout) == (1, "")
    assert "jobs/out.yaml: error[link-out]" in done.stderr
