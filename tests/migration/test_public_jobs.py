"""Public legacy jobs of every kind: the documents that `trainc migrate` prints, and its report.

Update them with `make snapshots`, and read them as a reviewer of a pull request: what you would not commit is a defect.
"""

from __future__ import annotations

import json
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


OF_THE_OLD_KIND = frozenset({"legacy-losses", "legacy-host", "old-container-name", "unknown-field", "kustomize-base"})
"""What a new document no longer has."""


@pytest.mark.parametrize("case", CASES)
def test_a_result_has_the_warnings_of_the_job(case: str) -> None:
    """The pods are the same, and so are their faults: also of a runtime without a policy."""
    before = warned(run("validate", str(HERE / case / "input.yaml"), "--legacy", "--no-config", "--format", "json").out)
    after = warned(run("validate", str(HERE / case / "migrated.yaml"), "--no-config", "--format", "json").out)
    assert before - OF_THE_OLD_KIND <= after


def warned(report: str) -> frozenset[str]:
    """Return the ids of the warnings in a JSON report."""
    found = json.loads(report)
    return frozenset(each["id"] for each in found if each["severity"] == "warning")
