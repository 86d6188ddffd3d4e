"""How jobs end whose kind is neither PyTorchJob nor MPIJob (docs/legacy.md): the rules that PyTorchJobs do not have."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest
from cluster import scenarios
from cluster.scenarios import OF_INDEX, RUNNING, Scenario, assert_ends, assert_values
from cluster.server import Cluster

tensorflow = partial(scenarios.legacy_role, "tensorflow")
xgboost = partial(scenarios.legacy_role, "xgboost")
xgboostjob = partial(scenarios.legacy_role, "xgboostjob")
"""A role whose main container has the name that most real XGBoostJobs give it."""
jax = partial(scenarios.legacy_role, "jax")
paddle = partial(scenarios.legacy_role, "paddle")

mxnet = partial(scenarios.legacy_role, "mxnet")

TFJOB: Final = partial(Scenario, kind="TFJob")
XGBOOSTJOB: Final = partial(Scenario, kind="XGBoostJob")
JAXJOB: Final = partial(Scenario, kind="JAXJob")
PADDLEJOB: Final = partial(Scenario, kind="PaddleJob")
MXJOB: Final = partial(Scenario, kind="MXJob")
MLKUBE_JOB: Final = partial(Scenario, kind="MxJob")
VOLCANO_JOB: Final = partial(Scenario, kind="Job")

ALL_WORKERS: Final = {"successPolicy": "AllWorkers"}
DYNAMIC: Final = {"enableDynamicWorker": True}
BESIDE_CHIEF: Final = {"Chief": tensorflow(), "PS": tensorflow(), "Worker": tensorflow(2)}
WITHOUT_CHIEF: Final = {"PS": tensorflow(), "Evaluator": tensorflow(), "Worker": tensorflow(2)}
CODES: Final = {"Chief": tensorflow(1, "ExitCode"), "Worker": tensorflow(2, "ExitCode")}
RENAMED: Final = {"Master": xgboostjob(1, "ExitCode"), "Worker": xgboostjob(2, "ExitCode")}
MODE: Final = {"jobMode": "MXTrain"}
BESIDE_SCHEDULER: Final = {"Scheduler": mxnet(), "Server": mxnet(), "Worker": mxnet(2)}
DIST: Final = [
    {"mxReplicaType": name, **mxnet(count, restartPolicy="Never")}
    for name, count in (("SCHEDULER", 1), ("SERVER", 1), ("WORKER", 2))
]
PLUGIN: Final[scenarios.Tree] = {"plugins": {"tensorflow": []}}


def task(name: str, replicas: int = 1, restart: str = "OnFailure", **policies: str) -> scenarios.Tree:
    """Return a task of a Volcano Job, with an action for each event."""
    found = [{"event": event, "action": action} for event, action in policies.items()]
    return {"name": name, "policies": found, **tensorflow(replicas, restartPolicy=restart)}


SCENARIOS: Final = {
    # TFJobs with a Chief or a Master, which has a Job of its own
    "tf-chief": TFJOB(BESIDE_CHIEF, {"chief-0": "0"}, "Completed", ["chief-0 Succeeded"], ALL_WORKERS),
    "tf-master": TFJOB(
        {"Master": tensorflow(), "Worker": tensorflow(2)}, {"master-0": "0"}, "Completed", ["master-0 Succeeded"]
    ),
    "tf-chief-in-lower-case": TFJOB(
        {"chief": tensorflow(), "worker": tensorflow()}, {"chief-0": "0"}, "Completed", ["chief-0 Succeeded"]
    ),
    "tf-all-beside-chief": TFJOB(
        BESIDE_CHIEF,
        {"ps-0": "0", "worker-0": "0", "worker-1": "0"},
        RUNNING,
        ["chief-0 Running", "ps-0 Succeeded", "worker-0 Succeeded", "worker-1 Succeeded"],
        ALL_WORKERS,
    ),
    "tf-worker-fails-beside-chief": TFJOB(BESIDE_CHIEF, {"worker-1": "1"}, "Failed", ["worker-1 Failed"]),
    # TFJobs without a Chief
    "tf-worker-0": TFJOB(WITHOUT_CHIEF, {"worker-0": "0"}, "Completed", ["worker-0 Succeeded"]),
    "tf-worker-1": TFJOB(
        WITHOUT_CHIEF,
        {"worker-1": "0"},
        RUNNING,
        ["evaluator-0 Running", "ps-0 Running", "worker-0 Running", "worker-1 Succeeded"],
    ),
    "tf-worker-0-of-all": TFJOB(
        WITHOUT_CHIEF,
        {"worker-0": "0"},
        RUNNING,
        ["evaluator-0 Running", "ps-0 Running", "worker-0 Succeeded", "worker-1 Running"],
        ALL_WORKERS,
    ),
    "tf-all-workers": TFJOB(
        WITHOUT_CHIEF,
        {"worker-0": "0", "worker-1": "0 after 2"},
        "Completed",
        ["worker-0 Succeeded", "worker-1 Succeeded"],
        ALL_WORKERS,
    ),
    "tf-servers": TFJOB(
        WITHOUT_CHIEF,
        {"evaluator-0": "0", "ps-0": "0"},
        RUNNING,
        ["evaluator-0 Succeeded", "ps-0 Succeeded", "worker-0 Running", "worker-1 Running"],
    ),
    "tf-server-fails": TFJOB(WITHOUT_CHIEF, {"ps-0": "1"}, "Failed", ["ps-0 Failed"]),
    # enableDynamicWorker
    "tf-dynamic-worker-fails": TFJOB(
        BESIDE_CHIEF,
        {"worker-1": "1,-"},
        RUNNING,
        ["chief-0 Running", "ps-0 Running", "worker-0 Running", "worker-1 Failed", "worker-1 Running"],
        DYNAMIC,
    ),
    "tf-dynamic-worker-fails-with-exit-code": TFJOB(
        CODES,
        {"worker-1": "1,-"},
        RUNNING,
        ["chief-0 Running", "worker-0 Running", "worker-1 Failed", "worker-1 Running"],
        DYNAMIC,
    ),
    "tf-dynamic-worker-fails-first": TFJOB(
        WITHOUT_CHIEF,
        {"worker-0": "0 after 3", "worker-1": "1"},
        "Completed",
        ["worker-0 Succeeded", "worker-1 Failed"],
        DYNAMIC,
    ),
    "tf-dynamic-worker-fails-at-limit-0": TFJOB(
        BESIDE_CHIEF, {"worker-1": "1"}, "Failed", ["worker-1 Failed"], DYNAMIC | {"runPolicy": {"backoffLimit": 0}}
    ),
    "tf-server-of-dynamic-workers-fails": TFJOB(BESIDE_CHIEF, {"ps-0": "1"}, "Failed", ["ps-0 Failed"], DYNAMIC),
    # restartPolicy: ExitCode
    "tf-backoff-limit-0": TFJOB(
        CODES, {"worker-1": "143"}, "Failed", ["worker-1 Failed"], {"runPolicy": {"backoffLimit": 0}}
    ),
    "tf-chief-exit-code-143": TFJOB(CODES, {"chief-0": "143,0"}, "Completed", ["chief-0 Failed", "chief-0 Succeeded"]),
    # XGBoostJobs: the default is Never, so the roles have Jobs of their own
    "xgb-master": XGBOOSTJOB(
        {"Master": xgboost(), "Worker": xgboost(2)}, {"master-0": "0"}, "Completed", ["master-0 Succeeded"]
    ),
    "xgb-folded-master": XGBOOSTJOB(
        {"Master": xgboost(1, "OnFailure"), "Worker": xgboost(2, "OnFailure")},
        {"node-0": "1,0"},
        "Completed",
        ["node-0 Succeeded, restarts: 1"],
    ),
    "xgb-workers": XGBOOSTJOB(
        {"Master": xgboost(), "Worker": xgboost(2)},
        {"worker-0": "0", "worker-1": "0"},
        RUNNING,
        ["master-0 Running", "worker-0 Succeeded", "worker-1 Succeeded"],
    ),
    "xgb-never": XGBOOSTJOB(
        {"Master": xgboost(), "Worker": xgboost(2)}, {"worker-1": "137"}, "Failed", ["worker-1 Failed"]
    ),
    "xgb-renamed-exit-code-1": XGBOOSTJOB(RENAMED, {"worker-1": "1,0"}, "Failed", ["worker-1 Failed"]),
    "xgb-renamed-exit-code-137": XGBOOSTJOB(
        RENAMED,
        {"worker-1": "137,0"},
        RUNNING,
        ["master-0 Running", "worker-0 Running", "worker-1 Failed", "worker-1 Succeeded"],
    ),
    # JAXJobs: the default is Never
    "jax-one-worker": JAXJOB(
        {"Worker": jax(2)}, {"worker-0": "0"}, RUNNING, ["worker-0 Succeeded", "worker-1 Running"]
    ),
    "jax-all-workers": JAXJOB(
        {"Worker": jax(2)},
        {"worker-0": "0 after 2", "worker-1": "0"},
        "Completed",
        ["worker-0 Succeeded", "worker-1 Succeeded"],
    ),
    "jax-never": JAXJOB({"Worker": jax(2)}, {"worker-0": "137"}, "Failed", ["worker-0 Failed"]),
    # PaddleJobs: a Job for each role, and the default is OnFailure
    "paddle-master": PADDLEJOB(
        {"Master": paddle(), "Worker": paddle(2)},
        {"master-0": "1,0"},
        "Completed",
        ["master-0 Succeeded, restarts: 1"],
    ),
    "paddle-workers": PADDLEJOB(
        {"Master": paddle(), "Worker": paddle(2)},
        {"worker-0": "1,0", "worker-1": "0"},
        RUNNING,
        ["master-0 Running", "worker-0 Succeeded, restarts: 1", "worker-1 Succeeded"],
    ),
    "paddle-one-worker": PADDLEJOB(
        {"Worker": paddle(2)},
        {"worker-0": "0"},
        RUNNING,
        ["worker-0 Succeeded", "worker-1 Running"],
        {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}},
    ),
    "paddle-all-workers": PADDLEJOB(
        {"Worker": paddle(2)},
        {"worker-0": "0 after 2", "worker-1": "0"},
        "Completed",
        ["worker-0 Succeeded", "worker-1 Succeeded"],
    ),
    # MXJobs: the default is Never
    "mx-scheduler": MXJOB(
        BESIDE_SCHEDULER, {"scheduler-0": "0"}, "Completed", ["scheduler-0 Succeeded"], MODE
    ),
    "mx-all-beside-scheduler": MXJOB(
        BESIDE_SCHEDULER, {"server-0": "0", "worker-0": "0", "worker-1": "0"}, RUNNING,
        ["scheduler-0 Running", "server-0 Succeeded", "worker-0 Succeeded", "worker-1 Succeeded"], MODE,
    ),
    "mx-never": MXJOB(BESIDE_SCHEDULER, {"server-0": "137"}, "Failed", ["server-0 Failed"], MODE),
    "mx-without-scheduler": MXJOB(
        {"Tuner": mxnet(), "TunerServer": mxnet()}, {"tuner-0": "0", "tunerserver-0": "0 after 1"}, "Completed",
        ["tuner-0 Succeeded", "tunerserver-0 Succeeded"], MODE,
    ),
    # MxJobs: the Jobs have the default backoffLimit
    "mlkube-scheduler": MLKUBE_JOB(
        DIST, {"scheduler-0": "0"}, "Completed", ["scheduler-0 Succeeded"], {"jobMode": "dist"}
    ),
    "mlkube-worker-fails": MLKUBE_JOB(
        DIST, {"worker-1": "1,-"}, RUNNING,
        ["scheduler-0 Running", "server-0 Running", "worker-0 Running", "worker-1 Failed", "worker-1 Running"],
        {"jobMode": "dist"},
    ),
    "mlkube-local": MLKUBE_JOB(
        [{"mxReplicaType": "WORKER", **mxnet(restartPolicy="OnFailure")}], {"worker-0": "1,0"}, "Completed",
        ["worker-0 Succeeded, restarts: 1"], {"jobMode": "local"},
    ),
    # Volcano Jobs
    "volcano-task-completes": VOLCANO_JOB(
        [task("ps"), task("worker", 2, TaskCompleted="CompleteJob")], {"worker-0": "0", "worker-1": "0"}, "Completed",
        ["worker-0 Succeeded", "worker-1 Succeeded"], PLUGIN,
    ),
    "volcano-all-tasks": VOLCANO_JOB(
        [task("ps"), task("worker", 2)], {"worker-0": "0", "worker-1": "0"}, RUNNING,
        ["ps-0 Running", "worker-0 Succeeded", "worker-1 Succeeded"], PLUGIN,
    ),
    "volcano-restarts": VOLCANO_JOB(
        [task("worker", 2, "Never", PodFailed="RestartJob")], {"worker-1": "1"}, "Failed",
        ["worker-1 Failed"], PLUGIN | {"maxRetry": 1},
    ),
    "volcano-never": VOLCANO_JOB(
        [task("worker", 2, "Never")], {"worker-1": "1"}, "Failed", ["worker-1 Failed"], PLUGIN
    ),
}  # fmt: skip


def test_ends(alive: Cluster) -> None:
    """All jobs run at once. Those that run on do so until the last of the others has ended."""
    assert_ends(alive, alive.namespace("operator"), SCENARIOS)


BOTH: Final = {"master-0": "0", "worker-0": "1", "worker-1": "2"}


@pytest.mark.parametrize(
    ("scenario", "variable", "values"),
    [
        (
            TFJOB(BESIDE_CHIEF, {}, RUNNING, []),
            "TF_TASK_INDEX",
            {"chief-0": "0", "ps-0": "0", "worker-0": "0", "worker-1": "1"},
        ),
        (XGBOOSTJOB({"Master": xgboost(), "Worker": xgboost(2)}, {}, RUNNING, []), "RANK", BOTH),
        (JAXJOB({"Worker": jax(2)}, {}, RUNNING, []), "PROCESS_ID", {"worker-0": "0", "worker-1": "1"}),
        (
            PADDLEJOB({"Worker": paddle(2, env=(OF_INDEX,))}, {}, RUNNING, []),
            "INDEX",
            {"worker-0": "0", "worker-1": "1"},
        ),
        (
            MXJOB({"Scheduler": mxnet(), "Worker": mxnet(2)}, {}, RUNNING, [], MODE),
            "MX_TASK_INDEX",
            {"scheduler-0": "0", "worker-0": "0", "worker-1": "1"},
        ),
        (
            VOLCANO_JOB([task("ps"), task("worker", 2)], {}, RUNNING, [], PLUGIN),
            "TF_TASK_INDEX",
            {"ps-0": "0", "worker-0": "0", "worker-1": "1"},
        ),
    ],
    ids=["tf", "xgb", "jax", "paddle", "mx", "volcano"],
)
def test_variables(alive: Cluster, scenario: Scenario, variable: str, values: dict[str, str]) -> None:
    """The controllers set the fields of a pod that its variables refer to."""
    assert_values(alive, alive.namespace("operator"), scenario, variable, values)
