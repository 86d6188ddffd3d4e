"""The given paths: what is read, in which order, and what is refused unread."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from running import run

from trainc.diagnostics import Diagnostic
from trainc.files import inputs, walk
from trainc.files.selection import Selection


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
    return list(map(shown, inputs.read(paths, Selection(written=skip))))


def shown(file: inputs.File | Diagnostic) -> str:
    return f"{file.id} {getattr(file.place, 'file', '')}" if isinstance(file, Diagnostic) else file.path


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


def test_a_link_into_what_is_left_out_is_left_out() -> None:
    make("a.yaml", "out/a.yaml", "report.json")
    os.symlink("out/a.yaml", "b.yaml")
    os.symlink("out", "c")
    os.symlink("report.json", "d.json")
    assert read(".", skip=("out", "report.json")) == ["a.yaml"]


def test_the_settings_are_left_out_by_whatever_name() -> None:
    make("a.yaml", "in/trainc.yaml", "in/house.yaml")
    os.symlink("in/house.yaml", "b.yaml")
    assert list(map(shown, inputs.read(["."], Selection(settings=[os.path.realpath("in/house.yaml")])))) == ["a.yaml"]


def test_below_a_folder_names_tell_manifests_and_kinds_tell_folders() -> None:
    make("a/x.yaml/b.yaml", "a/x.yaml/c", "notes.txt", "../notes.txt")
    os.symlink("../notes.txt", "a/notes")
    os.symlink("../../notes.txt", "a/notes.yaml")
    os.symlink("circle", "a/circle")
    os.mkfifo("a/pipe")
    assert read("a/") == ["a/x.yaml/b.yaml", "link-out a/notes.yaml"]


def test_a_file_is_read_by_its_own_path_if_a_link_leads_to_it_too() -> None:
    make("b/x.yaml", "c/y.yaml")
    os.symlink("b/x.yaml", "a.yaml")
    os.symlink("c", "ab")
    os.symlink("../b", "c/again")
    assert read(".") == ["b/x.yaml", "c/y.yaml"]
    assert read("ab", "a.yaml") == ["ab/y.yaml", "a.yaml"]


def test_links_inside_the_root_are_followed_once() -> None:
    make("a/b.yaml")
    os.symlink("a", "c")
    os.symlink("../a", "a/again")
    assert read(".") == ["a/b.yaml"]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        pytest.param("../../outside/secret.yaml", "link-out in/x.yaml", id="a file outside"),
        pytest.param("../../outside", "link-out in/x.yaml", id="a folder outside"),
        pytest.param("/etc/hostname", "link-out in/x.yaml", id="absolute"),
        pytest.param("nowhere.yaml", "unreadable in/x.yaml", id="nowhere"),
        pytest.param("x.yaml", "unreadable in/x.yaml", id="a circle"),
    ],
)
def test_links_that_lead_out_are_errors(link: str, expected: str) -> None:
    make("../outside/secret.yaml")
    os.mkdir("in")
    os.symlink(link, "in/x.yaml")
    assert read("in") == [expected]


def test_without_a_git_repository_links_may_lead_anywhere_in_the_current_folder() -> None:
    make("shared/r.yaml", "team/job.yaml")
    os.symlink("../shared/r.yaml", "team/r.yaml")
    assert read("team") == ["team/job.yaml", "team/r.yaml"]


def test_in_a_git_repository_links_may_lead_anywhere_in_it() -> None:
    make("shared/r.yaml", ".git/HEAD", "team/job.yaml")
    os.symlink("../shared/r.yaml", "team/r.yaml")
    assert read("team") == ["team/job.yaml", "team/r.yaml"]


def test_folders_are_read_a_hundred_deep() -> None:
    deep = "d/" * (walk.DEEPEST - 1)
    make(f"{deep}a.yaml", f"{deep}d/b.yaml")
    assert read(".") == [f"{deep}a.yaml", f"unreadable {deep}d"]


def test_a_pipe_is_refused_unread() -> None:
    os.mkdir("in")
    os.mkfifo("in/x.yaml")
    assert read("in", "in/x.yaml") == ["unreadable in/x.yaml"]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(lambda: None, ["unreadable b.yaml", "c.yaml"], id="nothing"),
        pytest.param(
            lambda: os.symlink("../x.yaml", "b.yaml"), ["c.yaml", "link-out b.yaml"], id="a link that leads out"
        ),
        pytest.param(lambda: os.symlink("c.yaml", "b.yaml"), ["c.yaml"], id="a link inside"),
        pytest.param(lambda: os.mkfifo("b.yaml"), ["unreadable b.yaml", "c.yaml"], id="a pipe"),
        pytest.param(lambda: make("b.yaml"), ["b.yaml", "c.yaml"], id="another file"),
    ],
)
def test_a_file_is_replaced_after_its_folder_was_listed(now: Callable[[], None], expected: list[str]) -> None:
    make("a.yaml", "b.yaml", "c.yaml", "../x.yaml")
    reading = inputs.read(["."])
    assert shown(next(reading)) == "a.yaml"
    os.unlink("b.yaml")
    now()
    assert list(map(shown, reading)) == expected


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    make("x.yaml")
    real = os.fstat

    def fstat(opened: int) -> os.stat_result:
        status = real(opened)
        Path("x.yaml").write_text("a: 1\nb: 2\n")
        return status

    monkeypatch.setattr(os, "fstat", fstat)
    assert [found.data for found in inputs.read(["."]) if isinstance(found, inputs.File)] == [b"a: 1\nb: 2\n"]


@pytest.mark.skipif(os.geteuid() == 0, reason="a user other than root")
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
