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


def test_a_renamed_file_has_no_diagnostics_under_its_old_name(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(JOB)
    with editor(tmp_path) as found:
        found.open("old.yaml")
        assert [*found.texts()] == ["old.yaml"]
        # The editor sends all of this before the first check has ended.
        found.close("old.yaml")
        (tmp_path / "old.yaml").rename(tmp_path / "new.yaml")
        found.open("new.yaml")
        changes = [
            lsp.FileEvent(found.uri("old.yaml"), lsp.FileChangeType.Deleted),
            lsp.FileEvent(found.uri("new.yaml"), lsp.FileChangeType.Created),
        ]
        found.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(changes))
        assert [*found.texts()] == ["new.yaml"]


def test_settings_are_read_when_they_are_saved(tmp_path: Path) -> None:
    quiet = "lint: {disable: [no-gang, no-resources, no-shared-memory]}\n"
    (tmp_path / "job.yaml").write_text(JOB.replace("numNode:", "numNodes:"))
    with editor(tmp_path) as found:
        assert {str(each.code) for each in found.diagnostics("job.yaml")} == {"no-gang"}
        found.open("trainc.yaml", quiet)
        (tmp_path / "trainc.yaml").write_text(quiet)
        found.client.text_document_did_save(lsp.DidSaveTextDocumentParams(found.document("trainc.yaml")))
        assert found.texts() == {}


def test_a_folder_that_is_a_link_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "job.yaml").write_text(JOB)
    (tmp_path / "real" / "same.yaml").symlink_to(tmp_path / "real" / "job.yaml")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with editor(tmp_path / "link") as found:
        assert [*found.texts()] == ["job.yaml"]
        found.open("same.yaml")
        assert "unknown-field" in {str(each.code) for each in found.diagnostics("same.yaml")}


def test_a_link_out_of_the_folder_has_the_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "out.yaml").write_text(JOB)
    (tmp_path / "folder" / "job.yaml").symlink_to(tmp_path / "out.yaml")
    with editor(tmp_path / "folder") as found:
        assert [str(each.code) for each in found.diagnostics("job.yaml")] == ["link-out"]
        assert [*found.texts()] == ["job.yaml"]


@pytest.mark.parametrize(
    ("settings", "files"), [("trainc.yaml", ["jobs/job.yaml", "other.yaml"]), ("", ["jobs/job.yaml"])]
)
def test_without_a_folder_the_first_file_chooses_it(settings: str, files: list[str], tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    for name in ("jobs/job.yaml", "other.yaml"):
        (tmp_path / name).write_text(JOB.replace("train", name[0]))
    if settings:
        (tmp_path / settings).write_text("sources: [.]\n")
    with editor(tmp_path, is_open=False) as found:
        untitled = lsp.TextDocumentItem("untitled:a", "yaml", 1, JOB)
        found.client.text_document_did_open(lsp.DidOpenTextDocumentParams(untitled))
        assert found.texts() == {}
        params = lsp.HoverParams(lsp.TextDocumentIdentifier("untitled:a"), lsp.Position(0, 0))
        assert found.run(found.client.text_document_hover_async, params) is None
        found.open("jobs/job.yaml")
        assert [*found.texts()] == files
        assert found.messages == []


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
