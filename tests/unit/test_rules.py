"""The CRDs' own rules: rejected values, next to accepted ones."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.violations import Violation
from trainc.pipeline.checks.cel import broken_rules

MULTIKUEUE = "kueue.x-k8s.io/multikueue"


def bare_job(name: Any = "j", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


def policy(**policies: Any) -> dict[str, Any]:
    return {"spec": {"mlPolicy": policies}}


def injected(*names: Any) -> dict[str, Any]:
    return policy(torch={"envInjection": {"targets": [{"jobName": "a", "containerNames": list(names)}]}})


def data(uri: Any) -> dict[str, Any]:
    return bare_job(initializer={"dataset": {"storageUri": uri}})


IN_ORDER = {"startupPolicyOrder": "InOrder"}
ANY_ORDER = {"startupPolicyOrder": "AnyOrder"}
FREE = {"name": "a"}
DEPENDENT = {"name": "b", "dependsOn": [{"name": "a", "status": "Ready"}]}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        pytest.param("TrainJob", bare_job("a" * 63), id="trainjob-name"),
        pytest.param("TrainJob", {}, id="trainjob-name: reported elsewhere"),
        pytest.param("TrainJob", data(""), id="storage-uri: empty"),
        pytest.param("TrainJob", data("hf://org/name"), id="storage-uri"),
        pytest.param("TrainJob", bare_job(managedBy=MULTIKUEUE), id="managed-by"),
        pytest.param("TrainingRuntime", policy(torch={}, numNodes=2), id="one-ml-policy"),
        pytest.param("TrainingRuntime", policy(flux={"numProcPerNode": 1}), id="flux-processes"),
        pytest.param("TrainingRuntime", injected("a", "b"), id="node-container-injected"),
        pytest.param("JobSet", {"spec": {"startupPolicy": IN_ORDER, "replicatedJobs": [FREE]}}, id="in order"),
        pytest.param("JobSet", {"spec": {"startupPolicy": ANY_ORDER, "replicatedJobs": [FREE, DEPENDENT]}}, id="any"),
        pytest.param("JobSet", {"spec": {"replicatedJobs": [FREE, DEPENDENT]}}, id="only dependencies"),
        pytest.param(
            "JobSet",
            {"spec": {"volumeClaimPolicies": [{"templates": [{"metadata": {"name": "a", "namespace": ""}}]}]}},
            id="claim-namespace: empty",
        ),
        pytest.param("JobSet", {"spec": {"volumeClaimPolicies": "x", "startupPolicy": 1}}, id="wrong types"),
        pytest.param("TrainJob", {"metadata": 1, "spec": {"managedBy": 5, "initializer": []}}, id="more wrong types"),
    ],
)
def test_accepted(kind: str, value: Any) -> None:
    assert list(broken_rules(kind, value, DEFAULT_RELEASE)) == []


@pytest.mark.parametrize(
    ("kind", "value", "field", "rule"),
    [
        pytest.param("TrainJob", bare_job("3d-unet"), "metadata.name", "trainjob-name", id="digit first"),
        pytest.param("TrainJob", bare_job("a.b"), "metadata.name", "trainjob-name", id="dot"),
        pytest.param("TrainJob", bare_job("a" * 64), "metadata.name", "trainjob-name", id="64 characters"),
        pytest.param("TrainJob", data("datasets/c4"), "spec.initializer.dataset.storageUri", "storage-uri", id="path"),
        pytest.param("TrainJob", data("s3://"), "spec.initializer.dataset.storageUri", "storage-uri", id="bare scheme"),
        pytest.param("TrainJob", data("s3://b\n"), "spec.initializer.dataset.storageUri", "storage-uri", id="newline"),
        pytest.param(
            "TrainJob",
            bare_job(initializer={"model": {"storageUri": "x"}}),
            "spec.initializer.model.storageUri",
            "storage-uri",
            id="model",
        ),
        pytest.param("TrainJob", bare_job(managedBy=""), "spec.managedBy", "managed-by", id="empty manager"),
        pytest.param("TrainJob", bare_job(managedBy="acme.io/c"), "spec.managedBy", "managed-by", id="other manager"),
        pytest.param("TrainingRuntime", policy(torch={}, mpi={}), "spec.mlPolicy", "one-ml-policy", id="two policies"),
        pytest.param(
            "TrainingRuntime", policy(tensorflow={}, jax={}), "spec.mlPolicy", "one-ml-policy", id="ours, too"
        ),
        pytest.param(
            "ClusterTrainingRuntime",
            policy(flux={"numProcPerNode": 0}),
            "spec.mlPolicy.flux.numProcPerNode",
            "flux-processes",
            id="no processes",
        ),
        pytest.param(
            "TrainingRuntime",
            injected("a", "node"),
            "spec.mlPolicy.torch.envInjection.targets[0].containerNames",
            "node-container-injected",
            id="main container",
        ),
        pytest.param(
            "TrainingRuntime",
            {"spec": {"template": {"spec": {"startupPolicy": IN_ORDER, "replicatedJobs": [FREE, DEPENDENT]}}}},
            "spec.template.spec",
            "startup-policy-with-depends-on",
            id="order and dependencies, in a runtime",
        ),
        pytest.param(
            "JobSet",
            {"spec": {"startupPolicy": IN_ORDER, "replicatedJobs": [FREE | {"dependsOn": []}]}},
            "spec",
            "startup-policy-with-depends-on",
            id="order and an empty list of dependencies",
        ),
        pytest.param(
            "JobSet", {"spec": {"startupPolicy": IN_ORDER}}, "spec", "startup-policy-with-depends-on", id="no jobs"
        ),
        pytest.param(
            "JobSet",
            {"spec": {"volumeClaimPolicies": [{"templates": [{"metadata": {"namespace": "x"}}]}]}},
            "spec.volumeClaimPolicies[0]",
            "claim-namespace",
            id="namespace of a claim",
        ),
        pytest.param(
            "JobSet",
            {"spec": {"volumeClaimPolicies": [{"templates": [{}]}]}},
            "spec.volumeClaimPolicies[0]",
            "claim-namespace",
            id="claim without metadata",
        ),
        pytest.param(
            "JobSet",
            {"spec": {"volumeClaimPolicies": [{}]}},
            "spec.volumeClaimPolicies[0]",
            "claim-namespace",
            id="policy without claims",
        ),
    ],
)
def test_refused(kind: str, value: Any, field: str, rule: str) -> None:
    assert [(v.field, v.rule) for v in broken_rules(kind, value, DEFAULT_RELEASE)] == [(field, rule)]


def test_the_place_is_finer_than_in_the_cluster() -> None:
    jobset = {"spec": {"startupPolicy": IN_ORDER, "replicatedJobs": [FREE, DEPENDENT]}}
    [violation] = broken_rules("JobSet", jobset, DEFAULT_RELEASE)
    assert violation.path == ("spec", "replicatedJobs", 1, "dependsOn")
    assert violation.message == 'replicated job "b" has dependsOn, but startupPolicyOrder is InOrder'


@pytest.mark.parametrize(
    ("name", "message", "meant"),
    [
        ("llama-3.1", '"llama-3.1" is not a valid TrainJob name: it contains "."', "llama-3-1"),
        ("3d-unet", '"3d-unet" is not a valid TrainJob name: it starts with a digit', "job-3d-unet"),
        ("3.5", '"3.5" is not a valid TrainJob name: it starts with a digit', "job-3-5"),
    ],
)
def test_the_message_for_a_name(name: str, message: str, meant: str) -> None:
    [violation] = broken_rules("TrainJob", bare_job(name), DEFAULT_RELEASE)
    assert (violation.message, violation.help.rpartition("; for example ")[2]) == (message, meant)
    assert list(broken_rules("TrainJob", bare_job(meant), DEFAULT_RELEASE)) == []


def test_a_reported_field_is_skipped() -> None:
    reported = [Violation(path=("spec", "managedBy"), field="spec.managedBy", rule="too-long", message="")]
    value = bare_job("A", managedBy="x" * 300)
    assert [v.rule for v in broken_rules("TrainJob", value, DEFAULT_RELEASE, reported)] == ["trainjob-name"]


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("datasets/c4", 'storageUri "datasets/c4" is not a valid URI'),
        ("user:secret@host/path", "storageUri is not a valid URI"),
    ],
)
def test_what_may_be_a_password_is_not_shown(uri: str, message: str) -> None:
    [violation] = broken_rules("TrainJob", data(uri), DEFAULT_RELEASE)
    assert violation.message == message
