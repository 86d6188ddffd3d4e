"""Legacy jobs end as docs/legacy.md describes ("How jobs end"): a scenario for each rule and each difference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import pytest
from cluster.life import AFTER, EXIT, FIELD, conditions, restarts, with_endings
from cluster.server import Cluster, until

import trainc
from trainc.compilation import Options

Tree = dict[str, Any]

RUNNING: Final = "Running"
REMOVED: Final = "removed"
LABEL: Final = "jobset.sigs.k8s.io/"
INDEX: Final = "batch.kubernetes.io/job-completion-index"


def role(
    replicas: int = 1, restart: str | None = None, *, program: str = "train.py", env: tuple[Tree, ...] = ()
) -> Tree:
    """Return a role of a PyTorchJob; roles with different programs have different templates."""
    container = {
        "name": "pytorch",
        "image": "docker.io/acme/mnist:v1",
        "command": ["torchrun", program],
        "env": [*env],
    }
    policy = {} if restart is None else {"restartPolicy": restart}
    return {"replicas": replicas, "template": {"spec": {"containers": [container]}}} | policy


FOLDED: Final = {"Master": role(), "Worker": role(2)}
"""Roles whose pods are those of one Job: node-0 is the Master."""
APART: Final = {"Master": role(), "Worker": role(2, program="work.py")}
"""Roles with a Job for each pod."""
OF_INDEX: Final = {
    "name": "INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/replica-index']"}},
}


class Scenario(NamedTuple):
    """A PyTorchJob, how its pods end, and the JobSet that results."""

    roles: Tree
    endings: dict[str, str]
    """The exit codes of a pod and of those that replace it, at once or `after` some seconds. Other pods run on."""
    end: str
    """The condition of the JobSet."""
    pods: list[str]
    """The pods that are left."""
    spec: Mapping[str, Any] = {}
    """The other fields of the job."""


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
    "deadline-folded": Scenario(FOLDED, {}, "Failed", [], {"runPolicy": {"activeDeadlineSeconds": 1}}),
    "deadline-apart": Scenario(APART, {}, "Failed", [], {"runPolicy": {"activeDeadlineSeconds": 1}}),
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
    _assert_ends(alive, alive.namespace("legacy"), SCENARIOS)


def test_suspend(alive: Cluster) -> None:
    """A suspended job has no running pods. It creates them again when it resumes, but not those that have succeeded."""
    namespace = alive.namespace("legacy")
    endings = {"node-0": "-,0", "node-1": "0"}
    suspended = Scenario(FOLDED, endings, "Suspended", [], {"runPolicy": {"suspend": True}})
    running = Scenario(FOLDED, endings, RUNNING, ["node-0 Running", "node-1 Succeeded", "node-2 Running"])
    completed = running._replace(end="Completed", pods=["node-0 Succeeded", "node-1 Succeeded"])
    for scenario in (suspended, running, suspended._replace(pods=["node-1 Succeeded"]), completed):
        _assert_ends(alive, namespace, {"mnist": scenario})


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
    namespace = alive.namespace("legacy")
    _assert_ends(alive, namespace, {"mnist": Scenario(roles, {}, RUNNING, [f"{pod} Running" for pod in values])})
    assert {_position(pod): _value(pod, variable) for pod in alive.list("Pod", namespace)} == values


def _assert_ends(cluster: Cluster, namespace: str, scenarios: dict[str, Scenario]) -> None:
    """Apply the jobs, and wait until all are as expected at the same time."""
    cluster.apply([_jobset(namespace, name, scenario) for name, scenario in scenarios.items()])
    expected = {name: (scenario.end, scenario.pods) for name, scenario in scenarios.items()}
    with suppress(AssertionError):
        until(lambda: _ends(cluster, namespace, scenarios) == expected or None, "the ends")
    assert _ends(cluster, namespace, scenarios) == expected


def _jobset(namespace: str, name: str, scenario: Scenario) -> Tree:
    """Return the JobSet of a scenario's PyTorchJob, with the endings of its pods."""
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"pytorchReplicaSpecs": scenario.roles, **scenario.spec},
    }
    (jobset,) = trainc.compile(text=json.dumps(job), options=Options(legacy=True, no_config=True)).objects

    def annotations(replicated: str) -> Tree:
        found: Tree = {}
        for pod, ending in scenario.endings.items():
            of_job, _, index = pod.rpartition("-")
            if of_job == replicated:
                codes, _, seconds = ending.partition(" after ")
                found |= {f"{EXIT}-{index}": codes, f"{AFTER}-{index}": seconds or "0"}
        return found

    return with_endings(dict(jobset), annotations)


def _ends(cluster: Cluster, namespace: str, names: Iterable[str]) -> dict[str, tuple[str, list[str]]]:
    """Return the condition and the pods of each JobSet."""
    true = {jobset["metadata"]["name"]: conditions(jobset) for jobset in cluster.list("JobSet", namespace)}
    pods: dict[str, list[str]] = {name: [] for name in names}
    for pod in cluster.list("Pod", namespace):
        pods[pod["metadata"]["labels"][f"{LABEL}jobset-name"]].append(_state(pod))
    return {name: (_end(true.get(name, {REMOVED})), sorted(pods[name])) for name in names}


def _end(true: set[str]) -> str:
    return next((end for end in (REMOVED, "Completed", "Failed", "Suspended") if end in true), RUNNING)


def _state(pod: Tree) -> str:
    count = restarts(pod) if "containerStatuses" in pod["status"] else 0
    return f"{_position(pod)} {pod['status']['phase']}{f', restarts: {count}' if count else ''}"


def _position(pod: Tree) -> str:
    """Return the replicated job of a pod, and its index there."""
    labels = pod["metadata"]["labels"]
    return f"{labels[f'{LABEL}replicatedjob-name']}-{int(labels[f'{LABEL}job-index']) + int(labels[INDEX])}"


def _value(pod: Tree, variable: str) -> str:
    """Return the value of a variable that refers to a label or an annotation of the pod."""
    variables = {found["name"]: found for found in pod["spec"]["containers"][0]["env"]}
    field = FIELD.fullmatch(variables[variable]["valueFrom"]["fieldRef"]["fieldPath"])
    assert field
    return str(pod["metadata"][field[1]][field[2]])
