"""Secrets in patches: an operation's value is masked as the field that it writes, a patch in a string as a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

from trainc.masking.masked_values import masked

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
    # The name of the variable is in the object; so is the flag before an argument, which may be a part of a script.
    (operation("/spec/trainer/env/0/value", "S", "replace"), operation("/spec/trainer/env/0/value", "***", "replace")),
    (operation("/spec/trainer/env/0/name", "A", "replace"), None),
    (operation("/spec/trainer/args/1", "S;evil"), None),
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
    ({"patch": "token: [name: S"}, {"patch": "token: [***"}),
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
