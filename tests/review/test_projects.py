"""A review compares each project with its own settings, on both sides."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from committing import commit, copy_repository, git
from running import Done, run

from trainc.cli.common.options import REVIEWS

TEAM = Path("jobs/team/trainc.yaml")
SETTINGS = "environments: {prod: {namespace: team}}\nruntimes: {paths: [../../runtimes]}\n"
IMAGE = "images: [{name: pytorch/pytorch, newName: team/x}]\n"


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> None:
    copy_repository(project_of_a_team, empty_folder)


def project_of_a_team() -> None:
    """A project with a job in a folder of a team, and the branch `pr`."""
    assert run("init").code == 0
    Path("jobs/team").mkdir()
    Path("jobs/team/job.yaml").write_text(Path("jobs/first-job.yaml").read_text().replace("first-job", "team-job"))
    on_branch()


def on_branch() -> None:
    """Commit the base, of which `main` is the branch, and continue on `pr`."""
    git("checkout", "--quiet", "-B", "pr")
    commit("The base")
    git("branch", "--force", "main")


def review(*arguments: str) -> dict[str, Any]:
    done = run("diff", "main...HEAD", "--review-config", "main", "--format", "json", *arguments)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def objects(*arguments: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the status, the name and the environments of each object that differs."""
    found = review(*arguments)["objects"]
    return sorted((each["status"], each["name"], tuple(each["environments"])) for each in found)


def fields(*arguments: str) -> list[tuple[str, str]]:
    return [(row["file"], row["field"]) for row in review(*arguments)["settings"]]


def text(form: str, *arguments: str) -> str:
    done: Done = run("diff", "main...HEAD", "--review-config", "main", "--format", form, *arguments)
    assert done.code == 0, done.err
    return re.sub(r"<wbr>|[`*\\]", "", done.out)


def test_a_changed_setting_of_a_folder() -> None:
    TEAM.write_text(SETTINGS + IMAGE)
    on_branch()
    TEAM.write_text(SETTINGS + IMAGE.replace("team/x", "evil/x"))
    commit("Another image")
    for form in REVIEWS:
        assert "evil/x" in text(form)
        assert "evil/x" in text(form, "--", "jobs")
    assert fields() == [(str(TEAM), "images[pytorch/pytorch].newName")]
    assert objects() == [("changed", "team-job", ("prod",))]


def test_a_new_project_has_the_settings_above_it_on_the_other_side() -> None:
    TEAM.write_text(SETTINGS.replace("team}", "training}") + IMAGE)
    commit("A project")
    assert objects() == [("changed", "team-job", ("prod",)), ("removed", "team-job", ("dev",))]
    assert (str(TEAM), "images") in fields()
    on_branch()
    TEAM.unlink()
    commit("No project")
    assert objects() == [("added", "team-job", ("dev",)), ("changed", "team-job", ("prod",))]


def test_a_new_project_that_extends_the_one_above_it_adds_its_own_settings() -> None:
    TEAM.write_text("extends: ../../trainc.yaml\nlabels: {a: b}\n")
    commit("A project")
    rows = {row["field"]: {each["name"] for each in row["objects"]} for row in review()["settings"]}
    assert rows == {"extends": set(), "labels": {"team-job"}}
    assert objects() == [("changed", "team-job", ("dev",)), ("changed", "team-job", ("prod",))]
    on_branch()
    TEAM.unlink()
    commit("No project")
    rows = {row["field"]: {each["name"] for each in row["objects"]} for row in review()["settings"]}
    assert rows == {"extends": set(), "labels": {"team-job"}}


def test_a_job_that_moves_to_another_project_keeps_its_objects() -> None:
    TEAM.write_text(SETTINGS.replace("team}", "training, labels: {env: prod}}"))
    on_branch()
    git("mv", "jobs/team/job.yaml", "jobs/job.yaml")
    commit("Moved")
    assert objects() == [("added", "team-job", ("dev",))]
    on_branch()
    git("mv", "jobs/job.yaml", "jobs/team/job.yaml")
    TEAM.write_text(TEAM.read_text() + IMAGE)
    commit("Moved back, with another image")
    assert objects() == [("changed", "team-job", ("prod",)), ("removed", "team-job", ("dev",))]
    [changed] = [each for each in review()["objects"] if each["status"] == "changed"]
    assert {each["field"].rpartition(".")[2] for each in changed["changes"]} == {"image"}


def test_an_extended_file_of_two_projects_is_listed_once() -> None:
    Path("shared.yaml").write_text("labels: {a: b}\n")
    for name in ("team", "other"):
        Path("jobs", name).mkdir(exist_ok=True)
        Path("jobs", name, "trainc.yaml").write_text(f"extends: ../../shared.yaml\n{SETTINGS}")
        Path("jobs", name, "job.yaml").write_text(
            Path("jobs/first-job.yaml").read_text().replace("first-job", f"{name}-job")
        )
    on_branch()
    Path("shared.yaml").write_text("labels: {a: evil}\n")
    commit("A label")
    [row] = review()["settings"]
    assert (row["file"], row["field"]) == ("shared.yaml", "labels.a")
    assert [each["name"] for each in row["objects"]] == ["other-job", "team-job"]
    assert objects() == [("changed", "other-job", ("prod",)), ("changed", "team-job", ("prod",))]


def test_each_project_has_its_own_lint_settings_of_the_base() -> None:
    TEAM.write_text(f"{SETTINGS}lint: {{disable: [image-version]}}\n")
    on_branch()
    TEAM.write_text(SETTINGS)
    Path("trainc.yaml").write_text(Path("trainc.yaml").read_text() + "lint: {disable: [image-version]}\n")
    for name in ("jobs/team/new.yaml", "jobs/new.yaml"):
        job = Path("jobs/first-job.yaml").read_text().replace("first-job", Path(name).parent.name + "-new")
        Path(name).write_text(re.sub(r"\n  trainer:\n", "\n  trainer:\n    image: acme/x:latest\n", job))
    commit("The rules change places")
    done = run("diff", "main...HEAD", "--review-config", "main")
    assert re.findall(r"(\S+?):\d+:\d+: warning\[image-version\]", done.err) == ["HEAD:jobs/new.yaml"]


def test_two_folders_with_projects() -> None:
    for side, value in (("before", "b"), ("after", "evil")):
        Path(side, "team").mkdir(parents=True)
        Path(side, "team", "job.yaml").write_text(Path("jobs/team/job.yaml").read_text())
        Path(side, "job.yaml").write_text(Path("jobs/first-job.yaml").read_text())
        Path(side, "team/trainc.yaml").write_text(f"labels: {{a: {value}}}\n")
    done = run("diff", "before", "after", "-r", "runtimes", "--format", "json")
    [row] = json.loads(done.out)["settings"]
    assert (row["field"], row["new"], row["file"]) == ("labels.a", "evil", "after/team/trainc.yaml")
    assert [each["name"] for each in json.loads(done.out)["objects"]] == ["team-job"]


def test_objects_of_other_kinds_in_a_project_without_jobs_are_listed() -> None:
    Path("jobs/role").mkdir()
    Path("jobs/role/trainc.yaml").write_text("labels: {a: b}\n")
    Path("jobs/role/role.yaml").write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\n"
    )
    commit("A role")
    assert [row["file"] for row in review()["notCompared"]] == ["jobs/role/role.yaml"]
    assert ("jobs/role/trainc.yaml", "labels") in fields()


def test_rendered_manifests_beside_several_projects_are_an_error() -> None:
    TEAM.write_text(SETTINGS)
    assert run("build", "--project", ".").code == 0
    done = run("diff", "rendered", "jobs")
    assert (done.code, "error[project-required]" in done.err) == (1, True)


def test_an_option_replaces_all_settings() -> None:
    TEAM.write_text(SETTINGS + IMAGE)
    commit("A project")
    done = run("diff", "main...HEAD", "--no-config", "-r", "runtimes", "--", "jobs", "runtimes")
    assert "note[settings-replaced]: --no-config replaces trainc.yaml and jobs/team/trainc.yaml" in done.err
    assert "nothing changes" in done.out
