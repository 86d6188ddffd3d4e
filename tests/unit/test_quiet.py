"""Less output: --quiet, lint rules per path, `builtin: allow`, and commands that only count warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
JOB = (
    f"{HEAD}metadata: {{{{name: {{}}}}}}\n"
    "spec: {{runtimeRef: {{name: torch-distributed}}, trainer: {{numNodes: 2}}}}\n"
)
WRONG = JOB.replace("numNodes: 2", "numNode: 2")
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: team}
spec:
  mlPolicy: {numNodes: 2, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "acme/train:1"}]}}}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two TrainJobs, each of which has the warning no-gang."""
    monkeypatch.chdir(tmp_path)
    for folder in (".git", "jobs", "legacy/old", "notes"):
        Path(folder).mkdir(parents=True)
    Path("jobs/new.yaml").write_text(JOB.format("new"))
    Path("legacy/old/old.yaml").write_text(JOB.format("old"))
    Path("notes/list.yaml").write_text("a: 1\n")
    return tmp_path


def warned() -> list[str]:
    """Return the files of the warnings of `validate`."""
    return [line.partition(":")[0] for line in run("validate").out.splitlines() if ": warning[" in line]


@pytest.mark.parametrize(
    "command",
    ["validate", "build", "build -o rendered", "pods", "graph", "queues", "upgrade", "migrate", "runtimes list"],
)
def test_quiet_prints_no_warning_note_or_summary(command: str) -> None:
    done = run(*command.split(), "--quiet")
    assert (done.code, done.err) == (0, "") or command in ("migrate", "queues")
    assert "warning" not in done.out
    assert not done.err.replace("no ClusterQueue in the given paths\n", "")


@pytest.mark.parametrize("command", ["validate", "build", "pods", "graph", "queues", "explain"])
def test_quiet_prints_the_errors(command: str) -> None:
    Path("jobs/wrong.yaml").write_text(WRONG.format("wrong"))
    done = run(*command.split(), "-q")
    assert done.code == 1
    text = done.out + done.err if command == "validate" else done.err
    assert text.startswith("jobs/wrong.yaml:4:57: error[unknown-field]: ")
    assert "warning" not in text
    assert text.count("error[") == 1
    assert run(command).err + run(command).out != text


def test_quiet_and_verbose_are_exclusive() -> None:
    done = run("validate", "-q", "-v")
    assert (done.code, "--quiet and --verbose cannot be combined." in done.err) == (2, True)


@pytest.mark.parametrize("command", ["pods", "graph", "explain", "queues"])
def test_a_command_that_shows_something_else_only_counts_warnings(command: str) -> None:
    Path("trainc.yaml").write_text("delivery: {suspend: true}\n")
    for name in ("new", "other"):
        path = Path(f"jobs/{name}.yaml")
        path.write_text(JOB.format(name).replace("metadata: {", "metadata: {labels: {kueue.x-k8s.io/queue-name: q}, "))
    done = run(command)
    assert done.code == 0
    assert "warning[" not in done.err + done.out
    counted = [line for line in done.err.splitlines() if "warning" in line]
    assert counted == ["1 warning; `trainc validate` shows all"]


def test_rules_per_path() -> None:
    for path in (Path("jobs/new.yaml"), Path("legacy/old/old.yaml")):
        path.write_text(path.read_text().replace("numNodes: 2", "image: acme/train"))
    assert warned() == ["jobs/new.yaml", "legacy/old/old.yaml"]
    Path("trainc.yaml").write_text('lint: {paths: {"legacy/**": [image-version]}}\n')
    assert warned() == ["jobs/new.yaml"]
    Path("trainc.yaml").write_text('lint: {paths: {"/jobs": [image-version], "*.yaml": [no-gang]}}\n')
    assert warned() == ["legacy/old/old.yaml"]


def test_rules_of_the_path_of_a_runtime_are_off_for_all_of_its_jobs() -> None:
    Path("jobs/new.yaml").write_text(JOB.format("new").replace("torch-distributed", "team").replace("numNodes: 2", ""))
    Path("legacy/old/old.yaml").unlink()
    Path("platform").mkdir()
    Path("platform/runtime.yaml").write_text(RUNTIME)
    assert "platform/runtime.yaml" in warned() or "jobs/new.yaml" in warned()
    rules = ["no-gang", "no-resources", "image-version"]
    Path("trainc.yaml").write_text(f"lint: {{paths: {{platform/: {rules}}}}}\n")
    assert warned() == []


def test_a_pattern_that_matches_no_file() -> None:
    Path("trainc.yaml").write_text('lint:\n  paths:\n    "legacies/**": [no-gang]\n    notes/: [no-gang]\n')
    found = [line for line in run("validate").out.splitlines() if "[unused-setting]" in line]
    assert found == [
        f'trainc.yaml:{line}:5: warning[unused-setting]: no TrainJob and no runtime is in a file that matches "{text}"'
        for line, text in ((3, "legacies/**"), (4, "notes/"))
    ]
    assert "unused-setting" not in run("validate", "jobs").out


def test_a_pattern_that_one_environment_uses_is_used() -> None:
    Path("trainc.yaml").write_text(
        'lint: {paths: {"legacy/**": [no-gang]}}\n'
        "environments:\n  dev: {cluster: dev}\n  prod: {cluster: prod, exclude: [legacy/]}\n"
    )
    assert "unused-setting" not in run("validate").out
    assert "unused-setting" not in run("validate", "--env", "prod").out


def test_patterns_of_files_that_match_nothing() -> None:
    Path("rendered").mkdir()
    Path("rendered/README.yaml").write_text("a: 1\n")
    Path("trainc.yaml").write_text(
        'exclude: [legacy/old/, "!legacy/none.yaml", "*.tmpl.yaml", notes/list.yaml, "!jobs/new.yaml"]\n'
        "output: rendered\nkeep: [README.yaml, NOTES.yaml]\n"
    )
    found = [line for line in run("validate").out.splitlines() if "[unused-setting]" in line]
    assert found == [
        f"trainc.yaml:{place}: warning[unused-setting]: {message}"
        for place, message in (
            ("1:24", 'no file or folder that trainc would read matches "!legacy/none.yaml"'),
            ("1:45", 'no file or folder that trainc would read matches "*.tmpl.yaml"'),
            ("3:21", 'no file in rendered matches "NOTES.yaml"'),
        )
    ]
    for command in (["validate", "jobs"], ["validate", "--among", ".", "jobs/new.yaml"], ["build"]):
        assert "unused-setting" not in run(*command).reported + run(*command).out


def test_patterns_of_a_folder_that_no_build_has_written() -> None:
    Path("trainc.yaml").write_text("output: rendered\nkeep: [README.md]\n")
    assert "unused-setting" not in run("validate").out


@pytest.mark.parametrize(
    ("text", "place", "id"),
    [
        ('{"a[": [no-gang]}', "1:16", "exclude-pattern"),
        ("{legacy/: [no-gangs]}", "1:26", "enum"),
        ("{legacy/: no-gang}", "1:25", "wrong-type"),
        (f"{ {f'a{index}/': [] for index in range(251)} }", "1:15", "too-many-items"),
    ],
)
def test_an_invalid_value_is_an_error_at_its_line(text: str, place: str, id: str) -> None:
    Path("trainc.yaml").write_text(f"lint: {{paths: {text}}}\n")
    done = run("validate")
    assert done.code == 1
    assert done.out.startswith(f"trainc.yaml:{place}: error[{id}]: ")


def test_a_setting_turns_off_the_note_about_built_in_runtimes() -> None:
    assert "built-in-runtime" in run("build").err
    Path("trainc.yaml").write_text("runtimes: {builtin: allow}\n")
    assert "built-in-runtime" not in run("build").err
    assert "built-in-runtime" not in run("validate", "--format", "json").out
