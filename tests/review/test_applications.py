"""What changes an Application of Argo CD, and no object of the whole tree, is in the review, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from committing import commit, git
from environments import JOB
from files import write
from running import run

from trainc.cli.common.options import REVIEWS

SETTINGS = "sources: [jobs]\nenvironments: {dev: {namespace: ml-dev}, prod: {namespace: ml}}\n"
PARAMETERS = "plugin: {{parameters: [{{name: environment, string: {}}}]}}\n"
APPLICATION = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {0}}}\n"
APPLICATION += "spec: {{source: {{path: jobs/{0}}}}}\n"
TOKEN = "apiVersion: acme.io/v1\nkind: Token\nmetadata: {{name: a}}\nstatus: {{user: {}}}\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: runtimes{0}}}\ndata:\n  r.yaml: |\n{1}{2}"
RUNTIME = "    apiVersion: trainer.kubeflow.org/v1alpha1\n    kind: TrainingRuntime\n    metadata: {name: mine}\n"


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> None:
    write("trainc.yaml", SETTINGS)
    write("jobs/dev/a.yaml", JOB.format(name="a"))


def commit_base(path: str = "", text: str = "") -> None:
    """Commit the project with a file as main, and switch to the branch pr."""
    if path:
        write(path, text)
    commit()
    git("switch", "--quiet", "--create", "pr")


def review(form: str, sides: str = "main..HEAD") -> str:
    done = run("diff", sides, "--format", form, "--", "jobs")
    assert done.code == 0, done.err
    assert run("diff", sides, "--format", form, "--exit-code", "--", "jobs").code == 3
    assert "nothing changes" not in done.out
    return done.out


def data(sides: str = "main..HEAD") -> Any:
    return json.loads(review("json", sides))


@pytest.mark.parametrize("form", REVIEWS)
@pytest.mark.parametrize(
    "path", ["jobs/.argocd-source.yaml", "jobs/dev/.argocd-source-prod.yaml", ".argocd-source-x.yaml"]
)
def test_parameters_of_argo_cd(form: str, path: str) -> None:
    commit_base(path, PARAMETERS.format("prod"))
    write(path, PARAMETERS.format("dev"))
    for sides in ("main", "main..HEAD"):
        if sides != "main":
            commit()
        out = review(form, sides)
        for text in (path, "parameter environment", "prod", "dev", "Argo CD overrides the source"):
            assert text in out, sides


@pytest.mark.parametrize("form", REVIEWS)
def test_parameters_are_never_cut(form: str) -> None:
    commit_base()
    for number in range(150):
        write(f"jobs/a/{number}.yaml", CONFIG_MAP.format(number, "    a: b\n", ""))
    for number in range(30):
        write(f"jobs/z/.argocd-source-{number}.yaml", PARAMETERS.format("dev"))
    commit()
    out = review(form)
    assert all(f"jobs/z/.argocd-source-{number}.yaml" in out for number in range(30))


def test_parameters_are_values_without_secrets() -> None:
    commit_base("jobs/.argocd-source.yaml", "plugin: {env: [{name: API_TOKEN, value: abc}]}\n")
    write("jobs/.argocd-source.yaml", "plugin: {env: [{name: API_TOKEN, value: xyz}]}\nkustomize: {images: [a]}\n")
    commit()
    [row] = data()["notCompared"]
    assert [(each["field"], each["change"]) for each in row["changes"]] == [
        ("variable API_TOKEN", "changed"),
        ("kustomize", "added"),
    ]
    assert not any("abc" in review(form) or "xyz" in review(form) for form in REVIEWS)


@pytest.mark.parametrize("form", REVIEWS)
@pytest.mark.parametrize("has_applications", [False, True])
def test_a_job_that_moves_between_folders(form: str, has_applications: bool) -> None:
    if has_applications:
        write("apps/dev.yaml", APPLICATION.format("dev"))
        write("apps/prod.yaml", APPLICATION.format("prod"))
    commit_base()
    write("jobs/prod/a.yaml", Path("jobs/dev/a.yaml").read_text())
    Path("jobs/dev/a.yaml").unlink()
    commit()
    out = review(form)
    for text in ("jobs/dev", "jobs/prod", "move"):
        assert text in out
    if form != "json":
        assert ("Application dev prunes it; Application prod deploys it" in out) == has_applications
    else:
        [move] = data()["moves"]
        assert (move["prunedBy"], move["deployedBy"]) == ((["dev"], ["prod"]) if has_applications else ([], []))
        assert [each["kind"] for each in move["objects"]] == ["TrainJob"]


@pytest.mark.parametrize("form", REVIEWS)
def test_a_job_that_moves_in_a_repository_with_an_application_set(form: str) -> None:
    write("apps/teams.yaml", APPLICATION.format("teams").replace("kind: Application", "kind: ApplicationSet"))
    commit_base()
    write("jobs/prod/a.yaml", Path("jobs/dev/a.yaml").read_text())
    Path("jobs/dev/a.yaml").unlink()
    commit()
    if form == "json":
        assert data()["moves"][0]["applicationSets"] == ["teams"]
    else:
        assert "the Applications of ApplicationSet teams are not known, and may prune or deploy it" in review(form)


def test_important_objects_of_a_move_are_never_cut() -> None:
    for number in range(20):
        write(f"jobs/dev/{number}.yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{number}}}\n")
        write(f"jobs/dev/p{number}.yaml", f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n")
    commit_base()
    Path("jobs/dev").rename("jobs/prod")
    commit()
    for form in REVIEWS:
        out = review(form)
        assert all(f"p{number}" in out for number in range(20))


def test_another_name_in_a_folder_is_no_move() -> None:
    commit_base()
    Path("jobs/dev/a.yaml").rename("jobs/dev/b.yaml")
    commit()
    assert "nothing changes" in run("diff", "main..HEAD", "--", "jobs").out


@pytest.mark.parametrize("form", REVIEWS)
@pytest.mark.parametrize("passthrough", ["", "passthrough: true\n"])
def test_the_status_of_a_copied_object(form: str, passthrough: str) -> None:
    write("trainc.yaml", SETTINGS + passthrough)
    commit_base("jobs/dev/token.yaml", TOKEN.format("me"))
    write("jobs/dev/token.yaml", TOKEN.format("admin"))
    commit()
    assert "Token" in review(form)


@pytest.mark.parametrize("form", REVIEWS)
@pytest.mark.parametrize(
    ("metadata", "more"), [(", labels: {x: y}", ""), ("", "binaryData: {x: aGk=}\n"), ("", "  other: value\n")]
)
def test_the_rest_of_a_config_map_that_holds_runtimes(form: str, metadata: str, more: str) -> None:
    commit_base("jobs/dev/map.yaml", CONFIG_MAP.format("", RUNTIME, ""))
    write("jobs/dev/map.yaml", CONFIG_MAP.format(metadata, RUNTIME, more))
    commit()
    assert "ConfigMap" in review(form)


@pytest.mark.parametrize("form", REVIEWS)
def test_a_settings_file_with_many_settings_does_not_hide_another_one(
    form: str,
) -> None:
    write("trainc.yaml", SETTINGS + "extends: base.yaml\n")
    commit_base("base.yaml", "labels: {a: b}\n")
    labels = ", ".join(f"l{number}: v" for number in range(200))
    write("trainc.yaml", SETTINGS + f"extends: base.yaml\nlabels: {{{labels}}}\n")
    write("base.yaml", "labels: {a: c}\n")
    commit()
    out = review(form)
    assert "trainc.yaml" in out
    assert "base.yaml" in out
