"""What the server answers about examples/teams: hover, navigation, completion, actions, lenses and documents."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from editor import CURSOR, Editor, editor, json_of
from lsprotocol import types as lsp
from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]
TEAMS = ROOT / "examples" / "teams"
JOB = "jobs/language/pretrain.yaml"
RUNTIME = "platform/runtimes/torch.yaml"
TEAM = "jobs/language/team.yaml"
BARE = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: bare\n"
    "spec:\n  runtimeRef:\n    name: torch-distributed\n  trainer:\n    numNodes: 2\n"
)
CONTENT = lsp.WorkspaceClientCapabilities(text_document_content=lsp.TextDocumentContentClientCapabilities(True))
SHOWING = lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(support=True))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = Path(shutil.copytree(TEAMS, tmp_path_factory.mktemp("lsp") / "teams"))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *who, "commit", "-qm", "jobs"], cwd=folder, check=True)
    with editor(folder, workspace=CONTENT, window=SHOWING) as found:
        yield found
        assert found.messages == []


def marked(path: str, before: str) -> str:
    """Return the text of a file with the cursor after the first occurrence of a text."""
    text = (TEAMS / path).read_text()
    assert before in text
    return text.replace(before, before + CURSOR, 1)


@pytest.mark.parametrize(
    ("path", "before"),
    [
        (JOB, "numNode"),
        (JOB, "queue-name: g"),
        (JOB, "nvidia.com/gp"),
        (RUNTIME, "image: ghcr"),
        (RUNTIME, "  numNode"),
        (RUNTIME, "name: shm, mountP"),
        (TEAM, "metadata: {name: g"),
        ("trainc.yaml", "builtin: for"),
    ],
)
def test_hover(opened: Editor, path: str, before: str, snapshot: SnapshotAssertion) -> None:
    document, position = opened.at(path, marked(path, before))
    found = opened.run(opened.client.text_document_hover_async, lsp.HoverParams(document, position))
    assert found.contents.value.replace(opened.folder.as_uri(), "file:///project") == snapshot


def test_hover_on_a_diagnostic_is_its_page(opened: Editor) -> None:
    document, position = opened.at(JOB, marked(JOB, "numNode").replace(f"{CURSOR}s", CURSOR))
    found = opened.run(opened.client.text_document_hover_async, lsp.HoverParams(document, position))
    assert "The kind has no such field here" in found.contents.value


@pytest.mark.parametrize(
    ("path", "before"),
    [
        (JOB, "runtimeRef: {name: torch"),
        (JOB, "queue-name: g"),
        (JOB, "name: language-b"),
        (TEAM, "clusterQueue: res"),
        ("platform/queues.yaml", "- name: h1"),
        ("trainc.yaml", "path: platform"),
        ("trainc.yaml", "labelSelector: team=lang"),
        ("trainc.yaml", 'name: "*-g'),
    ],
)
def test_definition(opened: Editor, path: str, before: str, snapshot: SnapshotAssertion) -> None:
    document, position = opened.at(path, marked(path, before))
    found = opened.run(opened.client.text_document_definition_async, lsp.DefinitionParams(document, position))
    assert places(found, opened) == snapshot


@pytest.mark.parametrize(
    ("path", "before"),
    [(RUNTIME, "name: torch"), (TEAM, "metadata: {name: g"), (TEAM, "metadata: {name: language-b"), (JOB, "torch-g")],
)
def test_references(opened: Editor, path: str, before: str, snapshot: SnapshotAssertion) -> None:
    document, position = opened.at(path, marked(path, before))
    params = lsp.ReferenceParams(lsp.ReferenceContext(False), document, position)
    assert places(opened.run(opened.client.text_document_references_async, params), opened) == snapshot


def places(locations: list[lsp.Location] | None, opened: Editor) -> list[str]:
    return [
        f"{opened.path(each.uri)}:{each.range.start.line + 1}:{each.range.start.character + 1}"
        for each in locations or ()
    ]


PATCH = (
    BARE.replace("torch-distributed", "torch-gpu")
    + """\
  runtimePatches:
  - manager: acme.io/a
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template: {spec: {containers: [{name: ¦}]}}
"""
)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("jobs/new.yaml", "¦"),
        ("jobs/new.yaml", "kind: ¦\n"),
        ("jobs/new.yaml", "kind: TrainJob\nspec:\n  ¦\n"),
        ("jobs/new.yaml", "kind: TrainJob\nspec:\n  trainer:\n    nu¦\n"),
        ("jobs/new.yaml", "kind: TrainJob\nspec: {runtimeRef: {name: torch-gpu}, trainer: {¦}}\n"),
        ("jobs/new.yaml", "kind: TrainJob\nspec:\n  runtimeRef:\n    name: ¦\n"),
        ("jobs/new.yaml", "kind: TrainJob\nspec:\n  runtimeRef: {name: ¦\n"),
        ("jobs/new.yaml", "kind: TrainJob\nspec:\n  runtimeRef: {kind: ¦}\n"),
        ("jobs/new.yaml", "kind: TrainJob\nmetadata:\n  labels:\n    kueue.x-k8s.io/queue-name: ¦\n"),
        (
            "jobs/new.yaml",
            "kind: TrainJob\nspec:\n  trainer:\n    env:\n    - name: A\n      valueFrom: {secretKeyRef: {name: ¦}}\n",
        ),
        ("jobs/new.yaml", PATCH),
        ("jobs/new.yaml", PATCH.replace("¦", "node").replace("- name: node", "- name: ¦")),
        ("platform/runtimes/new.yaml", "kind: ClusterTrainingRuntime\nspec:\n  mlPolicy:\n    torch:\n      ¦\n"),
        ("trainc.yaml", "sources: [jobs]\nruntimes: {¦}\n"),
        ("trainc.yaml", "sources: [jobs]\nruntimes: {builtin: ¦}\n"),
        ("trainc.yaml", "trainerVersion: ¦\n"),
    ],
)
def test_completion(opened: Editor, path: str, text: str, snapshot: SnapshotAssertion) -> None:
    before = opened.run(opened.client.protocol.send_request_async, "trainc/settled", None)
    assert before is None
    document, position = opened.at(path, text)
    found = opened.run(opened.client.text_document_completion_async, lsp.CompletionParams(document, position))
    assert [f"{each.label} ({each.detail})" if each.detail else each.label for each in found] == snapshot
    if path != "trainc.yaml":
        opened.close(path)
    else:
        opened.change(path, (TEAMS / path).read_text())


def test_a_completed_field_has_its_sentence(opened: Editor) -> None:
    document, position = opened.at("jobs/new.yaml", "kind: TrainJob\nspec:\n  trainer:\n    numN¦\n")
    found = opened.run(opened.client.text_document_completion_async, lsp.CompletionParams(document, position))
    texts = {each.label: each.documentation for each in found}
    assert texts["numNodes"] == "The number of training pods, instead of the runtime's `mlPolicy.numNodes`"
    opened.close("jobs/new.yaml")


@pytest.mark.parametrize(
    "change",
    [
        ("numNodes: 8", "numNode: 8"),
        ("name: torch-gpu", "name: torch-gpus"),
        ("numNodes: 8", "numNode: 8\n    Image: acme/train:1"),
        ("    env:\n", "    image: acme/train\n    env:\n"),
        ("labels: {team", 'annotations: {trainc.dev/lint-ignore: "no-gang"}, labels: {team'),
    ],
)
def test_actions(opened: Editor, change: tuple[str, str], snapshot: SnapshotAssertion) -> None:
    text = (TEAMS / JOB).read_text().replace(*change)
    if "annotations" in change[1]:
        text = text.replace("    env:\n", "    image: acme/train\n    env:\n")
    opened.at(JOB, CURSOR + text)
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(100, 0))
    params = lsp.CodeActionParams(opened.document(JOB), whole, lsp.CodeActionContext([]))
    found = opened.run(opened.client.text_document_code_action_async, params)
    assert [(each.title, str(each.kind), applied(text, each, opened)) for each in found] == snapshot


def applied(text: str, action: lsp.CodeAction, opened: Editor) -> list[str]:
    """Return the lines that an action changes."""
    assert action.edit is not None
    assert action.edit.changes is not None
    lines = text.split("\n")
    edits = action.edit.changes[opened.uri(JOB)]
    for edit in sorted(edits, key=lambda each: each.range.start, reverse=True):
        start, end = edit.range.start, edit.range.end
        before = lines[start.line][: start.character]
        after = lines[end.line][end.character :] if end.line < len(lines) else ""
        lines[start.line : end.line + 1] = f"{before}{edit.new_text}{after}".split("\n")
    old = text.split("\n")
    return [line for line in lines if line not in old]


def test_lenses(opened: Editor, snapshot: SnapshotAssertion) -> None:
    opened.at(JOB, marked(JOB, "kind"))
    found = opened.run(opened.client.text_document_code_lens_async, lsp.CodeLensParams(opened.document(JOB)))
    assert json_of(found, opened.folder) == snapshot


@pytest.mark.parametrize("command", ["trainc.showJobSet", "trainc.showPods", "trainc.showChanges"])
def test_a_document_of_the_server(opened: Editor, command: str, snapshot: SnapshotAssertion) -> None:
    opened.at(JOB, marked(JOB, "kind").replace("numNodes: 8", "numNodes: 2"))
    params = lsp.ExecuteCommandParams(command, [opened.uri(JOB), "prod"])
    found = opened.run(opened.client.workspace_execute_command_async, params)
    assert opened.shown[-1] == found["uri"]
    assert opened.registered == [lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT]
    content: Any = opened.run(
        opened.client.workspace_text_document_content_async, lsp.TextDocumentContentParams(found["uri"])
    )
    assert content.text == found["text"]
    assert found == snapshot
    assert found["uri"] in opened.refreshed
    opened.refreshed.clear()
    opened.change(JOB, (TEAMS / JOB).read_text())
    opened.settle()
    assert (found["uri"] in opened.refreshed) == (command != "trainc.showChanges")


@pytest.mark.parametrize("command", ["trainc.showJobSet", "trainc.showPods"])
def test_the_first_environment_is_the_default(opened: Editor, command: str) -> None:
    opened.at(JOB, marked(JOB, "kind"))

    def shown(*arguments: str) -> Any:
        return opened.run(
            opened.client.workspace_execute_command_async, lsp.ExecuteCommandParams(command, [*arguments])
        )

    assert shown(opened.uri(JOB))["text"] == shown(opened.uri(JOB), "dev")["text"]
    assert shown(opened.uri(JOB))["text"] != shown(opened.uri(JOB), "prod")["text"]
    assert shown() is None


def test_a_built_in_runtime_is_a_read_only_document(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(BARE)
    with editor(tmp_path) as found:
        document, position = found.at("job.yaml", BARE.replace("name: torch", f"name: tor{CURSOR}ch"))
        [place] = found.run(found.client.text_document_definition_async, lsp.DefinitionParams(document, position))
        file = Path(place.uri.removeprefix("file://"))
        assert "kind: ClusterTrainingRuntime" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o444
    assert not file.exists()
