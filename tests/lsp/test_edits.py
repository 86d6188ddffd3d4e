"""Random edits end with the diagnostics of `trainc validate` on the same texts, and no request fails."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from editor import Editor, editor
from lsprotocol import types as lsp

import trainc

ROOT = Path(__file__).parents[2]
FILES = (
    "jobs/language/pretrain.yaml",
    "jobs/speech/align.yaml",
    "platform/runtimes/torch.yaml",
    "jobs/language/team.yaml",
    "trainc.yaml",
)
PASTED = (
    "\n",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    '"',
    "spec:\n",
    "numNodes: -1\n",
    "\U0001f600",
    "#",
    "name: x\n",
    "---\n",
    "é",
)
SEQUENCES, SEEDS = 200, 8
EACH = SEQUENCES // SEEDS
MORE = re.compile(r" \(and \d+ more [A-Za-z]+\)")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Editor]:
    folder = Path(shutil.copytree(ROOT / "examples" / "teams", tmp_path / "teams"))
    with editor(folder) as found:
        yield found
        assert found.messages == []


def edited(text: str, chance: random.Random) -> Iterator[str]:
    """Yield a text after each step: characters typed one by one, a deleted or pasted part, or a step undone."""
    before = [text]
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text) + 1)
        kind = chance.choice(("type", "delete", "paste", "move", "undo"))
        if kind == "type":
            for char in chance.choice(("numNodes: 2", "image: a:1", "ab", "  x: [")):
                text = text[:at] + char + text[at:]
                at += 1
                yield text
        elif kind == "delete":
            text = text[:at] + text[at + chance.choice((1, 1, 5, 40)) :]
        elif kind == "paste":
            text = text[:at] + chance.choice(PASTED) + text[at:]
        elif kind == "move":
            line = chance.choice(text.split("\n"))
            text = text[:at] + line + text[at:]
        else:
            text = chance.choice(before)
        before.append(text)
        yield text


def request(opened: Editor, path: str, text: str, chance: random.Random) -> None:
    """Ask something at a random position; the answer must not be an error."""
    lines = text.split("\n")
    line = chance.randrange(len(lines))
    position = lsp.Position(line, chance.randrange(len(lines[line]) + 1))
    document, client = opened.document(path), opened.client
    span = lsp.Range(lsp.Position(0, 0), position)
    asked: dict[Callable[..., Awaitable[object]], object] = {
        client.text_document_hover_async: lsp.HoverParams(document, position),
        client.text_document_completion_async: lsp.CompletionParams(document, position),
        client.text_document_definition_async: lsp.DefinitionParams(document, position),
        client.text_document_references_async: lsp.ReferenceParams(lsp.ReferenceContext(True), document, position),
        client.text_document_code_action_async: lsp.CodeActionParams(document, span, lsp.CodeActionContext([])),
        client.text_document_code_lens_async: lsp.CodeLensParams(document),
    }
    function = chance.choice([*asked])
    opened.run(function, asked[function])


def expected(path: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, int, str, str]]:
    """Return the file, line, id and message of each diagnostic of `trainc validate`."""
    monkeypatch.chdir(folder)
    found = set()
    for each in trainc.check(contents={path: text}, options=trainc.Options(budget="ci")).diagnostics:
        at = each.locate()
        file = at.file if at is not None and (folder / at.file).exists() else "trainc.yaml"
        found.add((file, at.line if at is not None and at.line else 1, each.id, MORE.sub("", each.message)))
    return found


def message_of(each: lsp.Diagnostic) -> str:
    """Return the message without its help, its environments, and the number of other jobs that have the fault."""
    return MORE.sub("", each.message.split("\nhelp: ")[0].split("\nin ")[0])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, SEEDS))])
def test_random_edits(opened: Editor, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for _ in range(EACH):
        path = chance.choice(FILES)
        first = (ROOT / "examples" / "teams" / path).read_text()
        opened.open(path, first)
        text = first
        for text in edited(first, chance):
            opened.change(path, text)
            if chance.random() < 0.2:
                request(opened, path, text, chance)
        opened.settle()
        request(opened, path, text, chance)
        found = {
            (file, each.range.start.line + 1, str(each.code), message_of(each))
            for file, diagnostics in opened.published.items()
            for each in diagnostics
        }
        wanted = expected(path, text, opened.folder, monkeypatch)
        if broken := {each for each in wanted if each[0] == path and each[2] in ("yaml", "unreadable")}:
            # The other files keep the answers for the last readable text.
            assert broken <= {each for each in found if each[0] == path}, text
        else:
            assert wanted - found == set(), (path, text)
            shared = {(each[2], each[3]) for each in wanted}
            assert {each for each in found - wanted if (each[2], each[3]) not in shared} == set(), (path, text)
        opened.close(path)
        opened.settle()
    assert not any(opened.published.values())
