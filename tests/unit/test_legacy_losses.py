"""The losses of legacy jobs: they are the fields that have no influence on the objects, and every kind has the test.

The jobs are those of the golden cases, and the recorded ones. A kind joins by having them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from batches import examples, one_in
from conformance.recordings import DATA
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from purposes import internal
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.kinds import LEGACY, Kind, find
from trainc.compilation import Compilation
from trainc.compilation.run import Options
from trainc.frontends.lowering import Loss, LossEffect
from trainc.kubernetes.trees import Path as Steps
from trainc.kubernetes.trees import Tree, get, put
from trainc.pipeline.frameworks import front_end
from trainc.provenance.tracing.correspondence import leaves

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "golden"
KINDS = {row: front_end(row) for row in LEGACY}
IDENTITY = {("apiVersion",), ("kind",)}
WORDS = ("All", "AllWorkers", "Running", "Never", "OnFailure", "Always", "Intel", "MPICH", "WaitForWorkersReady")
"""Values of the fields outside of the roles' templates that have a few."""
MAPS = ("labels", "annotations", "nodeSelector", "limits", "requests", "minResources")
"""The maps whose keys an author chooses."""
LISTS = ("containers", "volumes", "tolerations", "replicaSpecs", "tasks")
"""The lists whose first item the test changes."""
MOST_STEPS = 12
SCHEDULING = {"minAvailable": 2, "queue": "gold", "priorityClass": "high", "scheduleTimeoutSeconds": 9}


def row_of(job: Tree) -> Kind:
    row = find(job["apiVersion"], job["kind"])
    assert row is not None
    return row


def golden() -> Iterator[tuple[str, Tree]]:
    for path in sorted(GOLDEN.glob("legacy-*/input.yaml")):
        for tree in yaml.safe_load_all(path.read_text()):
            if row_of(tree) in KINDS:
                yield f"{path.parent.name}/{tree['metadata'].get('name', '')}", tree


def recorded() -> Iterator[tuple[str, Tree]]:
    for path in sorted((DATA / "legacy").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            case = json.loads(line)
            yield f"{path.stem}/{case['name']}", case["input"]


def lowered(job: Tree, gang: str | None = None) -> Compilation | None:
    """Return the result for a job; None if it is refused."""
    result = internal(trainc.compile(text=json.dumps(job), options=Options(legacy=True, no_config=True, gang=gang)))
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


def with_field_removed(tree: Any, path: Steps) -> Any:
    *above, key = path
    parent = get(tree, tuple(above))
    return put(tree, tuple(above), {name: value for name, value in parent.items() if name != key})


def is_listed(path: Steps, of_job: tuple[Loss, ...]) -> bool:
    """Return whether a loss reports that a field has no influence on the objects."""
    return any(
        path[: len(loss.path)] == loss.path and loss.rule.effect != "approximated" and not loss.rule.is_added
        for loss in of_job
    )


def is_influential(result: Compilation, edited: Iterable[Tree], gang: str | None) -> bool | None:
    """Return whether an edited job has other objects; None if all are refused."""
    has_influence = None
    for each in edited:
        other = lowered(each, gang)
        if other is not None and (has_influence := other.objects != result.objects):
            return True
    return has_influence


def check(job: Tree, gang: str | None = None, fields: Collection[Steps] | None = None) -> None:
    """Compare the fields without influence on the objects, by default all of them, with the losses."""
    result = lowered(job, gang)
    if result is None:
        return
    wrong = []
    for path in leaves(job) if fields is None else fields:
        if path in IDENTITY:
            continue
        has_influence = is_influential(result, edits(job, path), gang)
        if has_influence is None:  # no other value is valid: the field says nothing
            continue
        if not has_influence and isinstance(path[-1], str):
            has_influence = bool(is_influential(result, [with_field_removed(job, path)], gang))
        if has_influence == is_listed(path, losses(result)):
            wrong.append(f"{path}: {'has' if has_influence else 'has no'} influence")
    assert wrong == []


@pytest.mark.parametrize("job", one_in(8, (pytest.param(job, id=name) for name, job in golden())))
def test_the_losses_are_the_fields_without_influence(job: Tree) -> None:
    check(job)


@pytest.mark.slow
@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in recorded()])
def test_the_losses_of_recorded_jobs(job: Tree) -> None:
    check(job)


JOBS = [*golden()]


@cache
def fields_of_schema(kind: Kind) -> list[tuple[Steps, Tree]]:
    """Return the scalar fields of a kind's schema, with the first item of each list of objects."""
    schema = json.loads(run("schema", kind.name).out)

    def walk(node: Tree, path: Steps, depth: int) -> Iterator[tuple[Steps, Tree]]:
        if "$ref" in node:
            node = get(schema, tuple(node["$ref"].removeprefix("#/").split("/")))
        if depth > MOST_STEPS:
            return
        if "properties" in node:
            for key, below in node["properties"].items():
                yield from walk(below, (*path, key), depth + 1)
        elif isinstance(node.get("additionalProperties"), dict) and path[-1] not in MAPS:
            for role in ("Master", "Launcher", "Scheduler", "Worker"):
                yield from walk(node["additionalProperties"], (*path, role), depth + 1)
        elif node.get("type") == "array" and path[-1] in LISTS:
            yield from walk(node["items"], (*path, 0), depth + 1)
        elif node.get("type") in ("string", "integer", "boolean"):
            yield path, node

    return [(path, node) for path, node in walk(schema, (), 0) if path[0] == "spec"]


def with_field(job: Tree, path: Steps, value: Any) -> Tree | None:
    """Return the job with a field; None if it has no object for it, or already has the field."""
    above = next(length for length in range(len(path), 0, -1) if get(job, path[: length - 1]) is not None)
    new = path[above - 1 :]
    if above > len(path) or not all(isinstance(step, str) for step in new) or get(job, path) is not None:
        return None
    for step in reversed(new[1:]):
        value = {step: value}
    return put(job, path[:above], value) if isinstance(get(job, path[: above - 1]), dict) else None


@examples(100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_the_losses_of_fields_drawn_from_the_schema(data: st.DataObject) -> None:
    _, job = data.draw(st.sampled_from(JOBS))
    path, node = data.draw(st.sampled_from(fields_of_schema(row_of(job))))
    values: dict[str, list[Any]] = {"integer": [1, 7], "boolean": [True, False], "string": ["a", "1Gi", "Always"]}
    known = [*(node.get("enum") or values[node["type"]])]
    edited = with_field(job, path, data.draw(st.sampled_from(known)))
    assume(edited is not None and lowered(edited) is not None)
    assert edited is not None
    check(edited, fields=[path])


@pytest.mark.parametrize(
    ("case", "gang"),
    [
        ("legacy-pytorchjob-folded", "volcano"),
        ("legacy-mpijob-openmpi", "coscheduling"),
        pytest.param("legacy-pytorchjob-folded", "coscheduling", marks=pytest.mark.slow),
        pytest.param("legacy-pytorchjob-roles", "volcano", marks=pytest.mark.slow),
        pytest.param("legacy-pytorchjob-roles", "coscheduling", marks=pytest.mark.slow),
        pytest.param("legacy-mpijob-openmpi", "volcano", marks=pytest.mark.slow),
    ],
)
def test_the_losses_of_gangs(case: str, gang: str) -> None:
    (job,) = (job for name, job in golden() if name.startswith(f"{case}/"))
    check(put(job, ("spec", "runPolicy", "schedulingPolicy"), SCHEDULING), gang)


@pytest.mark.parametrize("jobs", [golden, pytest.param(recorded, marks=pytest.mark.slow)])
def test_every_loss_has_a_rule_of_its_kind(jobs: Callable[[], Iterator[tuple[str, Tree]]]) -> None:
    for _, job in jobs():
        result = lowered(job)
        for loss in () if result is None else losses(result):
            assert loss.rule in KINDS[row_of(job)].losses


OTHERS = {"JAXJob", "PaddleJob", "MXJob", "MxJob", "Volcano Job"}
"""The kinds whose own losses are in docs/legacy-other.md."""


@pytest.mark.parametrize("page", ["legacy", "legacy-other"])
def test_the_documentation_has_a_row_for_each_rule(page: str) -> None:
    """Fields without effect are not losses, which `explain --losses` lists alone."""
    rows = [
        tuple(
            cell.strip().strip("`") if index == 0 else cell.strip() for index, cell in enumerate(line.split("|")[1:-1])
        )
        for line in (ROOT / "docs" / f"{page}.md").read_text().splitlines()
        if line.count("|") == 6 and any(f"| {effect} |" in line for effect in get_args(LossEffect))
    ]
    kinds: dict[Any, list[str]] = {}
    for kind, of_kind in KINDS.items():
        for rule in of_kind.losses:
            kinds.setdefault(rule, []).append(kind.word)
    assert rows == [
        (rule.field, kinds_in_words(of), rule.effect, rule.reason, rule.action)
        for rule, of in kinds.items()
        if rule.effect != "without effect" and ({*of} <= OTHERS) == (page == "legacy-other")
    ]


def kinds_in_words(kinds: list[str]) -> str:
    others = [kind.word for kind in KINDS if kind.word not in kinds]
    return min(", ".join(kinds), f"all but {', '.join(others)}" if others else "all", key=len)


JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: mnist}
spec:
  runPolicy: {cleanPodPolicy: All}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          restartPolicy: Always
          containers:
          - name: pytorch
            image: acme/mnist:v1
            args: [--peer=mnist-worker-0]
            resources: {limits: {cpu: 2}}
"""
TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: mnist}
spec: {runtimeRef: {name: torch-distributed}}
"""


@pytest.fixture
def project(empty_folder: Path) -> Path:
    (empty_folder / "job.yaml").write_text(JOB)
    return empty_folder


@pytest.mark.parametrize("form", ["text", "json"])
def test_explain(form: str, project: Path, snapshot: SnapshotAssertion) -> None:
    done = run("explain", "--losses", "job.yaml", "--format", form)
    assert (done.code, done.out, done.err) == snapshot


def test_explain_follows_the_switch_for_folders(project: Path) -> None:
    done = run("explain", "--losses", ".")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == "no legacy job in the given paths"
    assert run("explain", "--losses", ".", "--legacy").out == run("explain", "--losses", "job.yaml").out


def test_explain_without_a_legacy_job(project: Path) -> None:
    (project / "job.yaml").write_text(TRAINJOB)
    done = run("explain", "--losses", "job.yaml")
    assert (done.code, done.out, done.err) == (0, "", "no legacy job in the given paths\n")


@pytest.mark.parametrize("others", [("--patches",), ("job.yaml", "spec.suspend")])
def test_explain_of_losses_has_no_fields(others: tuple[str, ...], project: Path) -> None:
    done = run("explain", "--losses", *others)
    assert (done.code, "--losses cannot be combined with" in done.err) == (2, True)


def test_explain_shows_the_line_of_a_host_name_as_written(project: Path) -> None:
    done = run("explain", "job.yaml", "**.args")
    assert "--peer=mnist-worker-0-0.mnist" in done.out or "--peer=mnist-worker-0-0" in done.out
    assert "args: [--peer=mnist-worker-0]" in done.out


@pytest.mark.parametrize("annotation", ["legacy-losses, no-gang", ""])
def test_the_warning_can_be_turned_off(annotation: str, project: Path) -> None:
    text = JOB.replace("{name: mnist}", f"{{name: mnist, annotations: {{trainc.dev/lint-ignore: {annotation!r}}}}}")
    (project / "job.yaml").write_text(text)
    assert ("warning[legacy-losses]" in run("validate", "--legacy").out) == (not annotation)
    assert run("validate", "--legacy", "--strict").code == (0 if annotation else 1)


@pytest.mark.parametrize(("members", "rules"), [(None, ["gang-waits-for-itself"]), (2, [])])
def test_a_gang_whose_launcher_waits_for_the_workers(members: int | None, rules: list[str]) -> None:
    (job,) = (job for name, job in JOBS if name.startswith("legacy-gang-mpijob/"))
    waiting = put(job, ("spec", "launcherCreationPolicy"), "WaitForWorkersReady")
    if members is not None:
        waiting = put(waiting, ("spec", "runPolicy"), {"schedulingPolicy": {"minAvailable": members}})
    result = lowered(waiting, "volcano")
    assert result is not None
    assert [found.id for found in result.diagnostics if found.id.startswith("gang-")] == rules
