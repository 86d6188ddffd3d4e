"""Changes of a JobSet that the API server rejects: each at its own field, with its message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trainc
from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.trees import Path as TreePath
from trainc.kubernetes.trees import put
from trainc.kubernetes.violations import field_of
from trainc.pipeline.checks.jobset import update

GOLDEN = Path(__file__).parents[2] / "golden"
OLD = put(trainc.compile([str(GOLDEN / "kueue-queue" / "input.yaml")]).objects[0], ("spec", "suspend"), True)
RUNNING = put(OLD, ("spec", "suspend"), False)
WITHOUT = put(RUNNING, ("spec",), {key: part for key, part in RUNNING["spec"].items() if key != "failurePolicy"})
JOB: TreePath = ("spec", "replicatedJobs", 0)
POD: TreePath = (*JOB, "template", "spec", "template")
NODE: TreePath = (*POD, "spec", "containers", 0)
RECREATE = "create the JobSet under another name (--name-suffix-hash), or delete the old one first"
SUSPEND = "suspend the JobSet in the same change"


@pytest.mark.parametrize(
    ("path", "value", "of_server", "message", "help"),
    [
        pytest.param(
            (*NODE, "image"),
            "x:2",
            "spec.replicatedJobs",
            '{path} is immutable: it cannot change from "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime" to "x:2"',
            RECREATE,
            id="an image",
        ),
        pytest.param(
            (*NODE, "tty"),
            True,
            "spec.replicatedJobs",
            "{path} is immutable: true cannot be added",
            RECREATE,
            id="added",
        ),
        pytest.param(
            (*POD, "spec", "nodeSelector"),
            {"pool": "a"},
            "spec.replicatedJobs",
            '{path} is immutable: {{"pool": "a"}} cannot be added',
            SUSPEND,
            id="what may change while suspended",
        ),
        pytest.param(
            (*POD, "metadata", "labels"),
            {"team": "a"},
            "spec.replicatedJobs",
            '{pod}.metadata is immutable: {{"labels": {{"team": "a"}}}} cannot be added',
            SUSPEND,
            id="a pod's first label",
        ),
        pytest.param(
            ("spec", "network", "enableDNSHostnames"),
            False,
            "spec.network",
            "{path} is immutable: it cannot change from true to false",
            RECREATE,
            id="a policy",
        ),
        pytest.param(
            ("spec", "managedBy"),
            "a.io/b",
            "spec.managedBy",
            '{path} is immutable: "a.io/b" cannot be added',
            RECREATE,
            id="who manages it",
        ),
        pytest.param(
            ("metadata", "name"),
            "other",
            "metadata.name",
            '{path} is immutable: it cannot change from "ranker" to "other"',
            "delete the old object if it is no longer needed",
            id="another object",
        ),
    ],
)
def test_refused(path: TreePath, value: Any, of_server: str, message: str, help: str) -> None:
    (violation,) = update.refused(RUNNING, put(RUNNING, path, value), DEFAULT_RELEASE)
    assert violation.message == message.format(path=field_of(path), pod=field_of(POD))
    assert (violation.rule, violation.field, violation.help) == ("immutable", of_server, help)


@pytest.mark.parametrize(
    ("old", "path", "value"),
    [
        pytest.param(RUNNING, ("spec", "suspend"), True, id="suspend"),
        pytest.param(OLD, ("spec", "suspend"), False, id="resume"),
        pytest.param(RUNNING, ("spec", "ttlSecondsAfterFinished"), 60, id="how long it stays"),
        pytest.param(WITHOUT, ("spec", "failurePolicy"), {"maxRestarts": 1}, id="a policy that was not there"),
        pytest.param(RUNNING, ("metadata", "labels"), {}, id="labels of the JobSet"),
        pytest.param(OLD, (*POD, "metadata", "labels"), {"team": "a"}, id="labels of pods, suspended"),
        pytest.param(OLD, (*POD, "spec", "schedulingGates"), [{"name": "a.io/b"}], id="gates, suspended"),
        pytest.param(RUNNING, (*NODE, "resources", "limits", "nvidia.com/gpu"), "4000m", id="the same quantity"),
        pytest.param(RUNNING, (*NODE, "args"), [], id="an empty list for none"),
    ],
)
def test_not_refused(old: dict[str, Any], path: TreePath, value: Any) -> None:
    assert update.refused(old, put(old, path, value), DEFAULT_RELEASE) == []


def test_what_kueue_sets_is_taken_in_the_change_that_starts_the_jobset() -> None:
    started = put(put(OLD, ("spec", "suspend"), False), (*POD, "spec", "nodeSelector"), {"pool": "a"})
    assert update.refused(OLD, started, DEFAULT_RELEASE) == []
    assert update.refused(OLD, put(started, (*NODE, "image"), "x:2"), DEFAULT_RELEASE)


def test_an_invalid_object_is_reported_by_the_object_rules() -> None:
    wrong = put(RUNNING, ("spec", "ttlSecondsAfterFinished"), -1)
    assert [violation.rule for violation in update.refused(RUNNING, wrong, DEFAULT_RELEASE)] == ["out-of-range"]
