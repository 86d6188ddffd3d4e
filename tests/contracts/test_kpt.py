"""kpt runs `trainc krm`: the text of docs/kpt.md, tested with the real kpt in a copy of the example.

Requires `kpt` on the PATH; otherwise the tests are skipped.
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
INTERNAL = ("internal.config.kubernetes.io", "internal.kpt.dev", "config.kubernetes.io/index")

pytestmark = pytest.mark.skipif(shutil.which("kpt") is None, reason="kpt on the PATH")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the example, and put this trainc on the PATH."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "training"
    shutil.copytree(ROOT / "integrations" / "kpt", folder)
    return folder


def render(package: Path) -> int:
    command = ["kpt", "fn", "render", "--allow-exec", str(package)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode


def files(package: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in package.iterdir()}


def test_the_source_stays_and_the_next_run_replaces_its_objects(package: Path) -> None:
    source = yaml.safe_load((package / "finetune.yaml").read_text())
    assert render(package) == 0
    first = files(package)
    assert set(first) == {"Kptfile", "finetune.yaml", "finetune.jobset.yaml"}
    assert yaml.safe_load(first["finetune.yaml"]) == source
    assert [mark for mark in INTERNAL if mark in "".join(first.values())] == []
    assert render(package) == 0
    assert files(package) == first
    (package / "finetune.yaml").write_text(first["finetune.yaml"].replace("numNodes: 2", "numNodes: 3"))
    assert render(package) == 0
    (jobset,) = yaml.safe_load_all(files(package)["finetune.jobset.yaml"])
    assert jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["completions"] == 3


def test_further_objects_are_at_the_end_of_the_file(package: Path) -> None:
    (package / "finetune.yaml").unlink()
    text = (ROOT / "golden" / "gang-mpi" / "input.yaml").read_text()
    # The function is strict, and Volcano's gang has pods of another scheduler.
    (package / "solver.yaml").write_text(text.replace("    volcano: {}\n", ""))
    assert render(package) == 0
    assert set(files(package)) == {"Kptfile", "solver.yaml"}
    kinds = [tree["kind"] for tree in yaml.safe_load_all(files(package)["solver.yaml"])]
    assert kinds[0] == "JobSet"
    assert set(kinds[1:]) == {"ConfigMap", "PodGroup"}


def test_an_error_ends_the_run_and_leaves_the_files(package: Path) -> None:
    job = package / "finetune.yaml"
    job.write_text(job.read_text().replace("numNodes: 2", "numNodes: two"))
    before = files(package)
    assert render(package) != 0
    assert files(package) == before
