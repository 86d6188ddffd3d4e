"""MPIJobs end as docs/legacy.md describes ("MPIJobs"): the launcher decides, and workers come and go."""

from __future__ import annotations

from functools import partial
from typing import Final

from cluster import scenarios
from cluster.scenarios import OF_INDEX, REMOVED, RUNNING, Scenario, assert_ends, assert_values
from cluster.server import Cluster

role = partial(scenarios.legacy_role, "mpi")
MPIJOB: Final = partial(Scenario, kind="MPIJob")
BOTH: Final = {"Launcher": role(), "Worker": role(2)}
WAITS: Final = {"launcherCreationPolicy": "WaitForWorkersReady"}
GATES: Final = [{"name": "acme.io/quota"}]
"""Pods with a scheduling gate do not start."""

SCENARIOS: Final = {
    # The launcher
    "launcher": MPIJOB(BOTH, {"launcher-0": "0"}, "Completed", ["launcher-0 Succeeded"]),
    "launcher-restarts": MPIJOB(BOTH, {"launcher-0": "1,1,0"}, "Completed", ["launcher-0 Succeeded, restarts: 2"]),
    "launcher-default-limit": MPIJOB(BOTH, {"launcher-0": "1,1,1,1,1,1,1,0"}, "Failed", []),
    "launcher-limit": MPIJOB(BOTH, {"launcher-0": "1,-"}, "Failed", [], {"runPolicy": {"backoffLimit": 0}}),
    "launcher-never": MPIJOB(
        {"Launcher": role(1, "Never"), "Worker": role(2)},
        {"launcher-0": "1,0"},
        "Completed",
        ["launcher-0 Failed", "launcher-0 Succeeded"],
        {"runPolicy": {"backoffLimit": 1}},
    ),
    "launcher-never-limit": MPIJOB(
        {"Launcher": role(1, "Never"), "Worker": role(2)},
        {"launcher-0": "1"},
        "Failed",
        ["launcher-0 Failed"],
        {"runPolicy": {"backoffLimit": 0}},
    ),
    "launcher-alone": MPIJOB({"Launcher": role()}, {"launcher-0": "0"}, "Completed", ["launcher-0 Succeeded"]),
    # Workers
    "worker-fails": MPIJOB(
        BOTH,
        {"worker-1": "1,-"},
        RUNNING,
        ["launcher-0 Running", "worker-0 Running", "worker-1 Failed", "worker-1 Running"],
    ),
    "worker-succeeds": MPIJOB(
        BOTH, {"worker-1": "0"}, RUNNING, ["launcher-0 Running", "worker-0 Running", "worker-1 Succeeded"]
    ),
    "workers-succeed": MPIJOB(
        BOTH,
        {"worker-0": "0", "worker-1": "0"},
        RUNNING,
        ["launcher-0 Running", "worker-0 Succeeded", "worker-1 Succeeded"],
    ),
    "worker-fails-and-launcher-succeeds": MPIJOB(
        BOTH, {"launcher-0": "0 after 3", "worker-0": "1 after 2"}, "Completed", ["launcher-0 Succeeded"]
    ),
    "worker-restarts-beyond-the-limit": MPIJOB(
        {"Launcher": role(), "Worker": role(2, "OnFailure")},
        {"worker-0": "1,1,1,-"},
        RUNNING,
        ["launcher-0 Running", "worker-0 Running, restarts: 3", "worker-1 Running"],
        {"runPolicy": {"backoffLimit": 0}},
    ),
    # cleanPodPolicy: workers that have ended are deleted with the others
    **{
        f"clean-{policy.lower()}": MPIJOB(
            BOTH,
            {"launcher-0": "0 after 5", "worker-0": "0"},
            "Completed",
            ["launcher-0 Succeeded"],
            {"runPolicy": {"cleanPodPolicy": policy}},
        )
        for policy in ("None", "Running", "All")
    },
    "clean-after-all-workers": MPIJOB(
        BOTH,
        {"launcher-0": "0 after 5", "worker-0": "0", "worker-1": "0"},
        "Completed",
        ["launcher-0 Succeeded", "worker-0 Succeeded", "worker-1 Succeeded"],
        {"runPolicy": {"cleanPodPolicy": "All"}},
    ),
    # activeDeadlineSeconds, ttlSecondsAfterFinished
    "deadline": MPIJOB(BOTH, {}, "Failed", [], {"runPolicy": {"activeDeadlineSeconds": 20}}),
    "ttl": MPIJOB(BOTH, {"launcher-0": "0"}, REMOVED, [], {"runPolicy": {"ttlSecondsAfterFinished": 1}}),
    # launcherCreationPolicy
    "waits-for-workers": MPIJOB(
        {"Launcher": role(), "Worker": role(2, schedulingGates=GATES)},
        {},
        RUNNING,
        ["worker-0 Pending", "worker-1 Pending"],
        WAITS,
    ),
    "does-not-wait": MPIJOB(
        {"Launcher": role(), "Worker": role(2, schedulingGates=GATES)},
        {},
        RUNNING,
        ["launcher-0 Running", "worker-0 Pending", "worker-1 Pending"],
    ),
    "workers-are-ready": MPIJOB(
        BOTH, {"launcher-0": "0"}, "Completed", ["launcher-0 Succeeded"], WAITS
    ),
}  # fmt: skip


def test_ends(alive: Cluster) -> None:
    """All jobs run at once. Those that run on do so until the last of the others has ended."""
    assert_ends(alive, alive.namespace("mpi"), SCENARIOS)


def test_indexes(alive: Cluster) -> None:
    """If the launcher is a worker, too, the indexes of the others begin with 1."""
    roles = {"Launcher": role(env=(OF_INDEX,)), "Worker": role(2, env=(OF_INDEX,))}
    values = {"launcher-0": "0", "worker-0": "1", "worker-1": "2"}
    scenario = MPIJOB(roles, {}, RUNNING, [], {"runLauncherAsWorker": True})
    assert_values(alive, alive.namespace("mpi"), scenario, "INDEX", values)
