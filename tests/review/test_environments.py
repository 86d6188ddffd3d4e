"""Edits of settings that transform documents: each is the cause of the changes in the objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from review.situations import review

from trainc.review.formats import load

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer: {{image: "acme/trainer:v1"}}
"""
JOBS = {f"{name}.yaml": JOB.format(name=name) for name in ("a", "b")}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(text: str) -> dict[str, str]:
    return {**JOBS, "trainc.yaml": text}


def causes(folder: Path, old: str, new: str) -> list[str]:
    """Return each cause with its line and side, the edited field, and the number of objects."""
    found = review(folder, settings(old), settings(new))
    assert not found.failed
    return [
        f"{group.cause.at.file}:{group.cause.at.line}{' (old)' if group.cause.gone else ''} {group.cause.by}: "
        f"{group.cause.field}, {len(group.objects)}"
        for group in found.groups()
        if group.cause is not None
    ]


IMAGES = "lint: {}\nimages:\n- {name: acme/trainer, newTag: %s}\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            IMAGES % "v2", IMAGES % "v3", ["after/trainc.yaml:3 trainc.yaml: spec.trainer.image, 2"], id="a tag"
        ),
        pytest.param(
            IMAGES % "v2",
            "lint: {}\n",
            ["before/trainc.yaml:3 (old) trainc.yaml: spec.trainer.image, 2"],
            id="no tag",
        ),
        pytest.param(
            "lint: {}\n", IMAGES % "v2", ["after/trainc.yaml:3 trainc.yaml: spec.trainer.image, 2"], id="a new tag"
        ),
        pytest.param(
            "labels: {a: b}\n",
            "labels: {a: c}\n",
            ["after/trainc.yaml:1 trainc.yaml: metadata.labels.a, 2"],
            id="a label",
        ),
        pytest.param(
            "labels:\n  a: b\n  c: d\n",
            "labels:\n  a: b\n",
            ["before/trainc.yaml:3 (old) trainc.yaml: metadata.labels.c, 2"],
            id="a removed label",
        ),
    ],
)
def test_an_edited_setting_is_the_cause(old: str, new: str, expected: list[str], tmp_path: Path) -> None:
    assert causes(tmp_path, old, new) == expected


def test_an_edited_trainjob_stays_the_cause_beside_a_setting(tmp_path: Path) -> None:
    edited = {"a.yaml": JOBS["a.yaml"].replace("name: a", "name: a\n  labels: {x: z}")}
    old, new = settings("labels: {team: b}\n"), settings("labels: {team: b}\n") | edited
    (group,) = review(tmp_path, old, new).groups()
    assert group.cause is not None
    assert (group.cause.by, group.cause.at.file, group.cause.at.line) == ("the TrainJob", "after/a.yaml", 5)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (IMAGES % "v2", IMAGES % "v3", {"images[acme/trainer].newTag": 2}),
        (IMAGES % "v2", "lint: {}\n", {"images": 2}),
        ("labels: {a: b, c: d}\n", "labels: {a: c}\n", {"labels.a": 2, "labels.c": 2}),
        ("annotations: {trainc.dev/x: a}\n", "annotations: {trainc.dev/x: b}\n", {'annotations["trainc.dev/x"]': 0}),
    ],
)
def test_a_setting_names_the_objects_that_it_changes(
    old: str, new: str, expected: dict[str, int], tmp_path: Path
) -> None:
    found = review(tmp_path, settings(old), settings(new))
    assert {setting.change.field: len(setting.objects) for setting in found.settings} == expected


def test_the_review_of_an_edited_tag(tmp_path: Path) -> None:
    text = load("text")(review(tmp_path, settings(IMAGES % "v2"), settings(IMAGES % "v3")), color=False)
    assert text.partition("\n\n")[2] == (
        "after/trainc.yaml:3: setting images[acme/trainer].newTag: v2 -> v3\n"
        "  changes 2 JobSets: a, b\n\n"
        "after/trainc.yaml:3: trainc.yaml, spec.trainer.image: acme/trainer:v2 -> acme/trainer:v3\n"
        "  changes 2 JobSets: a, b\n"
        "  must be recreated: the field is immutable\n"
        "    spec.replicatedJobs[node].template.spec.template.spec.containers[node].image: "
        "acme/trainer:v2 -> acme/trainer:v3\n"
    )
