"""Lint rules for gangs and queues: inputs with and without findings. test_gang.py and test_kueue.py have more cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from linting import clean_container, fires, replicated, runtime_of, silent, trainjob, warnings
from manifests import write_json
from purposes import ALL_RULES
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.compilation.run import Options

TTL = {"ttlSecondsAfterFinished": 60}
HOOK = {"argocd.argoproj.io/hook": "Sync"}
GANG: dict[str, Any] = {"coscheduling": {}}
QUEUE = {"kueue.x-k8s.io/queue-name": "q"}
SELECTED = replicated(pod={"nodeSelector": {"pool": "a"}})
FETCH = replicated(clean_container(resources={}), name="fetch")
WAITING = {**replicated(), "dependsOn": [{"name": "fetch", "status": "Complete"}]}


@pytest.mark.parametrize(
    ("documents", "rules"),
    [
        fires("no-gang", runtime_of(), trainjob(numNodes=2), id="two nodes"),
        silent("no-gang", runtime_of(), trainjob(numNodes=1), id="one node"),
        silent("no-gang", runtime_of(gang=GANG), trainjob(numNodes=2), id="a gang"),
        silent("no-gang", runtime_of(policy={}), trainjob(numNodes=2), id="independent nodes"),
        fires(
            "gang-asks-for-nothing",
            runtime_of(replicated(clean_container(resources={})), gang=GANG),
            trainjob(),
            id="no cpu",
        ),
        silent("gang-asks-for-nothing", runtime_of(gang=GANG), trainjob(), id="a request"),
        fires(
            "gang-waits-for-itself",
            runtime_of(replicated(name="fetch"), WAITING, gang=GANG),
            trainjob(),
            id="dependsOn",
        ),
        silent(
            "gang-waits-for-itself",
            runtime_of(replicated(name="fetch"), replicated(), gang=GANG),
            trainjob(),
            id="both",
        ),
        fires("queue-placement", runtime_of(SELECTED), trainjob(labels=QUEUE), id="a node selector"),
        silent("queue-placement", runtime_of(SELECTED), trainjob(), id="no queue"),
        fires("queue-no-requests", runtime_of(replicated(), FETCH), trainjob(labels=QUEUE), id="no requests"),
        silent("queue-no-requests", runtime_of(replicated(), FETCH), trainjob(), id="no queue"),
        fires("suspended-with-queue", runtime_of(), trainjob(labels=QUEUE, suspend=True), id="suspended"),
        silent("suspended-with-queue", runtime_of(), trainjob(suspend=True), id="no queue"),
        fires("ttl-repeats-training", runtime_of(of_jobset=TTL), trainjob(), id="a time to live"),
        silent("ttl-repeats-training", runtime_of(), trainjob(), id="no time to live"),
    ],
)
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str]) -> None:
    assert [d.id for d in warnings(tmp_path, *documents, purpose=ALL_RULES)] == rules


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
def test_a_time_to_live_repeats_the_training_of_a_trainjob(
    tmp_path: Path, version: str, snapshot: SnapshotAssertion
) -> None:
    job = trainjob()
    del job["spec"]["runtimePatches"]  # which v2.1 lacks
    options = Options(trainer_version=version)
    found = warnings(tmp_path, runtime_of(of_jobset=TTL), job, options=options, purpose=ALL_RULES)
    assert [d.id for d in found] == ["ttl-repeats-training"]
    assert texts(found) == snapshot


@pytest.mark.parametrize(
    ("jobset", "version"),
    [pytest.param({}, "2.3", id="no time to live"), pytest.param(TTL, "2.4", id="a release that does not repeat it")],
)
def test_a_finished_training_stays(tmp_path: Path, jobset: dict[str, Any], version: str) -> None:
    options = Options(trainer_version=version)
    assert warnings(tmp_path, runtime_of(of_jobset=jobset), trainjob(), options=options, purpose=ALL_RULES) == []


@pytest.mark.parametrize(
    ("output", "annotations", "reason"),
    [
        pytest.param("rendered", {}, "a tool that keeps the output in the cluster", id="a project that renders"),
        pytest.param("rendered", HOOK, "", id="a hook"),
        pytest.param("none", {}, "Trainer v2.3", id="a project that renders nothing"),
        pytest.param("none", HOOK, "Trainer v2.3", id="a TrainJob that is a hook"),
    ],
)
def test_a_time_to_live_in_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, annotations: dict[str, str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(tmp_path, runtime_of(of_jobset=TTL), trainjob(annotations=annotations))
    (tmp_path / "trainc.yaml").write_text(f"output: {output}\n")
    shown = run("validate").out
    assert (reason in shown, "ttl-repeats-training" in shown) == (True, bool(reason))
