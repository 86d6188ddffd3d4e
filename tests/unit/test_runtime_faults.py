"""A fault of a runtime is reported once, at its line, with the TrainJobs that have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from files import write
from manifests import cluster_runtime, train_job, trainer_job
from running import run

import trainc

FAULTS: Final = {
    "image": "a b",
    "volumeMounts": [{"name": "data", "mountPath": ""}],
    "ports": [{"containerPort": 0}],
}
LINES: Final = [("image-reference", 26), ("required", 30), ("required", 35)]
"""The id and the line of each fault."""
JOBS: Final = 20
FORMATS: Final = ("github", "gitlab", "json", "junit", "rdjson", "sarif", "text")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_jobs(count: int, faults: dict[str, Any], **of_last: Any) -> None:
    job = trainer_job(**faults)
    job["template"]["spec"]["template"]["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    write("runtime.yaml", json.dumps(cluster_runtime(job), indent=1))
    for number in range(count):
        trainer = of_last if number == count - 1 and of_last else {"numNodes": 2}
        write(f"j{number:03}.yaml", json.dumps(train_job(trainer, name=f"j{number:03}", metadata={"namespace": "ml"})))


def reported(form: str) -> list[tuple[str, str]]:
    """Return the file and the message of each error in a report."""
    done = run("validate", ".", "--format", form)
    assert done.code == 1, done.err
    if form == "json":
        return [(each["file"], each["message"]) for each in json.loads(done.out) if each["severity"] == "error"]
    if form == "gitlab":
        return [(each["location"]["path"], each["description"]) for each in json.loads(done.out)]
    if form == "rdjson":
        return [(each["location"]["path"], each["message"]) for each in json.loads(done.out)["diagnostics"]]
    if form == "sarif":
        (of_run,) = json.loads(done.out)["runs"]
        at = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in of_run["results"]]
        return [*zip(at, (each["message"]["text"] for each in of_run["results"]), strict=True)]
    mark = {"github": "::error ", "text": ": error[", "junit": ": error["}[form]
    lines = [line for line in done.out.splitlines() if mark in line]
    return [("runtime.yaml" if "runtime.yaml" in line else line, line) for line in lines]


@pytest.mark.parametrize("form", FORMATS)
def test_three_faults_of_a_runtime_are_three_errors(form: str) -> None:
    write_jobs(JOBS, FAULTS)
    found = reported(form)
    assert [file for file, _ in found] == ["runtime.yaml"] * len(LINES)
    if form != "json":
        assert all("used by ml/j000, ml/j001 and 18 more" in message for _, message in found)


def test_the_lines_and_the_users() -> None:
    write_jobs(JOBS, FAULTS)
    found = trainc.check(".").diagnostics
    assert sorted((each.id, each.locate().line) for each in found if each.severity == "error") == LINES  # type: ignore[union-attr]
    assert all(each.users and len(each.users.names) == JOBS and each.users.all for each in found)


def test_a_fault_that_a_trainjob_avoids_names_the_others() -> None:
    write_jobs(3, {"image": "a b"}, image="registry.acme.io/train:1")
    ((file, message),) = reported("text")
    assert file == "runtime.yaml"
    assert message.endswith("must not contain a space (only with ml/j000 and ml/j001)")


def test_a_trainjobs_own_field_comes_before_its_runtimes() -> None:
    job = trainer_job(resources={"requests": {"cpu": 4}})
    write("runtime.yaml", json.dumps(cluster_runtime(job, mlPolicy={"torch": {}})))
    write("j.yaml", json.dumps(train_job({"resourcesPerNode": {"limits": {"cpu": 1}}})))
    (error,) = [each for each in trainc.check(".").diagnostics if each.severity == "error"]
    assert (error.id, error.locate().file, error.users) == ("request-above-limit", "j.yaml", None)  # type: ignore[union-attr]
    assert [each.message for each in error.related] == ["in the runtime"]
    assert error.help.startswith("set the request, too: ")


def test_a_built_in_runtime_has_the_place_of_the_reference() -> None:
    patch = {"manager": "acme.io/m", "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"a": "b c"}}}}}
    for name in "ab":
        job = train_job({"numNodes": 2}, name=name, runtime="torch-distributed", runtimePatches=[patch])
        write(f"{name}.yaml", json.dumps(job))
    assert [file for file, _ in reported("json")] == ["a.yaml", "b.yaml"]  # the cause is the patch of each TrainJob
