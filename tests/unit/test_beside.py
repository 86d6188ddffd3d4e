"""Errors in Jobs and pods beside schema errors: those that do not depend on the rejected fields, and no follow-ups."""

from __future__ import annotations

import json

import pytest
from running import run

HEAD = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: j}
spec:
  runtimeRef: {name: torch-distributed}
"""
PATCH = """  runtimePatches:
  - manager: a.io/x
    trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: %s}}}}]}}}
"""
MOUNT = "{containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]%s}"
WRONG_ENV = "    env: [{name: A=, value: x}]\n"


def ids(text: str) -> list[str]:
    done = run("validate", "-", "--format", "json", stdin=(HEAD + text).encode())
    return sorted(found["id"] for found in json.loads(done.out) if found["severity"] == "error")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("  suspend: x\n  trainer:\n" + WRONG_ENV, ["invalid-name", "wrong-type"], id="another field"),
        pytest.param("  trainer:\n    numNodes: x\n" + WRONG_ENV, ["invalid-name", "wrong-type"], id="a field beside"),
        pytest.param("  nodes: 2\n  trainer:\n" + WRONG_ENV, ["invalid-name", "unknown-field"], id="an unknown field"),
        pytest.param(
            "  suspend: x\n" + PATCH % (MOUNT % ""), ["volume-missing", "wrong-type"], id="a volume that is nowhere"
        ),
        pytest.param("  suspend: x\n  trainer:\n    image: ''\n", ["required", "wrong-type"], id="an empty image"),
        pytest.param("  trainer:\n    numNodes: x\n    image: ''\n", ["required", "wrong-type"], id="beside an image"),
    ],
)
def test_an_independent_error_is_reported(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PATCH % (MOUNT % ", volumes: [{name: data, emptyDir: 4}]"), ["wrong-type"], id="one volume"),
        pytest.param(PATCH % (MOUNT % ", volumes: 4"), ["wrong-type"], id="rejected volumes"),
        pytest.param(PATCH % (MOUNT % ", volume: [{name: data}]"), ["unknown-field"], id="misspelled volumes"),
        pytest.param(
            "  volumes: [{name: data, emptyDir: {}}]\n" + PATCH % (MOUNT % ""), ["unknown-field"], id="elsewhere"
        ),
        pytest.param(
            "  trainer:\n    resourcesPerNode: {requests: {cpu: 64}, limits: {cpu: x}}\n", ["quantity"], id="a limit"
        ),
        pytest.param(
            "  trainer:\n    resourcesPerNode: {requests: {cpu: x}, limits: {nvidia.com/gpu: 1500m}}\n",
            ["fractional-resource", "quantity"],
            id="another limit",
        ),
        pytest.param(
            PATCH % "{volumes: [{name: data, persistentvolumeclaim: {claimName: c}}]}",
            ["unknown-field"],
            id="a misspelled source",
        ),
        pytest.param("  runtimeRef: 4\n  trainer:\n" + WRONG_ENV, ["yaml"], id="a key that is already set"),
    ],
)
def test_a_follow_up_is_not_reported(text: str, expected: list[str]) -> None:
    assert ids(text) == expected
