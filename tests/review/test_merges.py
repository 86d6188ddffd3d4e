"""`trainc diff BASE...HEAD` compares BASE with what `git merge` makes, and starts no program of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from committing import commit, copy_repository, git
from files import write
from running import run

from trainc.cli.common.options import REVIEWS
from trainc.review.commits import git_objects

BETWEEN = "# The lines between two edits, so that both merge.\n" * 8


def job_text(image: str = "train:1", nodes: int = 1, name: str = "finetune") -> str:
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    image: {image}
{BETWEEN}    numNodes: {nodes}
"""


def written(text: str, path: str = "jobs/finetune.yaml") -> None:
    write(path, text)
    commit()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose main sets another image, and whose branch sets the number of nodes."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    root = tmp_path / "team"
    root.mkdir()
    monkeypatch.chdir(root)
    copy_repository(two_branches, root)
    return root


def two_branches() -> None:
    commit()
    written(job_text())
    git("branch", "first")
    git("checkout", "--quiet", "-b", "branch")
    written(job_text(nodes=2))
    git("checkout", "--quiet", "main")
    written(job_text("train:2"))


def criss_cross() -> None:
    """Give main and the branch two merge bases: main has merged the branch, and the branch takes a fix of main back."""
    git("checkout", "--quiet", "main")
    git("branch", "fixed")
    merged("branch")
    git("checkout", "--quiet", "branch")
    merged("fixed", "--strategy=ours")


def merged(branch: str, *options: str) -> None:
    git("merge", "--quiet", "--no-ff", "--no-edit", *options, branch)


def test_the_base_is_compared_with_the_merge(project: Path) -> None:
    for form in REVIEWS:
        done = run("diff", "main...branch", "--format", form, "--", "jobs")
        assert (done.code, done.err) == (0, "")
        assert "numNodes" in done.out
        assert ("train:2" in done.out) == (form == "html")  # a page has the whole objects


def test_the_first_line_names_the_merge(project: Path) -> None:
    done = run("diff", "main...branch", "--", "jobs")
    assert done.out.startswith("main -> merge of branch\n1 to change\n")


def test_with_two_merge_bases_a_fix_that_the_merge_takes_back_is_shown(project: Path) -> None:
    criss_cross()
    assert len(git("merge-base", "--all", "main", "branch").split()) == 2
    for form in REVIEWS:
        done = run("diff", "main...branch", "--format", form, "--", "jobs")
        assert (done.code, done.err) == (0, "")
        assert "train:2" in done.out
    git("checkout", "--quiet", "main")
    merged("branch")
    assert "train:1" in Path("jobs/finetune.yaml").read_text()


@pytest.mark.parametrize("revisions", ["main...first", "first...main"])
def test_a_branch_that_is_not_ahead_or_not_behind(project: Path, revisions: str) -> None:
    done = run("diff", revisions, "--", "jobs")
    assert ("nothing changes" in done.out) == (revisions == "main...first")
    assert done.code == 0


def test_a_conflict_names_the_files(project: Path) -> None:
    git("checkout", "--quiet", "branch")
    for number in range(7):
        written(job_text("train:3", name=f"job-{number}"), f"jobs/{number}.yaml")
    written(job_text("train:3"))
    git("checkout", "--quiet", "main")
    for number in range(7):
        written(job_text("train:4", name=f"job-{number}"), f"jobs/{number}.yaml")
    for form in REVIEWS:
        done = run("diff", "main...branch", "--format", form, "--", "jobs")
        assert (done.code, done.out) == (1, "")
        files = "jobs/0.yaml, jobs/1.yaml, jobs/2.yaml, jobs/3.yaml, jobs/4.yaml and 3 more"
        assert f"error[merge-conflict]: main and branch conflict in {files}" in " ".join(done.err.split())


@pytest.mark.parametrize("name", ["two\nlines", "caf\udce9", 'a "b"'])
def test_a_conflict_in_a_file_with_an_odd_name(project: Path, name: str) -> None:
    for branch in ("branch", "main"):
        git("checkout", "--quiet", branch)
        written(branch, f"{name}.txt")
    done = run("diff", "main...branch", "--", "jobs")
    assert done.code == 1
    assert len(done.err.splitlines()) == 2


def old_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a git into the PATH that refuses --write-tree as git 2.37 does."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "git"
    script.write_text(f'#!/bin/sh\ncase "$*" in *--write-tree*) echo usage >&2; exit 129;; esac\nexec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


FIRST_LINES = {
    "text": "{old} -> {new}\n1 to change\n",
    "markdown": "`{old}` → `{new}`\n",
    "html": "<code>{old}</code> <span>→</span> <code>{new}</code>",
    "json": '"old": "{old}",\n  "new": "{new}"',
}


def test_an_older_git_compares_with_the_merge_base(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_git(tmp_path, monkeypatch)
    for form in REVIEWS:
        done = run("diff", "main...branch", "--format", form, "--", "jobs")
        why = "git is older than 2.38"
        assert FIRST_LINES[form].format(old=f"merge base of main and branch ({why})", new="branch") in done.out
        assert "spec.trainer.numNodes: 1 -> 2" in done.out or form != "text"
    criss_cross()
    for form in REVIEWS:
        done = run("diff", "main...branch", "--format", form, "--", "jobs")
        assert (done.code, done.out) == (2, "")
        assert "main and branch have 2 merge bases, and cannot be merged (git is older than 2.38)" in done.err


@pytest.mark.parametrize("form", REVIEWS)
def test_a_shallow_clone_compares_with_the_merge_base(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    git("clone", "--quiet", "--no-local", "--depth=2", "--no-single-branch", str(project), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    review = ("diff", "origin/main...origin/branch", "--format", form, "--", "jobs")
    base = "merge base of origin/main and origin/branch (shallow clone)"
    assert FIRST_LINES[form].format(old=base, new="origin/branch") in run(*review).out
    git("fetch", "--quiet", "--depth=1", "origin")
    done = run(*review)
    assert (done.code, done.out) == (2, "")
    assert "no merge base: the clone is shallow; fetch the history of both" in " ".join(done.err.split())


def test_unrelated_histories_have_no_merge(project: Path) -> None:
    git("checkout", "--quiet", "--orphan", "other")
    commit()
    done = run("diff", "main...other", "--", "jobs")
    assert (done.code, done.out) == (2, "")
    assert "main and other have no merge base." in done.err


DRIVERS = {
    "info/attributes": "* merge=evil\n",
    "config": '[merge "evil"]\n\tdriver = touch {ran}\n[merge]\n\tdefault = evil\n\trenames = false\n',
}


def test_no_merge_driver_runs_and_no_attribute_decides_the_merge(project: Path, tmp_path: Path) -> None:
    for branch in ("main", "branch"):
        git("checkout", "--quiet", branch)
        written("* merge=evil\n", ".gitattributes")
    ran = tmp_path / "ran"
    (project / ".git" / "info").mkdir()
    for name, text in DRIVERS.items():
        with (project / ".git" / name).open("a") as file:
            file.write(text.format(ran=ran))
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    done = run("diff", "main...branch", "--", "jobs")
    assert (done.code, done.err) == (0, "")
    assert "spec.trainer.numNodes: 1 -> 2" in done.out
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    assert not ran.exists()
    git("merge", "--quiet", "--no-edit", "main")
    assert ran.exists()  # the attack is real


@pytest.mark.parametrize("attribute", ["merge=union", "merge=binary", "-merge"])
def test_a_conflict_is_one_whatever_the_attributes_say(project: Path, attribute: str) -> None:
    for branch in ("main", "branch"):
        git("checkout", "--quiet", branch)
        written(f"* {attribute}\n", ".gitattributes")
    assert run("diff", "main...branch", "--", "jobs").code == 0
    for branch in ("main", "branch"):
        git("checkout", "--quiet", branch)
        written(job_text(f"{branch}:1"))
    assert run("diff", "main...branch", "--", "jobs").code == 1


def test_nothing_of_a_merge_remains(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    program = "import sys; from trainc.cli import run; sys.argv[0] = 'trainc'; run()"
    command = [sys.executable, "-c", program, "diff", "main...branch", "--", "jobs"]
    variables = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=True)
    assert "1 to change" in done.stdout
    assert not [*(tmp_path / "temporary").iterdir()]


def test_a_hook_that_has_its_objects_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a pre-receive hook, the commits of a push are in a folder of their own."""
    (project / "incoming").mkdir()
    Path(".git/objects").rename(project / "incoming" / "objects")
    Path(".git/objects").mkdir()
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(project / "incoming" / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(project / ".git" / "objects"))
    assert "1 to change" in run("diff", "main...branch", "--", "jobs").out


def test_a_repository_with_sha256_and_an_odd_name(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / 'an "odd"\nname'
    root.mkdir()
    monkeypatch.chdir(root)
    git("init", "--quiet", "--object-format=sha256")
    written(job_text())
    git("checkout", "--quiet", "-b", "branch")
    written(job_text(nodes=2))
    git("checkout", "--quiet", "main")
    written(job_text("train:2"))
    assert "spec.trainer.numNodes: 1 -> 2" in run("diff", "main...branch", "--", "jobs").out


def test_a_merge_that_takes_too_long_is_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that has itself in many folders costs git more time than any review may take."""
    git("checkout", "--quiet", "first")
    text = "".join(f"{line}\n" for line in range(200))
    written(text, "notes.txt")
    git("branch", "base")
    written(f"{text}more\n", "notes.txt")
    tree = git("mktree", stdin=f"100644 blob {git('rev-parse', 'base:notes.txt')}\tf\n".encode())
    for _ in range(7):
        tree = git("mktree", stdin="".join(f"040000 tree {tree}\t{name}\n" for name in range(10)).encode())
    root = git("mktree", stdin=f"040000 tree {tree}\tbomb\n".encode())
    git("branch", "bomb", git("commit-tree", root, "-p", "base", "-m", "Many files"))
    monkeypatch.setattr(git_objects, "SECONDS", 1)
    done = run("diff", "HEAD...bomb", "--", "jobs")
    assert (done.code, done.out) == (2, "")
    assert "git merge-tree takes longer than 1 seconds" in done.err


def test_an_object_that_is_not_here_is_not_fetched(project: Path) -> None:
    blob = git("rev-parse", "first:jobs/finetune.yaml")
    Path(".git/objects", blob[:2], blob[2:]).unlink()
    done = run("diff", "main...branch", "--", "jobs")
    assert (done.code, done.out) == (2, "")
    assert "git cannot merge main and branch: " in done.err
