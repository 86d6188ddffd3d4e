"""`passthrough` of trainc.yaml and `--passthrough`: the documents of other kinds in the output of each command."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from committing import commit
from environments import JOB
from running import Done, run

CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\n"
SETTINGS = "sources: [jobs]\noutput: rendered\nnamespace: ml\n"
CHOICES = [
    pytest.param("", None, id="not set"),
    pytest.param("passthrough: true\n", ["data", "more", "of-job"], id="true"),
    pytest.param("passthrough: false\n", [], id="false"),
    pytest.param("passthrough: [claims/]\n", ["data", "more"], id="a folder"),
    pytest.param("passthrough: ['*.yaml', '!/jobs/claims/more.yaml']\n", ["data", "of-job"], id="all but one"),
    pytest.param("passthrough: []\n", [], id="no pattern"),
]


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> Path:
    Path("jobs/claims").mkdir(parents=True)
    for name in ("data", "more"):
        Path(f"jobs/claims/{name}.yaml").write_text(CLAIM.format(name=name))
    Path("jobs/a.yaml").write_text(JOB.format(name="a") + "---\n" + CLAIM.format(name="of-job"))
    return empty_repository


def write_settings(text: str) -> None:
    Path("trainc.yaml").write_text(SETTINGS + text)


def claims(text: str) -> list[str]:
    return sorted(re.findall(r"kind: PersistentVolumeClaim\nmetadata:[^a-z]*(?:name: )?([a-z-]+)", text))


def passed(folder: str = "rendered") -> list[str]:
    path = Path(folder, "_passthrough.yaml")
    return claims(path.read_text()) if path.exists() else []


@pytest.mark.parametrize(("text", "copied"), CHOICES)
def test_every_command_follows_the_setting(text: str, copied: list[str] | None) -> None:
    write_settings(text)
    assert run("build").code == 0
    assert passed() == (copied or [])
    assert run("build", "--check").code == 0
    assert claims(run("build", "-o", "-").out) == (copied or [])
    done = run("diff", "jobs", "rendered")
    assert (done.code, "nothing changes" in done.out) == (0, True), done.out
    every = ["data", "more", "of-job"]
    assert claims(run("cmp", "generate").out) == (every if copied is None else copied)
    assert [run("build", "--passthrough").code, passed()] == [0, every]


@pytest.mark.parametrize(("text", "copied"), CHOICES)
def test_krm(text: str, copied: list[str] | None) -> None:
    write_settings(text)
    items = [
        (Path(path).read_text(), path) for path in ("jobs/a.yaml", "jobs/claims/data.yaml", "jobs/claims/more.yaml")
    ]
    listed = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
    listed += (
        "functionConfig: {apiVersion: trainc.dev/v1alpha1, kind: TrainJobCompiler, spec: {settings: trainc.yaml}}\n"
    )
    listed += "items:\n"
    for document, path in items:
        for part in document.split("---\n"):
            annotated = part.replace("metadata: {", f"metadata: {{annotations: {{config.kubernetes.io/path: {path}}}, ")
            listed += "- " + annotated.replace("\n", "\n  ").rstrip() + "\n"
    done = run("krm", stdin=listed.encode())
    assert done.code == 0, done.err
    assert done.out.count("kind: JobSet") == 1
    assert done.out.count("kind: PersistentVolumeClaim") == (3 if copied is None else len(copied))


def test_an_environment_has_its_own() -> None:
    write_settings("passthrough: true\nenvironments: {dev: {passthrough: [more.yaml], cluster: dev}, prod: {}}\n")
    assert run("build").code == 0
    assert (passed("rendered/dev"), passed("rendered/prod")) == (["more"], ["data", "more", "of-job"])
    assert run("build", "--check").code == 0
    assert run("build", "--env", "dev", "--check").code == 0


def error(done: Done) -> str:
    assert done.code == 1, done
    (line,) = [line for line in done.err.splitlines() if "error[passthrough-dropped]" in line]
    return line


@pytest.mark.parametrize("environments", ["", "environments: {dev: {}}\n"])
def test_a_build_that_would_drop_the_objects_is_an_error(environments: str) -> None:
    write_settings(environments)
    assert run("build", "--passthrough").code == 0
    folder = "rendered/dev" if environments else "rendered"
    before = passed(folder)
    for more in ((), ("--check",)):
        assert error(run("build", *more)) == (
            f"{folder}/_passthrough.yaml: error[passthrough-dropped]: would be removed, with PersistentVolumeClaim "
            "ml/of-job, PersistentVolumeClaim ml/data, PersistentVolumeClaim ml/more"
            + (" [dev]" if environments else "")
        )
        assert passed(folder) == before
    assert run("build", "jobs/a.yaml", "-o", "rendered").code == 0  # prunes nothing
    write_settings(environments + "passthrough: false\n")
    assert run("build", "--check").code == 3
    assert run("build").code == 0
    assert not Path(folder, "_passthrough.yaml").exists()


def test_a_layout_from_before_environments_is_not_dropped_either() -> None:
    write_settings("")
    assert run("build", "--passthrough").code == 0
    write_settings("environments: {dev: {}}\n")
    error(run("build"))
    write_settings("environments: {dev: {passthrough: true}}\n")
    assert run("build").code == 0
    assert (passed(), len(passed("rendered/dev"))) == ([], 3)


def test_the_objects_of_a_deleted_environment_are_pruned_with_it() -> None:
    write_settings("environments: {dev: {passthrough: true}, prod: {cluster: prod}}\n")
    assert run("build").code == 0
    write_settings("environments: {prod: {cluster: prod}}\n")
    assert run("build").code == 0
    assert os.listdir("rendered") == ["prod"]


def test_a_removed_source_is_no_loss() -> None:
    write_settings("passthrough: true\n")
    assert run("build").code == 0
    Path("jobs/a.yaml").write_text(JOB.format(name="a"))
    for name in ("data", "more"):
        Path(f"jobs/claims/{name}.yaml").unlink()
    assert run("build").code == 0
    assert not Path("rendered/_passthrough.yaml").exists()


def test_only_files_that_are_copied_must_be_readable() -> None:
    write_settings("passthrough: [claims/]\n")
    Path("jobs/chart.yaml").write_text("kind: Service\nmetadata: {{ .Values }}\n")
    assert run("build").code == 0
    Path("jobs/claims/chart.yaml").write_text("kind: Service\nmetadata: {{ .Values }}\n")
    assert run("build").code == 1


def test_diff_of_revisions_has_the_documents_of_each() -> None:
    write_settings("passthrough: [claims/]\n")
    commit()
    Path("jobs/claims/new.yaml").write_text(CLAIM.format(name="new"))
    Path("jobs/not.yaml").write_text(CLAIM.format(name="not"))
    commit()
    done = run("diff", "HEAD~1..HEAD")
    assert done.code == 0, done.err
    assert "PersistentVolumeClaim new" in done.out
    assert "ml/not" not in done.out


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1", "trainc.yaml:4:14: error[wrong-type]: passthrough must be a boolean or a list of patterns"),
        ("{a: b}", "trainc.yaml:4:14: error[wrong-type]: passthrough must be a boolean or a list of patterns"),
        ("[a, 1]", "trainc.yaml:4:18: error[wrong-type]: a pattern must be a string"),
        ("['!']", "trainc.yaml:4:15: error[exclude-pattern]: the pattern"),
        (str(["a"] * 251), "trainc.yaml:4:14: error[too-many-items]: passthrough has more than 250 patterns"),
    ],
)
def test_faults(value: str, message: str) -> None:
    write_settings(f"passthrough: {value}\n")
    done = run("build")
    assert (done.code, message in done.err) == (1, True), done.err
