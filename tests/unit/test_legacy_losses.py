"""The losses of legacy jobs: they are the fields that have no influence on the objects, and every kind has the test.

The jobs are those of the golden cases, and the recorded ones. A kind joins by having them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from conformance.recordings import DATA
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.kinds import LEGACY
from trainc.compilation import Compilation, Options
from trainc.frontends import lowering
from trainc.frontends.loss_rules import Loss, LossEffect
from trainc.kubernetes.trees import Path as Steps
from trainc.kubernetes.trees import Tree, get, put
from trainc.provenance.tracing.correspondence import leaves

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "golden"
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
            removed = compiled(with_field_removed(job, path), gang)
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


def test_the_documentation_has_a_row_for_each_rule() -> None:
    rows = [
        tuple(
            cell.strip().strip("`") if index == 0 else cell.strip() for index, cell in enumerate(line.split("|")[1:-1])
        )
        for line in (ROOT / "docs" / "legacy.md").read_text().splitlines()
        if line.count("|") == 6 and any(f"| {effect} |" in line for effect in get_args(LossEffect))
    ]
    kinds: dict[Any, list[str]] = {}
    for kind, front_end in KINDS.items():
        for rule in front_end.LOSSES:
            kinds.setdefault(rule, []).append(kind)
    assert rows == [
        (rule.field, "all" if len(of) == len(KINDS) else ", ".join(of), rule.effect, rule.reason, rule.action)
        for rule, of in kinds.items()
    ]


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
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.mark.parametrize("form", ["text", "json"])
def test_explain(form: str, folder: Path, snapshot: SnapshotAssertion) -> None:
    done = run("explain", "--losses", "job.yaml", "--format", form)
    assert (done.code, done.out, done.err) == snapshot


def test_explain_follows_the_switch_for_folders(folder: Path) -> None:
    done = run("explain", "--losses", ".")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == "no legacy job in the given paths"
    assert run("explain", "--losses", ".", "--legacy").out == run("explain", "--losses", "job.yaml").out


def test_explain_without_a_legacy_job(folder: Path) -> None:
    (folder / "job.yaml").write_text(TRAINJOB)
    done = run("explain", "--losses", "job.yaml")
    assert (done.code, done.out, done.err) == (0, "", "no legacy job in the given paths\n")


@pytest.mark.parametrize("others", [("--patches",), ("job.yaml", "spec.suspend")])
def test_explain_of_losses_has_no_fields(others: tuple[str, ...], folder: Path) -> None:
    done = run("explain", "--losses", *others)
    assert (done.code, "--losses cannot be combined with" in done.err) == (2, True)


def test_explain_shows_the_line_of_a_host_name_as_written(folder: Path) -> None:
    done = run("explain", "job.yaml", "**.args")
    assert "--peer=mnist-worker-0-0.mnist" in done.out or "--peer=mnist-worker-0-0" in done.out
    assert "args: [--peer=mnist-worker-0]" in done.out


@pytest.mark.parametrize("annotation", ["legacy-losses, no-gang", ""])
def test_the_warning_can_be_turned_off(annotation: str, folder: Path) -> None:
    text = JOB.replace("{name: mnist}", f"{{name: mnist, annotations: {{trainc.dev/lint-ignore: {annotation!r}}}}}")
    (folder / "job.yaml").write_text(text)
    assert ("warning[legacy-losses]" in run("validate", "--legacy").out) == (not annotation)
    assert run("validate", "--legacy", "--strict").code == (0 if annotation else 1)
