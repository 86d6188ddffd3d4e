"""Resources of containers and pods: rejected and accepted ones. Fields are relative to the pod's spec."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes import validation
from trainc.kubernetes.violations import Violation

GPU = "nvidia.com/gpu"
PAGES = "hugepages-2Mi"
LONGEST = ".".join(["x" * 60] * 4) + "x"
"""The longest domain to which a quota can prefix `requests.`."""


def faults(*resources: dict[str, Any], **pod: Any) -> list[Violation]:
    """Return the violations of a pod whose containers have these resources."""
    containers = [
        {"name": f"c{i}", "image": "i", "resources": requirements} for i, requirements in enumerate(resources)
    ]
    return validation.job_violations({"spec": {"template": {"spec": {"containers": containers, **pod}}}})


def fields(violations: list[Violation]) -> list[str]:
    return sorted(violation.field.removeprefix("spec.template.spec.") for violation in violations)


@pytest.mark.parametrize(
    ("limits", "requests"),
    [
        ({}, {}),
        ({"cpu": "2", "memory": "1Gi"}, {"cpu": "2000m", "memory": "1024Mi"}),
        ({"cpu": "0"}, {"memory": "0.5"}),
        ({"cpu": "1.0002"}, {"cpu": "1.001"}),
        ({GPU: "8", "rdma/hca": 1}, {GPU: "8.0"}),
        ({GPU: 0}, {}),
        ({}, {"kubernetes.io/batch-cpu": "1500m"}),
        ({"x.io/" + "y" * 63: 1, f"{LONGEST}/x": 1}, {}),
        ({PAGES: "4Mi"}, {PAGES: "4Mi", "cpu": 1}),
        ({"hugepages-1": "3", "memory": 1}, {}),
    ],
)
def test_good_container(limits: dict[str, Any], requests: dict[str, Any]) -> None:
    assert faults({"limits": limits, "requests": requests}) == []


@pytest.mark.parametrize(
    ("limits", "requests", "rules"),
    [
        ({"cpu": "-1m"}, {}, ["out-of-range limits[cpu]"]),
        ({"cpu": "1"}, {"cpu": "1001m"}, ["request-above-limit requests"]),
        ({"a.kubernetes.io/x": "1"}, {"a.kubernetes.io/x": "2"}, ["request-above-limit requests"]),
        ({GPU: 2}, {GPU: 1}, ["request-differs-from-limit requests"]),
        ({}, {GPU: 1}, ["limit-missing limits"]),
        ({GPU: "1.5"}, {}, [f"fractional-resource limits[{GPU}]"]),
        ({GPU: "-0.5"}, {}, [f"fractional-resource limits[{GPU}]", f"out-of-range limits[{GPU}]"]),
        ({}, {"gpu": 1}, ["resource-name requests[gpu]"]),
        (
            {"gpu": 1},
            {"gpu": 2},
            ["request-above-limit requests", "resource-name limits[gpu]", "resource-name requests[gpu]"],
        ),
        ({"pods": "0.5"}, {}, ["fractional-resource limits[pods]", "resource-name limits[pods]"]),
        ({f"{LONGEST}a/x": 1}, {}, [f"resource-name limits[{LONGEST}a/x]"]),
        ({}, {"requests.x.io/y": 1}, ["limit-missing limits", "resource-name requests[requests.x.io/y]"]),
        ({PAGES: "2Mi"}, {}, ["huge-pages "]),
        ({PAGES: "3Mi", "cpu": 1}, {}, [f"huge-pages limits[{PAGES}]"]),
        ({PAGES: "2Mi", "cpu": 1}, {PAGES: "4Mi"}, ["request-differs-from-limit requests"]),
        ({"cpu": 1}, {PAGES: "2Mi"}, ["limit-missing limits"]),
        ({"hugepages-0": "0", "cpu": 1}, {}, ["huge-pages limits[hugepages-0]"]),
        ({"hugepages-500m": "1", "cpu": 1}, {}, ["huge-pages limits[hugepages-500m]"]),
        ({"hugepages-": "2Mi", "cpu": 1}, {}, ["huge-pages limits[hugepages-]", "resource-name limits[hugepages-]"]),
    ],
)
def test_bad_container(limits: dict[str, Any], requests: dict[str, Any], rules: list[str]) -> None:
    found = faults({}, {"limits": limits, "requests": requests})
    base = "spec.template.spec.containers[1].resources"
    assert sorted(f"{v.rule} {v.field.removeprefix(base).removeprefix('.')}" for v in found) == rules


@pytest.mark.parametrize(
    ("pod", "wanted"),
    [
        pytest.param({"resources": {"requests": {"cpu": 3}}}, [], id="sufficient"),
        pytest.param({"resources": {"limits": {"cpu": 4}}}, [], id="no requests of its own"),
        pytest.param({"resources": {"requests": {"cpu": "2999m"}}}, ["resources.requests[cpu]"], id="total"),
        pytest.param(
            {"resources": {"limits": {"cpu": 3}}}, ["resources.containers[1][cpu].limits"], id="one container"
        ),
        pytest.param(
            {"resources": {"requests": {"memory": "1Gi", "ephemeral-storage": 1, GPU: 1}, "limits": {GPU: 1}}},
            [f"resources.limits[{GPU}]", "resources.requests[ephemeral-storage]", f"resources.requests[{GPU}]"],
            id="not for pods",
        ),
        pytest.param(
            {"resources": {"requests": {"memory": 2}, "limits": {"memory": 1}}},
            ["resources.requests"],
            id="request exceeds limit",
        ),
        pytest.param(
            {"resources": {"limits": {PAGES: "2Mi", "cpu": 4}}},
            [f"resources.containers[0][{PAGES}].limits", f"resources.limits[{PAGES}]"],
            id="huge pages",
        ),
        pytest.param(
            {"resources": {"claims": [{"name": "c"}]}}, ["resources.claims", "resources.claims[0]"], id="claims"
        ),
        pytest.param(
            {
                "resources": {"requests": {"cpu": 4}},
                "initContainers": [{"image": "i", "resources": {"requests": {"cpu": 9}}, "name": "i"}],
            },
            ["resources.requests[cpu]"],
            id="init container",
        ),
        pytest.param({"overhead": {"cpu": "1", "memory": 0}}, [], id="overhead"),
        pytest.param({"overhead": {PAGES: "2Mi"}}, ["overhead"], id="overhead of huge pages"),
        pytest.param(
            {"overhead": {"cpu": -1, "gpu": 1}}, ["overhead.limits[cpu]", "overhead.limits[gpu]"], id="bad overhead"
        ),
        pytest.param({"resourceClaims": [{"name": "a", "resourceClaimName": "a.b"}]}, [], id="claim"),
        pytest.param(
            {
                "resourceClaims": [
                    {"name": "", "resourceClaimName": ""},
                    {"name": "a.b"},
                    {"name": "c", "resourceClaimName": "c", "resourceClaimTemplateName": "C"},
                ]
            },
            [
                *("resourceClaims[0].name", "resourceClaims[0].resourceClaimName", "resourceClaims[1]"),
                *("resourceClaims[1].name", "resourceClaims[2]", "resourceClaims[2].resourceClaimTemplateName"),
            ],
            id="bad claims",
        ),
    ],
)
def test_pod(pod: dict[str, Any], wanted: list[str]) -> None:
    first = {"requests": {"cpu": 1, "memory": 1, PAGES: "4Mi"}, "limits": {PAGES: "4Mi"}}
    assert fields(faults(first, {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}, **pod)) == wanted


@pytest.mark.parametrize(
    ("claims", "wanted"),
    [
        ([{"name": "a"}, {"name": "b", "request": "r"}], []),
        ([{"name": ""}, {"name": "c"}], ["claims[0]", "claims[1]"]),
        ([{"name": "a", "request": "R"}], ["claims[0].request"]),
    ],
)
def test_claims_of_containers(claims: list[dict[str, str]], wanted: list[str]) -> None:
    declared = [{"name": name, "resourceClaimName": "x"} for name in ("a", "b")]
    found = faults({"claims": claims}, resourceClaims=declared)
    assert fields(found) == [f"containers[0].resources.{field}" for field in wanted]


@pytest.mark.parametrize(
    ("resources", "message", "help"),
    [
        (
            {"limits": {"cpu": "64"}, "requests": {"cpu": "65"}},
            "request of 65 cpu exceeds the limit of 64",
            "lower the request to 64, or raise the limit to 65",
        ),
        (
            {"limits": {"gpu": 1}},
            '"gpu" is not a container resource',
            "did you mean nvidia.com/gpu?",
        ),
        (
            {"limits": {GPU: "1500m"}},
            f"the limit of {GPU} must be an integer, not 1500m",
            "use an integer, for example 2",
        ),
        (
            {"limits": {PAGES: "3Mi", "cpu": 1}},
            f"the limit of {PAGES} must be a multiple of 2Mi, not 3Mi",
            "use a multiple of 2Mi, for example 4Mi",
        ),
        (
            {"requests": {"requests.x.io/y": 1}, "limits": {"requests.x.io/y": 1}},
            "requests.x.io/y is not a valid device name",
            "use x.io/y; the prefix is for quotas",
        ),
    ],
)
def test_messages(resources: dict[str, Any], message: str, help: str) -> None:
    assert (message, help) in [(violation.message, violation.help) for violation in faults(resources)]


def test_a_request_points_at_its_limit() -> None:
    (violation,) = faults({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}})
    resources = ("spec", "template", "spec", "containers", 0, "resources")
    assert violation.path == (*resources, "requests", "cpu")
    assert violation.related == (("the limit", (*resources, "limits", "cpu")),)
