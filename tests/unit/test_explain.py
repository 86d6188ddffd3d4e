"""`trainc explain`: field selection, field provenance, and patches that produce the objects."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import jsonpatch
import pytest
import yaml
from batches import examples, one_in_four
from differential import sound
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from manifests import GOLDEN_CASES
from purposes import internal
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.explain.json import render_steps
from trainc.explain.selectors import parse
from trainc.kubernetes.violations import field_of
from trainc.provenance.tracing.correspondence import by_names, leaves

GOLDEN = Path(__file__).parents[2] / "golden"
PARALLELISM = "spec.replicatedJobs[0].template.spec.parallelism"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t}
spec:
  suspend: true
  runtimeRef: {name: torch-distributed-shm}
  trainer:
    numNodes: 2
    args: [--api-key, hunter2, "--lr=1"]
    env:
    - {name: HF_TOKEN, value: hf_abcdefgh}
    - {name: GREETING, value: "\\e[31mred"}
"""


@pytest.fixture
def project(empty_root: Path) -> Path:
    (empty_root / "job.yaml").write_text(JOB)
    return empty_root


@pytest.mark.parametrize(
    ("case", "arguments"),
    [
        pytest.param("node-pool-patches", [], id="patches over a built-in runtime"),
        pytest.param("mpi-solver", [], id="a framework with a ConfigMap"),
        pytest.param("accelerators", ["**.containers[node]"], id="trainc.yaml and a runtime of its own"),
        pytest.param("gang-volcano", ["PodGroup:"], id="another object"),
        pytest.param("llm-finetune-4x8", ["**.image"], id="one field, with its lines"),
        pytest.param("deadline", ["**.activeDeadlineSeconds"], id="two jobs of a runtime"),
        pytest.param("sweep", ["metadata.name"], id="several TrainJobs"),
        pytest.param("suspended", ["spec.suspend", "--suspend"], id="an option"),
        pytest.param("llm-finetune-4x8", ["**.image", "--format", "json"], id="json"),
        pytest.param("single-gpu-script", ["--patches"], id="the patches"),
    ],
)
def test_the_output(
    case: str, arguments: list[str], snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN / case)
    done = run("explain", "." if case == "accelerators" else "input.yaml", *arguments)
    assert done.code == 0, done.err
    assert done.out == snapshot


@pytest.mark.usefixtures("project")
def test_a_copied_field_that_is_never_false() -> None:
    assert run("explain", "job.yaml", "spec.suspend").out.splitlines()[3:] == [
        "  job.yaml:5:12: trainer: the TrainJob",
        "  5 |   suspend: true",
        "    |            ^^^^",
    ]


TREE = {
    "kind": "JobSet",
    "metadata": {"name": "t", "labels": {"acme.io/team": "a", "app": "b"}},
    "spec": {
        "jobs": [
            {"name": "head", "env": [{"name": "A", "value": "1"}]},
            {"name": "node", "env": [{"name": "NCCL_A", "value": "2"}, {"name": "NCCL_B", "value": "3"}]},
        ],
        "mounts": [{"name": "d", "mountPath": "/a"}, {"name": "d", "mountPath": "/b"}],
    },
}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("metadata.name", ["metadata.name"]),
        (".metadata.name", ["metadata.name"]),
        ("metadata.labels", ["metadata.labels"]),
        ("metadata.labels.acme.io/team", ["metadata.labels.acme.io/team"]),
        ('metadata.labels["acme.io/team"]', ["metadata.labels.acme.io/team"]),
        ("metadata.labels.acme.*", ["metadata.labels.acme.io/team"]),
        ("metadata.*", ["metadata.labels", "metadata.name"]),
        ("*.name", ["metadata.name"]),
        ("spec.jobs[1].name", ["spec.jobs[1].name"]),
        ("spec.jobs[2].name", []),
        ("spec.jobs[node].name", ["spec.jobs[1].name"]),
        ("spec.jobs[name=node].name", ["spec.jobs[1].name"]),
        ("spec.jobs[*].name", ["spec.jobs[0].name", "spec.jobs[1].name"]),
        ("spec.jobs.*.name", ["spec.jobs[0].name", "spec.jobs[1].name"]),
        ("spec.jobs.name", []),
        ("spec.mounts[mountPath=/b].name", ["spec.mounts[1].name"]),
        ("spec.mounts[d].mountPath", ["spec.mounts[0].mountPath", "spec.mounts[1].mountPath"]),
        ("**.env[NCCL_*].value", ["spec.jobs[1].env[0].value", "spec.jobs[1].env[1].value"]),
        ("**.env[A].value", ["spec.jobs[0].env[0].value"]),
        ("**.**.team", []),
        ("JobSet:metadata.name", ["metadata.name"]),
        ("jobset/t:metadata.name", ["metadata.name"]),
        ("JobSet/other:metadata.name", []),
        ("ConfigMap:metadata.name", []),
        ("JobSet:", [""]),
    ],
)
def test_selected_fields(field: str, expected: list[str]) -> None:
    selector = parse(field)
    assert selector
    assert sorted(map(field_of, selector.find(TREE))) == expected


@pytest.mark.parametrize("text", ["", ".", "spec[", "spec[]", "spec]", "a..b", "spec[0]x", "spec.jobs[a[0]]"])
def test_invalid_fields(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("case", one_in_four(GOLDEN_CASES))
def test_each_field_name_selects_only_its_field(case: str) -> None:
    for tree in internal(trainc.compile([str(GOLDEN / case / "input.yaml")])).shown[0].objects:
        for path in leaves(tree):
            for text in (field_of(path), by_names(tree, path)):
                selector = parse(text)
                assert selector
                assert selector.find(tree) == {path}, text


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        pytest.param([], "metadata.name", id="neither"),
        pytest.param(["job.yaml"], "metadata.name", id="a file"),
        pytest.param(["."], "metadata.name", id="a folder"),
        pytest.param(["-"], "metadata.name", id="standard input"),
        pytest.param(["spec"], "spec.suspend", id="a field"),
        pytest.param([".spec.suspend"], "spec.suspend", id="a field with a dot in front"),
        pytest.param(["JobSet/t:spec"], "spec.suspend", id="a field of an object"),
        pytest.param(["job.yaml", "spec"], "spec.suspend", id="both"),
    ],
)
def test_path_and_field(arguments: list[str], shown: str, project: Path) -> None:
    done = run("explain", *arguments, stdin=JOB.encode())
    assert done.code == 0
    assert shown in done.out
    assert ("metadata.name  " in done.out) is (shown == "metadata.name")


def test_an_id_prints_its_page_even_if_a_folder_has_its_name(project: Path) -> None:
    page = run("explain", "yaml").out
    assert page.startswith("# yaml: document is not valid YAML\n")
    (project / "yaml").mkdir()
    (project / "yaml" / "job.yaml").write_bytes((project / "job.yaml").read_bytes())
    assert run("explain", "yaml").out == page
    assert "(./yaml/job.yaml:1)" in run("explain", "./yaml").out


def test_a_folder_with_the_name_of_a_field_is_the_path(project: Path) -> None:
    (project / "spec").mkdir()
    assert "no TrainJob in the given paths" in run("explain", "spec").err
    assert "spec.suspend" in run("explain", ".", "spec").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["jobs.yaml"], 1, "error[unreadable]", id="a missing file"),
        pytest.param(["./spec"], 1, "error[unreadable]", id="a missing folder"),
        pytest.param(["team/jobs"], 1, "error[unreadable]", id="a missing folder below another"),
        pytest.param(["job.yaml", "--only", "x"], 1, "error[only-not-found]", id="no such TrainJob"),
        pytest.param(["spec["], 2, "'spec[' is not a valid FIELD", id="no field"),
        pytest.param([".", "spec", "--patches"], 2, "cannot be combined with FIELD", id="patches of a field"),
        pytest.param([".", "--format", "text", "--patches"], 2, "combined with --format text", id="patches as text"),
        pytest.param([".", "spec", "status"], 2, "unexpected extra argument", id="three arguments"),
    ],
)
def test_errors(arguments: list[str], code: int, message: str, project: Path) -> None:
    done = run("explain", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("field", "help"),
    [
        ("spec.suspnd", "did you mean spec.suspend?"),
        ("Spec.Suspend", "did you mean spec.suspend?"),
        ("suspend", "did you mean spec.suspend?"),
        ("spec.replicatedJobs.template.spec.paralelism", f"did you mean {PARALLELISM}?"),
        ("template.spec.paralelism", f"did you mean {PARALLELISM}?"),
        ("**.paralelism", "did you mean **.parallelism?"),
        ("volumeMounts[0].mountpath", "did you mean **.mountPath?"),
        ("value", "did you mean **.value, which matches 6 fields?"),
        ("JobSet:suspend", "did you mean JobSet:spec.suspend?"),
        ("ConfigMap:data", "the objects are JobSet/t"),
        ("zzzzzz", "omit FIELD to list every field"),
        ("job.yaml", "pass only one PATH, a file or a folder"),
    ],
)
def test_no_such_field(field: str, help: str, project: Path) -> None:
    done = run("explain", ".", field)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        f'error[field-not-found]: no field "{field}" in the compiled objects of TrainJob "t"\n  help: {help}\n'
    )


def test_no_such_field_of_several_jobs(project: Path) -> None:
    job = (project / "job.yaml").read_text()
    (project / "two.yaml").write_text(job.replace("name: t}", "name: u}"))
    assert 'no field "zzzzzz" in the compiled objects of 2 TrainJobs' in run("explain", ".", "zzzzzz").err


@pytest.mark.parametrize(
    ("setting", "field", "source"),
    [
        ("namespace: x", "metadata.namespace", "trainc.yaml"),
        ("namespacePrefix: x-", "metadata.namespace", "trainc.yaml"),
        ("namespaceSuffix: -x", "metadata.namespace", "trainc.yaml"),
        ("namePrefix: x-", "metadata.name", "the TrainJob and trainc.yaml"),
        ("nameSuffix: -x", "metadata.name", "the TrainJob and trainc.yaml"),
        ("labels: {a: b}", "metadata.labels.a", "trainc.yaml"),
        ("annotations: {a: b}", "metadata.annotations.a", "trainc.yaml"),
        ("images: [{name: acme/app, newTag: v2}]", "**.image", "trainc.yaml"),
    ],
)
def test_each_setting_is_the_source_of_its_field(setting: str, field: str, source: str, project: Path) -> None:
    (project / "job.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t, namespace: ml}\n"
        "spec: {runtimeRef: {name: torch-distributed}, trainer: {image: 'acme/app:v1'}}\n"
    )
    (project / "trainc.yaml").write_text(f"{setting}\n")
    [entry] = json.loads(run("explain", "job.yaml", field, "--format", "json").out)
    assert entry["by"] == source


def test_secrets_are_masked_and_control_characters_escaped(project: Path) -> None:
    for arguments in ([], ["**.env[HF_TOKEN].value"], ["**.args[1]"], ["--format", "json"]):
        out = run("explain", "job.yaml", *arguments).out
        assert "***" in out
        assert "hunter2" not in out
        assert "hf_abc" not in out
        assert "\x1b" not in out


def test_colours_are_for_terminals(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {arguments: run("explain", "job.yaml", *arguments).out for arguments in ((), ("spec.suspend",))}
    monkeypatch.setenv("FORCE_COLOR", "1")
    for arguments, text in plain.items():
        painted = run("explain", "job.yaml", *arguments).out
        assert painted != text
        for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;36m", "\x1b[34m"):
            painted = painted.replace(code, "")
        assert painted == text


def test_errors_are_those_of_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "wrong-requests")
    done = run("explain", "input.yaml")
    assert (done.code, done.out) == (1, "")
    assert done.err == run("build", "input.yaml").err


def applied(steps: list[Any]) -> Any:
    """Apply the patches to an empty list with another implementation of RFC 6902."""
    tree: Any = []
    for step in steps:
        tree = jsonpatch.apply_patch(tree, step["patch"])
    return tree


@pytest.mark.parametrize("case", one_in_four([case for case in GOLDEN_CASES if not case.startswith("optimization-")]))
def test_the_patches_produce_the_built_objects(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    entries = json.loads(run("explain", "input.yaml", "--patches").out)
    assert [obj for entry in entries for obj in applied(entry["steps"])] == json.loads(
        run("build", "input.yaml", "--format", "json").out
    )


@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_the_patches_produce_the_objects_of_random_jobs(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    file = tmp_path_factory.mktemp("made") / "job.yaml"
    file.write_text(yaml.safe_dump_all(sound.random_job(Random(seed))))
    for job in internal(trainc.compile([str(file)])).jobs:
        assert applied(json.loads("".join(render_steps([job])))[0]["steps"]) == list(job.objects)


def test_a_step_has_its_source_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "node-pool-patches")
    (entry,) = json.loads(run("explain", "input.yaml", "--patches").out)
    assert entry["job"] == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "namespace": "vision",
        "name": "resnet",
    }
    assert [(step["stage"], step["by"], step["file"], step["line"]) for step in entry["steps"]] == [
        ("conform", "the TrainJob", "input.yaml", 2),
        ("override", 'runtime "torch-distributed-shm"', "<built-in>/torch-distributed-shm.yaml", 20),
        ("override", 'patch "platform.acme.example.com/pools"', "input.yaml", 16),
        ("override", 'patch "security.acme.example.com/identity"', "input.yaml", 43),
        ("size", "the controller", None, None),
        ("framework", "the torch framework", None, None),
        ("trainer", "the controller", None, None),
        ("store", "a default of JobSet", None, None),
    ]


def test_a_build_does_not_import_it() -> None:
    code = "import sys, trainc; assert trainc.compile(sys.argv[1:]).jobs; print(*sys.modules)"
    path = str(GOLDEN / "llm-finetune-4x8" / "input.yaml")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith(("trainc.explain", "jsonpatch"))] == []


def test_a_field_of_the_trainjob_selects_what_it_sets() -> None:
    path = str(GOLDEN / "llm-finetune-4x8" / "input.yaml")
    done = run("explain", path, "spec.trainer.numNodes", "--format", "json")
    fields = json.loads(done.out)
    assert {str(each["value"]) for each in fields} == {"4"}
    assert {each["field"].rpartition(".")[2] for each in fields} >= {"parallelism", "completions"}
    assert run("explain", "spec.trainer.numNodes", path, "--format", "json") == done  # the other order
    done = run("explain", path, "spec.runtimeRef")
    assert (done.code, done.err) == (
        1,
        'error[field-not-found]: "spec.runtimeRef" of TrainJob "llama-finetune" sets no field of the compiled objects\n'
        "  help: omit FIELD to list every field with its source\n\n1 error\nFor more: trainc explain field-not-found\n",
    )
