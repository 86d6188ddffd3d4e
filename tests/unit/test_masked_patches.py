"""Secrets in patches: an operation's value is masked as the field that it writes, a patch in a string as a document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

from trainc.source.masking import masked

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: t}
spec: {runtimeRef: {name: torch-distributed}, trainer: {image: "a:1"}}
"""
ENV: dict[str, Any] = {"spec": {"trainer": {"env": [{"name": "HF_TOKEN", "value": "a"}]}}}


def operation(path: str, value: Any, op: str = "add") -> list[dict[str, Any]]:
    return [{"op": op, "path": path, "value": value}]


PATCHES: list[tuple[Any, Any]] = [
    # The name in the pointer.
    (operation("/metadata/annotations/password", "S"), operation("/metadata/annotations/password", "***")),
    (operation("/metadata/annotations/a.b~1my-token", "S"), operation("/metadata/annotations/a.b~1my-token", "***")),
    (operation("/metadata/annotations/note", "S"), None),
    (operation("/spec/trainer/args", ["--token", "S"]), operation("/spec/trainer/args", ["--token", "***"])),
    # The name of the variable, or the option before an argument, is in the object.
    (operation("/spec/trainer/env/0/value", "S", "replace"), operation("/spec/trainer/env/0/value", "***", "replace")),
    (operation("/spec/trainer/env/0/name", "A", "replace"), None),
    (operation("/spec/trainer/args/1", "S;evil"), operation("/spec/trainer/args/1", "***;evil")),
    (operation("/spec/trainer/args/-", "--lr=1"), None),
    (operation("/spec/trainer/args/0", "run"), None),
    (operation("/spec/trainer/args/0", "--token=S"), operation("/spec/trainer/args/0", "--token=***")),
    # The name in the value.
    (
        operation("/spec/trainer/env/0", {"name": "HF_TOKEN", "value": "S"}),
        operation("/spec/trainer/env/0", {"name": "HF_TOKEN", "value": "***"}),
    ),
    (operation("/spec/trainer/env/-", {"name": "MODE", "value": "S"}), None),
    # No operation.
    ({"op": "other", "path": "/a/value", "value": "S"}, None),
    # A patch in a string.
    ({"patch": "env: [{name: A_TOKEN, value: S}] # x"}, {"patch": "env: [{name: A_TOKEN, value: ***}] # x"}),
    ({"patch": '- {op: add, path: /token, value: "S"}\n'}, {"patch": '- {op: add, path: /token, value: "***"}\n'}),
    ({"patch": "a: |\n  --token S\nb: c"}, {"patch": "a: |\n  --token ***\nb: c"}),
    ({"patch": "env: [name: S"}, {"patch": "env: ***"}),
    ({"patch": {"token": "S"}}, {"patch": {"token": "***"}}),
]


@pytest.mark.parametrize(("patch", "shown"), PATCHES)
def test_a_patch_is_masked_as_what_it_writes(patch: Any, shown: Any) -> None:
    assert masked(patch) == (patch if shown is None else shown)


ISSUE: list[tuple[str, Any]] = [
    ("S1", operation("/spec/trainer/env/0/value", "S1", "replace")),
    ("S2", operation("/metadata/annotations", {}) + operation("/metadata/annotations/password", "S2")),
    ("S3", "spec: {trainer: {env: [{name: DB_PASSWORD, value: S3}]}}"),
    ("S4", operation("/spec/trainer/env/0/value", "S4 x y", "test")),
]
COMMANDS = (
    "settings",
    "settings --format json",
    "diff ../old .",
    "diff ../old . --format json",
    "diff ../old . --format markdown",
    "diff ../old . --format html",
    "pods",
    "explain",
    "explain **.env[*].value",
    "explain --format json",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("secret", "patch"), ISSUE, ids=["S1", "S2", "S3", "S4"])
def test_no_output_shows_the_secret_of_a_patch(
    secret: str, patch: Any, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {"target": {"kind": "TrainJob"}, "patch": ENV}
    write_project(tmp_path / "old", [])
    write_project(tmp_path / "new", [before, {"target": {"kind": "TrainJob"}, "patch": patch}])
    monkeypatch.chdir(tmp_path / "new")
    done = run(*command.split())
    assert done.code != 70
    assert "***" in done.out + done.err
    assert secret not in done.out + done.err


def write_project(folder: Path, patches: list[Any]) -> None:
    """Write a project with one TrainJob."""
    folder.mkdir()
    (folder / "a.yaml").write_text(JOB)
    (folder / "trainc.yaml").write_text(yaml.safe_dump({"sources": ["a.yaml"], "patches": patches}))


NAMED: list[tuple[str, Any, Any]] = [
    ("a variable", operation("/spec/trainer/env/0/value", "S1", "replace"), "***"),
    ("another variable", operation("/spec/trainer/env/1/value", "fast", "replace"), "fast"),
    ("a new variable", operation("/spec/trainer/env/-", {"name": "A", "value": "b"}), {"name": "A", "value": "b"}),
    ("an option's value", operation("/spec/trainer/args/1", "S1", "replace"), "***"),
    ("another argument", operation("/spec/trainer/args/2", "S1", "replace"), "S1"),
    ("an appended argument", operation("/spec/trainer/args/-", "S1"), "S1"),
]


@pytest.mark.parametrize(("patch", "shown"), [row[1:] for row in NAMED], ids=[row[0] for row in NAMED])
def test_a_review_shows_an_operation_as_the_patched_object(patch: Any, shown: Any, empty_folder: Path) -> None:
    trainer = {
        "env": [{"name": "HF_TOKEN", "value": "a"}, {"name": "MODE", "value": "b"}],
        "args": ["--token", "a", "c"],
    }
    before = {"target": {"kind": "TrainJob"}, "patch": {"spec": {"trainer": trainer}}}
    given = [before, {"target": {"kind": "TrainJob"}, "patch": operation("/metadata/labels", {"a": "b"})}]
    write_project(empty_folder / "old", given)
    write_project(empty_folder / "new", [*given, {"target": {"kind": "TrainJob"}, "patch": patch}])
    settings = json.loads(run("diff", "old", "new", "--format", "json").out)["settings"]
    assert settings[0]["new"]["patch"][0]["value"] == shown


UNNAMED: list[tuple[str, list[Any]]] = [
    ("the option before an argument", [operation("/spec/trainer/args/0", "run", "replace")]),
    ("the name of a variable", [operation("/spec/trainer/env/0/name", "A", "replace")]),
    (
        "the variable of the value",
        [[{"op": "move", "from": "/spec/trainer/env/0/value", "path": "/spec/trainer/args/0"}]],
    ),
    (
        "the field of the value",
        [[{"op": "copy", "from": "/spec/trainer/env/0/value", "path": "/spec/trainer/command/0"}]],
    ),
    (
        "a name that is the value",
        [[{"op": "copy", "from": "/spec/trainer/env/0/value", "path": "/spec/trainer/env/0/name"}]],
    ),
    (
        "the name of an annotation",
        [[{"op": "move", "from": "/metadata/annotations/password", "path": "/metadata/annotations/a"}]],
    ),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("patches", [row[1] for row in UNNAMED], ids=[row[0] for row in UNNAMED])
def test_a_secret_whose_name_a_patch_removes_stays_masked(
    patches: list[Any], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = {"env": [{"name": "HF_TOKEN", "value": "S1"}], "args": ["--token", "S1"], "command": ["run"]}
    named = {"spec": {"trainer": trainer}, "metadata": {"annotations": {"password": "S1"}}}
    write_project(tmp_path / "old", [])
    write_project(tmp_path / "new", [{"target": {"kind": "TrainJob"}, "patch": patch} for patch in (named, *patches)])
    monkeypatch.chdir(tmp_path / "new")
    done = run(*command.split())
    assert done.code == 0 or "diff" in command
    assert "S1" not in done.out + done.err
