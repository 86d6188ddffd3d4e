"""`trainc.compile` as callers use it: its arguments, wrong arguments, and values on one line."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import NO_LINT, run

import trainc
from trainc.base.option_rows import ROWS

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


WRONG_OPTIONS: list[tuple[str, Any, type[Exception], str]] = [
    ("environments", "dev", TypeError, "environments must be a tuple of strings, not 'dev'"),
    ("exclude", (1,), TypeError, "exclude must be a tuple of strings"),
    ("exclude", ("[z-a]",), ValueError, r'exclude: the pattern "\[z-a\]" is not a valid .gitignore pattern'),
    ("runtimes", 1, TypeError, "runtimes must be a path"),
    ("config", "", ValueError, "config has an invalid path: ''"),
    ("only", 5, TypeError, "only must be a str, not int"),
    ("strict", "yes", TypeError, "strict must be a bool, not str"),
    ("field_validation", "warning", ValueError, "field_validation must be one of strict, warn, ignore, not 'warning'"),
    ("trainer_version", "9", ValueError, "trainer_version: "),
    ("gang", "vulcano", ValueError, 'gang: "vulcano" is not a gang scheduler; did you mean volcano?'),
    ("budget", "big", ValueError, "budget must be one of ci, default, unlimited, not 'big'"),
    ("project", "nope", ValueError, "project: nope is not the folder of a project"),
    ("settings", {"a": 1}, TypeError, "settings must be a trainc.Settings, not dict"),
]
"""An option, a wrong value, and what it raises."""


@pytest.fixture(autouse=True)
def _folder(empty_root: Path) -> None:
    (empty_root / "jobs").mkdir()
    (empty_root / "jobs" / "a.yaml").write_text(JOB)
    (empty_root / "jobs" / "runtime.yaml").write_text(RUNTIME)


def namespaces(compilation: trainc.Result) -> list[str]:
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
    assert [len(each) for each in (compilation.objects, compilation.documents.jobs)] == [1, 1]


def test_a_text_finds_runtimes_in_files() -> None:
    options = trainc.Options(settings=NO_LINT, runtimes=["jobs/runtime.yaml"])
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
        *(
            pytest.param({"options": trainc.Options(**{name: value})}, kind, message, id=name)
            for name, value, kind, message in WRONG_OPTIONS
        ),
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
    assert repr(compilation) == "Result(jobs=1, objects=1, diagnostics=0, failed=False)"
    assert repr(job) == "CompiledJob('', 'a', objects=1)"
    assert repr(job.document) == f"Document('jobs{os.sep}a.yaml:1:1')"
    place = trainc.Place(job.document, ("spec", "trainer"))
    assert repr(place) == f"Place(Document('jobs{os.sep}a.yaml:1:1'), 'spec.trainer')"


def test_a_diagnostic_is_one_line() -> None:
    diagnostic = trainc.Diagnostic("some-id", "error", "read", "a\n\x1b[2Jb", place=trainc.Location("x.yaml", 2, 3))
    assert str(diagnostic) == r"x.yaml:2:3: error[some-id]: a\n\x1b[2Jb"
    assert str(diagnostic._replace(place=None)) == r"error[some-id]: a\n\x1b[2Jb"


def test_exceptions_have_one_base() -> None:
    assert issubclass(trainc.OverBudgetError, trainc.Error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({"env": "x"}, "trainc.Options has no env: did you mean environments?", id="the start of a name"),
        pytest.param({"trainer_versoin": "2.2"}, "has no trainer_versoin: did you mean trainer_version?", id="near"),
        pytest.param({"zzz": 1}, "has no zzz: the options are runtimes, only,", id="unlike any"),
    ],
)
def test_a_wrong_option_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        trainc.Options(**arguments)


def test_options_do_not_change() -> None:
    options = trainc.Options(strict=True)
    assert repr(options) == "Options(strict=True)"
    assert options == trainc.Options(strict=True) != trainc.Options()
    with pytest.raises(AttributeError, match="Options cannot be changed"):
        options.strict = False  # type: ignore[misc]


def test_every_row_is_a_field_of_the_options() -> None:
    assert [*trainc.Options.__annotations__] == [*(row.name for row in ROWS), "settings"]


@pytest.mark.parametrize("objects", ["x", {"kind": "JobSet"}, [1]])
def test_render_takes_objects(objects: Any) -> None:
    with pytest.raises(TypeError, match="objects must be a list of dictionaries"):
        trainc.render(objects)


def test_a_check_reports_what_validate_reports() -> None:
    Path("jobs/a.yaml").write_text(JOB.replace('"i:1"', '"i:1", numNodes: 2'))
    Path("jobs/unused.yaml").write_text(RUNTIME.replace("name: own", "name: unused").replace("r:1", "r"))
    assert [each.id for each in trainc.compile("jobs").diagnostics if each.severity == "error"] == []
    Path("jobs/runtime.yaml").write_text(RUNTIME.replace("mlPolicy: {numNodes: 1}", "mlPolicy: {torch: {}}"))
    found = {each.id for each in trainc.check("jobs").diagnostics}
    assert found == {line.split("[")[1].split("]")[0] for line in validated("jobs")}
    assert "no-gang" in found


def validated(*paths: str) -> list[str]:
    """Return the lines of `trainc validate` with a diagnostic."""
    return re.findall(r"^\S+: \w+\[[\w-]+\]", run("validate", *paths).out, re.MULTILINE)


def test_a_check_has_all_environments() -> None:
    Path("trainc.yaml").write_text(PROJECT)
    Path("jobs/a.yaml").write_text(JOB.replace("name: own", "name: missing"))
    [found] = [each for each in trainc.check("jobs").diagnostics if each.severity == "error"]
    assert (found.id, found.environments) == ("runtime-not-found", ("dev", "prod"))
    [found] = [each for each in trainc.check("jobs", environment="dev").diagnostics if each.severity == "error"]
    assert found.environments in {("dev",), ()}
    with pytest.raises(ValueError, match='environment: "staging" is not'):
        trainc.check("jobs", environment="staging")


@pytest.mark.parametrize("kind", [str, bytes])
def test_contents_are_laid_over_the_files(kind: type[str] | type[bytes]) -> None:
    def content(text: str) -> Any:
        return text if kind is str else text.encode()

    new = JOB.replace("name: a", "name: new")
    contents: dict[Any, Any] = {
        Path("jobs/a.yaml"): content(JOB.replace("name: a", "name: other")),
        os.path.abspath("jobs/deep/new.yaml"): content(new),
        "jobs/.hidden.yaml": content(new),
        "jobs/readme.md": content(new),
        "elsewhere/new.yaml": content(new),
    }
    result = trainc.compile("jobs", contents=contents, options=OPTIONS)
    assert [job.name for job in result.jobs] == ["new", "other"]
    assert [job.document.file for job in result.jobs] == ["jobs/deep/new.yaml", "jobs/a.yaml"]
    only_there = {"unsaved.yaml": content(new)}
    alone = trainc.compile(["jobs/runtime.yaml", *only_there], contents=only_there, options=OPTIONS)
    assert [job.name for job in alone.jobs] == ["new"]


def test_settings_among_the_contents() -> None:
    Path("trainc.yaml").write_text(PROJECT)
    contents = {"trainc.yaml": PROJECT.replace("team", "group")}
    assert namespaces(trainc.compile("jobs", environment="prod", contents=contents)) == ["group"]


@pytest.mark.parametrize(
    ("contents", "kind", "message"),
    [
        pytest.param(
            {"a.yaml": 1}, TypeError, "contents must have bytes or a str for each path, not int", id="a value"
        ),
        pytest.param({"": "a"}, ValueError, "contents has an invalid path: ''", id="a path"),
        pytest.param(1, TypeError, "contents must be a mapping, not int", id="a number"),
    ],
)
def test_wrong_contents_are_named(contents: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        trainc.check("jobs", contents=contents)


def test_a_session_answers_as_a_check() -> None:
    Path("trainc.yaml").write_text(PROJECT)
    session = trainc.Session()
    for text in (JOB, JOB.replace("name: own", "name: missing"), "a: [b\n", JOB):
        contents = {"jobs/a.yaml": text}
        expected = trainc.check(contents=contents).diagnostics
        assert [*map(str, session.check(contents).diagnostics)] == [*map(str, expected)]
        of_file = session.check_file("jobs/a.yaml", contents).diagnostics
        assert [*map(str, of_file)] == [
            str(each) for each in expected if str(each).startswith("jobs/a.yaml") or each.users
        ]


def test_a_session_parses_only_the_changed_documents() -> None:
    session = trainc.Session("jobs")
    unchanged = JOB.replace("name: a", "name: b").replace("spec: {", "spec: {unknown: 1, ")
    before = session.check({"jobs/a.yaml": f"{JOB}---\n{unchanged}"})
    contents = {"jobs/a.yaml": f"# a comment\n{JOB}---\n{unchanged}"}
    after = session.check(contents)
    parsed = [new.value is not old.value for old, new in zip(before.documents.jobs, after.documents.jobs, strict=True)]
    assert parsed == [True, False]
    assert [*map(str, after.diagnostics)] == [*map(str, trainc.check("jobs", contents=contents).diagnostics)]


def test_a_session_follows_the_settings() -> None:
    session = trainc.Session("jobs")
    Path("jobs/trainc.yaml").write_text("fieldValidation: ignore\n")
    broken = {"jobs/a.yaml": JOB.replace("spec: {", "spec: {unknown: 1, ")}
    assert session.check(broken).failed
    assert not session.check({**broken, "jobs/trainc.yaml": "fieldValidation: ignore\n"}).failed
    assert session.check(broken).failed is False  # it was read again from the disk
    Path("jobs/trainc.yaml").unlink()
    session.reload()
    assert session.check(broken).failed


def test_a_file_that_is_nowhere() -> None:
    with pytest.raises(ValueError, match=r"missing\.yaml is neither on the disk nor among the contents"):
        trainc.Session("jobs").check_file("missing.yaml")


def test_the_runtime_and_the_documents_of_a_job() -> None:
    result = trainc.compile("jobs", options=OPTIONS)
    [job] = result.jobs
    assert job.runtime is not None
    assert (job.runtime.kind, job.runtime.name, job.runtime.is_built_in) == ("ClusterTrainingRuntime", "own", False)
    assert str(job.runtime.place.locate()).startswith("jobs/runtime.yaml:")
    assert [document.file for document in result.documents.jobs] == ["jobs/a.yaml"]
    assert [document.file for document in result.documents.runtimes] == ["jobs/runtime.yaml"]


@pytest.mark.parametrize(
    ("text", "character", "expected"),
    [("abc", 2, (1, 3)), ("a\U0001f600b", 3, (1, 3)), ("a\U0001f600b", 2, (1, 3)), ("a", 9, (1, 2))],
)
def test_positions_in_utf_16_units(text: str, character: int, expected: tuple[int, int]) -> None:
    assert trainc.code_point(text, 0, character) == expected


def test_ranges_in_utf_16_units() -> None:
    text = "a: \U0001f600 # b\nc: d\n"
    assert trainc.utf16_range(trainc.Location("x", 1, 4, 1, 5), text) == (0, 3, 0, 5)
    assert trainc.utf16_range(trainc.Location("x", 2, 4), text) == (1, 3, 1, 4)
    assert trainc.utf16_range(trainc.Location("x"), text) == (0, 0, 0, 0)


def test_the_path_at_a_position() -> None:
    [job] = trainc.compile("jobs", options=OPTIONS).jobs
    for path in (("metadata", "name"), ("spec", "runtimeRef", "name"), ("kind",)):
        at = trainc.Place(job.document, path).locate()
        assert trainc.path_at(job.document, at.line, at.column) == path
    assert trainc.path_at(job.document, 99, 1) is None


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (trainc.pods_of, "result must be a trainc.Result, not str"),
        (trainc.graph_of, "result must be a trainc.Result, not str"),
        (trainc.queues_of, "result must be a trainc.Result, not str"),
        (trainc.fix_of, "diagnostic must be a trainc.Diagnostic, not str"),
    ],
)
def test_a_value_of_another_type_is_named(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        function("x")


def test_legacy_jobs_and_older_dialects_as_values() -> None:
    pod = {"spec": {"containers": [{"name": "pytorch", "image": "a/b:1"}]}}
    legacy = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a"},
        "spec": {"pytorchReplicaSpecs": {"Worker": {"template": pod}}},
    }
    migrated = trainc.migrate(text=yaml.safe_dump(legacy))
    assert not migrated.failed
    assert [yaml.safe_load(each)["kind"] for each in migrated.documents][:1] == ["TrainJob"]
    old = JOB.replace("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1")
    [new] = trainc.upgrade(text=old).documents
    assert yaml.safe_load(new)["apiVersion"] == "trainer.kubeflow.org/v1alpha1"


def test_files_of_legacy_jobs_and_older_dialects() -> None:
    pod = {"spec": {"containers": [{"name": "pytorch", "image": "a/b:1"}]}}
    spec = {"pytorchReplicaSpecs": {"Worker": {"template": pod}}}
    legacy = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "old"}, "spec": spec}
    Path("jobs/legacy.yaml").write_text(yaml.safe_dump(legacy))
    migrated = trainc.migrate("jobs/legacy.yaml")
    assert (migrated.failed, migrated.files[0]) == (False, "jobs/legacy.yaml")
    assert len(migrated.files) == len(migrated.documents)
    Path("trainc.yaml").write_text("sources: [jobs]\nkeep: [nothing]\nlint: {disable: [no-gang]}\n")
    Path("jobs/a.yaml").write_text(JOB.replace("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1"))
    upgraded = trainc.upgrade("jobs")
    assert (upgraded.files, upgraded.diagnostics) == (("jobs/a.yaml",), ())


def test_a_wrong_kind_or_id_is_named() -> None:
    with pytest.raises(ValueError, match='unknown kind "TrainJop": did you mean TrainJob'):
        trainc.schema("TrainJop")
    with pytest.raises(ValueError, match='unknown diagnostic "wrong-typ": did you mean "wrong-type"'):
        trainc.page_of("wrong-typ")
