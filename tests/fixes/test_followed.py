"""A fix that is followed once is right: its diagnostic is gone, and no new error is in its place.

Each fix of a report is applied alone.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from batches import in_batches
from fixes.followed import INPUTS, edited, problems, write_repository

LATER = {
    "builtin-false": "the setting that is meant forbids the runtime of the job",
    "environments": "two environments without settings write the same object",
    "labels": "other labels have faults of a later phase",
    "type-string": "the number is no name of a TrainJob",
    "wrong-legacy-mlkubejob": "other fields have faults of a later phase",
}
"""The inputs in which a fix makes another fault visible, with the reason."""


@in_batches("name", [pytest.param(name, id=name) for name in sorted(INPUTS)])
def test_each_fix_removes_its_diagnostic(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_repository(INPUTS[name], tmp_path)
    before = problems()
    errors: Counter[str] = Counter()
    old = Counter(each["id"] for each in before if each["severity"] == "error")
    for found in before:
        if "fix" not in found:
            continue
        path = Path(found["fix"]["edits"][0]["file"])
        text = path.read_text()
        path.write_text(edited(text, found["fix"]["edits"]))
        after = problems()
        path.write_text(text)
        same = [each for each in after if (each["id"], each["message"]) == (found["id"], found["message"])]
        assert len(same) < sum((each["id"], each["message"]) == (found["id"], found["message"]) for each in before)
        errors += Counter(each["id"] for each in after if each["severity"] == "error") - old
    assert bool(errors) == (name in LATER), errors
