"""Whole reports of wrong inputs, as `trainc validate` prints them: one input a file, its report beside it.

Every id has an input of its own on its page (tests/contracts/test_diagnostics.py); here are the wordings beyond. The
first line of an input says what is wrong with it. Refresh the reports with `make snapshots`, and read each as whoever
wrote the input would: does it name the line, the reason, and the way out?
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

from trainc.catalogue import entries

HERE = Path(__file__).parent
ENTRIES = entries()
CASES = sorted(path.stem for path in HERE.glob("*.yaml"))
JOB = (HERE / "no-spec.yaml").read_bytes()
ENCODED = {
    "encoded-latin-1": JOB.replace(b"# A", "# Für einen A".encode("latin-1")),
    "encoded-with-an-escape": JOB.replace(b"finetune", b"fine\x1b[31mtune"),
    "encoded-json-with-a-trailing-comma": b'{"apiVersion": "trainer.kubeflow.org/v1alpha1",\n "kind": "TrainJob",\n}',
    "encoded-json": b'{"apiVersion": "trainer.kubeflow.org/v1alpha1"\n "kind": "TrainJob"}',
}
"""What no editor would keep as it is."""
WARNED = dict.fromkeys(
    ("job-container-of-a-patch", "job-init-container", "job-secret-volume"), ("--field-validation=warn",)
)
"""The inputs whose last fault comes after the API server has dropped an unknown field."""


class Beside(TextFile):
    """A report that stands beside its input."""

    folder = HERE


@pytest.mark.parametrize("case", CASES)
def test_report(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    done = run("validate", f"{case}.yaml", *WARNED.get(case, ()))
    assert f"{done.out}exit {done.code}\n" == snapshot(extension_class=Beside)


@pytest.mark.parametrize("case", ENCODED)
def test_report_of_bytes(case: str, snapshot: SnapshotAssertion) -> None:
    done = run("validate", "-", stdin=ENCODED[case])
    assert f"{done.out}exit {done.code}\n" == snapshot(extension_class=Beside)


@pytest.mark.parametrize("case", CASES)
def test_the_catalogue_knows_what_is_reported(case: str) -> None:
    for said in json.loads(run("validate", str(HERE / f"{case}.yaml"), "--format", "json", *WARNED.get(case, ())).out):
        entry = ENTRIES[said["id"]]
        severity = "warning" if case in WARNED and said["id"] == "unknown-field" else entry.severity
        assert (said["severity"], said["stage"] in entry.phases) == (severity, True), said


def test_an_input_begins_with_what_is_wrong_with_it() -> None:
    for case in CASES:
        first = (HERE / f"{case}.yaml").read_text().partition("\n")[0]
        assert (first[:2], first[-1]) == ("# ", "."), case
