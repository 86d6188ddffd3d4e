"""Every request at every field of golden inputs has an answer; the lenses, the actions and a hover are snapshots."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from syrupy.assertion import SnapshotAssertion

from trainc.lsp.completion import complete
from trainc.lsp.hover_and_actions import actions, hover, lenses
from trainc.lsp.outline import outlines
from trainc.lsp.project import OpenProject
from trainc.lsp.references import definitions, references

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = ("dialect-v2.0", "elastic-up-to-four", "jax-two-nodes", "kueue-queue", "llm-finetune-4x8", "wrong-mount")
INPUT = "input.yaml"


@pytest.mark.parametrize("case", CASES)
def test_every_request_has_an_answer(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    (tmp_path / case).mkdir()
    shutil.copy(GOLDEN / case / INPUT, tmp_path / case)
    monkeypatch.chdir(tmp_path / case)
    project = OpenProject(str(tmp_path / case))
    text = project.texts[INPUT] = (GOLDEN / case / INPUT).read_text()
    project.check()
    hovers = {}
    for document in outlines(text):
        for field in document.fields:
            assert isinstance(complete(project, INPUT, lsp.Position(field.line, field.end)), list)
            for find in (definitions, references):
                assert all(each.file for each in find(project, INPUT, document, field))
            if not isinstance(field.path[-1], int):
                answer = hover(project, INPUT, lsp.Position(field.line, field.begin))
                assert answer is not None
                assert isinstance(answer.contents, lsp.MarkupContent)
                hovers[field.path] = answer.contents.value
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(text.count("\n"), 0))
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(""), whole, lsp.CodeActionContext([]))
    assert {
        "lenses": [each.command.title for each in lenses(project, INPUT) if each.command is not None],
        "actions": [each.title for each in actions(project, INPUT, params)],
        "hover": hovers.get(("spec", "trainer", "numNodes"), "").split("\n"),
    } == snapshot
