"""Neovim, as Debian packages it, opens a job with a mistake, shows the diagnostic, applies the fix, and saves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NVIM = shutil.which("nvim")
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNode: 2
    resourcesPerNode: {requests: {cpu: 1, memory: 1Gi}}
"""


@pytest.mark.skipif(NVIM is None, reason="needs nvim")
def test_an_editor_applies_a_fix(tmp_path: Path) -> None:
    assert NVIM is not None
    (tmp_path / "trainc.yaml").write_text("lint: {disable: [no-gang, no-resources, no-shared-memory]}\n")
    job, report = tmp_path / "job.yaml", tmp_path / "report.txt"
    job.write_text(JOB)
    home = tmp_path / "home"
    home.mkdir()
    folders = {f"XDG_{name}_HOME": str(home) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    subprocess.run(
        [NVIM, "--headless", "--clean", "-n", "-S", str(HERE / "neovim.lua")],
        env={**os.environ, **folders, "HOME": str(home), "ARGUMENTS": f"{job}\n{sys.executable}\n{report}"},
        timeout=180,
        check=True,
        capture_output=True,
    )
    shown = "7:5: unknown field spec.trainer.numNode in TrainJob\nhelp: did you mean numNodes?"
    assert report.read_text() == shown
    assert job.read_text() == JOB.replace("numNode:", "numNodes:")
