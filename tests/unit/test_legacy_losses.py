"""The losses of legacy jobs: they are the fields that have no influence on the objects, and every kind has the test.

The jobs are those of the golden cases, and the recorded ones. A kind joins by having them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conformance.recordings import DATA

import trainc
from trainc.base.kinds import LEGACY
from trainc.compilation import Compilation, Options
from trainc.frontends import lowering
from trainc.frontends.losses import Loss
from trainc.kubernetes.trees import Path as Steps
from trainc.kubernetes.trees import Tree, get, put
from trainc.provenance.tracing.correspondence import leaves

GOLDEN = Path(__file__).parents[2] / "golden"
KINDS = {row.kind: lowering.load(row.front_end) for row in LEGACY}
IDENTITY = {("apiVersion",), ("kind",)}
WORDS = ("All", "Running", "Never", "OnFailure", "Always", "Intel", "MPICH", "WaitForWorkersReady")
"""Values of the fields outside of the roles' templates that have a few."""
SCHEDULING = {"minAvailable": 2, "queue": "gold", "priorityClass": "high", "scheduleTimeoutSeconds": 9}


def golden() -> Iterator[tuple[str, Tree]]:
    for path in sorted(GOLDEN.glob("legacy-*/input.yaml")):
        for tree in yaml.safe_load_all(path.read_text()):
            if tree["kind"] in KINDS:
                yield f"{path.parent.name}/{tree['metadata'].get('name', '')}", tree


def recorded() -> Iterator[tuple[str, Tree]]:
    for path in sorted((DATA / "legacy").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            case = json.loads(line)
            yield f"{path.stem}/{case['name']}", case["input"]


def compiled(job: Tree, gang: str | None = None) -> Compilation | None:
    """Return the result for a job; None if it is refused."""
    result = trainc.compile(text=json.dumps(job), options=Options(legacy=True, no_config=True, gang=gang))
    return None if result.failed else result


def losses(result: Compilation) -> tuple[Loss, ...]:
    return result.jobs[0].plan.losses


def edits(job: Tree, path: Steps) -> Iterator[Tree]:
    """Yield the job with other values of a field."""
    value = get(job, path)
    if isinstance(value, bool):
        yield put(job, path, not value)
    elif isinstance(value, int):
        yield put(job, path, value + 1)
    elif isinstance(value, str):
        yield put(job, path, f"{value}a")
        if "template" not in path:
            yield from (put(job, path, word) for word in WORDS if word != value)


def without(tree: Any, path: Steps) -> Any:
    *above, key = path
    parent = get(tree, tuple(above))
    return put(tree, tuple(above), {name: value for name, value in parent.items() if name != key})


def is_listed(path: Steps, found: tuple[Loss, ...]) -> bool:
    """Return whether a loss reports that a field has no influence on the objects."""
    return any(
        path[: len(loss.path)] == loss.path and loss.rule.effect != "approximated" and not loss.rule.is_added
        for loss in found
    )


def check(job: Tree, gang: str | None = None) -> None:
    """Compare the fields without influence on the objects with the losses."""
    result = compiled(job, gang)
    if result is None:
        return
    wrong = []
    for path in leaves(job):
        if path in IDENTITY:
            continue
        edited = [other for each in edits(job, path) if (other := compiled(each, gang)) is not None]
        if not edited:  # no other value is valid: the field says nothing
            continue
        if isinstance(path[-1], str):
            removed = compiled(without(job, path), gang)
            edited += [] if removed is None else [removed]
        has_influence = any(other.objects != result.objects for other in edited)
        if has_influence == is_listed(path, losses(result)):
            wrong.append(f"{path}: {'has' if has_influence else 'has no'} influence")
    assert wrong == []


@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in golden()])
def test_the_losses_are_the_fields_without_influence(job: Tree) -> None:
    check(job)


@pytest.mark.slow
@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in recorded()])
def test_the_losses_of_recorded_jobs(job: Tree) -> None:
    check(job)


@pytest.mark.parametrize("gang", ["volcano", "coscheduling"])
@pytest.mark.parametrize("case", ["legacy-pytorchjob-folded", "legacy-pytorchjob-roles", "legacy-mpijob-openmpi"])
def test_the_losses_of_gangs(case: str, gang: str) -> None:
    (job,) = (job for name, job in golden() if name.startswith(f"{case}/"))
    check(put(job, ("spec", "runPolicy", "schedulingPolicy"), SCHEDULING), gang)


def test_every_loss_has_a_rule_of_its_kind() -> None:
    for _, job in (*golden(), *recorded()):
        result = compiled(job)
        for loss in () if result is None else losses(result):
            assert loss.rule in KINDS[job["kind"]].LOSSES
