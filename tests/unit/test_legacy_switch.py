"""The switch for legacy kinds: each command with it and without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from committing import commit
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.data import data_path
from trainc.base.kinds import LEGACY

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: mnist
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec:
          containers:
          - name: pytorch
            image: acme/mnist:v1
            command: [torchrun, train.py]
            resources: {limits: {cpu: 2, memory: 4Gi}}
"""
TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: mnist}
spec: {runtimeRef: {name: torch-distributed}}
"""
ITEM = f"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
functionConfig: {{apiVersion: trainc.dev/v1alpha1, kind: TrainJobCompiler, spec: {{legacy: LEGACY}}}}
items:
-
{"".join(f"  {line}" for line in JOB.splitlines(keepends=True))}"""
COMMANDS = (
    ("build",),
    ("build", "--passthrough"),
    ("validate",),
    ("pods",),
    ("explain",),
    ("graph",),
    ("queues",),
    ("secret", "mnist"),
)
SETTINGS = """\
legacy: {kinds: [PyTorchJob]}
namePrefix: dev-
namespace: lab
images: [{name: acme/mnist, newTag: v3}]
patches:
- target: {kind: PyTorchJob, name: mnist}
  patch: |
    spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, workingDir: /w}]}}}}}
- target: {kind: PyTorchJob}
  patch: '[{op: add, path: /spec/pytorchReplicaSpecs/Master, value: {replicas: 1, template: {spec: {containers: []}}}},
    {op: copy, from: /spec/pytorchReplicaSpecs/Worker/template, path: /spec/pytorchReplicaSpecs/Master/template}]'
- target: {kind: JobSet}
  patch: '{"spec": {"ttlSecondsAfterFinished": 7}}'
"""


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> Path:
    """Return a repository with a PyTorchJob, which is the current folder."""
    (empty_repository / "mnist.yaml").write_text(JOB)
    commit()
    return empty_repository


@pytest.mark.parametrize("switch", [("--legacy",), ()], ids=["on", "off"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command(command: tuple[str, ...], switch: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    done = run(*command, *switch)
    assert (done.code, done.out, done.err) == snapshot


@pytest.mark.parametrize("value", ["true", "false"])
def test_krm(value: str, snapshot: SnapshotAssertion) -> None:
    assert run("krm", stdin=ITEM.replace("LEGACY", value).encode()).out == snapshot


@pytest.mark.parametrize("switch", [("--legacy",), ()], ids=["on", "off"])
def test_diff(switch: tuple[str, ...], project: Path, snapshot: SnapshotAssertion) -> None:
    (project / "mnist.yaml").write_text(JOB.replace("replicas: 1", "replicas: 2").replace(":v1", ":v2"))
    done = run("diff", "HEAD", *switch)
    assert (done.code, done.out, done.err) == snapshot


def test_each_side_of_diff_follows_its_settings(project: Path, snapshot: SnapshotAssertion) -> None:
    (project / "trainc.yaml").write_text("legacy: {kinds: [PyTorchJob]}\n")
    assert run("diff", "HEAD").out == snapshot


@pytest.mark.parametrize("command", ["pods", "explain", "graph"])
def test_a_command_compiles_a_file_that_is_named(command: str) -> None:
    assert "mnist" in run(command, "mnist.yaml").out
    assert run(command, ".").code == 1


def test_settings_act_on_the_job_as_it_is_written(project: Path) -> None:
    (project / "trainc.yaml").write_text(SETTINGS)
    done = run("build", "--name-suffix-hash")
    assert done.code == 0, done.err
    jobset = yaml.safe_load(done.out)
    name = jobset["metadata"]["name"]
    (node,) = jobset["spec"]["replicatedJobs"]
    (container,) = node["template"]["spec"]["template"]["spec"]["containers"]
    assert (jobset["metadata"]["namespace"], jobset["spec"]["ttlSecondsAfterFinished"]) == ("lab", 7)
    assert (container["image"], container["workingDir"], name.startswith("dev-mnist-")) == ("acme/mnist:v3", "/w", True)
    assert {"name": "MASTER_ADDR", "value": f"{name}-node-0-0.{name}"} in container["env"]


def test_labels_and_a_suffix(project: Path) -> None:
    (project / "trainc.yaml").write_text("legacy: {kinds: [PyTorchJob]}\nnameSuffix: -x\nlabels: {env: dev}\n")
    (jobset,) = trainc.compile(".").objects
    assert jobset["metadata"] == {"name": "mnist-x", "labels": {"env": "dev"}}


def test_suspend() -> None:
    assert yaml.safe_load(run("build", "--legacy", "--suspend").out)["spec"]["suspend"] is True


def test_only(project: Path) -> None:
    (project / "other.yaml").write_text(JOB.replace("mnist", "other"))
    built = yaml.safe_load(run("build", "--legacy", "--only", "other").out)
    assert built["metadata"]["name"] == "other"
    missed = run("build", "--legacy", "--only", "othr").err
    assert missed == (
        'error[only-not-found]: no PyTorchJob "othr" in the given paths\n  help: did you mean other?\n\n1 error\n'
        "For more: trainc explain only-not-found\n"
    )


def test_a_generated_name_is_one_of_its_kind(project: Path) -> None:
    (project / "mnist.yaml").write_text(JOB.replace("name: mnist", "generateName: mnist-"))
    assert "create the PyTorchJob itself with `kubectl create`" in run("build", "--legacy").err


def test_the_first_line_of_an_output_names_the_job(project: Path) -> None:
    run("build", "--legacy", "-o", "out")
    text = (project / "out" / "mnist.yaml").read_text()
    assert text.startswith("# Compiled by trainc from PyTorchJob mnist. Do not edit; run trainc build.\n")


@pytest.mark.parametrize(("value", "kinds"), [("true", ["JobSet", "JobSet"]), ("false", ["JobSet", "PyTorchJob"])])
def test_generate(value: str, kinds: list[str], project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "trainjob.yaml").write_text(TRAINJOB.replace("mnist", "llm"))
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", f'[{{"name": "legacy", "string": "{value}"}}]')
    done = run("cmp", "generate")
    assert [each["kind"] for each in yaml.safe_load_all(done.out)] == kinds
    assert ("1 PyTorchJob is not compiled (the parameter legacy compiles it)" in done.err) == (value == "false")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Volcano", '"Volcano" is not a gang scheduler: did you mean volcano?'),
        ("co-scheduling", '"co-scheduling" is not a gang scheduler: did you mean coscheduling?'),
        ("a b", '"a b" is not a valid name of a scheduler: it contains spaces: use volcano, coscheduling or a'),
    ],
)
def test_a_wrong_gang_scheduler(name: str, message: str) -> None:
    done = run("build", "--gang", name)
    assert (done.code, message in " ".join(done.err.split())) == (2, True)


def test_a_wrong_gang_scheduler_of_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", '[{"name": "gang", "string": "vulcano"}]')
    assert 'the parameter "gang": "vulcano" is not a gang scheduler' in run("cmp", "generate").err
    done = run("krm", stdin=ITEM.replace("legacy: LEGACY", "gang: vulcano").encode())
    assert (done.code, '"vulcano" is not a gang scheduler' in done.err) == (1, True)


def test_a_misspelt_kind_has_the_nearest_name(project: Path) -> None:
    (project / "trainc.yaml").write_text("legacy: {kinds: [PytorchJob]}\n")
    assert 'did you mean "PyTorchJob"?' in run("validate").out


def test_two_jobs_of_one_name_are_named_with_their_kinds(project: Path) -> None:
    (project / "other.yaml").write_text(TRAINJOB)
    assert 'a PyTorchJob and a TrainJob are named "mnist"' in run("validate", "--legacy").out


def test_an_initialism_has_its_article(project: Path) -> None:
    (project / "other.yaml").write_text(
        "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: mnist}\n"
        "spec: {mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [{name: a, image: 'a:v1'}]}}}}}\n"
    )
    assert 'a PyTorchJob and an MPIJob are named "mnist"' in run("validate", "--legacy").out


def test_python() -> None:
    assert len(trainc.compile("mnist.yaml", legacy=True).jobs) == 1
    assert len(trainc.compile("mnist.yaml").jobs) == 0


def test_the_schema_of_a_kind_needs_no_other_file() -> None:
    assert '"$ref": "definitions' not in run("schema", "PyTorchJob").out


def test_the_settings_have_all_kinds() -> None:
    schema = json.loads(Path(data_path("schemas", "trainc", "Settings.json")).read_text())
    assert schema["$defs"]["legacy"]["properties"]["kinds"]["items"]["enum"] == [row.name for row in LEGACY]


def test_discovery_finds_enabled_kinds(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("cmp", "discover").out == ""
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", '[{"name": "legacy", "string": "true"}]')
    assert run("cmp", "discover").out == "mnist.yaml\n"
    monkeypatch.delenv("ARGOCD_APP_PARAMETERS")
    (project / "trainc.yaml").write_text("environments: {dev: {legacy: {kinds: [PyTorchJob]}}}\n")
    assert run("cmp", "discover").out == "mnist.yaml\n"
