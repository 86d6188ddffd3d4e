"""The warning of `validate` and `build` about settings files below the paths that are not in force."""

from __future__ import annotations

from pathlib import Path

import pytest
from committing import git
from environments import JOB
from running import run

ID = "settings-not-in-force"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    for folder in ("team", "other"):
        Path("jobs", folder).mkdir(parents=True)
        Path("jobs", folder, "job.yaml").write_text(JOB.format(name=folder))
        Path("jobs", folder, "trainc.yaml").write_text("labels: {a: b}\n")
    Path("trainc.yaml").write_text("sources: [jobs]\nlint: {disable: [no-resources]}\n")


@pytest.mark.parametrize("words", [("validate",), ("build",), ("validate", "jobs"), ("build", "jobs")])
def test_one_warning_names_all_files(words: tuple[str, ...]) -> None:
    done = run(*words)
    said = f"warning[{ID}]: jobs/other/trainc.yaml and jobs/team/trainc.yaml are not in force: trainc.yaml is\n"
    assert (done.code, (done.out + done.err).count(said)) == (0, 1)
    assert run(*words, "--strict").code == 1


def test_one_warning_for_all_environments() -> None:
    Path("trainc.yaml").write_text("sources: [jobs]\nenvironments: {dev: {namespace: a}, prod: {namespace: b}}\n")
    assert run("validate").out.count(f"[{ID}]") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("exclude: [trainc.yaml]\n", (), id="excluded"),
        pytest.param("extends: [jobs/team/trainc.yaml, jobs/other/trainc.yaml]\n", (), id="extended"),
        pytest.param("", ("--no-config",), id="no settings"),
        pytest.param("", ("jobs/team/job.yaml",), id="a file"),
    ],
)
def test_no_warning(text: str, words: tuple[str, ...]) -> None:
    Path("trainc.yaml").write_text(f"sources: [jobs]\n{text}")
    done = run("validate", *words)
    assert ID not in done.out


def test_another_file_with_config() -> None:
    Path("ci.yaml").write_text("sources: [jobs]\n")
    assert "jobs/team/trainc.yaml are not in force: ci.yaml is" in run("validate", "--config", "ci.yaml").out
    shown = run("validate", ".", "--config", "ci.yaml").out
    assert "jobs/other/trainc.yaml, jobs/team/trainc.yaml and trainc.yaml are not in force: ci.yaml is" in shown


def test_a_link_and_a_file_with_errors() -> None:
    Path("jobs/team/trainc.yaml").write_text("labels: [\n")
    Path("jobs/other/trainc.yaml").unlink()
    Path("jobs/other/trainc.yaml").symlink_to("../../trainc.yaml")
    shown = run("validate").out
    assert "jobs/other/trainc.yaml and jobs/team/trainc.yaml are not in force" in shown


def test_the_given_files_of_a_subset() -> None:
    team, others = "jobs/team/trainc.yaml", ("jobs/team/job.yaml", "trainc.yaml")
    assert f"warning[{ID}]: {team} is not in force: trainc.yaml is\n" in run("validate", "--among", ".", team).out
    assert ID not in run("validate", "--among", ".", *others).out
    Path("trainc.yaml").write_text(f"sources: [jobs]\nexclude: [/{team}]\n")
    assert ID not in run("validate", "--among", ".", team).out
