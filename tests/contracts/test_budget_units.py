"""Every command that reads manifests stops beyond each budget, with one diagnostic, and emits nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from batches import one_in_four
from committing import commit
from files import write
from running import run

from trainc.budget import BUDGETS, CI, Budget, Unit
from trainc.cli import runtimes
from trainc.cli.common.group import COMMANDS, cli
from trainc.files.output_marks import MARK

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
PART = (
    "      - {{name: {}, template: {{spec: {{template: {{spec: {{containers: [{{name: node, image: a/b:1}}]}}}}}}}}}}\n"
)
RUNTIME = (
    f"{HEAD}kind: ClusterTrainingRuntime\nmetadata: {{name: r}}\nspec:\n  template:\n    spec:\n      replicatedJobs:\n"
)
JOB = f"{HEAD}kind: TrainJob\nmetadata: {{name: a}}\nspec: {{runtimeRef: {{name: r}}}}\n"
DOCUMENTS = [
    RUNTIME + PART.format("a") + PART.format("b"),
    JOB,
    "{apiVersion: v1, kind: Service, metadata: {name: s}}\n",
]
WRONG = JOB.replace("name: a", "name: b").replace("spec: {", "spec: {suspend: 4, ")


def limited(unit: Unit, most: int) -> Budget:
    """Return the budget for the input of others with another limit."""
    return CI._replace(limits={**CI.limits, unit: most})


MORE: dict[Unit, list[str]] = {
    "errors and warnings": [WRONG],
    "values of runtimes": [JOB.replace("name: a", "name: b")],
}
"""The documents that some units need in addition."""
SMALL: dict[Unit, Budget] = {
    "input bytes": limited("input bytes", 10),
    "skipped bytes": limited("skipped bytes", 10),
    "replicated jobs": limited("replicated jobs", 1),
    "errors and warnings": limited("errors and warnings", 0),
    "output bytes": limited("output bytes", 100),
    "pods": limited("pods", 1),
    "values of runtimes": limited("values of runtimes", 1),
}
PRINTING = (
    "build app",
    "build app --format json",
    "build app --passthrough",
    "explain app",
    "explain app **.image",
    "explain app --format json",
    "explain app --patches",
    "graph app",
    "graph app --format mermaid",
    "pods app",
    "pods app --format json",
    "diff old new",
    "diff old new --format markdown",
    "diff old new --format json",
    "diff old new --format html",
    "cmp generate",
    "krm",
)
COMPILING = (*PRINTING, "validate app", "validate --among app app/x.yaml", "queues app")
SKIPPING = tuple(
    command
    for command in (*COMPILING, "secret a app", "upgrade app", "runtimes list app", "runtimes show r app")
    if "passthrough" not in command and not command.startswith(("cmp", "krm", "diff"))
)
READING = (
    *COMPILING,
    "secret a app",
    "upgrade app",
    "runtimes list app",
    "runtimes show r app",
)
CASES: list[tuple[Unit, str]] = [
    *(("input bytes", command) for command in READING),
    *(("skipped bytes", command) for command in SKIPPING),
    *(("replicated jobs", command) for command in COMPILING),
    *(("errors and warnings", command) for command in COMPILING),
    *(("output bytes", command) for command in PRINTING),
    *(("values of runtimes", command) for command in COMPILING),
    ("pods", "pods app --format json"),
]


@pytest.mark.parametrize(("unit", "command"), one_in_four(pytest.param(*case, id="-".join(case)) for case in CASES))
def test_every_command(unit: Unit, command: str, empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [*DOCUMENTS, *MORE.get(unit, ())]
    text = "---\n".join(documents)
    changed = text.replace("a/b:1", "a/b:2")
    for name, content in {"app/x.yaml": text, "old/x.yaml": text, "new/x.yaml": changed}.items():
        write(name, content)
    if unit == "skipped bytes":
        Path("app/data.json").write_text('{"kind": "Dashboard"}')
    items = "".join("- " + document.strip().replace("\n", "\n  ") + "\n" for document in documents)
    given = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}".encode()
    if command == "cmp generate":
        monkeypatch.chdir("app")
    monkeypatch.setitem(BUDGETS, "ci", SMALL[unit])
    words = command.split()
    stopped, done = (run(*words, "--budget", budget, stdin=given) for budget in ("ci", "unlimited"))
    number = SMALL[unit].limits[unit]
    assert stopped.code == 1
    factors = r" \(\d+ values of runtime \"r\" x 2 TrainJobs\)" if unit == "values of runtimes" else ""
    message = rf"more than {number} {unit}{factors}, the limit of the budget"
    assert re.search(message, stopped.err + stopped.out)
    assert ("help: define fewer environments, or" in stopped.err + stopped.out) == (unit == "environments")
    assert not stopped.out or command == "krm" or words[0] == "validate"
    assert "over-budget" not in done.err + done.out
    assert done.code == (1 if unit == "errors and warnings" else 0), done.err


@pytest.mark.parametrize("output", ["-", "out"])
def test_a_report_names_the_budget_and_nothing_is_written(
    output: str, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty_folder / "x.yaml").write_text("---\n".join(DOCUMENTS))
    monkeypatch.setitem(BUDGETS, "ci", SMALL["output bytes"])
    done = run("build", "x.yaml", "-o", output, "--budget", "ci", "--report", "json=report.json")
    assert (done.code, done.out) == (1, "")
    assert [found["id"] for found in json.loads(Path("report.json").read_text())] == ["over-budget"]
    assert not Path("out").exists()


def test_copied_documents_count(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.yaml").write_text(
        "---\n".join([*DOCUMENTS, f"{{apiVersion: v1, kind: Service, metadata: {{name: {'é' * 3000}}}}}\n"])
    )
    size = len(run("build", "x.yaml").out)
    monkeypatch.setitem(BUDGETS, "ci", limited("output bytes", size + 4000))
    assert run("build", "x.yaml", "--budget", "ci").code == 0
    for more in ("", "-o out"):
        done = run("build", "x.yaml", "--passthrough", "--budget", "ci", *more.split())
        assert (done.code, done.out) == (1, "")
        assert f"more than {size + 4000} output bytes" in done.err


def test_the_settings_count(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.yaml").write_text("---\n".join(DOCUMENTS))
    Path("trainc.yaml").write_text("lint: {strict: false}\n# " + "x" * 5000)
    monkeypatch.setitem(BUDGETS, "ci", limited("input bytes", 5000))
    assert "more than 5000 input bytes" in run("build", "x.yaml", "--budget", "ci").err
    assert run("build", "x.yaml", "--budget", "ci", "--no-config").code == 0


@pytest.mark.parametrize(
    "command",
    [
        "build",
        "validate",
        "explain",
        "pods",
        "graph",
        "queues",
        "upgrade",
        "secret a",
        "runtimes list -r .",
        "cmp generate",
    ],
)
def test_the_settings_count_in_every_command(command: str, empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.yaml").write_text("---\n".join(DOCUMENTS))
    monkeypatch.setitem(BUDGETS, "ci", limited("input bytes", 5000))
    arguments = [*command.split(), "--budget", "ci"]
    assert "input bytes" not in run(*arguments).err
    Path("trainc.yaml").write_text("lint: {strict: false}\n# " + "x" * 5000)
    done = run(*arguments)
    assert done.code == 1
    assert "more than 5000 input bytes" in done.err + done.out


def test_the_variable_of_the_plugin(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.yaml").write_text("---\n".join(DOCUMENTS))
    monkeypatch.setitem(BUDGETS, "ci", SMALL["output bytes"])
    assert "more than 100 output bytes" in run("cmp", "generate").err
    monkeypatch.setenv("TRAINC_BUDGET", "default")
    assert run("cmp", "generate").code == 0
    assert run("cmp", "generate", "--budget", "ci").code == 1
    monkeypatch.setenv("TRAINC_BUDGET", "large")
    assert run("cmp", "generate").code == 2
    monkeypatch.delenv("TRAINC_BUDGET")
    monkeypatch.setenv("ARGOCD_ENV_TRAINC_BUDGET", "unlimited")  # an Application cannot raise the budget
    done = run("cmp", "generate")
    assert (done.code, done.out) == (1, "")
    assert "error[argocd-parameter]: TRAINC_BUDGET in spec.source.plugin.env is unknown" in done.err


@pytest.mark.parametrize(
    ("group", "name"),
    [*((cli, name) for name in COMMANDS), *((runtimes.command, name) for name in runtimes.SUBCOMMANDS)],
)
def test_a_command_that_reads_manifests_has_the_option(group: click.Group, name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    names = {parameter.name for parameter in command.params}
    assert ("budget" in names) == bool(names & {"runtimes"} or name == "krm")


def test_the_limit_of_skipped_bytes_is_that_of_16_times_as_many_input_bytes() -> None:
    for budget in (BUDGETS["ci"], BUDGETS["default"]):
        assert budget.limits["skipped bytes"] == 16 * budget.limits["input bytes"]


def test_a_skipped_file_costs_no_input_bytes(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.yaml").write_text("---\n".join(DOCUMENTS))
    Path("data.json").write_text(json.dumps({"a": "b" * 10_000}))
    monkeypatch.setitem(BUDGETS, "ci", limited("input bytes", 5000))
    for command in ("validate", "build", "graph", "pods", "upgrade"):
        assert run(command, "--budget", "ci").code == 0


@pytest.mark.parametrize("command", ["build", "validate", "cmp generate", "diff HEAD~1..HEAD", "diff HEAD"])
@pytest.mark.parametrize("name", ["trainc.yaml", "base.yaml", "patch.txt"])
def test_files_that_settings_name_count(
    name: str, command: str, empty_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("x.yaml").write_text("---\n".join(DOCUMENTS))
    Path("base.yaml").write_text("lint: {strict: false}\n")
    Path("patch.txt").write_text("spec: {suspend: true}\n")
    Path("trainc.yaml").write_text("extends: base.yaml\nexclude: [base.yaml]\npatches: [{path: patch.txt}]\n")
    commit()
    monkeypatch.setitem(BUDGETS, "ci", limited("input bytes", 20_000))
    arguments = [*command.split(), "--budget", "ci"]
    assert "input bytes" not in run(*arguments).err
    with Path(name).open("a") as file:
        file.write(f"# {'x' * 20_000}\n")
    commit()
    done = run(*arguments)
    assert (done.code, "more than 20000 input bytes" in done.err + done.out) == (1, True), done.err


def test_a_marked_file_that_is_parsed_costs_input_bytes(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.yaml").write_text("---\n".join(DOCUMENTS))
    Path("rendered.yaml").write_text(f"{MARK}TrainJob a.\nkind: TrainJob\n# {'x' * 5000}\n")
    monkeypatch.setitem(BUDGETS, "ci", limited("input bytes", 5000))
    assert "more than 5000 input bytes" in run("build", "--budget", "ci").err
