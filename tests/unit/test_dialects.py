"""The dialects of TrainJob: detection, conversion to the v2.3 form, and the places of the original fields."""

from __future__ import annotations

from typing import Any

import pytest
from running import run

from trainc.cli.schema import DIALECTS as OFFERED
from trainc.diagnostics import Document
from trainc.frontends.dialects import DIALECTS, detect, load
from trainc.frontends.moves import moved
from trainc.objects import TrainJob

NOW = "trainer.kubeflow.org/v1alpha1"
FIRST = "kubeflow.org/v2alpha1"


def job(spec: dict[str, Any], version: str = NOW) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "TrainJob", "metadata": {"name": "j"}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "version", "dialect"),
    [
        pytest.param({}, NOW, "v2.3", id="nothing"),
        pytest.param({"runtimeRef": {}, "trainer": {}}, NOW, "v2.3", id="what all have"),
        pytest.param({"runtimePatches": []}, NOW, "v2.3", id="patches"),
        pytest.param({"labels": {}}, NOW, "v2.1", id="labels: the newest that has them"),
        pytest.param({"annotations": {}, "initializer": {}}, NOW, "v2.1", id="annotations"),
        pytest.param({"podTemplateOverrides": []}, NOW, "v2.1", id="podTemplateOverrides"),
        pytest.param({"podSpecOverrides": []}, NOW, "v2.0", id="podSpecOverrides"),
        pytest.param({"podSpecOverrides": [{"targetJobs": []}], "labels": {}}, NOW, "v2.0", id="targetJobs"),
        pytest.param({"podSpecOverrides": [{"targetReplicatedJobs": []}]}, NOW, "kep-2170", id="targetReplicatedJobs"),
        pytest.param({"trainingRuntimeRef": {}}, NOW, "kep-2170", id="trainingRuntimeRef"),
        pytest.param({"modelConfig": {}, "labels": {}}, NOW, "kep-2170", id="modelConfig"),
        pytest.param({}, FIRST, "kep-2170", id="the first group"),
    ],
)
def test_a_dialect_is_detected_by_its_fields(spec: dict[str, Any], version: str, dialect: str) -> None:
    assert detect(job(spec, version)).key == dialect


@pytest.mark.parametrize(
    ("spec", "version", "mark", "conflict"),
    [
        pytest.param(
            {"runtimeRef": {}, "trainingRuntimeRef": {}}, NOW, "trainingRuntimeRef", "runtimeRef", id="two references"
        ),
        pytest.param(
            {"podSpecOverrides": [], "podTemplateOverrides": []},
            NOW,
            "podSpecOverrides",
            "podTemplateOverrides",
            id="two overrides",
        ),
        pytest.param(
            {"runtimePatches": [], "podTemplateOverrides": []},
            NOW,
            "podTemplateOverrides",
            "runtimePatches",
            id="patches and overrides",
        ),
        pytest.param({"runtimePatches": [], "labels": {}}, NOW, "labels", "runtimePatches", id="patches and labels"),
        pytest.param({"datasetConfig": {}, "initializer": {}}, NOW, "datasetConfig", "initializer", id="two datasets"),
        pytest.param(
            {"activeDeadlineSeconds": 1, "annotations": {}}, NOW, "annotations", "activeDeadlineSeconds", id="deadline"
        ),
        pytest.param({"runtimeRef": {}}, FIRST, "apiVersion", "runtimeRef", id="the group and a later field"),
        pytest.param(
            {"runtimeRef": {}, "podSpecOverrides": [{"targetReplicatedJobs": []}]},
            NOW,
            "targetReplicatedJobs",
            "runtimeRef",
            id="within an override",
        ),
    ],
)
def test_two_dialects_in_one(spec: dict[str, Any], version: str, mark: str, conflict: str) -> None:
    detected = detect(job(spec, version))
    assert (detected.key, detected.mark[-1], detected.conflict[-1]) == ("", mark, conflict)


TEMPLATE = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template")
JOB = (*TEMPLATE, "spec", "replicatedJobs", 0)


def test_the_moves_of_an_override() -> None:
    written = job(
        {
            "runtimeRef": {"name": "r"},
            "labels": {"a": "b"},
            "podSpecOverrides": [
                {"targetJobs": [{"name": "x"}, {"name": "y"}, {"name": "x"}], "nodeSelector": {"n": "1"}},
                {"targetJobs": [{"name": "z"}], "serviceAccountName": "s"},
                {"targetJobs": [{"name": "y"}], "serviceAccountName": "t"},
            ],
        }
    )

    def patched(name: str, **pod: Any) -> dict[str, Any]:
        return {"name": name, "template": {"spec": {"template": {"spec": pod}}}}

    assert moved(written, load("v2.0").moves(written), load("v2.0").GONE)["spec"] == {
        "runtimeRef": {"name": "r"},
        "runtimePatches": [
            {
                "manager": "trainc.dev/upgrade",
                "trainingRuntimeSpec": {
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {
                            "replicatedJobs": [
                                patched("x", nodeSelector={"n": "1"}),
                                patched("y", nodeSelector={"n": "1"}),
                                patched("z", serviceAccountName="s"),
                            ]
                        },
                    }
                },
            },
            {
                "manager": "trainc.dev/upgrade-2",
                "trainingRuntimeSpec": {
                    "template": {"spec": {"replicatedJobs": [patched("y", serviceAccountName="t")]}}
                },
            },
        ],
    }


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (("spec", "runtimeRef", "name"), ("spec", "trainingRuntimeRef", "name")),
        (("spec", "initializer", "dataset", "env", 0), ("spec", "datasetConfig", "env", 0)),
        (("spec", "initializer", "model", "storageUri"), ("spec", "modelConfig", "input", "storageUri")),
        (("spec", "trainer", "numNodes"), ("spec", "trainer", "numNodes")),
        ((*TEMPLATE, "metadata", "labels", "a"), ("spec", "labels", "a")),
        ((*JOB, "name"), ("spec", "podSpecOverrides", 0, "targetReplicatedJobs", 0)),
        (
            (*JOB, "template", "spec", "template", "spec", "tolerations", 1, "key"),
            ("spec", "podSpecOverrides", 0, "tolerations", 1, "key"),
        ),
        (JOB, ("spec", "podSpecOverrides", 0)),
        (("spec", "runtimePatches", 0, "manager"), ("spec", "labels")),
        (("metadata", "name"), ("metadata", "name")),
    ],
)
def test_a_field_is_where_it_was_written(path: tuple[str | int, ...], written: tuple[str | int, ...]) -> None:
    old = job(
        {
            "trainingRuntimeRef": {"name": "r"},
            "datasetConfig": {"env": [{"name": "A"}]},
            "modelConfig": {"input": {"storageUri": "hf://a"}},
            "labels": {"a": "b"},
            "podSpecOverrides": [{"targetReplicatedJobs": ["node"], "tolerations": [{}, {"key": "k"}]}],
        },
        FIRST,
    )
    found = TrainJob(document=Document("f", 1, "", old), value=old, moves=tuple(load("kep-2170").moves(old)))
    assert found.written(path) == written


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            {"trainingRuntimeRef": {"name": "r", "apiGroup": "kubeflow.org"}},
            {"runtimeRef": {"name": "r", "apiGroup": "trainer.kubeflow.org"}},
            id="the group of the runtime",
        ),
        pytest.param(
            {"managedBy": "kubeflow.org/trainjob-controller"},
            {"managedBy": "trainer.kubeflow.org/trainjob-controller"},
            id="the controller",
        ),
        pytest.param(
            {"managedBy": "kueue.x-k8s.io/multikueue"}, {"managedBy": "kueue.x-k8s.io/multikueue"}, id="Kueue"
        ),
        pytest.param({"datasetConfig": {}}, {"initializer": {"dataset": {}}}, id="an empty config"),
    ],
)
def test_the_moves_of_the_first_dialect(old: dict[str, Any], new: dict[str, Any]) -> None:
    written = job(old, FIRST)
    dialect = load("kep-2170")
    assert moved(written, dialect.moves(written), dialect.GONE)["spec"] == new


def test_the_newest_dialect_moves_nothing() -> None:
    assert list(load("v2.3").moves(job({"runtimePatches": []}))) == []


def manifest(spec: str, version: str = NOW) -> bytes:
    return f"apiVersion: {version}\nkind: TrainJob\nmetadata: {{name: j}}\nspec:\n{spec}".encode()


@pytest.mark.parametrize(
    ("spec", "help"),
    [
        pytest.param(
            "  runtimeRef: {name: torch-distributed}\n  trainer: {numProcPerNode: auto}",
            "use a number, or remove it",
            id="a word in v2.3",
        ),
        pytest.param(
            "  runtimeRef: {name: torch-distributed}\n  trainer: {datasetConfig: {}}",
            "use initializer.dataset, its Trainer v2.3 form",
            id="a field of a predecessor, misplaced",
        ),
        pytest.param(
            "  runtimeRef: {name: plain}\n  podTemplateOverrides: [{targetJobs: [{name: node}], spec: {x: 1}}]",
            "unknown-field",
            id="a field that its own dialect does not have",
        ),
        pytest.param(
            "  trainingRuntimeRef: {name: torch-with-initializers}\n  modelConfig: {output: {storageUri: s3://b}}",
            "no-counterpart",
            id="an exporter",
        ),
    ],
)
def test_help_for_older_fields(spec: str, help: str) -> None:
    assert help in run("validate", "-", stdin=manifest(spec)).out


@pytest.mark.parametrize(
    ("runtime", "job", "processes"),
    [
        ("2", "", "2"),
        ('"4"', "", "4"),
        ("gpu", "", "gpu"),
        ("cpu", "", "3"),
        ("auto", "", "3"),
        ("2", "numProcPerNode: cpu", "3"),
        ("2", 'numProcPerNode: "8"', "8"),
        ("2", "numProcPerNode: auto", "3"),
    ],
)
def test_processes_of_a_node_as_older_versions_say_them(runtime: str, job: str, processes: str) -> None:
    text = f"""
apiVersion: {NOW}
kind: ClusterTrainingRuntime
metadata: {{name: r}}
spec:
  mlPolicy: {{torch: {{numProcPerNode: {runtime}}}}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec: {{containers: [{{name: node, image: i, resources: {{requests: {{cpu: 2500m}}}}}}]}}
---
apiVersion: {NOW}
kind: TrainJob
metadata: {{name: j}}
spec:
  runtimeRef: {{name: r}}
  labels: {{}}
  trainer: {{{job}}}
"""
    done = run("build", "-", stdin=text.encode())
    assert f'name: PET_NPROC_PER_NODE\n                value: "{processes}"' in done.out.replace(
        "value: gpu", 'value: "gpu"'
    )


@pytest.mark.parametrize("count", ["0", "-1", "many", "[2]", "true"])
def test_a_runtime_with_no_processes(count: str) -> None:
    text = f"""{{apiVersion: {NOW}, kind: ClusterTrainingRuntime, metadata: {{name: r}}, spec: {{
        mlPolicy: {{torch: {{numProcPerNode: {count}}}}}, template: {{spec: {{replicatedJobs: []}}}}}}}}"""
    assert "error[runtime-processes]" in run("validate", "-", stdin=text.encode()).out


def test_every_dialect_has_a_schema() -> None:
    assert OFFERED == DIALECTS
    for dialect in DIALECTS:
        assert '"title": "TrainJob"' in run("schema", "TrainJob", "--dialect", dialect).out
    assert run("schema", "TrainJob", "--dialect", "2.0").out == run("schema", "TrainJob", "--dialect", "v2.0").out
    assert run("schema", "TrainJob").out == run("schema", "TrainJob", "--dialect", "v2.3").out
    assert run("schema", "JobSet", "--dialect", "v2.3").code == 2
    assert run("schema", "TrainingRuntime", "--dialect", "kep-2170").code == 2
