"""Attributes of git that change a file at the checkout: a warning of the commands that read the working tree."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from committing import git
from files import write
from running import run
from syrupy.assertion import SnapshotAssertion

from trainc.files import attributes
from trainc.files.attributes import READ, AttributeList, attributes_of

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "app:1", command: [sh, -c, "train # $Id$"]}
"""
PIECES = [
    *("*", "**", "?", "/", "/", "a", "b", "a b", ".yaml", "*.yaml", "[ab]", "[!a]", "[", "\\", "\\*", "jobs", "jobs/"),
    *("sub", "#", "!", "[attr]", '"', "\\141", "\\t", "x"),
]
STATES = [
    *("ident", "-ident", "!ident", "ident=x", "filter=lfs", "-filter", "!filter", "filter", "text", "-text", "!text"),
    *("text=auto", "eol=crlf", "eol=lf", "-eol", "working-tree-encoding=UTF-16", "!working-tree-encoding", "binary"),
    *("-binary", "odd", "-odd", "!odd", "even", "[x]", "-", "=", "a=b=c"),
]
NAMES = ["a", "b", "a b", "a.yaml", "#a", "!a", "[attr]a", "jobs/a", "jobs/a.yaml", "jobs/sub/b", "jobs/sub/a b.yaml"]


def lines(drawn: random.Random) -> str:
    found = []
    for _ in range(drawn.randint(0, 8)):
        pattern = "".join(drawn.choices(PIECES, k=drawn.randint(1, 4)))
        if drawn.random() < 0.25:
            pattern = f'"{pattern}"'
        elif drawn.random() < 0.2:
            pattern = drawn.choice(["[attr]odd", "[attr]even", "[attr]binary", "[attr]", "[attr]-x"])
        states = drawn.choices(STATES, k=drawn.randint(0, 4), weights=[9] * 23 + [1] * (len(STATES) - 23))
        blank = drawn.choice([" ", "  ", "\t"])
        found.append(drawn.choice(["", "", " "]) + blank.join([pattern, *states]))
    return drawn.choice(["", "", "\ufeff"]) + drawn.choice(["\n", "\n", "\r\n"]).join([*found, ""])


@pytest.mark.parametrize("seed", range(6))
def test_the_values_are_those_of_git(seed: int, empty_repository: Path) -> None:
    drawn = random.Random(seed)
    Path("jobs/sub").mkdir(parents=True)
    names, seen = "".join(f"{name}\0" for name in NAMES), set[str]()
    for _ in range(60):
        texts = {folder: lines(drawn) for folder in ("jobs/sub", "jobs", ".")}
        for folder, text in texts.items():
            Path(folder, ".gitattributes").write_text(text, newline="")
        words = git("check-attr", "--stdin", "-z", *READ, stdin=names.encode()).split("\0")[:-1]
        expected: dict[str, dict[str, str]] = {}
        for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=True):
            expected.setdefault(path, {})[name] = value
        lists = {
            os.path.normpath(empty_repository / folder): AttributeList(text.encode(), is_root=folder == ".")
            for folder, text in texts.items()
        }
        for path, values in expected.items():
            above = [
                (folder, each)
                for folder, each in lists.items()
                if str(empty_repository / path).startswith(f"{folder}/")
            ]
            assert attributes_of(str(empty_repository / path), above) == values, (path, texts)
            seen |= {*values.values()}
    assert {"set", "unset", "lfs", "crlf", "UTF-16"} <= seen


@pytest.fixture
def project(empty_root: Path) -> Path:
    Path("jobs").mkdir()
    Path("jobs/finetune.yaml").write_text(JOB)
    return empty_root


def test_a_warning(project: Path, snapshot: SnapshotAssertion) -> None:
    Path("jobs/other.yaml").write_text(JOB.replace("finetune", "evaluate"))
    Path(".gitattributes").write_text("*.yaml ident\njobs/finetune.yaml working-tree-encoding=UTF-7\n")
    done = run("validate", "jobs")
    assert done.code == 0
    assert done.out == snapshot
    Path(".gitattributes").write_text("*.yaml ident\n*.yaml !ident !working-tree-encoding\n")
    assert "checkout-attribute" not in run("validate", "jobs").out


@pytest.mark.parametrize("command", ["validate jobs", "build jobs", "build jobs -o out", "cmp generate"])
def test_every_command_that_deploys(project: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    Path(".gitattributes").write_text("*.yaml filter=lfs\n")
    if command == "cmp generate":
        monkeypatch.chdir("jobs")
        monkeypatch.setenv("ARGOCD_APP_SOURCE_PATH", "jobs")
    done = run(*command.split())
    assert done.code == 0
    assert (
        "finetune.yaml: warning[checkout-attribute]: the attribute filter=lfs changes this file" in done.out + done.err
    )


def test_the_paths_of_a_function(project: Path) -> None:
    Path(".gitattributes").write_text("*.yaml filter=lfs\n")
    request = (
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n"
        "  apiVersion: trainc.dev/v1alpha1\n  kind: TrainJobCompiler\n  metadata: {name: a}\n  spec: {paths: [jobs]}\n"
    )
    done = run("krm", stdin=request.encode())
    assert "jobs/finetune.yaml: warning[checkout-attribute]" in done.err, done


@pytest.mark.parametrize(
    "file",
    ["trainc.yaml", "shared.yaml", "patches/image.yaml", "runtimes/torch.yaml", "text.txt", "jobs/finetune.yaml"],
)
def test_every_file_that_a_run_reads(project: Path, file: str) -> None:
    texts = {
        "trainc.yaml": "extends: shared.yaml\npatches: [{path: patches/image.yaml, target: {kind: TrainJob}}]\n",
        "shared.yaml": "runtimes: {paths: [runtimes]}\n",
        "patches/image.yaml": 'metadata: {labels: {id: "$Id$"}}\n',
        "runtimes/torch.yaml": Path(__file__)
        .parents[2]
        .joinpath("runtimes/trainer-2.3/torch-distributed.yaml")
        .read_text(),
        "text.txt": JOB.replace("finetune", "linked"),
    }
    for name, text in texts.items():
        write(name, f"{text}# $Id$\n")
    Path("jobs/link.yaml").symlink_to("../text.txt")
    Path(file).parent.joinpath(".gitattributes").write_text(f"{Path(file).name} ident\n")
    shown = "jobs/link.yaml" if file == "text.txt" else file
    assert f"{shown}: warning[checkout-attribute]: the attribute ident changes this file" in run("validate", "jobs").out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("runs/.gitattributes", "*.yaml ident\n", id="in another folder"),
        pytest.param(".gitattributes", "jobs ident\njobs/ ident\n", id="of a folder"),
        pytest.param(".gitattributes", "*.yaml ident\njobs/*.yaml -ident\n", id="and unset again"),
        pytest.param("jobs/.gitattributes", "[attr]odd ident\n*.yaml odd\n", id="a macro below the root"),
        pytest.param(".gitattributes", "*.yaml text eol=crlf\n", id="line ends of UTF-8"),
        pytest.param("../.gitattributes", "*.yaml filter=lfs\n", id="outside of the repository"),
        pytest.param("jobs/.gitattributes", "\0", id="no text"),
    ],
)
def test_an_attribute_that_changes_nothing_is_none(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    (project / "main/jobs").mkdir(parents=True)
    (project / ".git").rename("main/.git")
    (project / "jobs/finetune.yaml").rename("main/jobs/finetune.yaml")
    monkeypatch.chdir("main")
    write(name, text)
    assert "checkout-attribute" not in run("validate", "jobs").out


def test_a_link_has_no_effect(project: Path) -> None:
    Path("list").write_text("*.yaml ident\n")
    Path(".gitattributes").symlink_to("list")
    assert "checkout-attribute" not in run("validate", "jobs").out


def test_a_submodule_has_its_own(project: Path) -> None:
    Path(".gitattributes").write_text("*.yaml ident\n")
    Path("jobs/.git").write_text("gitdir: ../.git/modules/jobs\n")
    assert "checkout-attribute" not in run("validate", "jobs").out


def test_the_line_ends_of_utf_16(project: Path) -> None:
    Path("jobs/finetune.yaml").write_bytes(JOB.encode("utf-16"))
    Path(".gitattributes").write_text("*.yaml text eol=crlf\n")
    assert "the attribute eol=crlf changes this file" in run("validate", "jobs").out


def test_a_large_file_is_not_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "LARGEST", 8)
    Path(".gitattributes").write_text("*.yaml ident\n")
    out = run("validate", "jobs").out
    assert ".gitattributes: warning[unreadable]: is 0 MiB, more than the limit of 0 MiB, and is not read" in out
    assert "checkout-attribute" not in out
