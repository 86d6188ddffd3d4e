"""Changed runtimes without users: a note, also if the repository has no TrainJob at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from linting import runtime_of, trainjob
from running import run

pytestmark = pytest.mark.usefixtures("empty_folder")

RUNTIME = 'ClusterTrainingRuntime "r"'
TEAMS = "no TrainJob here uses it; teams elsewhere may"


def changed(name: str = "r", restarts: int = 3) -> dict[str, Any]:
    """Return a runtime with another number of restarts."""
    return runtime_of(of_jobset={"failurePolicy": {"maxRestarts": restarts}}) | {"metadata": {"name": name}}


def notes(old: list[Any], new: list[Any], *options: str) -> list[str]:
    """Return the first lines of the notes of a review, without their places."""
    for side, documents in (("old", old), ("new", new)):
        Path(side).mkdir(exist_ok=True)
        Path(side, "all.json").write_text("\n".join(map(json.dumps, documents)))
    done = run("diff", "old", "new", *options)
    assert done.code == 0, done.err
    return [line.partition("note[unused-runtime]: ")[2] for line in done.err.splitlines() if "unused-runtime" in line]


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        pytest.param(
            [changed(restarts=1)], [changed()], [f'ClusterTrainingRuntime "r" changes: {TEAMS}'], id="changed"
        ),
        pytest.param([changed()], [], [f'ClusterTrainingRuntime "r" is removed: {TEAMS}'], id="removed"),
        pytest.param([], [changed()], [], id="added"),
        pytest.param([changed()], [changed()], [], id="the same"),
    ],
)
@pytest.mark.parametrize("more", [[], [changed("used"), trainjob(runtime="used", numNodes=1)]], ids=["alone", "jobs"])
def test_a_runtime_without_users(old: list[Any], new: list[Any], wanted: list[str], more: list[Any]) -> None:
    assert notes([*old, *more], [*new, *more]) == wanted


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_user_on_either_side(side: str) -> None:
    other = [changed("other"), trainjob("k", runtime="other", numNodes=1)]
    sides = {"old": [changed(restarts=1), *other], "new": [changed(), *other]}
    sides[side].append(trainjob(numNodes=1))
    assert notes(sides["old"], sides["new"]) == []


def test_the_trainjobs_that_a_change_reaches_are_listed() -> None:
    jobs = [trainjob(name, numNodes=1) for name in "ab"]
    assert notes([changed(restarts=1), *jobs], [changed(), *jobs]) == []
    assert "changes 2 jobs: " in run("diff", "old", "new").out


def test_the_place_of_a_change() -> None:
    notes([changed(restarts=1)], [changed()])
    assert "new/all.json:1:" in run("diff", "old", "new").err
    assert "trainc validate PATH --runtimes new/all.json" in run("diff", "old", "new").err


def test_two_sides_without_anything_are_an_error() -> None:
    for side in ("old", "new"):
        Path(side).mkdir()
        Path(side, "a.yaml").write_text("kind: ConfigMap\n")
    done = run("diff", "old", "new")
    assert (done.code, "nothing-to-compare" in done.err) == (1, True)


def test_every_environment_has_one_note() -> None:
    for side, restarts in (("old", 1), ("new", 3)):
        Path(side).mkdir()
        Path(side, "all.json").write_text(json.dumps(changed(restarts=restarts)))
        Path(side, "trainc.yaml").write_text("environments: {dev: {}, prod: {}}\n")
    done = run("diff", "old", "new")
    assert (done.code, done.err.count("note[unused-runtime]")) == (0, 1)
