"""Lint rules for words of commands, variables and addresses: inputs with and without findings, and the carets."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from linting import clean_container, env, fires, marked, replicated, runtime_of, silent, trainjob, warnings
from manifests import write_json
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.releases import V2_1, V2_2, V2_3, TrainerRelease
from trainc.compilation.run import Options
from trainc.settings import Settings

WORDS = [
    fires("command-words", runtime_of(), trainjob(command=["torchrun train.py"]), id="a command in one word"),
    fires("command-words", runtime_of(), trainjob(command=["torchrun\ttrain.py"]), id="a tab"),
    fires("command-words", runtime_of(), trainjob(command=["sleep 10; exit 1"]), id="a script in one word"),
    fires("command-words", runtime_of(), trainjob(command=["python "]), id="a space at the end"),
    silent("command-words", runtime_of(), trainjob(command=["torchrun", "train.py"]), id="two words"),
    silent("command-words", runtime_of(), trainjob(command=["echo", "a b"]), id="an argument with a space"),
    fires("command-words", runtime_of(), trainjob(args=["--lr=1 --bf16"]), id="two options"),
    fires("command-words", runtime_of(), trainjob(args=["--lr 1 --bf16"]), id="a value apart"),
    fires("command-words", runtime_of(), trainjob(args=["--lr=1\n--bf16"]), id="on two lines"),
    fires("command-words", runtime_of(), trainjob(command=["train", "-a -b"]), id="in command"),
    silent("command-words", runtime_of(), trainjob(args=["--lr=1", "--bf16"]), id="two words for two options"),
    silent(
        "command-words", runtime_of(), trainjob(args=["--extra-args", "--lr=1 --bf16"]), id="the value of an option"
    ),
    silent("command-words", runtime_of(), trainjob(args=["--extra-args=--lr=1 --bf16"]), id="the value behind ="),
    silent("command-words", runtime_of(), trainjob(args=["--text='a --b'"]), id="a quoted value"),
    silent("command-words", runtime_of(), trainjob(args=["--text=a - b"]), id="a dash in a value"),
    silent("command-words", runtime_of(), trainjob(args=["--range=1 -5"]), id="a negative number"),
    silent(
        "command-words", runtime_of(), trainjob(command=["bash", "-c", "--lr=1 --bf16"]), id="the script of a shell"
    ),
    fires(
        "command-words",
        runtime_of(
            replicated(clean_container(), pod={"initContainers": [{"name": "a", "image": "i:1", "command": ["a b"]}]})
        ),
        trainjob(),
        id="an init container",
    ),
]


def with_env(*variables: Any, **fields: Any) -> dict[str, Any]:
    """Return a runtime with these variables in its container."""
    return runtime_of(replicated(clean_container(env=list(variables), **fields)))


REFERENCES = [
    *(
        fires("env-not-expanded", runtime_of(), trainjob(env=env(A=text)), id=text)
        for text in ("$(PATH)", "a:$(PATH)", "${HOME}", "${HOME}x", "$HOME/x", "$HOME:x", "x$HOME", "$(PET_NNODES)")
    ),
    *(
        silent("env-not-expanded", runtime_of(), trainjob(env=env(A=text)), id=text)
        for text in (
            *("$(REDIS_SERVICE_HOST)", "$(REDIS_SERVICE_PORT)", "$(REDIS_PORT)", "$(path)", "${home}", "$home/x"),
            *("$$(PATH)", "$HOME-x", "$5", "a$", "${HOME:-/root}", "\\$HOME", "$(PATH"),
        )
    ),
    fires("env-not-expanded", runtime_of(), trainjob(env=env(A="$(B)", B="1")), id="a later variable"),
    silent("env-not-expanded", runtime_of(), trainjob(env=env(B="1", A="$(B)")), id="an earlier variable"),
    fires("env-not-expanded", runtime_of(), trainjob(env=env(A="$(A)")), id="itself"),
    fires("env-not-expanded", runtime_of(), trainjob(env=env(B="1", A="${B}")), id="another form"),
    fires("env-not-expanded", with_env(*env(A="$(B)"), *env(B="1")), trainjob(), id="a later variable of the runtime"),
    silent("env-not-expanded", with_env(*env(B="1")), trainjob(env=env(A="$(B)")), id="a variable of the runtime"),
    silent(
        "env-not-expanded",
        with_env(*env(A="$(PATH)"), envFrom=[{"configMapRef": {"name": "c"}}]),
        trainjob(),
        id="envFrom",
    ),
    silent(
        "env-not-expanded",
        runtime_of(),
        trainjob(env=env(A="${HOME}"), command=["sh", "-c", "eval train $A"]),
        id="a variable that a shell command uses",
    ),
    fires(
        "env-not-expanded",
        runtime_of(),
        trainjob(env=env(A="${HOME}"), command=["sh", "-c", "train $AB"]),
        id="a variable that a shell command does not use",
    ),
    silent("env-not-expanded", runtime_of(), trainjob(env=env(A="#!/bin/sh\nls $HOME/x")), id="a script"),
]
IMAGES = "ghcr.io/kubeflow/trainer"


def initialized(part: str, uri: str, image: str = "", release: TrainerRelease = V2_3) -> tuple[Any, Any]:
    """Return a runtime with an initializer, and a TrainJob with an address."""
    step = f"{part}-initializer"
    fetch = replicated(
        clean_container(name=step, image=image or f"{IMAGES}/{step}:{release.tag}", volumeMounts=[MOUNT]),
        pod={"volumes": [{"name": "initializer", "emptyDir": {}}]},
        name=step,
    )
    fetch["template"]["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": step}}
    job = trainjob()
    job["spec"].pop("runtimePatches")
    job["spec"]["initializer"] = {part: {"storageUri": uri}}
    return runtime_of(fetch, replicated()), job


MOUNT = {"name": "initializer", "mountPath": "/workspace"}
SCHEMES = [
    *(
        fires("initializer-scheme", *initialized(part, uri), id=f"{part} {uri}")
        for part, uri in (
            ("model", "https://huggingface.co/x/y"),
            ("model", "cache://x/y"),
            ("model", "gs://x/y"),
            ("dataset", "https://huggingface.co/datasets/x/y"),
            ("dataset", "pvc://x/y"),
        )
    ),
    *(
        silent("initializer-scheme", *initialized(part, uri), id=f"{part} {uri}")
        for part, uri in (
            ("model", "hf://x/y"),
            ("model", "HF://x/y"),
            ("model", "s3://x/y"),
            ("dataset", "hf://x/y"),
            ("dataset", "s3://x/y"),
            ("dataset", "cache://x/y"),
        )
    ),
    silent("initializer-scheme", *initialized("model", "gs://x/y", "acme.io/model-initializer:1"), id="another image"),
]


@pytest.mark.parametrize(("documents", "rules"), [*WORDS, *REFERENCES, *SCHEMES])
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    found = [d for d in warnings(tmp_path, *documents) if d.stage == "lint"]
    assert [d.id for d in found] == rules
    assert not rules or texts(found) == snapshot


@pytest.mark.parametrize(
    ("release", "rules"),
    [(V2_1, ["initializer-scheme"]), (V2_2, ["initializer-scheme"])],
    ids=["v2.1", "v2.2"],
)
def test_an_address_that_only_newer_releases_reject(tmp_path: Path, release: TrainerRelease, rules: list[str]) -> None:
    options = Options(settings=Settings(release=release))
    found = warnings(tmp_path, *initialized("model", "x/y", release=release), options=options)
    assert [d.id for d in found if d.stage == "lint"] == rules


HEAD = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: j}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: """


@pytest.mark.parametrize(
    ("trainer", "id", "mark", "message"),
    [
        (
            "{command: [torchrun train.py]}",
            "command-words",
            "torchrun train.py",
            '"torchrun" and its arguments are one word, so that the container starts a program with white space in its '
            "name: no shell splits it",
        ),
        (
            '{args: ["--lr=1 --bf16"]}',
            "command-words",
            '"--lr=1 --bf16"',
            "the program gets --lr and --bf16 as one argument: no shell splits it into words",
        ),
        (
            "{env: [{name: A, value: $(PATH)}]}",
            "env-not-expanded",
            "$(PATH)",
            "Kubernetes does not replace $(PATH): no variable PATH of the container's list comes before A",
        ),
        (
            "{env: [{name: A, value: $(B)/x}, {name: B, value: b}]}",
            "env-not-expanded",
            "$(B)",
            "Kubernetes does not replace $(B): B comes after A in the container's list",
        ),
        (
            "{env: [{name: A, value: $(PET_NNODES)}]}",
            "env-not-expanded",
            "$(PET_NNODES)",
            "Kubernetes does not replace $(PET_NNODES): PET_NNODES comes after A in the container's list",
        ),
        (
            "{env: [{name: A, value: 'x${HOME}'}]}",
            "env-not-expanded",
            "${HOME}",
            "Kubernetes does not replace ${HOME}: it replaces only the form $(NAME)",
        ),
        (
            "{env: [{name: A, value: $HOME/x}, {name: B, value: $HOME}]}",
            "env-not-expanded",
            "$HOME",
            "Kubernetes does not replace $HOME: it replaces only the form $(NAME) (and in 1 other variable)",
        ),
    ],
)
def test_text_and_caret(tmp_path: Path, trainer: str, id: str, mark: str, message: str) -> None:
    assert marked(tmp_path, HEAD + trainer) == [(id, "warning", mark, message)]


ADDRESS = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: j}
spec:
  runtimeRef: {name: torch-with-initializers}
  initializer: {model: {storageUri: "https://huggingface.co/x/y"}}
"""


def test_the_address_of_a_page(tmp_path: Path) -> None:
    ((id, severity, mark, message),) = marked(tmp_path, ADDRESS)
    assert (id, severity, mark) == ("initializer-scheme", "warning", '"https://huggingface.co/x/y"')
    assert (
        message == "Trainer's model-initializer does not read the scheme https: it fails, and the training never starts"
    )


@pytest.mark.parametrize(
    ("trainer", "count"),
    [
        pytest.param({"env": env(**{f"V{i}": f"$(V{i + 1})" for i in range(10_000)})}, 1, id="10,000 variables"),
        pytest.param(
            {"env": env(**{f"V{i}": f"$(V{i - 1})" for i in range(10_000)})}, 0, id="each from the one before"
        ),
        pytest.param({"command": ["a b" * 40_000]}, 1, id="a command of 120 KB"),
        pytest.param({"command": ["a", "-a " * 40_000]}, 1, id="options of 120 KB"),
        pytest.param({"command": ["sh", "-c", "$A " * 40_000], "env": env(A="${HOME}")}, 0, id="a script of 120 KB"),
        pytest.param({"env": env(A="$A/" * 40_000)}, 1, id="dollar signs"),
    ],
)
def test_hostile_input_is_one_finding_in_linear_time(tmp_path: Path, trainer: dict[str, Any], count: int) -> None:
    begin = time.perf_counter()
    job = trainjob(**{key: value for key, value in trainer.items() if key != "env"})
    found = warnings(tmp_path, with_env(*trainer.get("env", ())), job)
    assert len([d for d in found if d.id in ("command-words", "env-not-expanded")]) == count
    assert time.perf_counter() - begin < 10


def test_a_command_of_1_mib_is_one_error(tmp_path: Path) -> None:
    begin = time.perf_counter()
    done = trainc.compile([write_json(tmp_path, runtime_of(), trainjob(command=["a b" * 345_000]))])
    assert [d.id for d in done.diagnostics if d.severity != "note"] == ["argument-too-long"]
    assert time.perf_counter() - begin < 10
