"""`trainc.compile` as callers use it: its arguments, wrong arguments, and values on one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from running import NO_LINT

import trainc

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a}
spec: {runtimeRef: {name: own}, trainer: {image: "i:1"}}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: own}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, image: "r:1"}]}}}
"""
PROJECT = """\
sources: [jobs]
environments:
  dev: {namespace: team-dev}
  prod: {namespace: team}
"""
OPTIONS = trainc.Options(settings=NO_LINT)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "a.yaml").write_text(JOB)
    (tmp_path / "jobs" / "runtime.yaml").write_text(RUNTIME)


def namespaces(compilation: trainc.Compilation) -> list[str]:
    assert not compilation.failed, "\n".join(map(str, compilation.diagnostics))
    return [str(found["metadata"].get("namespace", "")) for found in compilation.objects]


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(None, id="the current folder"),
        pytest.param("jobs", id="a folder"),
        pytest.param(Path("jobs"), id="a PathLike"),
        pytest.param(["jobs/a.yaml", Path("jobs/runtime.yaml")], id="a list"),
        pytest.param((path for path in ("jobs/a.yaml", "jobs/runtime.yaml")), id="an iterator"),
    ],
)
def test_paths(paths: Any) -> None:
    assert len(trainc.compile(paths, options=OPTIONS).objects) == 1


def test_a_text_is_compiled_instead_of_files() -> None:
    compilation = trainc.compile(text=f"{JOB}---\n{RUNTIME}", options=OPTIONS)
    assert (len(compilation.objects), compilation.files) == (1, 1)


def test_a_text_finds_runtimes_in_files() -> None:
    options = OPTIONS._replace(runtimes=["jobs/runtime.yaml"])
    assert len(trainc.compile(text=JOB, options=options).objects) == 1


def test_an_error_in_a_text_names_it() -> None:
    (found,) = trainc.compile(text=JOB, options=OPTIONS).diagnostics
    assert str(found) == '<text>:4:27: error[runtime-not-found]: ClusterTrainingRuntime "own" not found'


def test_the_environment_of_the_nearest_trainc_yaml() -> None:
    Path("trainc.yaml").write_text(PROJECT)
    assert namespaces(trainc.compile("jobs", environment="prod")) == ["team"]
    assert namespaces(trainc.compile(environment="dev")) == ["team-dev"]
    assert namespaces(trainc.compile(text=f"{JOB}---\n{RUNTIME}", environment="dev")) == ["team-dev"]
    assert namespaces(trainc.compile("jobs", options=trainc.Options(no_config=True))) == [""]
    assert namespaces(trainc.compile("jobs", options=OPTIONS)) == [""]


def test_options_override_trainc_yaml() -> None:
    Path("trainc.yaml").write_text("fieldValidation: ignore\n")
    Path("jobs/a.yaml").write_text(JOB.replace("spec: {", "spec: {unknown: 1, "))
    assert not trainc.compile("jobs").failed
    assert trainc.compile("jobs", options=trainc.Options(field_validation="strict")).failed
    assert trainc.compile("jobs", options=trainc.Options(field_validation="warn", strict=True)).failed


def test_an_unreadable_path_is_a_diagnostic() -> None:
    (found,) = trainc.compile("missing.yaml").diagnostics
    assert str(found).startswith("missing.yaml: error[unreadable]: ")


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        pytest.param({"paths": 1}, TypeError, "paths must be a path", id="a number"),
        pytest.param({"paths": b"jobs"}, TypeError, "paths must be a path", id="bytes"),
        pytest.param({"paths": ["jobs", None]}, TypeError, "paths must be a path", id="a list with something else"),
        pytest.param({"paths": []}, ValueError, "paths is empty", id="no path"),
        pytest.param({"paths": ""}, ValueError, "paths has an invalid path: ''", id="an empty path"),
        pytest.param({"paths": "a\0"}, ValueError, r"paths has an invalid path: 'a\\x00'", id="a NUL"),
        pytest.param({"paths": "jobs", "text": JOB}, ValueError, "paths and text cannot be combined", id="both"),
        pytest.param({"text": b"a"}, TypeError, "text must be a str, not bytes", id="a text of bytes"),
        pytest.param({"environment": 1}, TypeError, "environment must be a str, not int", id="an environment's type"),
        pytest.param({"environment": "staging"}, ValueError, 'environment: "staging" is not', id="an unknown one"),
        pytest.param({"paths": "jobs"}, ValueError, 'environment: .* use environment="dev" or', id="a missing one"),
        pytest.param({"options": {}}, TypeError, "options must be a trainc.Options, not dict", id="other options"),
        pytest.param(
            {"environment": "dev", "options": trainc.Options(environments=("prod",))},
            ValueError,
            "environment and options.environments cannot be combined",
            id="two environments",
        ),
        pytest.param(
            {"options": trainc.Options(config="trainc.yaml", no_config=True)},
            ValueError,
            "options: config and no_config cannot be combined",
            id="two settings files",
        ),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    Path("trainc.yaml").write_text(PROJECT)
    with pytest.raises(kind, match=message):
        trainc.compile(**arguments)


def test_values_are_short() -> None:
    compilation = trainc.compile("jobs", options=OPTIONS)
    (job,) = compilation.jobs
    assert repr(compilation) == "Compilation(jobs=1, objects=1, diagnostics=0, failed=False)"
    assert repr(job) == "Compiled('', 'a', objects=1)"
    assert repr(job.plan.job.document) == f"Document('jobs{os.sep}a.yaml:1:1')"
    place = trainc.Place(job.plan.job.document, ("spec", "trainer"))
    assert repr(place) == f"Place(Document('jobs{os.sep}a.yaml:1:1'), 'spec.trainer')"


def test_a_diagnostic_is_one_line() -> None:
    diagnostic = trainc.Diagnostic("some-id", "error", "read", "a\n\x1b[2Jb", place=trainc.Location("x.yaml", 2, 3))
    assert str(diagnostic) == r"x.yaml:2:3: error[some-id]: a\n\x1b[2Jb"
    assert str(diagnostic._replace(place=None)) == r"error[some-id]: a\n\x1b[2Jb"


def test_exceptions_have_one_base() -> None:
    assert issubclass(trainc.OverBudgetError, trainc.Error)
