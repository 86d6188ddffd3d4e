"""`trainc explain` shows every value that a field had before: those that settings of trainc.yaml replaced, too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from running import run

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
sources: [jobs]
output: rendered
accelerators: {nvidia.com/gpu: {env: [{name: NCCL_DEBUG, value: WARN}]}}
patches:
- target: {kind: TrainJob}
  patch: {spec: {trainer: {numNodes: 3}}}
environments:
  dev:
    namespace: ml-dev
    nameSuffix: -dev
    labels: {team: dev}
    images:
    - {name: acme/base, newTag: dev}
    - {name: acme/ft, newName: acme.io/ft}
    - {name: acme.io/ft, newTag: dev}
    accelerators: {nvidia.com/gpu: {env: [{name: NCCL_DEBUG, value: INFO}]}}
    patches:
    - target: {kind: TrainJob}
      patch: {spec: {trainer: {numNodes: 4}}}
    - target: {kind: ClusterTrainingRuntime}
      patch: {spec: {template: {spec: {ttlSecondsAfterFinished: 60}}}}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train, namespace: ml, labels: {team: a}}
spec:
  runtimeRef: {name: torch}
  trainer:
    numNodes: 2
    image: acme/ft:1
    resourcesPerNode: {requests: {nvidia.com/gpu: 8}, limits: {nvidia.com/gpu: 8}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  podGroupPolicy: {coscheduling: {}}
  template:
    spec:
      ttlSecondsAfterFinished: 90
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "acme/base:1"}]}}}
"""
POD = "JobSet:spec.replicatedJobs[node].template.spec.template.spec"
NODE = f"{POD}.containers[node]"
OF_DEV = "environment dev"
PATCHES = [
    ("trainc.yaml:19", "patch 1 of environment dev in trainc.yaml"),
    ("trainc.yaml:6", "patch 1 of trainc.yaml"),
    ("jobs/a.yaml:7", "the TrainJob"),
]


@pytest.fixture
def project(empty_root: Path) -> Path:
    (empty_root / "jobs").mkdir()
    (empty_root / "jobs/a.yaml").write_text(JOB)
    (empty_root / "trainc.yaml").write_text(PROJECT)
    return empty_root


def history(field: str, *options: str) -> list[tuple[Any, str, str, str]]:
    """Return the values of a field, the last one first, each with its line, its stage and its author."""
    done = run("explain", ".", field, "--env", "dev", "--format", "json", *options)
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)
    return [
        (each["value"], f"{each['file']}:{each['line']}".removesuffix(":0"), each["stage"], each["by"])
        for each in (found, *found["before"])
    ]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("field", "expected"),
    [
        pytest.param(
            "**.parallelism",
            [(value, at, "trainer", by) for value, (at, by) in zip((4, 3, 2), PATCHES, strict=True)],
            id="patches of the TrainJob",
        ),
        pytest.param(
            "PodGroup:spec.minResources.nvidia.com/gpu",
            [
                (value, at, "gang", "the controller, from spec.trainer.numNodes")
                for value, (at, _) in zip(("32", "24", "16"), PATCHES, strict=True)
            ],
            id="a value that is derived from a patched field",
        ),
        pytest.param(
            f"{NODE}.image",
            [
                ("acme.io/ft:dev", "trainc.yaml:15", "trainer", OF_DEV),
                ("acme.io/ft:1", "trainc.yaml:14", "trainer", OF_DEV),
                ("acme/ft:1", "jobs/a.yaml:8", "trainer", "the TrainJob"),
                ("acme/base:dev", "trainc.yaml:13", "override", OF_DEV),
                ("acme/base:1", "jobs/a.yaml:24", "override", 'runtime "torch"'),
            ],
            id="images of the TrainJob and of the runtime",
        ),
        pytest.param(
            f"{NODE}.env[NCCL_DEBUG].value",
            [
                ("INFO", "trainc.yaml:16", "accelerate", "trainc.yaml"),
                ("WARN", "trainc.yaml:3", "accelerate", "trainc.yaml"),
            ],
            id="an accelerator of an environment",
        ),
        pytest.param(
            "JobSet:spec.ttlSecondsAfterFinished",
            [
                (60, "trainc.yaml:21", "override", "patch 2 of environment dev in trainc.yaml"),
                (90, "jobs/a.yaml:19", "override", 'runtime "torch"'),
            ],
            id="a patch of the runtime",
        ),
        pytest.param(
            "JobSet:metadata.labels.team",
            [("dev", "trainc.yaml:11", "carry", OF_DEV), ("a", "jobs/a.yaml:3", "carry", "the TrainJob")],
            id="a label",
        ),
        pytest.param(
            "JobSet:metadata.namespace",
            [("ml-dev", "trainc.yaml:9", "conform", OF_DEV), ("ml", "jobs/a.yaml:3", "conform", "the TrainJob")],
            id="the namespace",
        ),
        pytest.param(
            "JobSet:metadata.name",
            [
                ("train-dev", "jobs/a.yaml:3", "conform", "the TrainJob and environment dev"),
                ("train", "jobs/a.yaml:3", "conform", "the TrainJob"),
            ],
            id="a name with a suffix",
        ),
        pytest.param(
            "JobSet:spec.successPolicy.operator",
            [("All", "jobs/a.yaml:18", "store", "a default of JobSet")],
            id="no setting",
        ),
    ],
)
def test_a_value_that_settings_replaced(field: str, expected: list[tuple[Any, str, str, str]]) -> None:
    assert history(field) == expected


@pytest.mark.parametrize("delivery", ["delivery: {nameSuffixHash: true}\n", ""], ids=["the setting", "the option"])
@pytest.mark.parametrize(
    ("field", "name", "before"),
    [
        ("JobSet:metadata.name", "train-dev-{}", ("conform", "the TrainJob and environment dev")),
        (
            f"{NODE}.env[PET_MASTER_ADDR].value",
            "train-dev-{0}-node-0-0.train-dev-{0}",
            ("framework", "the torch framework, from metadata.name"),
        ),
    ],
)
def test_a_hash_in_a_name(delivery: str, field: str, name: str, before: tuple[str, str], project: Path) -> None:
    (project / "trainc.yaml").write_text(PROJECT + delivery)
    last, plain, *_ = history(field, *([] if delivery else ["--name-suffix-hash"]))
    at, by = ("trainc.yaml:22", "trainc.yaml") if delivery else ("", "the option --name-suffix-hash")
    suffix = last[0].rpartition("-")[2]
    assert last == (name.format(suffix), at, "deliver", by)
    assert plain == (name.replace("-{}", "").replace("-{0}", ""), "jobs/a.yaml:3", *before)


def test_a_diagnostic_of_a_name_with_a_hash_is_at_the_name(project: Path) -> None:
    (project / "jobs/a.yaml").write_text(JOB.replace("name: train,", f"name: {'t' * 50},"))
    done = run("validate", "--env", "dev", "--name-suffix-hash")
    assert done.code == 1
    assert done.out.startswith("jobs/a.yaml:3:18: error[")
