"""Legacy jobs end as docs/legacy.md describes ("How jobs end"): a scenario for each rule and each difference."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import pytest
from cluster import scenarios
from cluster.scenarios import OF_INDEX, REMOVED, RUNNING, Scenario, assert_ends, assert_values
from cluster.server import Cluster

Tree = dict[str, Any]


role = partial(scenarios.legacy_role, "pytorch")
FOLDED: Final = {"Master": role(), "Worker": role(2)}
"""Roles whose pods are those of one Job: node-0 is the Master."""
APART: Final = {"Master": role(), "Worker": role(2, args=("work.py",))}
"""Roles with a Job for each pod."""


SCENARIOS: Final = {
    # A Master
    "master-folded": Scenario(FOLDED, {"node-0": "0"}, "Completed", ["node-0 Succeeded"]),
    "master-apart": Scenario(APART, {"master-0": "0"}, "Completed", ["master-0 Succeeded"]),
    "workers-beside-master-folded": Scenario(
        FOLDED,
        {"node-1": "0", "node-2": "0"},
        RUNNING,
        ["node-0 Running", "node-1 Succeeded", "node-2 Succeeded"],
    ),
    "workers-beside-master-apart": Scenario(
        APART,
        {"worker-0": "0", "worker-1": "0"},
        RUNNING,
        ["master-0 Running", "worker-0 Succeeded", "worker-1 Succeeded"],
    ),
    # No Master
    "all-workers": Scenario(
        {"Worker": role(2)},
        {"worker-0": "0", "worker-1": "0 after 2"},
        "Completed",
        ["worker-0 Succeeded", "worker-1 Succeeded"],
    ),
    "one-worker": Scenario(
        {"Worker": role(2)},
        {"worker-0": "0"},
        RUNNING,
        ["worker-0 Succeeded", "worker-1 Running"],
    ),
    "one-elastic-worker": Scenario(
        {"Worker": role(2)},
        {"worker-1": "0"},
        "Completed",
        ["worker-1 Succeeded"],
        {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}},
    ),
    "one-elastic-worker-beside-master": Scenario(
        FOLDED,
        {"node-1": "0"},
        RUNNING,
        ["node-0 Running", "node-1 Succeeded", "node-2 Running"],
        {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}},
    ),
    # restartPolicy: OnFailure. The limit of a Job that sets none is 6.
    "restarts-folded": Scenario(
        FOLDED,
        {"node-0": "1,1,1,1,1,1,1,0", "node-1": "1,-"},
        "Completed",
        ["node-0 Succeeded, restarts: 7"],
    ),
    "restarts-apart": Scenario(
        APART,
        {"master-0": "1,-", "worker-0": "137,0", "worker-1": "1,1,1,1,1,1,1,0"},
        RUNNING,
        ["master-0 Running, restarts: 1", "worker-0 Succeeded, restarts: 1", "worker-1 Succeeded, restarts: 7"],
    ),
    "backoff-limit-0": Scenario(
        FOLDED,
        {"node-1": "1,-"},
        "Failed",
        [],
        {"runPolicy": {"backoffLimit": 0}},
    ),
    "backoff-limit-of-one-job": Scenario(
        FOLDED,
        {"node-1": "1,-", "node-2": "1,-"},
        "Failed",
        [],
        {"runPolicy": {"backoffLimit": 2}},
    ),
    "backoff-limit-of-each-job": Scenario(
        APART,
        {"worker-0": "1,-", "worker-1": "1,-"},
        RUNNING,
        ["master-0 Running", "worker-0 Running, restarts: 1", "worker-1 Running, restarts: 1"],
        {"runPolicy": {"backoffLimit": 2}},
    ),
    "backoff-limit-in-a-job": Scenario(
        APART,
        {"worker-0": "1,1,-"},
        "Failed",
        [],
        {"runPolicy": {"backoffLimit": 2}},
    ),
    # restartPolicy: Always
    "always": Scenario(
        {"Master": role(), "Worker": role(2, "Always")},
        {"worker-0": "0", "worker-1": "1,0"},
        RUNNING,
        ["master-0 Running", "worker-0 Succeeded", "worker-1 Succeeded, restarts: 1"],
    ),
    "always-of-master": Scenario(
        {"Master": role(1, "Always"), "Worker": role(2, "Always")},
        {"node-0": "1,0"},
        "Completed",
        ["node-0 Succeeded, restarts: 1"],
    ),
    # restartPolicy: Never
    "never": Scenario(
        {"Master": role(), "Worker": role(2, "Never")},
        {"worker-1": "1"},
        "Failed",
        ["worker-1 Failed"],
        {"runPolicy": {"backoffLimit": 5}},
    ),
    # restartPolicy: ExitCode
    "exit-code-1": Scenario(
        {"Worker": role(2, "ExitCode")},
        {"worker-0": "1,0"},
        "Failed",
        ["worker-0 Failed"],
    ),
    "exit-code-127": Scenario(
        {"Worker": role(2, "ExitCode")},
        {"worker-0": "127,0"},
        "Failed",
        ["worker-0 Failed"],
    ),
    "exit-codes-128-and-255": Scenario(
        {"Worker": role(2, "ExitCode")},
        {"worker-0": "128,0", "worker-1": "255,0"},
        "Completed",
        ["worker-0 Failed", "worker-0 Succeeded", "worker-1 Failed", "worker-1 Succeeded"],
        {"runPolicy": {"backoffLimit": 1}},
    ),
    "exit-code-137-and-backoff-limit-0": Scenario(
        {"Worker": role(2, "ExitCode")},
        {"worker-0": "137,0"},
        "Failed",
        ["worker-0 Failed"],
        {"runPolicy": {"backoffLimit": 0}},
    ),
    # cleanPodPolicy: a finished worker stays, and a running one does not
    "clean-none": Scenario(
        FOLDED,
        {"node-0": "0 after 10", "node-1": "0"},
        "Completed",
        ["node-0 Succeeded", "node-1 Succeeded"],
        {"runPolicy": {"cleanPodPolicy": "None"}},
    ),
    "clean-all": Scenario(
        APART,
        {"master-0": "0 after 10", "worker-0": "0"},
        "Completed",
        ["master-0 Succeeded", "worker-0 Succeeded"],
        {"runPolicy": {"cleanPodPolicy": "All"}},
    ),
    # activeDeadlineSeconds
    "deadline-folded": Scenario(FOLDED, {}, "Failed", [], {"runPolicy": {"activeDeadlineSeconds": 20}}),
    "deadline-apart": Scenario(APART, {}, "Failed", [], {"runPolicy": {"activeDeadlineSeconds": 20}}),
    # ttlSecondsAfterFinished
    "ttl": Scenario(FOLDED, {"node-0": "0"}, REMOVED, [], {"runPolicy": {"ttlSecondsAfterFinished": 1}}),
    "ttl-after-exit-code-1": Scenario(
        {"Worker": role(2, "ExitCode")},
        {"worker-0": "1"},
        REMOVED,
        [],
        {"runPolicy": {"ttlSecondsAfterFinished": 1}},
    ),
}


def test_ends(alive: Cluster) -> None:
    """All jobs run at once. Those that run on do so until the last of the others has ended."""
    assert_ends(alive, alive.namespace("legacy"), SCENARIOS)


def test_suspend(alive: Cluster) -> None:
    """A suspended job has no running pods. It creates them again when it resumes, but not those that have succeeded."""
    namespace = alive.namespace("legacy")
    endings = {"node-0": "-,0", "node-1": "0"}
    suspended = Scenario(FOLDED, endings, "Suspended", [], {"runPolicy": {"suspend": True}})
    running = Scenario(FOLDED, endings, RUNNING, ["node-0 Running", "node-1 Succeeded", "node-2 Running"])
    completed = running._replace(end="Completed", pods=["node-0 Succeeded", "node-1 Succeeded"])
    for scenario in (suspended, running, suspended._replace(pods=["node-1 Succeeded"]), completed):
        assert_ends(alive, namespace, {"mnist": scenario})


@pytest.mark.parametrize(
    ("roles", "variable", "values"),
    [
        (FOLDED, "RANK", {"node-0": "0", "node-1": "1", "node-2": "2"}),
        (APART, "RANK", {"master-0": "0", "worker-0": "1", "worker-1": "2"}),
        (
            {"Master": role(env=(OF_INDEX,)), "Worker": role(2, env=(OF_INDEX,))},
            "INDEX",
            {"master-0": "0", "worker-0": "0", "worker-1": "1"},
        ),
        ({"Worker": role(2, env=(OF_INDEX,))}, "INDEX", {"worker-0": "0", "worker-1": "1"}),
    ],
    ids=["rank-folded", "rank-apart", "index-apart", "index-of-workers"],
)
def test_variables(alive: Cluster, roles: Tree, variable: str, values: dict[str, str]) -> None:
    """The controllers set the fields of a pod that its variables refer to."""
    assert_values(alive, alive.namespace("legacy"), Scenario(roles, {}, RUNNING, []), variable, values)
