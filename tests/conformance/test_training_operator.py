"""Whole jobs of Training Operator v1.9.2: trainc compiles the same image, command, variables and resources as its code.

The other JobSet fields follow Trainer v2.3 and JobSet v0.12. Cases have the layout of test_trainer.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from batches import in_batches
from conformance.recordings import DATA, are_equal, marks, or_skip

import trainc

FIELDS: Final = ("image", "command", "args", "env", "envFrom", "resources")
READ: Final = frozenset({"job/kep-reference"})
"""Rejected cases that trainc reads in another dialect: trainingRuntimeRef is KEP-2170's."""


def cases(verdict: str) -> list[Any]:
    found = or_skip(sorted((DATA / "older" / "v1.9.2").glob("*/*.yaml")))
    recorded = [(path, json.loads(path.with_suffix(".json").read_text())) for path in found]
    return [
        pytest.param(path, want, id=id, marks=marks(f"v1.9.2/{id}"))
        for path, want in recorded
        if (want["verdict"] == "accepted") is (verdict == "accepted")
        for id in (f"{path.parent.name}/{path.stem}",)
    ]


@in_batches("case, want", cases("accepted"))
def test_accepted(case: Path, want: Any) -> None:
    got = trainc.compile([str(case)])
    assert not [found.message for found in got.diagnostics if found.severity == "error"]
    mine = containers(got.objects)
    answers = [want, *(other for other in want.get("others", []) if other["verdict"] == "accepted")]
    assert any(are_equal(mine, containers(answer["objects"])) for answer in answers), mine


@in_batches("case, want", cases("rejected"))
def test_rejected(case: Path, want: Any) -> None:
    got = trainc.compile([str(case)])
    errors = [found for found in got.diagnostics if found.severity == "error"]
    assert bool(errors) is (f"{case.parent.name}/{case.stem}" not in READ), want["errors"]


def containers(objects: Any) -> dict[str, Any]:
    """Return the compared fields of every container, by job, list and name."""
    return {
        f"{job['name']}/{kind}/{container['name']}": {key: container[key] for key in FIELDS if container.get(key)}
        for jobset in objects
        if jobset["kind"] == "JobSet"
        for job in jobset["spec"]["replicatedJobs"]
        for kind in ("initContainers", "containers")
        for container in job["template"]["spec"]["template"]["spec"].get(kind, [])
    }
