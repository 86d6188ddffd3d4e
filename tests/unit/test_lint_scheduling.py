"""Lint rules for gangs and queues: inputs with and without findings. test_gang.py and test_kueue.py have more cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from linting import clean_container, fires, replicated, runtime_of, silent, trainjob, warnings
from purposes import ALL_RULES

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
    ],
)
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str]) -> None:
    assert [d.id for d in warnings(tmp_path, *documents, purpose=ALL_RULES)] == rules
