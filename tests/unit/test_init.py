"""`trainc init`: what it writes works at once, what is there is kept, and a project stays as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from running import run

from trainc.cli.init import FILES
from trainc.settings import in_environment, load

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_the_repository_works(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("init", "new/jobs of ours")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "".join(f"new/jobs of ours/{name}: written\n" for name in FILES)
        + "\nNext:\n  cd 'new/jobs of ours'\n  trainc validate\n  trainc build\n"
    )
    monkeypatch.chdir("new/jobs of ours")
    checked = run("validate")
    assert (checked.code, checked.out) == (0, "no problems found: 1 TrainJob, 1 runtime in dev, prod\n")
    assert run("build", "--check").code == 3
    assert run("build").code == 0
    assert run("build", "--check").code == 0
    assert run("validate").code == 0
    for path in ("rendered/dev/training-dev/first-job.yaml", "rendered/prod/training/first-job.yaml"):
        assert "kind: JobSet" in Path(path).read_text()


def test_the_settings_have_two_environments() -> None:
    run("init", ".")
    found = load(["."])
    assert (found.diagnostics, found.environment_names) == ((), ("dev", "prod"))
    assert ([path.path for path in found.sources], found.output) != ([], None)
    namespaces = [environment.namespace.value for environment in map(selected, found.environment_names)]
    assert namespaces == ["training-dev", "training"]


def selected(name: str) -> Any:
    return in_environment(load(["."]), name).environment


def test_the_commands_of_the_readme_work() -> None:
    run("init", ".")
    shown = [
        line.split("  ")[0].split() for line in Path("README.md").read_text().split("    ") if "trainc " in line[:7]
    ]
    assert len(shown) == 3
    assert [run(*arguments).code for _, *arguments in shown] == [0, 0, 0]


def test_a_file_that_is_there_is_kept() -> None:
    Path("README.md").write_text("ours\n")
    os.symlink("nowhere", ".gitattributes")
    done = run("init", ".")
    assert done.code == 0
    assert "README.md: exists, kept\n" in done.out
    assert ".gitattributes: exists, kept\n" in done.out
    assert "jobs/first-job.yaml: written\n" in done.out
    assert "cd " not in done.out
    assert Path("README.md").read_text() == "ours\n"
    assert not Path("nowhere").exists()


def test_nothing_is_written_in_a_project() -> None:
    os.mkdir("team")
    Path("team/trainc.yaml").write_text("sources: [training]\n")
    Path("team/README.md").write_text("ours\n")
    done = run("init", "team")
    assert (done.code, done.out, done.err) == (
        1,
        "",
        "Error: team/trainc.yaml exists: nothing was written; trainc init would have written "
        "team/runtimes/team-torch.yaml, team/jobs/first-job.yaml, team/.pre-commit-config.yaml, team/.gitattributes\n",
    )
    assert sorted(os.listdir("team")) == ["README.md", "trainc.yaml"]


def test_a_second_time_nothing_is_missing() -> None:
    assert run("init", ".").code == 0
    done = run("init", ".")
    assert (done.code, done.out, done.err) == (1, "", "Error: trainc.yaml exists: nothing was written\n")


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        pytest.param("file", "file is not a folder", id="a file"),
        pytest.param("file/below", "file/below/README.md cannot be written: Not a directory", id="below a file"),
        pytest.param("/proc/new", "/proc/new/README.md cannot be written", id="where nobody may write"),
        pytest.param("nowhere", "nowhere is not a folder", id="a link to nowhere"),
        pytest.param("x" * 300, "cannot be written: File name too long", id="a name that is too long"),
    ],
)
def test_a_folder_that_cannot_be_written_to(folder: str, message: str) -> None:
    Path("file").write_text("")
    if folder == "nowhere":
        os.symlink("gone", "nowhere")
    done = run("init", folder)
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_a_file_in_the_way_of_a_folder() -> None:
    Path("jobs").write_text("")
    done = run("init", ".")
    assert done.code == 1
    assert "Error: jobs is not a folder" in done.err


def test_names_are_shown_without_their_effect() -> None:
    done = run("init", "a\x1b[31m")
    assert "\x1b" not in done.out
    assert r"a\x1b[31m/README.md: written" in done.out
