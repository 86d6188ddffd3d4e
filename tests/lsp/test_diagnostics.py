"""The diagnostics of an editor's texts: those of `trainc validate` on the same texts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from editor import Editor, editor, json_of
from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]
JOB = "jobs/language/pretrain.yaml"
RUNTIME = "platform/runtimes/torch.yaml"


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "teams", tmp_path_factory.mktemp("lsp") / "teams"))


@pytest.fixture
def opened(teams: Path) -> Iterator[Editor]:
    with editor(teams) as found:
        yield found


def text(path: str) -> str:
    return (ROOT / "examples" / "teams" / path).read_text()


def test_a_mistake_in_a_job(opened: Editor, snapshot: SnapshotAssertion) -> None:
    opened.open(JOB)
    assert opened.diagnostics(JOB) == []
    opened.change(JOB, text(JOB).replace("numNodes", "numNode"))
    assert json_of(opened.diagnostics(JOB), opened.folder) == snapshot
    opened.change(JOB, text(JOB))
    assert opened.diagnostics(JOB) == []


def test_a_mistake_in_a_runtime_is_reported_with_the_jobs_that_use_it(
    opened: Editor, snapshot: SnapshotAssertion
) -> None:
    opened.open(RUNTIME)
    opened.change(RUNTIME, text(RUNTIME).replace("name: torch-gpu", "name: torch-gpus"))
    assert opened.texts() == snapshot


def test_environments_are_merged(opened: Editor, snapshot: SnapshotAssertion) -> None:
    opened.open("trainc.yaml", text("trainc.yaml").replace("newTag: v1.4.2", "newTag: latest"))
    assert opened.texts() == snapshot


def test_broken_yaml_has_one_diagnostic_and_breaks_nothing_else(opened: Editor) -> None:
    opened.open(RUNTIME)
    opened.change(RUNTIME, text(RUNTIME).replace("spec:\n  mlPolicy", "spec: [\n  mlPolicy"))
    found = opened.texts()
    assert [*found] == [RUNTIME]
    [only] = found[RUNTIME]
    assert "error[yaml]" in only


def test_columns_count_utf16_units(opened: Editor) -> None:
    annotations = 'annotations: {a: "\U0001f600", b: 1}'
    new = text(JOB).replace("metadata: {name", f"metadata: {{{annotations}, name")
    opened.open(JOB, new)
    found = next(each for each in opened.diagnostics(JOB) if each.code == "wrong-type")
    line = new.split("\n")[found.range.start.line]
    assert line.encode("utf-16-le")[2 * found.range.start.character :].decode("utf-16-le").startswith("1}")


def test_a_file_outside_of_the_folder_is_not_read(opened: Editor, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("kind: TrainJob\n")
    opened.open(str(tmp_path / "job.yaml"))
    assert opened.texts() == {}


def test_the_last_of_many_changes_is_reported(opened: Editor) -> None:
    opened.open(JOB)
    for number in range(30):
        opened.change(JOB, text(JOB).replace("numNodes: 8", f"numNodes: -{number}"))
    found = [each.message for each in opened.diagnostics(JOB)]
    assert any("-29" in message for message in found)
    assert not any("-28" in message for message in found)


def test_an_unsaved_file_is_a_file_of_the_project(opened: Editor, snapshot: SnapshotAssertion) -> None:
    opened.open("jobs/language/new.yaml", text(JOB).replace("name: pretrain", "name: new").replace("torch-gpu", "jax"))
    assert opened.texts() == snapshot
