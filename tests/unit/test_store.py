"""The stored form: what the cluster would still fill in is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from trainc.checks.rules import broken_rules
from trainc.kubernetes.gotypes import typed
from trainc.kubernetes.structural import load
from trainc.passes.store import with_defaults, without_empty

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.mark.parametrize("case", sorted(p.parent.name for p in GOLDEN.glob("*/expected.yaml")))
def test_applying_it_again_changes_nothing(case: str) -> None:
    objects = yaml.safe_load_all((GOLDEN / case / "expected.yaml").read_text())
    for jobset in (made for made in objects if made["kind"] == "JobSet"):
        admitted = load("JobSet", "jobset-0.12").admit(jobset)
        assert (admitted.violations, admitted.unknown) == ((), ())
        assert admitted.value is jobset
        assert list(broken_rules("JobSet", jobset)) == []
        assert with_defaults(jobset["spec"]) == jobset["spec"]
        assert without_empty(typed(jobset["spec"])) is jobset["spec"]


@pytest.mark.parametrize(
    ("given", "stored"),
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
def test_defaults_of_the_webhook(given: dict[str, Any], stored: dict[str, Any]) -> None:
    expected: dict[str, Any] = {
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        **stored,
    }
    expected["network"] = {"enableDNSHostnames": True, "publishNotReadyAddresses": True, **stored.get("network", {})}
    assert with_defaults(given) == expected


@pytest.mark.parametrize(
    ("given", "left"),
    [
        pytest.param({"metadata": {}, "a": [{"resources": {}}]}, {"a": [{}]}, id="metadata and resources go"),
        pytest.param({"emptyDir": {}, "limits": {}}, {"emptyDir": {}, "limits": {}}, id="others stay"),
    ],
)
def test_empty_structs(given: Any, left: Any) -> None:
    assert without_empty(given) == left
