"""The command line for its users: help, exit codes and output streams."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest
import yaml
from manifests import only_built_in
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.behaviours import BEHAVIOURS
from trainc.base.releases import IMPLEMENTS
from trainc.cli.common.group import COMMANDS

BUILT_IN = Path(__file__).parents[2] / "runtimes"
FILES = [*BUILT_IN.glob("*.yaml"), *(BUILT_IN / "trainer-2.3").iterdir()]
GOLDEN = Path(__file__).parents[2] / "golden"
JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec: {%s}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert "Examples:" in done.out
    assert f"trainc {command} " in done.out


def test_the_help_lists_the_commands_and_the_version_is_alone() -> None:
    assert set(COMMANDS) <= set(run("--help").out.split())
    first, second, third, fourth = run("--version").out.splitlines()
    assert first == f"trainc {trainc.__version__}"
    assert second == "implements Kubeflow Trainer v2.3.0, JobSet v0.12.0, Kueue v0.19.2, Kubernetes v1.36 and v1.37"
    newest = "2.4 (from its release notes and its source of 2026-08-21)"
    assert third == f"for the releases of Trainer 2.1, 2.2, 2.3, {newest} (--trainer-version)"
    assert fourth == "and of Kueue 0.14, 0.15, 0.16, 0.17, 0.18, 0.19, 0.20 (--kueue-version)"
    page = (Path(__file__).parents[2] / "docs" / "versions.md").read_text()
    assert all(version in page for _, version in IMPLEMENTS)


def test_the_verbose_version_has_the_evidence_for_each_behaviour() -> None:
    short, long = run("--version").out, run("--version", "-v").out
    assert long.startswith(short)
    assert run("-v", "--version").out == long
    header, *rows = long.removeprefix(short).strip().splitlines()
    assert header.split()[-4:] == ["v2.1", "v2.2", "v2.3", "v2.4"]
    assert [row.split("  ")[0] for row in rows] == [behaviour.title for behaviour in BEHAVIOURS]
    assert {row.rpartition("  ")[2] for row in rows} == {"source of 2026-08-21", "notes"}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["buidl"], id="no such command"),
        pytest.param(["build", "--frobnicate"], id="no such option"),
        pytest.param(["build", "jobs", "--check"], id="--check without a folder"),
        pytest.param(["build", "--format", "json", "-o", "out"], id="JSON into a folder"),
        pytest.param(["build", "--format", "toml"], id="no such format"),
    ],
)
def test_a_wrong_command_line_is_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Error: " in done.err


def test_a_wrong_input_is_1_and_prints_nothing_but_diagnostics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "wrong-runtime-name")
    done = run("build", ".", "--no-config")
    assert (done.code, done.out) == (1, "")
    assert "error[runtime-not-found]" in done.err
    assert run("validate", ".").code == 1


def test_an_internal_error_is_70_and_explains_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("trainc.compilation.compile_paths", fail)
    done = run("build", str(GOLDEN), "--no-config")
    assert (done.code, done.out) == (70, "")
    assert "RuntimeError: a bug" in done.err
    assert "internal error" in done.err
    assert "Report it with the traceback above" in done.err


def test_too_little_memory_is_no_internal_error() -> None:
    with mock.patch("trainc.compilation.compile_paths", side_effect=MemoryError):
        done = run("build", "-")
    assert (done.code, done.out) == (2, "")
    assert done.err == ("Error: the input needs more memory than the process may use; pass fewer files or folders.\n")


def test_nothing_to_compile_is_no_empty_manifest(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("a: 1\n")
    done = run("build", str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert "error[no-trainjob]: no TrainJob in the given paths (1 file read)" in done.err
    assert run("validate", str(tmp_path)).code == 0


def test_json_is_the_same_objects_as_yaml() -> None:
    case = str(GOLDEN / "sweep" / "input.yaml")
    assert json.loads(run("build", case, "--format", "json").out) == list(yaml.safe_load_all(run("build", case).out))


def test_passthrough_prints_other_documents_as_they_were_read() -> None:
    case = GOLDEN / "folder-of-data" / "input.yaml"
    out = run("build", str(case), "--passthrough").out
    before, _, after = case.read_text().partition("---\n")
    assert out.endswith("---\n" + before + "---\n" + after.partition("---\n")[2])
    assert [document["kind"] for document in yaml.safe_load_all(out)] == [
        "JobSet",
        "PersistentVolumeClaim",
        "ConfigMap",
    ]


def test_a_report_as_json() -> None:
    file = str(GOLDEN / "wrong-reserved-variable" / "input.yaml")
    done = run("validate", file, "--format", "json")
    first = json.loads(done.out)[0]
    assert (done.code, done.err) == (1, "")
    assert first == {
        "id": "reserved-env",
        "severity": "error",
        "stage": "trainjob",
        "message": "the torch framework sets PET_NNODES, so a TrainJob cannot set it",
        "help": "remove it: its value follows from numNodes, numProcPerNode and the runtime",
        "object": {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "namespace": "",
            "name": "by-hand",
        },
        "field": "spec.trainer.env",
        "file": file,
        "line": 13,
        "column": 13,
        "endLine": 13,
        "endColumn": 23,
        "related": [],
        "fix": {
            "title": "remove it: its value follows from numNodes, numProcPerNode and the runtime",
            "applicability": "unsafe",
            "edits": [{"file": file, "line": 13, "column": 5, "endLine": 15, "endColumn": 5, "text": ""}],
        },
    }


def test_what_does_not_print_is_escaped() -> None:
    job = JOB % 'runtimeRef: {name: "\\e[31m"}'
    done = run("validate", "-", stdin=job.encode())
    assert "\x1b" not in done.out
    assert r"\x1b[31m" in done.out


def test_no_secret_in_a_message() -> None:
    env = "{name: API_TOKEN, value: 123456789}, {name: PASSWORD, value: [hunter2]}, {name: AUTH, value: {hunter3: x}}"
    job = JOB % f"runtimeRef: {{name: plain}}, trainer: {{env: [{env}]}}"
    done = run("validate", "-", stdin=job.encode())
    assert done.code == 1
    assert "123456789" not in done.out
    assert "hunter" not in done.out


def test_the_runtimes_are_listed(
    snapshot: SnapshotAssertion, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = (GOLDEN / "team-runtime" / "input.yaml").read_text().partition("---")[0]
    (empty_folder / "team.yaml").write_text(runtime)
    only_built_in(monkeypatch, "deepspeed-distributed", "plain", "tensorflow-ps", "torch-distributed")
    listed = run("runtimes", "list")
    assert listed.out == snapshot
    # A file in a folder is one runtime, however often it is given.
    for same in (["-r", "team.yaml"], ["."], ["team.yaml", "-r", "."], [str(empty_folder)]):
        assert len(run("runtimes", "list", *same).out.splitlines()) == len(listed.out.splitlines())


def test_the_runtimes_as_json(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty_folder / "jobs.yaml").write_text((GOLDEN / "team-runtime" / "input.yaml").read_text())
    only_built_in(monkeypatch, "plain")
    assert json.loads(run("runtimes", "list", "--format", "json").out) == [
        {
            "name": "torch-distributed",
            "namespace": "speech",
            "kind": "TrainingRuntime",
            "framework": "torch",
            "nodes": 2,
            "jobs": ["node"],
            "image": "registry.acme.example.com/speech/train:2025.11",
            "requests": {"nvidia.com/gpu": "2"},
            "users": 1,
            "builtIn": False,
            "origin": None,
            "file": "jobs.yaml",
            "line": 1,
        },
        {
            "name": "plain",
            "namespace": "",
            "kind": "ClusterTrainingRuntime",
            "framework": "plain",
            "nodes": 1,
            "jobs": ["node"],
            "image": "python:3.13-slim",
            "requests": {"cpu": "1", "memory": "4Gi"},
            "users": 0,
            "builtIn": True,
            "origin": {"owner": "trainc", "release": f"v{trainc.__version__}"},
            "file": "<built-in>/plain.yaml",
            "line": 1,
        },
    ]


def test_a_runtime_of_the_current_folder_is_printed(empty_folder: Path) -> None:
    ours = (BUILT_IN / "plain.yaml").read_text().replace("python:3.13-slim", "ours:1")
    (empty_folder / "plain.yaml").write_text(ours)
    assert run("runtimes", "show", "plain").out == ours


@pytest.mark.usefixtures("empty_folder")
def test_every_built_in_runtime_is_listed() -> None:
    _, *rows = run("runtimes", "list").out.splitlines()
    assert [row.split()[0] for row in rows] == sorted(path.stem for path in FILES)


@pytest.mark.usefixtures("empty_folder")
def test_a_runtime_is_printed_as_it_is_written() -> None:
    assert run("runtimes", "show", "plain").out == (BUILT_IN / "plain.yaml").read_text()
    done = run("runtimes", "show", "plane")
    assert (done.code, done.out) == (1, "")
    assert done.err == 'error[runtime-not-found]: no runtime "plane"\n  help: did you mean plain?\n'


def test_the_built_in_runtimes_are_exported_and_existing_files_are_kept(tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text("ours\n")
    assert run("runtimes", "export", "-o", str(tmp_path)).code == 0
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in FILES}
    assert (tmp_path / "plain.yaml").read_text() == "ours\n"
    assert (tmp_path / "torch-distributed.yaml").read_text() == (
        BUILT_IN / "trainer-2.3" / "torch-distributed.yaml"
    ).read_text()
    assert run("runtimes", "export", "-o", str(tmp_path / "plain.yaml")).code == 1


def test_every_built_in_runtime_is_valid() -> None:
    # Trainer's own runtimes for torchtune request two GPUs, and mount nothing at /dev/shm.
    others = [file for file in FILES if not file.name.startswith("torchtune-")]
    done = run("validate", *map(str, others))
    summary = f"0 TrainJobs, {len(others)} runtimes, checked with stand-in TrainJobs"
    assert (done.code, done.out) == (0, f"no problems found: {summary}\n")
    reported = json.loads(run("validate", *map(str, FILES), "--format", "json").out)
    assert {(each["id"], Path(each["file"]).stem.partition("-")[0]) for each in reported} == {
        ("no-shared-memory", "torchtune")
    }


@pytest.mark.parametrize("kind", ["TrainJob", "clustertrainingruntime", "JobSet"])
def test_a_schema_is_printed(kind: str) -> None:
    assert json.loads(run("schema", kind).out)["properties"].keys() >= {"metadata", "spec"}


@pytest.mark.parametrize(
    ("arguments", "extended"),
    [
        pytest.param(["TrainingRuntime"], True, id="the schema that trainc reads"),
        pytest.param(["ClusterTrainingRuntime", "--dialect", "v2.1"], False, id="the schema of an older Trainer"),
    ],
)
def test_the_schema_of_a_runtime_has_the_extensions(arguments: list[str], extended: bool) -> None:
    policy = json.loads(run("schema", *arguments).out)["properties"]["spec"]["properties"]["mlPolicy"]["properties"]
    assert ("tensorflow" in policy) is extended


def test_passthrough_prints_the_list_items_of_other_kinds() -> None:
    job = '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"}, %s}'
    items = [job % '"spec": {"runtimeRef": {"name": "plain"}}', '{"kind": "ConfigMap", "apiVersion": "v1"}']
    listed = f'{{"kind": "List", "apiVersion": "v1", "items": [{", ".join(items)}]}}'
    out = run("build", "-", "--passthrough", stdin=listed.encode()).out
    assert [document["kind"] for document in yaml.safe_load_all(out)] == ["JobSet", "ConfigMap"]


@pytest.mark.parametrize(
    ("document", "printed"),
    [
        pytest.param("kind: A", "kind: A\n", id="a newline at the end"),
        pytest.param("---\n  kind: A\n  b: 1\n", "  kind: A\n  b: 1\n", id="a separator goes, the indentation stays"),
        pytest.param("--- # why\nkind: A\n", "# why\nkind: A\n", id="a comment on it stays"),
        pytest.param("--- {kind: A}\n", "{kind: A}\n", id="a document on it stays"),
        pytest.param("# why\nkind: A\n\n", "# why\nkind: A\n\n", id="comments and blank lines"),
    ],
)
def test_a_document_as_read(document: str, printed: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(document)
    job = JOB % "runtimeRef: {name: plain}"
    out = run("build", "-", str(tmp_path), "--passthrough", stdin=job.encode()).out
    assert out.partition("\n---\n")[2] == printed


def test_control_c_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainc.compilation.compile_paths", mock.Mock(side_effect=KeyboardInterrupt))
    done = run("build", str(GOLDEN), "--no-config")
    assert (done.code, done.out) == (130, "")


@pytest.mark.parametrize("fault", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_a_folder_that_cannot_be_listed_and_a_file_that_cannot_be_read(
    fault: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job.yaml").write_text(JOB % "runtimeRef: {name: plain}")
    with mock.patch("os.scandir", side_effect=fault):
        listed = run("build", str(tmp_path))
    with mock.patch("os.read", side_effect=fault):
        read = run("build", str(tmp_path / "job.yaml"))
    assert (listed.code, read.code) == (1, 1)
    assert f"cannot be listed: {fault.strerror}" in listed.err
    assert f"cannot be read: {fault.strerror}" in read.err


def test_settings_that_are_a_folder(tmp_path: Path) -> None:
    done = run("validate", "--config", str(tmp_path), str(GOLDEN / "cpu-ranks"))
    assert done.code == 1
    assert "is a folder" in done.out


def test_a_file_of_settings_and_none_are_two_options() -> None:
    assert run("diff", "old", "new", "--config", "trainc.yaml", "--no-config").code == 2


@pytest.mark.parametrize("word", ["yaml", "json"])
@pytest.mark.parametrize("words", [("-o", "{}"), ("-o{}",), ("--output={}",)])
def test_the_format_of_kubectl_is_no_folder(word: str, words: tuple[str, ...], empty_folder: Path) -> None:
    (empty_folder / word).mkdir()
    done = run("build", *(part.format(word) for part in words))
    assert (done.code, done.out) == (2, "")
    assert f"-o is the output folder: use --format {word}, or -o ./{word} for a folder of that name." in done.err
    assert [*empty_folder.iterdir()] == [empty_folder / word]


@pytest.mark.parametrize(
    ("word", "command"),
    [("lint", "validate"), ("check", "validate"), ("render", "build"), ("template", "build"), ("apply", "build")],
)
def test_the_commands_of_other_tools_suggest_ours(word: str, command: str) -> None:
    done = run(word, "jobs/")
    assert (done.code, done.out) == (2, "")
    assert f'Unknown command "{word}". Did you mean "{command}"?' in done.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("runtimes", "exprot"), '"exprot". Did you mean "export"?'),
        (("runtimes", "check"), '"check". The commands are list, show, export, pull, import.'),
    ],
)
def test_an_unknown_subcommand(words: tuple[str, ...], hint: str) -> None:
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert f"Unknown command {hint}" in done.err


@pytest.mark.parametrize("words", [(), ("runtimes",)])
def test_a_group_without_a_command_prints_its_help(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err == run(*words, "--help").out
