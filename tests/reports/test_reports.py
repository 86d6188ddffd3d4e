"""Whole reports of invalid inputs, as `trainc validate` prints them: one input per file, its report beside it.

The page of each id has an input of its own (tests/contracts/test_diagnostics.py); the inputs here cover further
messages. The first line of an input describes the error. Refresh the reports with `make snapshots`, and read each as
the author of the input: does it have the line, the reason and the fix?
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from declared import ENTRIES
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

from trainc.compilation import OF_OLDER

HERE = Path(__file__).parent
CASES = sorted(path.stem for path in HERE.glob("*.yaml"))
JOB = (HERE / "no-spec.yaml").read_bytes()
ENCODED = {
    "encoded-latin-1": JOB.replace(b"# A", "# Für einen A".encode("latin-1")),
    "encoded-with-an-escape": JOB.replace(b"finetune", b"fine\x1b[31mtune"),
    "encoded-json-with-a-trailing-comma": b'{"apiVersion": "trainer.kubeflow.org/v1alpha1",\n "kind": "TrainJob",\n}',
    "encoded-json": b'{"apiVersion": "trainer.kubeflow.org/v1alpha1"\n "kind": "TrainJob"}',
}
"""Inputs that an editor would change."""
WARNED = dict.fromkeys(
    ("job-container-of-a-patch", "job-init-container", "job-secret-volume"), ("--field-validation=warn",)
)
"""Inputs whose last fault is only found if unknown fields are dropped."""


class Beside(TextFile):
    """A report, stored beside its input."""

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
def test_the_catalogue_has_every_reported_id(case: str) -> None:
    for found in json.loads(run("validate", str(HERE / f"{case}.yaml"), "--format", "json", *WARNED.get(case, ())).out):
        entry = ENTRIES[found["id"]]
        dropped = (case in WARNED and found["id"] == "unknown-field") or found["message"].endswith("; it is dropped")
        refused = found["id"] in OF_OLDER  # notes of a project that renders
        severity = "warning" if dropped or refused else entry.severity
        if found["message"].startswith("the JobSet is not checked"):  # another tool renders it
            severity = "note"
        assert (found["severity"], found["stage"] in entry.phases) == (severity, True), found


def test_an_input_starts_with_a_description_of_its_error() -> None:
    for case in CASES:
        first = (HERE / f"{case}.yaml").read_text().partition("\n")[0]
        assert (first[:2], first[-1]) == ("# ", "."), case
