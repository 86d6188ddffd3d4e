"""Public legacy jobs of every kind: the documents that `trainc migrate` prints, and its report.

Update them with `make snapshots`, and read them as a reviewer of a pull request: what you would not commit is a defect.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

HERE = Path(__file__).parent
CASES = sorted(path.parent.name for path in HERE.glob("*/input.yaml"))


class NewDocuments(TextFile):
    folder = HERE / "{}"
    name = "migrated"
    file_extension = "yaml"


class ReportOfJob(TextFile):
    folder = HERE / "{}"
    name = "report"
    file_extension = "md"


@pytest.mark.parametrize("case", CASES)
def test_new_documents(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE / case)
    done = run("migrate", "input.yaml", "--no-config")
    assert done.code == 0, done.err
    assert done.out == snapshot(extension_class=NewDocuments)


@pytest.mark.parametrize("case", CASES)
def test_a_report(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE / case)
    done = run("migrate", "input.yaml", "--diff", "--format", "markdown", "--no-config")
    assert done.code == 0, done.err
    assert done.out == snapshot(extension_class=ReportOfJob)
