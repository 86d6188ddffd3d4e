"""Kueue's webhook: trainc reports an error at each field that the real webhook names, and none for what it accepts.

A line of kueue/webhook.jsonl has a TrainJob and its runtime, and the errors of Kueue v0.19.2 for the JobSet. Two
differences are known: the webhook reports a value that it cannot parse alone and without a field, and trainc reports it
with all others and its field; an invalid slice size comes back twice, and trainc reports it once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from batches import in_batches, one_in_four
from conformance.recordings import IS_OTHER, or_skip, recorded
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.diagnostics import Diagnostic, Place

CASES = or_skip(recorded("kueue/webhook.jsonl"))
KEY = "kueue.x-k8s.io/"
REPORTED = (
    *("gated-5", "gated-6", "group-two-1", "layers-11", "layers-12", "layers-17", "layers-2"),
    *("queue-runtime-4", "random-039", "random-096"),
)
"""The cases whose reports have the texts that no wrong example of a page has."""


def reported(folder: Path, case: dict[str, Any]) -> list[Diagnostic]:
    """Return the errors of trainc."""
    path = folder / "input.yaml"
    path.write_text(case["input"], encoding="utf-8")
    return [found for found in trainc.compile([str(path)]).diagnostics if found.severity == "error"]


def lines(error: Diagnostic, text: str) -> list[str]:
    """Return the lines at which an error is reported: its own one, and that in the runtime."""
    related = [each.place.locate() for each in error.related if isinstance(each.place, Place)]
    places = [error.locate(), *related]
    return [text.splitlines()[place.line - 1] for place in places if place is not None]


@in_batches("case", one_in_four(pytest.param(case, id=case["name"]) for case in CASES))
def test_webhook(tmp_path: Path, case: dict[str, Any]) -> None:
    found, wanted = reported(tmp_path, case), case["errors"]
    fields = {error["field"] for error in wanted if error["field"]}
    assert {each.stage for each in found} == ({"kueue"} if wanted else set())
    assert fields <= {each.field for each in found}
    if all(error["field"] for error in wanted):
        assert {each.field for each in found} == fields
    for each in found:
        assert any(KEY in line for line in lines(each, case["input"])), each
        assert len([other for other in found if (other.field, other.message) == (each.field, each.message)]) == 1


@pytest.mark.skipif(IS_OTHER, reason="trainc's own recordings")
def test_texts(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    found = [each for case in CASES if case["name"] in REPORTED for each in reported(tmp_path, case)]
    assert "".join(f"[{each.id}] {each.message}\n  help: {each.help}\n" for each in found) == snapshot


def test_both_answers_are_recorded() -> None:
    assert not CASES or {bool(case["errors"]) for case in CASES} == {True, False}
