"""Mistakes that people make, and the edits and hints of `trainc validate` for them.

Each folder of `inputs` is a repository with one mistake. Its snapshot has the report, the changes of `--fix`, those of
`--fix --unsafe-fixes` if they differ, and the report after them. Read each as an expert who reviews the change: would
you make it?
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
ROWS = sorted(path.name for path in INPUTS.iterdir())


class Beside(TextFile):
    """A report, stored beside the inputs."""

    folder = HERE


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str, snapshot: SnapshotAssertion, empty_root: Path) -> None:
    shutil.copytree(INPUTS / row, empty_root, dirs_exist_ok=True)
    report = run("validate", "--legacy")
    safe = run("validate", "--legacy", "--fix", "--diff").out
    unsafe = run("validate", "--legacy", "--fix", "--unsafe-fixes", "--diff").out
    parts = [f"$ trainc validate\n{report.out}exit {report.code}\n"]
    parts += [f"$ trainc validate --fix --diff\n{safe}"] if safe else []
    parts += [f"$ trainc validate --fix --unsafe-fixes --diff\n{unsafe}"] if unsafe != safe else []
    if safe or unsafe:
        after = run("validate", "--legacy", "--fix", "--unsafe-fixes")
        parts.append(f"After it:\n{after.out}exit {after.code}\n")
    assert "\n".join(parts) == snapshot(extension_class=Beside)
