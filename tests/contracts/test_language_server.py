"""The example of a language server answers a scripted editor, in at most 150 lines on the public API alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

PROGRAM = Path(__file__).parents[2] / "examples" / "language_server.py"
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: own
  labels: {trainer.kubeflow.org/framework: torch}
spec:
  mlPolicy: {torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "acme/train:1"}]}}}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train, annotations: {note: "\U0001f600"}}
spec:
  runtimeRef: {name: own}
  trainer:
    numNode: 2
"""
RIGHT = JOB.replace("numNode:", "numNodes:")


class Editor:
    """A client that sends one message after the other."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.uri = f"file://{folder / 'jobs' / 'train.yaml'}"

    def send(self, method: str, params: dict[str, Any], **id: int) -> Any:
        """Send a message, and return what the next one from the server has."""
        data = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **id}).encode()
        self.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.stdin.flush()
        length = int(self.stdout.readline().partition(b":")[2])
        assert self.stdout.readline() == b"\r\n"
        answer = json.loads(self.stdout.read(length))
        return answer["result"] if id else answer["params"]["diagnostics"]

    def ask(self, method: str, **params: Any) -> Any:
        """Return the answer to a question about the file."""
        return self.send(f"textDocument/{method}", {"textDocument": {"uri": self.uri}, **params}, id=1)

    def change(self, text: str) -> Any:
        """Return the diagnostics after a change."""
        return self.send(
            "textDocument/didChange", {"textDocument": {"uri": self.uri}, "contentChanges": [{"text": text}]}
        )


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "trainc.yaml").write_text(
        "environments: {dev: {nameSuffix: -dev}, prod: {}}\nlint: {disable: [no-gang, no-resources]}\n"
    )
    (tmp_path / "runtime.yaml").write_text(RUNTIME)
    (tmp_path / "jobs" / "train.yaml").write_text(RIGHT)
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        yield Editor(process, tmp_path)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_an_editor(editor: Editor, tmp_path: Path) -> None:
    assert editor.send("initialize", {}, id=1)["capabilities"]["hoverProvider"] is True
    item = {"textDocument": {"uri": editor.uri, "text": JOB}}
    [found] = editor.send("textDocument/didOpen", item)
    span = {"start": {"line": 6, "character": 4}, "end": {"line": 6, "character": 11}}
    assert (found["code"], found["severity"], found["range"]) == ("unknown-field", 1, span)
    assert found["codeDescription"]["href"].startswith("file://")

    hover = editor.ask("hover", position={"line": 6, "character": 5})
    assert hover["contents"]["value"].startswith("# unknown-field: kind has no such field\n")
    [action] = editor.ask("codeAction", range=span, context={})
    assert (action["title"], action["isPreferred"]) == ("Rename numNode to numNodes", True)
    assert action["edit"]["changes"] == {editor.uri: [{"range": span, "newText": "numNodes"}]}

    assert editor.change(RIGHT) == []
    hover = editor.ask("hover", position={"line": 6, "character": 14})
    assert "spec.replicatedJobs.0.template.spec.parallelism` = `2` (the TrainJob)" in hover["contents"]["value"]
    definition = editor.ask("definition", position={"line": 4, "character": 3})
    assert definition["uri"] == f"file://{tmp_path / 'runtime.yaml'}"
    assert definition["range"]["start"] == {"line": 3, "character": 8}

    # A character beyond U+FFFF is two units of the protocol.
    [found] = editor.change(RIGHT.replace('\U0001f600"}}', '\U0001f600", b: 1}}'))
    assert (found["code"], found["range"]["start"]) == ("wrong-type", {"line": 2, "character": 53})
    [found] = editor.change(RIGHT.replace("trainer:", "trainer"))
    assert found["code"] == "yaml"


def test_the_example_is_short_and_uses_only_public_names() -> None:
    text = PROGRAM.read_text()
    assert len(text.splitlines()) <= 150
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    assert "trainc" in modules
    assert not any((node.module or "").startswith("trainc") for node in imports if isinstance(node, ast.ImportFrom))
