"""Faults over several environments: settings that none uses, one block for one place, the environments of an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from environments import JOB
from running import run

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: gpu, namespace: ml}}
spec: {{clusterQueue: {name}}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources: [{{name: nvidia.com/gpu, nominalQuota: {quota}}}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {{name: h100}}
"""


@pytest.fixture(autouse=True)
def project(empty_root: Path) -> Path:
    """Return a project with two TrainJobs; prod excludes one of them."""
    (empty_root / "jobs").mkdir()
    for name in ("train", "trial"):
        (empty_root / "jobs" / f"{name}.yaml").write_text(JOB.format(name=name))
    return empty_root


def settings(text: str) -> None:
    """Write trainc.yaml for two clusters, and more keys of the file."""
    Path("trainc.yaml").write_text(
        f"{text}\nenvironments:\n  dev: {{cluster: dev, namespace: ml}}\n"
        "  prod: {cluster: prod, namespace: ml, exclude: [jobs/trial.yaml], lint: {strict: true}}\n"
    )


def reported(*arguments: str) -> list[Any]:
    """Return the id, the severity, the environments and those with an error of each diagnostic of `validate`."""
    done = json.loads(run("validate", *arguments, "--format", "json").out)
    keys = ("id", "severity", "environments", "errorIn")
    return [tuple(each.get(key) for key in keys) for each in done if each["severity"] != "note"]


PATCH = "patches: [{{target: {{name: {name}}}, patch: {{metadata: {{labels: {{a: b}}}}}}}}]"


def test_a_patch_that_one_environment_uses_is_used() -> None:
    settings(PATCH.format(name="trial"))
    assert reported() == []
    assert reported("--env", "prod") == []


def test_a_patch_that_no_environment_uses() -> None:
    settings(PATCH.format(name="other"))
    assert reported() == [("unused-patch", "error", ["dev", "prod"], ["prod"])]
    first = run("validate").out.splitlines()[0]
    assert first.endswith("patch 1 of trainc.yaml matches no TrainJob [dev, prod; an error in prod]")
    assert reported("--env", "prod") == []


def test_a_patch_of_an_environment_is_judged_in_it() -> None:
    settings("")
    text = Path("trainc.yaml").read_text().replace("lint: {strict: true}", PATCH.format(name="trial"))
    Path("trainc.yaml").write_text(text)
    expected = [("unused-patch", "warning", ["prod"], None)]
    assert reported() == expected
    assert reported("--env", "prod") == expected


def test_an_image_that_one_environment_uses_is_used() -> None:
    trial = Path("jobs/trial.yaml")
    trial.write_text(trial.read_text().replace("ghcr.io/acme/app:v1", "acme/trial:1"))
    settings("images: [{name: acme/trial, newTag: v2}]")
    assert reported() == []
    settings("images: [{name: acme/unused, newTag: v2}]")
    assert reported() == [("unmatched-image", "error", ["dev", "prod"], ["prod"])]


def test_an_unmatched_image_of_two_layers_is_reported_in_both() -> None:
    settings("images: [{name: acme/unused, newName: mirror/unused}]")
    text = Path("trainc.yaml").read_text().replace("lint: {strict: true}", "images: [{name: acme/unused, newTag: v2}]")
    Path("trainc.yaml").write_text(text)
    assert reported() == [
        ("unmatched-image", "warning", ["dev", "prod"], None),
        ("unmatched-image", "warning", ["prod"], None),
    ]


def test_one_fault_at_one_place_is_one_block() -> None:
    for name, quota in (("dev", 1), ("prod", 2)):
        Path(name).mkdir()
        Path(name, "queues.yaml").write_text(QUEUE.format(name=f"cluster-queue-{name}", quota=quota))
    job = Path("jobs/train.yaml")
    text = job.read_text().replace("{name: train}", "{name: train, labels: {kueue.x-k8s.io/queue-name: gpu}}")
    job.write_text(text.replace("trainer: {", "trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 8}}, "))
    Path("trainc.yaml").write_text(
        "environments:\n  dev: {cluster: dev, namespace: ml, exclude: [prod/]}\n"
        "  prod: {cluster: prod, namespace: ml, exclude: [dev/]}\n"
    )
    assert [each for each in reported() if each[0] == "never-admitted"] == [
        ("never-admitted", "error", ["dev", "prod"], None)
    ]
    block = run("validate").out
    assert "\n  dev/queues.yaml:" in block
    assert ": in prod: " in block


def test_a_job_whose_queue_is_in_another_namespace() -> None:
    Path("jobs/other.yaml").write_text(_queued("other", "vision"))
    Path("jobs/train.yaml").write_text(_queued("train", "ml"))
    Path("queues.yaml").write_text(QUEUE.format(name="c", quota=8))
    unknown = 'given paths have LocalQueue "gpu" in namespace "ml", but not in "vision"'
    assert unknown in run("validate").out
    assert "vision/other: its queue is not in the given paths\n" in run("queues").out
    listed = json.loads(run("queues", "--format", "json").out)
    assert [(each["queue"], each["jobs"]) for each in listed] == [("c", ["ml/train"]), (None, ["vision/other"])]
    Path("jobs/train.yaml").unlink()
    assert unknown in run("validate").out


def test_a_job_that_is_moved_away_from_its_queue() -> None:
    Path("jobs/train.yaml").write_text(_queued("train", "ml"))
    Path("queues.yaml").write_text(QUEUE.format(name="c", quota=8))
    assert "unknown-queue-object" not in run("validate").out
    Path("trainc.yaml").write_text("namespace: prod\n")
    assert 'LocalQueue "gpu" in namespace "ml", but not in "prod"' in run("validate").out
    Path("trainc.yaml").write_text("namespaceSuffix: -prod\n")
    assert "unknown-queue-object" not in run("validate").out


def _queued(name: str, namespace: str) -> str:
    labels = f"{name}, namespace: {namespace}, labels: {{kueue.x-k8s.io/queue-name: gpu}}"
    return JOB.format(name=labels)
