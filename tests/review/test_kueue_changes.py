"""Kueue's webhook on a change of a JobSet: the rules of ValidateJobOnUpdate in Kueue v0.19.2, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import run

from trainc.pipeline.checks.kueue_webhook.kueue_changes import kueue_changes

DOMAIN = "kueue.x-k8s.io/"
QUEUE, PREBUILT, SECONDS, PRIORITY, ELASTIC, GATES = (
    DOMAIN + key
    for key in (
        "queue-name",
        "prebuilt-workload-name",
        "max-exec-time-seconds",
        "priority-class",
        "elastic-job",
        "admission-gated-by",
    )
)


def jobset(key: str, value: str | None, suspend: bool, *, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """Return a JobSet with a label, or an annotation if Kueue reads it there."""
    labels: dict[str, str] = {}
    annotations = dict(annotations or {})
    if value is not None:
        (annotations if key in (ELASTIC, GATES) else labels)[key] = value
    return {"metadata": {"name": "a", "labels": labels, "annotations": annotations}, "spec": {"suspend": suspend}}


def accepted(key: str, old: str | None, new: str | None) -> list[bool]:
    """Return whether a change is accepted if the JobSet runs, is resumed, is suspended by the change, is suspended."""
    states = [(False, False), (True, False), (False, True), (True, True)]
    return [
        all(each.accepted for each in kueue_changes(jobset(key, old, before), jobset(key, new, after)))
        for before, after in states
    ]


NEVER, ALWAYS = [False] * 4, [True] * 4
IF_SUSPENDED_AFTER = [False, False, True, True]
IF_SUSPENDED_THROUGHOUT = [False, False, False, True]


@pytest.mark.parametrize(
    ("key", "old", "new", "wanted"),
    [
        (QUEUE, "a", "a", ALWAYS),
        (QUEUE, "a", "b", IF_SUSPENDED_AFTER),
        (QUEUE, None, "a", IF_SUSPENDED_AFTER),
        (QUEUE, "a", None, IF_SUSPENDED_AFTER),
        (QUEUE, "", None, ALWAYS),
        (PREBUILT, "a", "b", IF_SUSPENDED_AFTER),
        (PREBUILT, None, "a", IF_SUSPENDED_AFTER),
        (PREBUILT, "a", None, IF_SUSPENDED_AFTER),
        (SECONDS, "60", "90", IF_SUSPENDED_THROUGHOUT),
        (SECONDS, None, "90", IF_SUSPENDED_THROUGHOUT),
        (SECONDS, "60", None, IF_SUSPENDED_THROUGHOUT),
        (PRIORITY, "low", "high", ALWAYS),
        (PRIORITY, None, "high", IF_SUSPENDED_AFTER),
        (PRIORITY, "", "high", IF_SUSPENDED_AFTER),
        (PRIORITY, "low", None, NEVER),
        (PRIORITY, "low", "", NEVER),
        (ELASTIC, "true", None, NEVER),
        (ELASTIC, None, "true", NEVER),
        (ELASTIC, "true", "false", NEVER),
        (ELASTIC, "false", None, ALWAYS),
        (GATES, "a.io/b,a.io/c", "a.io/c", ALWAYS),
        (GATES, "a.io/b,a.io/c", "a.io/c, a.io/b", ALWAYS),
        (GATES, "a.io/b", None, ALWAYS),
        (GATES, "a.io/b", "a.io/c", NEVER),
        (GATES, None, "a.io/b", NEVER),
        (GATES, "", "a.io/b", NEVER),
    ],
)
def test_a_change(key: str, old: str | None, new: str | None, wanted: list[bool]) -> None:
    assert accepted(key, old, new) == wanted


def test_the_annotation_of_a_prebuilt_workload_counts_before_the_label() -> None:
    of_annotation = {PREBUILT: "a"}
    same = kueue_changes(jobset(PREBUILT, "a", False), jobset(PREBUILT, "b", False, annotations=of_annotation))
    assert same == []
    other = kueue_changes(jobset(PREBUILT, "b", False), jobset(PREBUILT, "b", False, annotations=of_annotation))
    assert [(each.path, each.accepted) for each in other] == [(("metadata", "annotations", PREBUILT), False)]


def test_an_elastic_job_accepts_another_prebuilt_workload() -> None:
    elastic = {ELASTIC: "true"}
    old, new = (jobset(PREBUILT, value, False, annotations=elastic) for value in "ab")
    assert [each.accepted for each in kueue_changes(old, new)] == [True]


# In a review

TRAINJOB: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "a", "namespace": "ns"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"image": "acme/ft:1"}},
}


def reviewed(monkeypatch: pytest.MonkeyPatch, folder: Path, old: Any, new: Any) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    for name, tree in (("old", old), ("new", new)):
        Path(f"{name}.json").write_text(json.dumps(tree))
    done = run("diff", "old.json", "new.json", "--format", "json")
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)["objects"]
    return dict(found)


def with_metadata(**metadata: Any) -> dict[str, Any]:
    return TRAINJOB | {"metadata": TRAINJOB["metadata"] | metadata}


@pytest.mark.parametrize(
    ("old", "new", "effect", "why"),
    [
        ({"labels": {PREBUILT: "a"}}, {"labels": {PREBUILT: "b"}}, "while-suspended", "a running JobSet"),
        ({"annotations": {PREBUILT: "a"}}, {"annotations": {PREBUILT: "b"}}, "while-suspended", "a running JobSet"),
        ({"annotations": {GATES: "a.io/b"}}, {"annotations": {GATES: "a.io/c"}}, "new-object", "every existing JobSet"),
        ({"labels": {PRIORITY: "a"}}, {"labels": {PRIORITY: "b"}}, "in-place", ""),
    ],
)
def test_the_effect_of_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: Any, new: Any, effect: str, why: str
) -> None:
    (change,) = reviewed(monkeypatch, tmp_path, with_metadata(**old), with_metadata(**new))["changes"]
    assert change["effect"] == effect
    assert change.get("why", "").endswith(why)


@pytest.fixture
def rendered(tmp_path: Path) -> dict[str, Any]:
    """Return a compiled JobSet."""
    path = tmp_path / "job.json"
    path.write_text(json.dumps(TRAINJOB))
    found: dict[str, Any] = json.loads(run("build", str(path), "--format", "json").out)[0]
    return found


def annotated(jobset: dict[str, Any], **annotations: str) -> dict[str, Any]:
    return jobset | {"metadata": jobset["metadata"] | {"annotations": annotations}}


def test_the_elastic_annotation_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rendered: dict[str, Any]
) -> None:
    found = reviewed(monkeypatch, tmp_path, annotated(rendered, **{ELASTIC: "true"}), annotated(rendered))
    assert found["effect"] == "new-object"
    assert [each["field"] for each in found["refused"]] == [f"metadata.annotations.{ELASTIC}"]


def test_the_rules_for_a_new_jobset_apply_to_the_changed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rendered: dict[str, Any]
) -> None:
    found = reviewed(monkeypatch, tmp_path, rendered, annotated(rendered, **{PREBUILT: "A"}))
    assert (found["effect"], found["allowed"]) == ("refused", False)
