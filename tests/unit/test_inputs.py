"""The given paths: what is read, in which order, and what is refused unread."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import run

from trainc import inputs
from trainc.diagnostics import Diagnostic


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    return tmp_path


def make(*paths: str) -> None:
    for path in paths:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        Path(path).write_text("a: 1\n")


def read(*paths: str, skip: tuple[str, ...] = ()) -> list[str]:
    """The paths read; an error as `id path`."""
    found = inputs.read(paths, skip=skip)
    return [f"{f.id} {getattr(f.place, 'file', '')}" if isinstance(f, Diagnostic) else f.path for f in found]


def test_a_folder_is_read_in_order_and_for_manifests_alone() -> None:
    make("b.yaml", "a/z.yml", "a/y.json", "a/notes.txt", "c/deep/er.yaml", ".hidden/x.yaml", ".hooks.yaml")
    assert read(".") == ["a/y.json", "a/z.yml", "b.yaml", "c/deep/er.yaml"]


def test_a_given_file_is_read_whatever_its_name() -> None:
    make("job", ".hidden/x.yaml")
    assert read("job", ".hidden/x.yaml") == ["job", ".hidden/x.yaml"]


def test_nothing_is_read_twice() -> None:
    make("a/b.yaml")
    assert read("a", "a/b.yaml", "./a") == ["a/b.yaml"]


def test_a_folder_can_be_left_out() -> None:
    make("a.yaml", "out/a.yaml")
    assert read(".", skip=("out",)) == ["a.yaml"]
    assert read("out", skip=("out",)) == ["out/a.yaml"]


def test_files_can_be_left_out() -> None:
    make("a.yaml", "report.json", "out/a.yaml")
    assert read(".", skip=("report.json", "out")) == ["a.yaml"]
    assert read(".", "report.json", skip=("report.json", "out")) == ["a.yaml", "report.json"]


def test_links_inside_the_root_are_followed_once() -> None:
    make("a/b.yaml")
    os.symlink("a", "c")
    os.symlink("../a", "a/again")
    assert read(".") == ["a/b.yaml"]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        pytest.param("../outside/secret.yaml", "link-out in/x.yaml", id="a file outside"),
        pytest.param("../outside", "link-out in/x.yaml", id="a folder outside"),
        pytest.param("/etc/hostname", "link-out in/x.yaml", id="absolute"),
        pytest.param("nowhere.yaml", "unreadable in/x.yaml", id="nowhere"),
        pytest.param("x.yaml", "unreadable in/x.yaml", id="a circle"),
    ],
)
def test_links_that_lead_out_are_errors(link: str, expected: str) -> None:
    make("outside/secret.yaml")
    os.mkdir("in")
    os.symlink(link, "in/x.yaml")
    assert read("in") == [expected]


def test_in_a_git_repository_links_may_lead_anywhere_in_it() -> None:
    make("shared/r.yaml", ".git/HEAD", "team/job.yaml")
    os.symlink("../shared/r.yaml", "team/r.yaml")
    assert read("team") == ["team/job.yaml", "team/r.yaml"]


def test_folders_are_read_a_hundred_deep() -> None:
    deep = "d/" * (inputs.DEEPEST - 1)
    make(f"{deep}a.yaml", f"{deep}d/b.yaml")
    assert read(".") == [f"{deep}a.yaml", f"unreadable {deep}d"]


def test_a_pipe_is_refused_unread() -> None:
    os.mkdir("in")
    os.mkfifo("in/x.yaml")
    assert read("in", "in/x.yaml") == ["unreadable in/x.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_an_error() -> None:
    make("x.yaml")
    os.chmod("x.yaml", 0)
    assert read("x.yaml") == ["unreadable x.yaml"]


def test_a_large_file_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    make("x.yaml")
    monkeypatch.setattr(inputs, "LARGEST_FILE", 3)
    assert read("x.yaml") == ["unreadable x.yaml"]


def test_a_missing_path_is_an_error_of_the_input() -> None:
    done = run("build", "nowhere")
    assert (done.code, done.out) == (1, "")
    assert "nowhere: error[unreadable]: cannot be read: No such file or directory" in done.err


def test_standard_input() -> None:
    head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
    job = head + "metadata: {name: a}\nspec: {runtimeRef: {name: plain}}\n"
    assert "kind: JobSet" in run("build", "-", stdin=job.encode()).out
    done = run("validate", "-", stdin=job.replace("plain", "plane").encode())
    assert "<stdin>:4:27: error[runtime-not-found]" in done.out
