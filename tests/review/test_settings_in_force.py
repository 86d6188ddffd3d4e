"""Which trainc.yaml is in force is part of a review: other files of the reviewed paths, extended files, patches."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from committing import commit, git
from running import Done, run

FORMATS = ("text", "markdown", "html", "json")
TEAM = Path("jobs/team/trainc.yaml")
EVIL = "environments: {prod: {}}\nimages: [{name: pytorch/pytorch, newName: evil/x}]\n"
REVIEW = ("main...HEAD", "--review-config", "main:trainc.yaml")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with two TrainJobs in a repository, and the branch `pr`."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    assert run("init").code == 0
    Path("jobs/team").mkdir()
    Path("jobs/team/job.yaml").write_text(Path("jobs/first-job.yaml").read_text().replace("first-job", "team-job"))
    on_branch()


def on_branch() -> None:
    """Commit the base, of which `main` is the branch, and continue on `pr`."""
    git("checkout", "--quiet", "-B", "pr")
    commit("The base")
    git("branch", "--force", "main")


def review(form: str, *paths: str) -> Done:
    done = run("diff", *REVIEW, "--format", form, "--", *(paths or ("jobs", "runtimes")))
    assert done.code == 0, done.err
    return done


def settings(*paths: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(review("json", *paths).out)["settings"]
    return found


def shown(form: str, *paths: str) -> str:
    text = re.sub(r"<wbr>|[`*\\]", "", review(form, *paths).out)
    assert "nothing changes" not in text
    assert "settings change" in text or "1 setting changes" in text
    assert run("diff", *REVIEW, "--exit-code", "--", *(paths or ("jobs",))).code == 3
    return text


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_below_the_paths(form: str) -> None:
    TEAM.write_text(EVIL)
    commit("Another image")
    text = shown(form)
    assert "evil/x" in text
    assert str(TEAM) in text
    assert "what is compiled in jobs/team" in text or form == "json"
    rows = settings()
    assert [(row["field"], row["file"], row["folders"], row["inForce"]) for row in rows] == [
        ("environments", str(TEAM), ["jobs/team"], False),
        ("images", str(TEAM), ["jobs/team"], False),
    ]


def test_a_changed_and_a_removed_file() -> None:
    TEAM.write_text(EVIL)
    on_branch()
    TEAM.write_text(EVIL.replace("evil/x", "evil/z"))
    commit("Changed")
    [row] = settings()
    assert (row["field"], row["old"], row["new"]) == ("images[pytorch/pytorch].newName", "evil/x", "evil/z")
    TEAM.unlink()
    commit("Removed")
    assert [(row["change"], row["side"]) for row in settings()] == [("removed", "old")] * 2


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", ["", "# Nothing.\n"])
def test_a_file_without_settings(form: str, text: str) -> None:
    TEAM.write_text(text)
    commit("Empty")
    assert f"{TEAM}" in shown(form)


@pytest.mark.parametrize("form", FORMATS)
def test_a_copy_of_the_file_in_force(form: str) -> None:
    copied = Path("trainc.yaml").read_text().replace("[jobs, runtimes]", "[.]").replace("[runtimes]", "[../runtimes]")
    Path("jobs/trainc.yaml").write_text(copied)
    commit("A copy")
    assert "trainc.yaml in force" in shown(form)
    row = next(row for row in settings() if row["field"] == "trainc.yaml in force")
    assert (row["old"], row["new"], row["folders"]) == ("trainc.yaml", "jobs/trainc.yaml", ["jobs"])
    on_branch()
    Path("trainc.yaml").write_text(Path("trainc.yaml").read_text() + "namespace: locked\n")
    commit("A namespace")
    assert "locked" in shown(form)
    [row] = settings()
    assert (row["field"], row["file"], row["inForce"]) == ("namespace", "trainc.yaml", False)


def test_the_effect_of_another_file_in_force() -> None:
    copied = Path("trainc.yaml").read_text().replace("[jobs, runtimes]", "[.]").replace("[runtimes]", "[../runtimes]")
    Path("jobs/trainc.yaml").write_text(copied + "labels: {a: b}\n")
    commit("A copy with a label")
    rows = {row["field"]: row for row in settings()}
    names = ["first-job", "team-job"]
    for field in ("trainc.yaml in force", "labels"):
        assert sorted({each["name"] for each in rows[field]["objects"]}) == names


@pytest.mark.parametrize("form", FORMATS)
def test_an_extended_file(form: str) -> None:
    Path("shared.yaml").write_text("labels: {a: b}\n")
    TEAM.write_text("extends: ../../shared.yaml\n")
    Path("jobs/other").mkdir()
    Path("jobs/other/trainc.yaml").write_text("extends: ../../shared.yaml\n")
    on_branch()
    Path("shared.yaml").write_text("labels: {a: evil}\n")
    commit("A label")
    assert "evil" in shown(form)
    [row] = settings()
    assert (row["field"], row["file"], row["folders"]) == ("labels.a", "shared.yaml", ["jobs/other", "jobs/team"])


@pytest.mark.parametrize("form", FORMATS)
def test_a_patch_of_settings_that_are_not_in_force(form: str) -> None:
    TEAM.write_text("patches: [{path: patch.yaml, target: {kind: JobSet}}]\n")
    patch = Path("jobs/team/patch.yaml")
    patch.write_text("spec: {ttlSecondsAfterFinished: 60}\n")
    on_branch()
    patch.write_text("spec: {ttlSecondsAfterFinished: 1}\n")
    commit("A patch")
    assert "patch.yaml" in shown(form)
    [row] = settings()
    assert (row["file"], row["old"]["spec"]["ttlSecondsAfterFinished"], row["inForce"]) == (str(patch), 60, False)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("content", ["a: [\n", "a: 1\na: 2\n", "- a\n", "a: 1\n---\nb: 2\n"])
def test_a_file_that_cannot_be_read(form: str, content: str) -> None:
    TEAM.write_text(content)
    commit("Unreadable")
    assert str(TEAM) in shown(form)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("target", ["../../shared.yaml", "/etc/hostname", "nowhere"])
def test_a_link(form: str, target: str) -> None:
    Path("shared.yaml").write_text("labels: {a: b}\n")
    on_branch()
    TEAM.symlink_to(target)
    commit("A link")
    # A dangling link or one that leads out of the repository is an error of the file's reader.
    done = run("diff", *REVIEW, "--format", form, "--", "jobs", "runtimes")
    assert str(TEAM) in (done.out if done.code == 0 else done.err)
    assert "nothing changes" not in done.out


def test_a_linked_file_that_changes() -> None:
    Path("shared.yaml").write_text("labels: {a: b}\n")
    TEAM.symlink_to("../../shared.yaml")
    on_branch()
    Path("shared.yaml").write_text("labels: {a: evil}\n")
    commit("A label")
    [row] = settings()
    assert (row["field"], row["new"], row["folders"]) == ("labels.a", "evil", ["jobs/team"])


def test_a_file_above_the_paths() -> None:
    TEAM.write_text("environments: {prod: {}}\nruntimes: {paths: [../../runtimes]}\n")
    on_branch()
    Path("jobs/trainc.yaml").write_text("labels: {a: b}\n")
    Path("trainc.yaml").write_text(Path("trainc.yaml").read_text() + "labels: {c: d}\n")
    commit("Two files above")
    rows = settings("jobs/team")
    assert [(row["field"], row["file"], row["inForce"]) for row in rows] == [
        ("labels", "jobs/trainc.yaml", False),
        ("labels", "trainc.yaml", False),
    ]


def test_the_working_tree_and_two_folders() -> None:
    TEAM.write_text(EVIL)
    found = json.loads(run("diff", "main", "--format", "json", "--", "jobs", "runtimes").out)["settings"]
    assert {row["file"] for row in found} == {str(TEAM)}
    for side, text in (("before", "labels: {a: b}\n"), ("after", "labels: {a: evil}\n")):
        folder = Path(side, "team")
        folder.mkdir(parents=True)
        Path(side, "job.yaml").write_text(Path("jobs/first-job.yaml").read_text())
        (folder / "trainc.yaml").write_text(text)
    [row] = json.loads(run("diff", "before", "after", "-r", "runtimes", "--format", "json").out)["settings"]
    assert (row["field"], row["new"], row["inForce"]) == ("labels.a", "evil", False)


def test_without_settings_a_file_is_not_in_force() -> None:
    TEAM.write_text(EVIL)
    commit("Another image")
    done = run("diff", "main...HEAD", "--no-config", "-r", "runtimes", "--", "jobs", "runtimes")
    assert f"{TEAM}:2: setting images is added" in done.out
    assert "changes what is compiled in jobs/team" in done.out
