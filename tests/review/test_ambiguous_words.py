"""Words with two meanings: revisions that several refs match, options that are files, folders that look like git's.

The author of a change chooses the names of branches, tags and files; none of them may choose what a command compares.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from committing import commit, copy_repository, git
from running import Done, run

from trainc.cli.common.options import REVIEWS


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> Path:
    copy_repository(changed_image, empty_folder)
    return empty_folder


def changed_image() -> None:
    """Change the image of a TrainJob on the branch `pr`."""
    assert run("init").code == 0
    commit("A first job")
    git("checkout", "--quiet", "-b", "pr")
    job = Path("jobs/first-job.yaml")
    job.write_text(job.read_text().replace("train.py", "other.py"))
    commit("Another program")
    git("update-ref", "refs/remotes/origin/main", "main")


def review(old: str, *more: str, new: str = "HEAD") -> Done:
    return run("diff", f"{old}...{new}", *more, "--", "jobs", "runtimes")


@pytest.mark.parametrize("planted", ["refs/tags/origin/main", "refs/heads/origin/main"])
def test_a_revision_that_several_refs_match(planted: str) -> None:
    git("update-ref", planted, "HEAD")
    for form in REVIEWS:
        done = review("origin/main", "--format", form)
        assert (done.code, done.out) == (2, "")
        said = (
            f"ambiguous revision 'origin/main': {planted} and refs/remotes/origin/main match it help: use the full name"
        )
        assert f"error[ambiguous-revision]: {said}" in " ".join(done.err.split())
        done = review("refs/remotes/origin/main", "--format", form)
        assert done.code == 0
        assert "other.py" in done.out


def test_a_revision_with_two_meanings_that_is_also_a_path() -> None:
    """The folder does not win: its name is a revision, too."""
    git("tag", "release", "main")
    git("branch", "release", "pr")
    shutil.copytree("jobs", "release")
    done = run("diff", "release", "jobs")
    assert (done.code, "ambiguous argument 'release': both revision and path" in done.err) == (2, True)


@pytest.mark.parametrize("written", ["{}~0", "{}^{{commit}}", "{}"])
def test_other_ways_to_write_it(written: str) -> None:
    git("tag", "release", "main")
    git("branch", "release", "pr")
    assert "ambiguous revision" in review(written.format("release")).err
    assert "ambiguous revision" in run("diff", written.format("release") + ":jobs", "pr:jobs").err
    done = review("main", "--review-config", written.format("release") + ":trainc.yaml")
    assert (done.code, "ambiguous revision" in done.err) == (2, True)
    assert "other.py" in review(written.format("refs/tags/release")).out


@pytest.mark.parametrize("length", [7, 40])
def test_a_branch_that_is_called_like_a_hash(length: int) -> None:
    name = git("rev-parse", "main")[:length]
    git("update-ref", f"refs/heads/{name}", "HEAD")
    assert f"refs/heads/{name} and another commit match it" in " ".join(review(name).err.split())


def test_two_names_of_one_commit_are_no_less_ambiguous() -> None:
    git("tag", "pr", "pr")
    assert "ambiguous revision 'pr'" in review("main", new="pr").err


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        ("--exclude=*.yaml", ("validate", "--among", ".")),
        ("--report=json=.github", ("validate", "--among", ".")),
        ("-q", ("validate",)),
        ("--no-config", ("build", "--check")),
        ("--format=json", ("diff", "main...HEAD")),
        ("-v", ("pods", "jobs")),
        ("-", ("validate", "--among", ".")),
        ("-", ("validate", "--")),
    ],
)
def test_an_option_that_is_a_file(planted: str, words: tuple[str, ...]) -> None:
    Path(planted).write_text("")
    before = sorted(Path().rglob("*"))
    done = run(*words, planted)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error[ambiguous-option]: ambiguous argument '{planted}': both option and path\n")
    assert f"use './{planted}' for the path" in done.err
    assert sorted(Path().rglob("*")) == before


def test_after_dashes_such_a_file_is_a_path() -> None:
    job = Path("jobs/first-job.yaml").read_text()
    Path("--exclude=*.yaml").write_text(job.replace("numNodes: 1", "numNodes: many"))
    done = run("validate", "--no-config", "--among", ".", "--", "--exclude=*.yaml")
    assert done.code == 1
    assert "--exclude=*.yaml:10:15: error[wrong-type]" in done.out


def test_git_does_not_search_for_a_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the working tree that is a bare repository, where `main` is the branch of the change."""
    git("branch", "planted")
    bare = project.parent / f"{project.name}.git"
    git("clone", "--quiet", "--bare", ".", str(bare))
    git("update-ref", "refs/heads/main", "HEAD", at=bare)
    git("pack-refs", "--all", at=bare)
    for path in bare.iterdir():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, Path("jobs", path.name))
    git("add", "--all", "--force")
    git("commit", "--quiet", "--message", "A bare repository")
    monkeypatch.chdir("jobs")
    for form in REVIEWS:
        done = run("diff", "main..HEAD", "-r", "../runtimes", "--format", form, "--", ".")
        assert done.code == 0
        assert "other.py" in done.out


def test_the_repository_of_a_hook(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git sets GIT_DIR for its hooks, relative to the root of the working tree."""
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.chdir("jobs")
    done = run("diff", "main..HEAD", "-r", "../runtimes", "--format", "json", "--", ".")
    assert json.loads(done.out)["summary"]["changed"] == 2
    monkeypatch.setenv("GIT_DIR", str(project / "nosuch"))
    assert run("diff", "main..HEAD").code == 0


def test_a_worktree(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("worktree", "add", "--quiet", "--detach", "elsewhere", "pr")
    monkeypatch.chdir("elsewhere/jobs")
    assert "other.py" in run("diff", "main..HEAD", "-r", "../runtimes", "--", ".").out
