"""The dialects of TrainJob: detection, conversion to the form, and the places of the original fields."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from running import run

from trainc.base.trainjob_dialects import DIALECTS, detect
from trainc.diagnostics import Document, Place
from trainc.frontends.dialects import in_form, moves
from trainc.pipeline.objects import TrainJob

NOW = "trainer.kubeflow.org/v1alpha1"
FIRST = "kubeflow.org/v2alpha1"
DRAFT = "trainer.kubeflow.org/v2alpha1"


def job_of_version(spec: dict[str, Any], version: str = NOW) -> dict[str, Any]:
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
        pytest.param({"modelConfig": {}, "labels": {}}, NOW, "v1.9", id="modelConfig"),
        pytest.param({"runtimeRef": {}, "datasetConfig": {}}, NOW, "v1.9", id="datasetConfig"),
        pytest.param({"trainingRuntimeRef": {}, "datasetConfig": {}}, NOW, "kep-2170", id="datasetConfig as merged"),
        pytest.param({"podSpecOverrides": [{"targetJobs": []}], "modelConfig": {}}, NOW, "v1.9", id="both"),
        pytest.param({}, FIRST, "v1.9", id="the first group"),
        pytest.param({"runtimeRef": {}}, FIRST, "v1.9", id="runtimeRef in the first group"),
        pytest.param({"trainingRuntimeRef": {}}, FIRST, "kep-2170", id="trainingRuntimeRef in the first group"),
        pytest.param({"trainer": {"numProcPerNode": 4}}, FIRST, "v1.9", id="a number, in the first group"),
        pytest.param({"runtimeRef": {}}, DRAFT, "v1.9", id="the group of the documentation"),
        pytest.param({"podSpecOverrides": [{"targetJobs": []}]}, DRAFT, "v1.9", id="overrides in the documentation"),
        pytest.param({"trainer": {"numProcPerNode": "4"}}, DRAFT, "v1.9", id="a string in the documentation"),
        pytest.param({"trainer": {"numProcPerNode": 4}}, DRAFT, "v2.3", id="a number in the documentation"),
        pytest.param({"podTemplateOverrides": []}, DRAFT, "v2.1", id="v2.1 in the documentation"),
        pytest.param({"initializer": {}}, DRAFT, "v2.3", id="a field that the first release does not have"),
        pytest.param({"trainer": {"numProcPerNode": "auto"}}, NOW, "v2.1", id="auto"),
        pytest.param({"trainer": {"numProcPerNode": "gpu"}, "initializer": {}}, NOW, "v2.1", id="gpu"),
        pytest.param({"trainer": {"numProcPerNode": "cpu"}, "podSpecOverrides": []}, NOW, "v2.0", id="cpu"),
        pytest.param({"trainer": {"numProcPerNode": "auto"}, "runtimePatches": []}, NOW, "v2.3", id="auto in v2.3"),
        pytest.param({"trainer": {"numProcPerNode": "4"}}, NOW, "v2.3", id="a quoted number"),
        pytest.param({"trainer": {"numProcPerNode": ["auto"]}}, NOW, "v2.3", id="a list"),
        pytest.param({"trainer": {"numProcPerNode": 4}, "labels": {}}, NOW, "v2.1", id="a number beside labels"),
    ],
)
def test_a_dialect_is_detected_by_its_fields(spec: dict[str, Any], version: str, dialect: str) -> None:
    assert detect(job_of_version(spec, version), "v2.3").key == dialect


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
        pytest.param({"initializer": {}}, FIRST, "apiVersion", "initializer", id="the group and a later field"),
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
    detected = detect(job_of_version(spec, version), "v2.3")
    assert (detected.key, detected.mark[-1], detected.conflict[-1]) == ("", mark, conflict)


TEMPLATE = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template")
JOB = (*TEMPLATE, "spec", "replicatedJobs", 0)


def test_the_moves_of_an_override() -> None:
    written = job_of_version(
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

    assert in_form(Document("f", 1, "", written), written, DIALECTS["v2.0"]).value["spec"] == {
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
    old = job_of_version(
        {
            "trainingRuntimeRef": {"name": "r"},
            "datasetConfig": {"env": [{"name": "A"}]},
            "modelConfig": {"input": {"storageUri": "hf://a"}},
            "labels": {"a": "b"},
            "podSpecOverrides": [{"targetReplicatedJobs": ["node"], "tolerations": [{}, {"key": "k"}]}],
        },
        FIRST,
    )
    document = Document("f", 1, "", old)
    form = in_form(document, old, DIALECTS["kep-2170"])
    found = TrainJob(document, form.value, form=form).at(*path)
    assert (found.written_path, found.in_text()) == (written, Place(document, written))


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
    written = job_of_version(old, FIRST)
    assert in_form(Document("f", 1, "", written), written, DIALECTS["kep-2170"]).value["spec"] == new


def test_the_newest_dialect_moves_nothing() -> None:
    assert list(moves(DIALECTS["v2.3"], job_of_version({"runtimePatches": []}))) == []


def manifest(spec: str, version: str = NOW) -> bytes:
    return f"apiVersion: {version}\nkind: TrainJob\nmetadata: {{name: j}}\nspec:\n{spec}".encode()


@pytest.mark.parametrize(
    ("spec", "help"),
    [
        pytest.param(
            "  runtimeRef: {name: torch-distributed}\n  trainer: {numProcPerNode: auto}\n  runtimePatches: []",
            "use a number, as Trainer v2.3 requires, or remove it",
            id="a word in v2.3",
        ),
        pytest.param(
            "  runtimeRef: {name: torch-distributed}\n  trainer: {numProcPerNode: gpu}",
            'warning[older-dialect]: numProcPerNode "gpu" belongs to Trainer v2.1; a Trainer v2.3 cluster rejects it',
            id="a word",
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


def test_a_name_below_a_field_of_another_dialect_is_no_mark_of_it() -> None:
    spec = "  runtimeRef: {name: torch-distributed}\n  trainer: {name: a, targets: []}"
    found = run("validate", "-", "--trainer-version", "2.1", stdin=manifest(spec)).out
    assert found.count("error[unknown-field]") == 2
    assert "podTemplateOverrides" not in found


@pytest.mark.parametrize(
    ("runtime", "job", "processes"),
    [
        ("2", "", "2"),
        ("gpu", "", "gpu"),
        ("cpu", "", "3"),
        ("auto", "", "3"),
        ("2", "numProcPerNode: cpu", "3"),
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


@pytest.mark.parametrize("count", ["0", "-1", "many", "[2]", "true", '"4"', '"04"'])
def test_a_runtime_with_no_processes(count: str) -> None:
    text = f"""{{apiVersion: {NOW}, kind: ClusterTrainingRuntime, metadata: {{name: r}}, spec: {{
        mlPolicy: {{torch: {{numProcPerNode: {count}}}}}, template: {{spec: {{replicatedJobs: []}}}}}}}}"""
    assert "error[runtime-processes]" in run("validate", "-", stdin=text.encode()).out


@pytest.mark.parametrize(
    ("field", "runtime", "processes"),
    [
        ("podTemplateOverrides", "torch-distributed", '"4"'),
        ("podSpecOverrides", "torch-distributed", '"0"'),
        ("podTemplateOverrides", "torch-distributed", '"04"'),
        ("podTemplateOverrides", "openmpi-distributed", '"4"'),
        ("podTemplateOverrides", "openmpi-distributed", "auto"),
        ("labels", "torch-distributed", "many"),
    ],
)
def test_a_number_of_processes_that_trainer_rejects(field: str, runtime: str, processes: str) -> None:
    empty = "{}" if field == "labels" else "[]"
    spec = f"  runtimeRef: {{name: {runtime}}}\n  {field}: {empty}\n  trainer: {{numProcPerNode: {processes}}}"
    assert "error[processes-per-node]" in run("validate", "-", stdin=manifest(spec)).out


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        pytest.param("- {targetJobs: [{name: node}, {name: node}], serviceAccountName: a}", 7, id="in one override"),
        pytest.param(
            "- {targetJobs: [{name: node}], serviceAccountName: a}\n"
            "  - {targetJobs: [{name: node}], nodeSelector: {a: b}}",
            8,
            id="in two",
        ),
    ],
)
def test_a_job_targeted_twice_in_v2_0(overrides: str, line: int) -> None:
    spec = f"  runtimeRef: {{name: torch-distributed}}\n  podSpecOverrides:\n  {overrides}"
    report = run("validate", "--format", "json", "-", stdin=manifest(spec)).out
    assert [(error["id"], error["line"]) for error in errors(report)] == [("override-target-twice", line)]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param("podSpecOverrides: [{targetJobs: [{name: node}], nodeSelector: {a: b}}]", id="once"),
        pytest.param(
            "podTemplateOverrides: [{targetJobs: [{name: node}]}, {targetJobs: [{name: node}]}]", id="twice in v2.1"
        ),
    ],
)
def test_jobs_that_may_be_targeted(spec: str) -> None:
    text = manifest(f"  runtimeRef: {{name: torch-distributed}}\n  {spec}")
    assert not errors(run("validate", "--format", "json", "-", stdin=text).out)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        pytest.param(
            "podSpecOverrides: [{targetJobs: [{name: node}], containers: [{name: node, env: [{name: A, value: b}]}]}]",
            "spec.podSpecOverrides",
            'an override cannot set variables of container "node"',
            id="variables in v2.0",
        ),
        pytest.param(
            "podTemplateOverrides: [{targetJobs: [{name: nodes}], spec: {nodeSelector: {a: b}}}]",
            "spec.podTemplateOverrides",
            'the override targets replicated job "nodes"',
            id="an unknown job",
        ),
        pytest.param(
            "podTemplateOverrides: [{targetJobs: [{name: node}], spec: {containers: [{name: x}]}}]",
            "spec.template.spec.containers[0].image",
            "so the override adds one without an image",
            id="an unknown container",
        ),
        pytest.param(
            "runtimePatches: [{manager: a.b/c, trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, "
            "template: {spec: {template: {spec: {containers: [{name: node, env: [{name: A}]}]}}}}}]}}}}]",
            "spec.runtimePatches",
            'a patch cannot set variables of container "node"',
            id="a patch",
        ),
    ],
)
def test_a_diagnostic_names_the_written_field(spec: str, field: str, message: str) -> None:
    text = manifest(f"  runtimeRef: {{name: torch-distributed}}\n  {spec}")
    report = run("validate", "--format", "json", "-", stdin=text).out
    assert [(error["field"], message in error["message"]) for error in errors(report)] == [(field, True)]


def test_only_labels_and_annotations_of_a_pod_are_overridden() -> None:
    spec = (
        "  runtimeRef: {name: torch-distributed}\n  podTemplateOverrides:\n  - targetJobs: [{name: node}]\n"
        "    metadata: {name: x, finalizers: [a/b], labels: {c: d}, annotations: {e: f}}\n"
    )
    done = run("build", "-", stdin=manifest(spec))
    (pod,) = re.findall(r"parallelism: 1\n *template:\n *metadata:\n((?: {12,}.*\n)+) *spec:", done.out)
    assert pod.split() == ["annotations:", "e:", "f", "labels:", "c:", "d"]
    assert done.err.count("warning[no-counterpart]") == 2


def errors(report: str) -> list[dict[str, Any]]:
    return [found for found in json.loads(report) if found["severity"] == "error"]


def test_every_dialect_has_a_schema() -> None:
    for dialect in DIALECTS:
        assert '"title": "TrainJob"' in run("schema", "TrainJob", "--dialect", dialect).out
    assert run("schema", "TrainJob", "--dialect", "2.0").out == run("schema", "TrainJob", "--dialect", "v2.0").out
    assert run("schema", "TrainJob").out == run("schema", "TrainJob", "--dialect", "v2.3").out
    assert run("schema", "JobSet", "--dialect", "v2.3").code == 2
    assert run("schema", "TrainingRuntime", "--dialect", "kep-2170").code == 2


def test_an_override_of_a_job_in_a_runtime_without_jobs() -> None:
    spec = (
        "  runtimeRef: {kind: TrainingRuntime, name: empty}\n"
        "  podTemplateOverrides:\n  - targetJobs: [{name: node}]\n    spec: {serviceAccountName: a}"
    )
    empty = "spec: {template: {spec: {replicatedJobs: []}}}"
    runtime = f"\n---\napiVersion: {NOW}\nkind: TrainingRuntime\nmetadata: {{name: empty}}\n{empty}\n"
    report = run("validate", "--format", "json", "-", stdin=manifest(spec) + runtime.encode()).out
    assert [(error["id"], error["help"]) for error in errors(report)] == [
        ("override-target", "the runtime has no jobs: use another runtime")
    ]
