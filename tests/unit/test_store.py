"""The stored form: the cluster has no defaults left to fill in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from batches import one_in_four

from trainc.base.releases import DEFAULT_RELEASE
from trainc.kubernetes.gotypes import stored
from trainc.kubernetes.structural import load
from trainc.pipeline.checks.cel import broken_rules
from trainc.pipeline.passes.store import with_defaults

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.mark.parametrize("case", one_in_four(sorted(p.parent.name for p in GOLDEN.glob("*/expected.yaml"))))
def test_applying_it_again_changes_nothing(case: str) -> None:
    objects = yaml.safe_load_all((GOLDEN / case / "expected.yaml").read_text())
    for jobset in (made for made in objects if made["kind"] == "JobSet"):
        admitted = load("JobSet", "jobset-0.12").admit(jobset)
        assert (admitted.violations, admitted.unknown) == ((), ())
        assert admitted.value is jobset
        assert list(broken_rules("JobSet", jobset, DEFAULT_RELEASE)) == []
        assert with_defaults(jobset["spec"]) == jobset["spec"]
        assert stored(jobset["spec"]) is jobset["spec"]


@pytest.mark.parametrize(
    ("given", "filled"),
    [
        pytest.param({}, {}, id="what is always there"),
        pytest.param({"network": {"subdomain": "s"}}, {"network": {"subdomain": "s"}}, id="network"),
        pytest.param({"successPolicy": {"operator": "Any"}}, {"successPolicy": {"operator": "Any"}}, id="success"),
        pytest.param(
            {"failurePolicy": {"rules": [{"action": "FailJobSet"}, {"action": "FailJobSet", "name": "own"}]}},
            {
                "failurePolicy": {
                    "rules": [
                        {"action": "FailJobSet", "name": "failurePolicyRule0"},
                        {"action": "FailJobSet", "name": "own"},
                    ]
                }
            },
            id="names of failure rules",
        ),
        pytest.param(
            {"volumeClaimPolicies": [{"templates": []}, {"retentionPolicy": {"whenDeleted": "Retain"}}]},
            {
                "volumeClaimPolicies": [
                    {"templates": [], "retentionPolicy": {"whenDeleted": "Delete"}},
                    {"retentionPolicy": {"whenDeleted": "Retain"}},
                ]
            },
            id="claims",
        ),
        pytest.param(
            {"replicatedJobs": [{"template": {"spec": {"template": {"spec": {}}}}}]},
            {
                "replicatedJobs": [
                    {
                        "template": {
                            "spec": {
                                "completionMode": "Indexed",
                                "template": {"spec": {"restartPolicy": "OnFailure"}},
                            }
                        }
                    }
                ]
            },
            id="jobs",
        ),
        pytest.param(
            {
                "replicatedJobs": [
                    {
                        "template": {
                            "spec": {"completionMode": "NonIndexed", "template": {"spec": {"restartPolicy": "Never"}}}
                        }
                    }
                ]
            },
            {
                "replicatedJobs": [
                    {
                        "template": {
                            "spec": {"completionMode": "NonIndexed", "template": {"spec": {"restartPolicy": "Never"}}}
                        }
                    }
                ]
            },
            id="jobs that say it themselves",
        ),
    ],
)
def test_defaults_of_the_webhook(given: dict[str, Any], filled: dict[str, Any]) -> None:
    expected: dict[str, Any] = {
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        **filled,
    }
    expected["network"] = {"enableDNSHostnames": True, "publishNotReadyAddresses": True, **filled.get("network", {})}
    assert with_defaults(given) == expected


@pytest.mark.parametrize(
    ("given", "left"),
    [
        pytest.param({"metadata": {}}, {}, id="metadata goes"),
        pytest.param({"metadata": {"labels": {}}}, {}, id="and with nothing in it"),
        pytest.param(
            {"spec": {"containers": [{"name": "a", "resources": {}}]}},
            {"spec": {"containers": [{"name": "a"}]}},
            id="resources go",
        ),
        pytest.param({"spec": {"resources": {"limits": {}}}}, {"spec": {}}, id="and a pod's"),
        pytest.param({"spec": {"securityContext": {}}}, {"spec": {"securityContext": {}}}, id="others stay"),
    ],
)
def test_empty_structs(given: dict[str, Any], left: dict[str, Any]) -> None:
    (job,) = stored({"replicatedJobs": [{"name": "a", "template": {"spec": {"template": given}}}]})["replicatedJobs"]
    assert job["template"]["spec"]["template"] == left
