"""The settings of a file are those of the nearest trainc.yaml above it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from environments import JOB
from files import write
from plugin import generate
from running import run

import trainc

STRICT = "lint: {strict: true}\nimages: [{name: other/image, newTag: a}]\n"
"""Settings with a warning that is an error."""


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> None:
    """A project with the job `top`, and two projects below it."""
    write("trainc.yaml", "sources: [jobs]\noutput: rendered\nlint: {disable: [no-resources]}\nnamespace: top\n")
    write("jobs/top.yaml", JOB.format(name="top"))
    for name in ("nlp", "vision"):
        write(f"jobs/{name}/job.yaml", JOB.format(name=name))
        write(f"jobs/{name}/trainc.yaml", f"namespace: {name}\noutput: rendered\nlint: {{disable: [no-resources]}}\n")


def test_validate_reports_all_projects_together() -> None:
    done = run("validate")
    assert (done.code, done.out) == (
        0,
        "no problems found: 1 TrainJob, 1 runtime in .; 1 TrainJob, 1 runtime in jobs/nlp; "
        "1 TrainJob, 1 runtime in jobs/vision\n",
    )
    write("jobs/nlp/trainc.yaml", STRICT)
    assert "jobs/nlp/trainc.yaml:2:17: error[unmatched-image]" in run("validate").out
    assert run("validate").code == 1
    assert run("validate", "jobs/vision", "jobs/top.yaml").code == 0


def test_build_writes_all_projects_or_none() -> None:
    assert run("build").code == 0
    written = sorted(str(path) for path in Path().rglob("rendered/**/*.yaml"))
    assert written == [
        "jobs/nlp/rendered/nlp/nlp.yaml",
        "jobs/vision/rendered/vision/vision.yaml",
        "rendered/top/top.yaml",
    ]
    assert run("build", "--check").code == 0
    Path(written[1]).unlink()
    assert run("build", "--check").code == 3
    write("jobs/nlp/job.yaml", JOB.format(name="nlp").replace("kind: TrainJob", "kind: TrainJob\nother: a"))
    assert run("build").code == 1
    assert not Path(written[1]).exists()


def test_a_path_selects_the_projects() -> None:
    built = run("build", "jobs").out
    assert [line for line in built.splitlines() if line.startswith("  namespace: ")] == [
        "  namespace: top",
        "  namespace: nlp",
        "  namespace: vision",
    ]
    assert "namespace: nlp" in run("build", "jobs/nlp/job.yaml").out
    assert "namespace: vision" in run("build", "--project", "jobs/vision", "-o", "-").out


def test_a_link_has_the_settings_of_the_project_that_has_it() -> None:
    write("shared/shared.yaml", JOB.format(name="shared"))
    Path("jobs/nlp/shared").symlink_to("../../shared")
    assert "namespace: nlp\n" in run("build", "jobs/nlp", "--only", "shared").out


@pytest.mark.parametrize("command", ["pods", "graph", "explain", "queues", "migrate"])
def test_a_command_that_shows_one_project_requires_it(command: str) -> None:
    done = run(command)
    message = "no project is selected; the given paths have 3 projects: ., jobs/nlp and jobs/vision"
    assert (done.code, f"error[project-required]: {message}" in done.err + done.out) == (1, True)
    assert run(command, "--project", "jobs/nlp").code == 0
    assert run(command, "jobs/nlp").code == 0
    done = run(command, "--project", "jobs/other")
    assert (done.code, "jobs/other is not the folder of a project" in done.err + done.out) == (1, True)


def test_a_folder_below_a_project_has_its_settings() -> None:
    write("jobs/nlp/deep/job.yaml", JOB.format(name="deep"))
    assert "namespace: nlp\n" in run("build", "jobs/nlp/deep").out
    assert "namespace: nlp\n" in run("build", "jobs", "--only", "deep").out


def test_the_plug_in_has_the_settings_of_each_folder() -> None:
    done = generate("jobs")
    for name in ("top", "nlp", "vision"):
        assert f"  name: {name}\n  namespace: {name}\n" in done.out
        assert name == "top" or f"  name: {name}\n  namespace: {name}\n" in generate(f"jobs/{name}").out
    write("jobs/nlp/trainc.yaml", "exclude: [job.yaml]\n")
    write("jobs/nlp/other.yaml", JOB.format(name="other"))
    assert "  name: other\n" in generate("jobs").out
    assert "nlp" not in generate("jobs").out
    Path("jobs/top.yaml").unlink()
    assert run("cmp", "discover").out == "jobs/nlp/other.yaml\n"


def test_a_settings_file_without_manifests_is_no_project() -> None:
    write("base/trainc.yaml", "environments: {dev: {}}\nlint: {strict: true}\n")
    write("jobs/nlp/trainc.yaml", "extends: ../../base/trainc.yaml\nnamespace: nlp\n")
    done = run("validate")
    assert "base" not in done.out
    assert "1 TrainJob, 1 runtime in dev of jobs/nlp;" in done.out
    Path("base/trainc.yaml").write_text("a: [\n")
    assert "base/trainc.yaml:2:1: error[yaml]" in run("validate").out


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ("../vision", '"../vision" is outside'),
        ("..", '".." is outside'),
        ("deeper", '"deeper" belongs to the project of jobs/nlp/deeper/trainc.yaml'),
    ],
)
def test_sources_of_another_project_are_an_error(sources: str, message: str) -> None:
    write("jobs/nlp/deeper/trainc.yaml", "namespace: deeper\n")
    write("jobs/nlp/deeper/job.yaml", JOB.format(name="deeper"))
    write("jobs/nlp/trainc.yaml", f"sources: [{sources}]\nnamespace: nlp\n")
    done = run("validate")
    assert done.code == 1
    assert f"error[settings-path]: sources must be in the folder of their trainc.yaml: {message}" in done.out


def test_patterns_do_not_move_the_end_of_a_project() -> None:
    write("trainc.yaml", "sources: [jobs]\nexclude: [trainc.yaml]\nnamespace: top\n")
    assert "namespace: nlp\n" in run("build", "jobs").out
    write("trainc.yaml", "sources: [jobs]\nexclude: [nlp]\nnamespace: top\n")
    assert "nlp" not in run("build", "jobs").out
    write("jobs/nlp/trainc.yaml", "exclude: [/deep]\nnamespace: nlp\n")
    write("jobs/nlp/deep/job.yaml", JOB.format(name="deep"))
    assert "deep" not in run("build", "jobs/nlp").out


def test_files_that_the_settings_of_another_project_name_are_no_manifests() -> None:
    write("jobs/patch.yaml", f"{JOB.format(name='patched')}\n")
    write("jobs/nlp/trainc.yaml", "namespace: nlp\npatches: [{path: ../patch.yaml, target: {kind: TrainJob}}]\n")
    assert "patched" not in run("build", "jobs", "--only", "top").out


@pytest.mark.parametrize("words", [("validate",), ("build", "jobs")])
def test_one_object_of_two_projects_is_an_error(words: tuple[str, ...]) -> None:
    for name in ("nlp", "vision"):
        write(f"jobs/{name}/trainc.yaml", "namespace: ml\n")
        write(f"jobs/{name}/job.yaml", JOB.format(name="same"))
    done = run(*words)
    message = 'project jobs/nlp and project jobs/vision write the same JobSet "ml/same"'
    assert (done.code, f"error[shared-object]: {message}" in done.out + done.err) == (1, True)
    write("jobs/vision/trainc.yaml", "namespace: ml\ncluster: b\n")
    assert run(*words).code == 0


@pytest.mark.parametrize("output", ["../../rendered", "../../rendered/nlp", "../.."])
def test_one_folder_of_two_projects_is_an_error(output: str) -> None:
    write("jobs/nlp/trainc.yaml", f"namespace: nlp\noutput: {output}\n")
    for command in ("validate", "build"):
        done = run(command)
        assert done.code == 1
        assert "error[shared-object]: project . and project jobs/nlp write into one folder, " in done.out + done.err
    assert not Path("rendered").exists()
    assert "write into one folder, out" in run("build", "-o", "out").err


def test_a_project_with_objects_and_without_an_output_folder_is_an_error_beside_others() -> None:
    write("jobs/nlp/trainc.yaml", "namespace: nlp\n")
    done = run("build")
    assert (done.code, "jobs/nlp has no output folder: set output in its trainc.yaml" in done.err) == (2, True)


def test_an_option_replaces_all_settings() -> None:
    write("ci.yaml", "namespace: ci\n")
    done = run("build", "jobs", "--config", "ci.yaml")
    files = "trainc.yaml, jobs/nlp/trainc.yaml and jobs/vision/trainc.yaml"
    assert f"note[settings-replaced]: --config ci.yaml replaces {files}" in done.err
    assert done.out.count("  namespace: ci\n") == 3
    assert "note[settings-replaced]: --no-config replaces trainc.yaml" in run("validate", "--no-config").out
    assert "settings-replaced" not in run("validate", "--config", "trainc.yaml", "jobs/top.yaml").out
    assert "settings-replaced" in run("validate", "--config", "trainc.yaml").out


def test_a_subset_is_checked_with_the_settings_of_each_file() -> None:
    write("jobs/nlp/trainc.yaml", STRICT)
    assert run("validate", "--among", ".", "jobs/vision/job.yaml", "jobs/top.yaml").code == 0
    assert run("validate", "--among", ".", "jobs/nlp/trainc.yaml").code == 1


def test_python_compiles_all_projects() -> None:
    result = trainc.compile()
    assert not result.failed
    assert [job.objects[0]["metadata"]["namespace"] for job in result.jobs] == ["top", "nlp", "vision"]


def test_a_fix_is_applied_in_each_project() -> None:
    for path in ("jobs/top.yaml", "jobs/nlp/job.yaml"):
        write(path, Path(path).read_text().replace("runtimeRef", "runtimeref"))
    assert run("validate", "--fix").code == 0
    assert "runtimeRef" in Path("jobs/top.yaml").read_text()
    assert "runtimeRef" in Path("jobs/nlp/job.yaml").read_text()


def test_init_below_a_project_makes_a_project_of_its_own() -> None:
    assert run("init", "jobs/new").code == 0
    found = {
        each["file"] for each in json.loads(run("validate", "--format", "json").out) if each["severity"] == "error"
    }
    assert not found
    assert "jobs/new" in run("pods").err
