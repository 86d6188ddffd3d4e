"""Attributes that change a file at the checkout, which deploys another text than a review reads, are an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from committing import commit, git
from files import write
from running import run

from trainc.cli.common.options import REVIEWS

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "app:1", command: [sh, -c, "train # $Id$"]}
"""


@pytest.fixture
def project(empty_repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    Path("jobs").mkdir()
    Path("jobs/finetune.yaml").write_text(JOB)
    commit()
    return empty_repository


def review(*arguments: str) -> tuple[int, str]:
    done = run("diff", "HEAD~1..HEAD", *arguments, "--", "jobs")
    assert bool(done.out) == (done.code == 0)
    return done.code, " ".join(done.err.split())


CHANGES = {
    "ident": "ident",
    "working-tree-encoding=UTF-7": "working-tree-encoding=UTF-7",
    "filter=lfs": "filter=lfs",
    "-filter filter=x": "filter=x",
    "-working-tree-encoding": "working-tree-encoding=unset",
}
NO_CHANGE = [
    "-ident",
    "!ident",
    "ident=x",
    "text eol=crlf",
    "text=auto",
    "working-tree-encoding=utf-8",
    "!working-tree-encoding",
    "-filter",
    "merge=x diff=y",
]


@pytest.mark.parametrize("attributes", CHANGES)
def test_an_attribute_that_changes_a_file_is_an_error(project: Path, attributes: str) -> None:
    Path(".gitattributes").write_text(f"*.yaml {attributes}\n")
    commit()
    for form in REVIEWS:
        code, err = review("--format", form)
        assert code == 1
        shown = CHANGES[attributes]
        assert f"HEAD:jobs/finetune.yaml: error[checkout-attribute]: the attribute {shown} changes this file" in err


@pytest.mark.parametrize("attributes", NO_CHANGE)
def test_an_attribute_that_changes_nothing_is_none(project: Path, attributes: str) -> None:
    Path(".gitattributes").write_text(f"*.yaml {attributes}\n")
    commit()
    assert review() == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        pytest.param(".gitattributes", "[attr]odd ident\n*.yaml odd\n", 1, id="a macro"),
        pytest.param("jobs/.gitattributes", "finetune.yaml ident\n", 1, id="in its folder"),
        pytest.param("runs/.gitattributes", "*.yaml ident\n", 0, id="in another folder"),
        pytest.param(".gitattributes", "*.yaml ident\njobs/*.yaml -ident\n", 0, id="and unset again"),
        pytest.param(".gitattributes", "jobs ident\n", 0, id="of a folder"),
        pytest.param(".gitattributes", '"jobs/f\\151netune.yaml" ident\n', 1, id="a quoted name"),
    ],
)
def test_git_reads_the_attributes(project: Path, name: str, text: str, code: int) -> None:
    write(name, text)
    commit()
    assert review()[0] == code


def test_the_line_ends_of_utf_16(project: Path) -> None:
    Path("jobs/finetune.yaml").write_bytes(JOB.encode("utf-16"))
    Path(".gitattributes").write_text("*.yaml text eol=crlf\n")
    commit()
    assert review()[0] == 1
    Path(".gitattributes").write_text("*.yaml text=auto eol=crlf\n")
    commit()
    assert review()[0] == 0


@pytest.mark.parametrize(
    "file", ["trainc.yaml", "shared.yaml", "patches/image.yaml", "runtimes/torch.yaml", "text.txt"]
)
def test_every_file_that_a_review_reads(project: Path, file: str) -> None:
    texts = {
        "trainc.yaml": "extends: shared.yaml\npatches: [{path: patches/image.yaml, target: {kind: TrainJob}}]\n",
        "shared.yaml": "runtimes: {paths: [runtimes]}\n",
        "patches/image.yaml": 'metadata: {labels: {id: "$Id$"}}\n',
        "runtimes/torch.yaml": "{}\n",
        "text.txt": JOB.replace("finetune", "linked"),
    }
    for name, text in texts.items():
        write(name, f"{text}# $Id$\n")
    Path("jobs/link.yaml").symlink_to("../text.txt")
    commit()
    Path(".gitattributes").write_text(f"{file} ident\n")
    commit()
    code, err = review()
    assert code == 1
    assert f"HEAD:{file}: error[checkout-attribute]" in err


def test_a_fault_of_the_old_side_is_a_warning(project: Path) -> None:
    Path(".gitattributes").write_text("*.yaml ident\n")
    commit()
    Path(".gitattributes").unlink()
    commit()
    code, err = review()
    assert code == 0
    assert "warning[checkout-attribute]: in HEAD~1: the attribute ident changes this file" in err


def test_attributes_of_a_merge(project: Path) -> None:
    git("checkout", "--quiet", "-b", "branch")
    Path(".gitattributes").write_text("*.yaml ident\n")
    commit()
    git("checkout", "--quiet", "main")
    Path("notes.txt").write_text("x\n")
    commit()
    done = run("diff", "main...branch", "--", "jobs")
    assert (done.code, done.out) == (1, "")
    assert "main...branch:jobs/finetune.yaml: error[checkout-attribute]" in done.err


def test_the_attacks_are_real(project: Path) -> None:
    Path(".gitattributes").write_text("*.yaml ident\n")
    commit()
    Path("jobs/finetune.yaml").unlink()
    git("checkout", "--quiet", "--", "jobs")
    assert "$Id: " in Path("jobs/finetune.yaml").read_text()
