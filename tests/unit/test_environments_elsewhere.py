"""Environments beyond a plain build: lint findings, templates, queues, subsets, explanations, the KRM function."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from environments import environment, settings_of
from purposes import internal
from running import run

import trainc
from trainc.compilation import Compilation
from trainc.compilation.run import Options, start
from trainc.compilation.subset import compile_subset
from trainc.diagnostics import Place, Users
from trainc.explain import accounts, text
from trainc.reports import in_order
from trainc.settings import Settings

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train}
spec:
  runtimeRef: {name: torch-distributed}
"""
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpu%s}
spec: {clusterQueue: team}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: any
      resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 1Ti}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
"""


def write_yaml(**files: str) -> None:
    for name, content in files.items():
        Path(f"{name}.yaml").write_text(content)


def found(result: Compilation) -> list[str]:
    return [f"{each.place} {each.id}" for each in in_order(result.diagnostics)]


def test_a_lint_finding_in_the_image_that_a_setting_writes_into_a_built_in_runtime() -> None:
    write_yaml(job=JOB, other=JOB.replace("train}", "other}"))
    images = "images:\n- name: pytorch/pytorch\n  newName: mirror/pytorch\n  newTag: %s\n"
    assert (
        found(internal(trainc.compile(options=Options(settings=Settings(environment=environment(images % "x")))))) == []
    )
    result = internal(trainc.compile(options=Options(settings=Settings(environment=environment(images % "latest")))))
    assert found(result) == ["trainc.yaml:4:11 image-version"]
    assert result.diagnostics[0].users == Users(("other", "train"), all=True)


def test_a_template_is_one_error() -> None:
    write_yaml(job=JOB.replace("name: train", "name: '{{ .Release.Name }}'"))
    result = internal(
        trainc.compile(options=Options(settings=settings_of("{namespace: ml, nameSuffix: -dev, labels: {a: b}}")))
    )
    assert found(result) == ["job.yaml:3:19 template-not-rendered"]


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ("nameSuffix: -dev", "job.yaml:3:25"),
        ("namePrefix: a-", "job.yaml:3:25"),
        ('namePrefix: "${x}-"', "job.yaml:3:25"),
        ("patches: [{patch: {spec: {suspend: true}}}]", "job.yaml:3:25"),
    ],
)
def test_a_placeholder_in_a_name_that_settings_change_is_marked_alone(settings: str, place: str) -> None:
    write_yaml(job=JOB.replace("train}", '"train-{{ name }}"}'))
    result = internal(trainc.compile(options=Options(settings=settings_of(settings))))
    [error] = [each for each in result.diagnostics if each.id == "template-not-rendered"]
    assert isinstance(error.place, Place)
    at = error.place.locate()
    assert (f"{at.file}:{at.line}:{at.column}", at.end_column - at.column) == (place, len("{{ name }}"))


def test_a_placeholder_in_a_prefix_is_marked_there() -> None:
    write_yaml(job=JOB)
    result = internal(trainc.compile(options=Options(settings=settings_of('namePrefix: "${x}-"'))))
    assert [line for line in found(result) if "template" in line] == ["job.yaml:3:18 template-not-rendered"]


@pytest.mark.parametrize(("namespace", "expected"), [("", True), (", namespace: other", False)])
def test_a_queue_without_a_namespace_is_in_that_of_the_settings(namespace: str, expected: bool) -> None:
    job = JOB.replace("name: train", "name: train, labels: {kueue.x-k8s.io/queue-name: gpu}")
    write_yaml(job=f"{job}  trainer: {{resourcesPerNode: {{requests: {{cpu: 2}}}}}}\n", queues=QUEUES % namespace)
    result = internal(trainc.compile(options=Options(settings=settings_of("namespace: ml"))))
    assert ("never-admitted" in " ".join(found(result))) is expected


def subset(path: str, settings: str) -> list[str]:
    return found(compile_subset([path], ".", start(Options(settings=settings_of(settings)))))


def test_a_subset_has_the_namesakes_of_one_namespace() -> None:
    write_yaml(a=JOB.replace("train}", "train, namespace: a}"), b=JOB.replace("train}", "train, namespace: b}"))
    assert subset("b.yaml", "labels: {a: b}") == []
    assert subset("b.yaml", "namespace: ml") == ["b.yaml:3:18 duplicate-trainjob"]


def test_a_subset_does_not_tell_whether_an_item_matches() -> None:
    write_yaml(a=JOB, b=JOB.replace("train}", "other}"))
    assert subset("b.yaml", "images: [{name: nowhere, newTag: x}]") == []


def test_an_explanation_names_the_environment() -> None:
    write_yaml(job=JOB)
    settings = "environments:\n  prod:\n    namespace: ml\n    nameSuffix: -prod\n    labels: {env: prod}\n"
    jobs = internal(trainc.compile(options=Options(settings=settings_of(settings, "prod")))).jobs
    shown = "".join(text.render(accounts(jobs), color=False, selected=False))
    table = [line.split() for line in shown.splitlines()]
    rows = {line[0]: line[1:] for line in table if line}
    assert rows["metadata.namespace"] == ["ml", "conform", "trainc.yaml:3", "environment", "prod"]
    assert rows["metadata.labels.env"] == ["prod", "carry", "trainc.yaml:5", "environment", "prod"]
    assert rows["metadata.name"] == [
        "train-prod",
        "conform",
        "job.yaml:3",
        *["the", "TrainJob", "and", "environment", "prod"],
    ]


def test_the_krm_function_reports_a_setting_in_its_file() -> None:
    write_yaml(settings="labels: {a: b c}\n")
    config = {
        "apiVersion": "trainc.dev/v1alpha1",
        "kind": "TrainJobCompiler",
        "metadata": {"name": "compile"},
        "spec": {"settings": "settings.yaml"},
    }
    given = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "items": [yaml.safe_load(JOB)],
        "functionConfig": config,
    }
    done = run("krm", stdin=yaml.safe_dump(given).encode())
    results = [each for each in yaml.safe_load(done.out)["results"] if each["severity"] == "error"]
    assert [(each["file"]["path"], each["tags"]["id"]) for each in results] == [("settings.yaml", "invalid-label")]


@pytest.mark.parametrize(
    ("patches", "place"),
    [
        ("[{patch: {spec: {trainer: {numNodes: -1}}}}]", "trainc.yaml:1:47 out-of-range"),
        ("[{target: {kind: JobSet}, patch: {spec: {foo: 1}}}]", "trainc.yaml:1:51 unknown-field"),
        ('[{target: {kind: JobSet}, patch: "spec: {foo: 1}"}]', "trainc.yaml:1:51 unknown-field"),
        ("[{target: {kind: JobSet}, path: patch.yaml}]", "patch.yaml:1:8 unknown-field"),
    ],
)
def test_a_fault_of_a_patch_is_reported_once(patches: str, place: str) -> None:
    Path("jobs").mkdir()
    for name in ("one", "two", "three"):
        Path(f"jobs/{name}.yaml").write_text(JOB.replace("train}", f"{name}}}"))
    write_yaml(patch="spec: {foo: 1}\n", trainc=f"patches: {patches}\n")
    result = internal(trainc.compile(["jobs"], options=Options(settings=trainc.settings.load(["."]))))
    assert found(result) == [place]
    [error] = result.diagnostics
    assert error.message.endswith(" (and 2 more TrainJobs)")


def test_the_faults_of_two_patches_of_one_form_are_two() -> None:
    write_yaml(job=JOB, p="spec: {foo: 1}\n", q="spec: {foo: 1}\n")
    Path("trainc.yaml").write_text(
        "patches:\n- {target: {kind: JobSet, name: a}, path: p.yaml}\n"
        "- {target: {kind: JobSet, name: train}, path: q.yaml}\n"
    )
    write_yaml(other=JOB.replace("train}", "a}"))
    result = internal(trainc.compile(["job.yaml", "other.yaml"], options=Options(settings=trainc.settings.load(["."]))))
    assert found(result) == ["p.yaml:1:8 unknown-field", "q.yaml:1:8 unknown-field"]


def test_a_fault_of_a_patch_counts_runtimes() -> None:
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "spec": {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {}}}}]}}},
    }
    write_yaml(
        runtimes=yaml.safe_dump_all([runtime | {"metadata": {"name": name}} for name in ("one", "two", "three")])
    )
    write_yaml(trainc="patches: [{target: {kind: ClusterTrainingRuntime}, patch: {spec: {foo: 1}}}]\n")
    result = internal(trainc.compile(["runtimes.yaml"], options=Options(settings=trainc.settings.load(["."]))))
    [error] = [each for each in result.diagnostics if each.id == "unknown-field"]
    assert error.message.endswith(" (and 2 more runtimes)")


@pytest.mark.parametrize("patch", ["spec: {foo: 1}\n", JOB.replace("{name: train}", "{}") + "  foo: 1\n"])
def test_a_subset_with_the_file_of_a_patch_has_all_trainjobs(patch: str) -> None:
    write_yaml(one=JOB, two=JOB.replace("train}", "other}"), patch=patch)
    write_yaml(trainc="patches: [{path: patch.yaml}]\n")
    settings = trainc.settings.load(["."])
    assert found(compile_subset(["patch.yaml"], ".", start(Options(settings=settings)))) == [
        f"patch.yaml:{1 if patch.startswith('spec') else 6}:{8 if patch.startswith('spec') else 3} unknown-field"
    ]
    write_yaml(patch=patch.replace("foo: 1", "suspend: true"))
    result = compile_subset(["one.yaml"], ".", start(Options(settings=settings)))
    assert (found(result), len(result.jobs)) == ([], 1)
