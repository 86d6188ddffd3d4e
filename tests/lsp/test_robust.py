"""What goes wrong beside the edits: other folders, other systems' paths, files on the disk, failing requests."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor import CURSOR, editor
from lsprotocol import types as lsp

from trainc.lsp.outline import outlines
from trainc.lsp.project import OpenProject
from trainc.lsp.server import TraincServer, server

JOB = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: train}\n"
    "spec:\n  runtimeRef: {name: torch-distributed}\n  trainer:\n    numNode: 2\n"
)


@pytest.mark.parametrize(
    "uri",
    [
        "file:///c%3A/jobs/train.yaml",
        "file:///C:/jobs/train.yaml",
        "file://server/share/train.yaml",
        "untitled:Untitled-1",
        "git:/jobs/train.yaml?ref",
        "file:///",
        "",
    ],
)
def test_a_document_outside_of_the_root_has_no_path(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert OpenProject(str(tmp_path)).path(uri) is None


def test_a_path_is_relative_to_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path)
    project = OpenProject(str(tmp_path))
    assert project.path((tmp_path / "jobs" / "a b.yaml").as_uri()) == "jobs/a b.yaml"
    assert project.path((tmp_path / "jobs" / ".." / ".." / "a.yaml").as_uri()) is None
    assert project.path(project.uri("jobs/ä.yaml")) == "jobs/ä.yaml"


def test_a_link_out_of_the_root_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.yaml").write_text("secret: value\n")
    (root / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    monkeypatch.chdir(root)
    assert OpenProject(str(root)).text("link.yaml") == ""


def test_a_change_on_the_disk_is_checked(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    with editor(tmp_path) as found:
        assert "unknown-field" in {str(each.code) for each in found.diagnostics("job.yaml")}
        (tmp_path / "job.yaml").write_text(JOB.replace("numNode:", "numNodes:"))
        (tmp_path / "trainc.yaml").write_text("lint: {disable: [no-gang, no-resources, no-shared-memory]}\n")
        changes = [lsp.FileEvent(found.uri(name), lsp.FileChangeType.Changed) for name in ("job.yaml", "trainc.yaml")]
        found.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(changes))
        assert found.diagnostics("job.yaml") == []


def test_the_last_valid_text_answers_while_the_text_is_broken(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    right = JOB.replace("numNode:", "numNodes:")
    with editor(tmp_path) as found:
        document, position = found.at("job.yaml", right.replace("numNodes", f"num{CURSOR}Nodes"))
        before = found.run(found.client.text_document_hover_async, lsp.HoverParams(document, position))
        found.at("job.yaml", right.replace("numNodes", f"num{CURSOR}Nodes") + "  broken: [\n")
        assert [str(each.code) for each in found.diagnostics("job.yaml")] == ["yaml"]
        after = found.run(found.client.text_document_hover_async, lsp.HoverParams(document, position))
        assert "parallelism" in before.contents.value
        assert after.contents.value == before.contents.value


def test_a_failing_request_is_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    new = server()
    messages: list[str] = []
    monkeypatch.setattr(TraincServer, "window_show_message", lambda _, params: messages.append(params.message))

    def fails() -> None:
        raise RecursionError("too deep")

    assert asyncio.run(new.run(fails)) is None
    assert messages == ["trainc: fails failed: RecursionError: too deep; this is a bug in trainc"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "---",
        "- ",
        "{",
        "[",
        '"',
        "a: {b",
        "a: [b, {c: ",
        "? a",
        "a: |\n b",
        "%",
        "\t",
        "a:\n- - - b",
        ": :",
        "}",
    ],
)
def test_any_text_has_an_outline(text: str) -> None:
    assert outlines(text)
