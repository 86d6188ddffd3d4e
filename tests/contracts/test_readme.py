"""The README shows the real output of its commands, or a part of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run

ROOT = Path(__file__).parents[2]
SHOWN, BROKEN = [block.partition("```")[0] for block in (ROOT / "README.md").read_text().split("```console\n")[1:]]


@pytest.fixture(autouse=True)
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "job.yaml"
    file.write_text(SHOWN.partition("$ cat job.yaml\n")[2].partition("\n$ trainc")[0])
    return file


def test_the_output() -> None:
    printed = run("build", "job.yaml").out
    parts = SHOWN.partition("$ trainc build job.yaml\n")[2].split("  ...\n")
    assert len(parts) == 3
    assert [part for part in parts if part not in printed] == []


def test_the_messages(job: Path) -> None:
    job.write_text(job.read_text().replace("limits: ", "requests: {nvidia.com/gpu: 4}, limits: "))
    assert run("validate", "job.yaml").out == BROKEN.partition("$ trainc validate job.yaml\n")[2]
