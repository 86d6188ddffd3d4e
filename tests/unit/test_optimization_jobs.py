"""OptimizationJobs: the rules of the CRD, the first trial, and what commands show of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

import trainc
from trainc.kubernetes.trees import put

LR = {"name": "lr", "searchSpace": {"logUniform": {"min": "0.0001", "max": "0.1"}}}
SIZE = {"name": "batch_size", "searchSpace": {"categorical": {"choices": ["16", "32"]}}}
TRAINER = {"image": "acme/tuner:1.4", "command": ["torchrun", "train.py"], "numNodes": 2}
TEMPLATE = {
    "metadata": {"labels": {"team": "nlp"}},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": TRAINER},
}
SPEC = {
    "objectives": [{"metric": "loss"}],
    "parameters": [LR, SIZE],
    "numTrials": 20,
    "parallelTrials": 4,
    "trainJobTemplate": TEMPLATE,
}
HEAD = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "OptimizationJob"}
JOB = {**HEAD, "metadata": {"name": "tune", "namespace": "ml"}, "spec": SPEC}
NEWEST = ("--trainer-version", "2.4")
STATED = 'OptimizationJob "tune" has 20 trials, up to 4 at once: trainc compiles the first one\n'
SPACE = ("parameters", 0, "searchSpace")

pytestmark = pytest.mark.usefixtures("empty_folder")


def write(*documents: dict[str, Any]) -> None:
    Path("tune.yaml").write_text(yaml.safe_dump_all(documents, sort_keys=False))


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """Return the OptimizationJob with another value at a path in its spec."""
    found: dict[str, Any] = put(JOB, ("spec", *path), to)
    return found


def errors(*options: str) -> list[tuple[str, str]]:
    """Return the id and the field of each error that `validate` reports."""
    report = json.loads(run("validate", "--format", "json", *(options or NEWEST)).out)
    return [(each["id"], each["field"]) for each in report if each["severity"] == "error"]


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(JOB, id="random by default"),
        pytest.param(changed("searchAlgorithm", to={"random": {"seed": 7}}), id="random with a seed"),
        pytest.param(put(changed("parameters", to=[SIZE]), ("spec", "searchAlgorithm"), {"grid": {}}), id="grid"),
        pytest.param(changed(*SPACE, to={"uniform": {"min": "-100", "max": "5", "type": "Int"}}), id="uniform"),
        pytest.param({**JOB, "spec": {k: v for k, v in SPEC.items() if "Trials" not in k}}, id="one trial"),
        pytest.param(changed("objectives", to=[{"metric": "accuracy", "direction": "Maximize"}]), id="maximize"),
        pytest.param(changed("trainJobTemplate", "metadata", to={}), id="no metadata"),
        pytest.param(changed("trainJobTemplate", "spec", to={"runtimeRef": {"name": "torch-distributed"}}), id="bare"),
        pytest.param({**JOB, "status": {"result": {"trainJobName": 5}}}, id="status"),
    ],
)
def test_accepted(job: dict[str, Any]) -> None:
    write(job)
    assert errors() == []


REFUSED = [
    pytest.param(changed("parallelTrials", to=21), "parallel-trials", "spec.parallelTrials", id="too many at once"),
    pytest.param(changed("numTrials", to=101), "out-of-range", "spec.numTrials", id="101 trials"),
    pytest.param(
        changed("searchAlgorithm", to={"grid": {}}),
        *("search-space", "spec.parameters[0].searchSpace.logUniform"),
        id="grid over a range",
    ),
    pytest.param(
        changed("searchAlgorithm", to={"grid": {}, "random": {}}),
        *("search-space", "spec.searchAlgorithm.grid"),
        id="two algorithms",
    ),
    pytest.param(changed("searchAlgorithm", to={}), "search-space", "spec.searchAlgorithm", id="no algorithm"),
    pytest.param(changed(*SPACE, to={}), "search-space", "spec.parameters[0].searchSpace", id="no search space"),
    pytest.param(
        changed(*SPACE, "categorical", to={"choices": ["a"]}),
        *("search-space", "spec.parameters[0].searchSpace.categorical"),
        id="two search spaces",
    ),
    pytest.param(
        changed(*SPACE, "logUniform", "min", to="0"),
        *("search-space", "spec.parameters[0].searchSpace.logUniform.min"),
        id="logarithm of zero",
    ),
    pytest.param(
        changed(*SPACE, "logUniform", "max", to="1e400"),
        *("search-space", "spec.parameters[0].searchSpace.logUniform.max"),
        id="beyond a double",
    ),
    pytest.param(
        changed(*SPACE, to={"uniform": {"min": "5", "max": "5.0"}}),
        *("search-space", "spec.parameters[0].searchSpace.uniform.min"),
        id="empty range",
    ),
    pytest.param(
        changed(*SPACE, "logUniform", "max", to=".5"),
        *("pattern", "spec.parameters[0].searchSpace.logUniform.max"),
        id="not a number",
    ),
    pytest.param(
        changed("parameters", 1, "searchSpace", "categorical", "choices", to=["a", "a"]),
        *("duplicate-item", "spec.parameters[1].searchSpace.categorical.choices[1]"),
        id="one choice twice",
    ),
    pytest.param(changed("parameters", to=[SIZE, SIZE]), "duplicate-item", "spec.parameters[1]", id="one name twice"),
    pytest.param(
        changed("objectives", to=[{"metric": "a"}, {"metric": "b"}]), "too-many-items", "spec.objectives", id="2"
    ),
    pytest.param(
        changed("objectives", 0, "direction", to="minimize"), "enum", "spec.objectives[0].direction", id="direction"
    ),
    pytest.param(
        changed("trainJobTemplate", "metadata", "name", to="trial"),
        *("trial-name", "spec.trainJobTemplate.metadata.name"),
        id="name",
    ),
    pytest.param(
        changed("trainJobTemplate", "metadata", "namespace", to="ml"),
        *("trial-name", "spec.trainJobTemplate.metadata.namespace"),
        id="namespace",
    ),
    pytest.param(
        changed("trainJobTemplate", "spec", "managedBy", to="acme.io/c"),
        *("managed-by", "spec.trainJobTemplate.spec.managedBy"),
        id="manager",
    ),
    pytest.param(
        changed("trainJobTemplate", "spec", "trainer", "numProcPerNode", to=0),
        *("minimum-count", "spec.trainJobTemplate.spec.trainer.numProcPerNode"),
        id="no processes",
    ),
    pytest.param(
        changed("trainJobTemplate", "spec", "initializer", to={"model": {"storageUri": "x"}}),
        *("storage-uri", "spec.trainJobTemplate.spec.initializer.model.storageUri"),
        id="storage URI",
    ),
]


@pytest.mark.parametrize(("job", "id", "field"), REFUSED)
def test_refused_by_the_crd(job: dict[str, Any], id: str, field: str) -> None:
    write(job)
    assert (id, field) in errors()


@pytest.mark.parametrize(
    ("job", "id", "field"),
    [
        pytest.param(
            changed("trainJobTemplate", "spec", "runtimeRef", "name", to="torch"),
            *("runtime-not-found", "spec.RuntimeRef"),
            id="runtime",
        ),
        pytest.param(
            changed("trainJobTemplate", "metadata", "labels", "team", to="n p"),
            *("invalid-label", "spec.trainJobTemplate.metadata.labels.team"),
            id="label",
        ),
        pytest.param(put(JOB, ("metadata", "name"), "3d"), "trainjob-name", "metadata.name", id="name"),
    ],
)
def test_refused_as_a_trainjob(job: dict[str, Any], id: str, field: str) -> None:
    write(job)
    assert errors() == [(id, field)]


def test_the_first_trial() -> None:
    write(JOB)
    pods = json.loads(run("pods", "--format", "json", *NEWEST).out)
    assert [pod["name"] for pod in pods] == ["tune-trial-node-0-0", "tune-trial-node-0-1"]
    env = pods[0]["containers"][0]["env"]
    assert env["KUBEFLOW_TRAINER_OPT_LR"] == "<lr>"
    assert env["KUBEFLOW_TRAINER_OPT_BATCH_SIZE"] == "<batch_size>"


@pytest.mark.parametrize("command", ["pods", "graph", "queues", "explain", "validate"])
def test_the_commands_say_how_many_trials_run_at_once(command: str) -> None:
    write(JOB)
    done = run(command, *NEWEST)
    assert STATED in f"{done.out}\n{done.err}"


def test_the_places_are_those_of_the_optimization_job() -> None:
    write(JOB)
    shown = run("explain", ".", "**.env[KUBEFLOW_TRAINER_OPT_LR].value", *NEWEST)
    lines = Path("tune.yaml").read_text().splitlines()
    line = lines.index("    searchSpace:") + 1
    assert f"tune.yaml:{line}:" in shown.out


def test_a_build_copies_it() -> None:
    write(JOB)
    assert run("build", "--passthrough", *NEWEST).out == Path("tune.yaml").read_text()
    assert "no-trainjob" in run("build", *NEWEST).err
    assert trainc.compile(["tune.yaml"], trainer_version="2.4").objects == ()


def test_a_generated_name() -> None:
    write({**JOB, "metadata": {"generateName": "tune-"}})
    assert errors() == []
    (name,) = {pod["name"][:5] for pod in json.loads(run("pods", "--format", "json", *NEWEST).out)}
    assert name == "tune-"
    write({**JOB, "metadata": {}})
    assert errors() == [("required", "metadata.name")]


def test_settings_change_neither_it_nor_its_trials() -> None:
    write(JOB)
    Path("trainc.yaml").write_text("namespace: prod\nnamePrefix: x-\ndelivery: {suspend: true, nameSuffixHash: true}\n")
    assert run("build", "--passthrough", *NEWEST).out == Path("tune.yaml").read_text()
    assert "tune-trial in namespace ml: 2 pods" in run("pods", *NEWEST).out


@pytest.mark.parametrize(
    ("settings", "severity", "help"),
    [
        ("", "warning", 'set trainerVersion: "2.4" if the cluster runs Trainer v2.4'),
        ("trainerVersion: 2.3\n", "error", "upgrade the cluster to Trainer v2.4"),
    ],
)
def test_a_release_without_the_kind(settings: str, severity: str, help: str) -> None:
    write(JOB)
    Path("trainc.yaml").write_text(settings)
    (found,) = (each for each in json.loads(run("validate", "--format", "json").out) if each["id"] == "unserved-kind")
    assert (found["severity"], found["message"], found["help"]) == (
        severity,
        "Trainer v2.3 does not serve OptimizationJob",
        help,
    )


def test_names_are_those_of_a_kind() -> None:
    trainjob = {**HEAD, "kind": "TrainJob", "metadata": JOB["metadata"], "spec": TEMPLATE["spec"]}
    write(JOB, trainjob)
    assert errors() == []
    write(JOB, trainjob, JOB)
    assert errors() == [("duplicate-trainjob", "metadata.name")]
    write(JOB, put(JOB, ("metadata", "name"), "other"))
    assert "2 OptimizationJobs" not in run("pods", "--only", "tune", *NEWEST).out
    assert "other-trial" not in run("pods", "--only", "tune", *NEWEST).out


@pytest.mark.parametrize("version", ["trainer.kubeflow.org/v2alpha1", "trainer.kubeflow.org/v1", "kubeflow.org/v1"])
def test_an_unknown_version(version: str) -> None:
    write({**JOB, "apiVersion": version})
    assert errors() == [("unknown-version", "apiVersion")]
