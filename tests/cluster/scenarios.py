"""Legacy jobs on a cluster: how their pods end, and the JobSets that result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from cluster.life import AFTER, EXIT, FIELD, conditions, restarts, with_endings
from cluster.server import Cluster, until

import trainc
from trainc.base.kinds import LEGACY
from trainc.compilation.run import Options

Tree = dict[str, Any]

RUNNING: Final = "Running"
REMOVED: Final = "removed"
START: Final = 3
"""Seconds that every pod runs. The controller leaves a pod that it creates at the moment in which its Job ends."""
LABEL: Final = "jobset.sigs.k8s.io/"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
OF_INDEX: Final = {
    "name": "INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/replica-index']"}},
}
"""A variable with the index of a pod in its role."""


class Scenario(NamedTuple):
    """A legacy job, how its pods end, and the JobSet that results."""

    roles: Tree | list[Tree]
    """The value of the field with the roles of the kind."""
    endings: dict[str, str]
    """The exit codes of a pod and of those that replace it, at once or `after` some seconds. Other pods run on."""
    end: str
    """The condition of the JobSet."""
    pods: list[str]
    """The pods that are left."""
    spec: Mapping[str, Any] = {}
    """The other fields of the job."""
    kind: str = "PyTorchJob"


def legacy_role(
    container: str,
    replicas: int = 1,
    restart: str | None = None,
    *,
    args: tuple[str, ...] = (),
    env: tuple[Tree, ...] = (),
    **pod: Any,
) -> Tree:
    """Return a role of a legacy job; roles with different arguments have different templates.

    container   the name of the main container
    pod         other fields of the pods
    """
    containers = [{"name": container, "image": "docker.io/acme/mnist:v1", "args": [*args], "env": [*env]}]
    policy = {} if restart is None else {"restartPolicy": restart}
    return {"replicas": replicas, "template": {"spec": {"containers": containers, **pod}}} | policy


def assert_ends(cluster: Cluster, namespace: str, scenarios: dict[str, Scenario]) -> None:
    """Apply the jobs, and wait until all are as expected at the same time."""
    cluster.apply([_jobset(namespace, name, scenario) for name, scenario in scenarios.items()])
    expected = {name: (scenario.end, scenario.pods) for name, scenario in scenarios.items()}
    with suppress(AssertionError):
        until(lambda: _ends(cluster, namespace, scenarios) == expected or None, "the ends")
    ends = _ends(cluster, namespace, scenarios)
    other = {name: (ends[name], expected[name]) for name in expected if ends[name] != expected[name]}
    assert not other, other


def assert_values(cluster: Cluster, namespace: str, scenario: Scenario, variable: str, values: dict[str, str]) -> None:
    """Apply a job, and wait for its pods; compare the values of a variable that refers to a field of the pod."""
    running = scenario._replace(end=RUNNING, pods=[f"{pod} Running" for pod in values])
    assert_ends(cluster, namespace, {"mnist": running})
    assert {_position(pod): _value(pod, variable) for pod in cluster.list("Pod", namespace)} == values


def _jobset(namespace: str, name: str, scenario: Scenario) -> Tree:
    """Return the JobSet of a scenario's job, with the endings of its pods. No pod reads a ConfigMap here."""
    (kind,) = (row for row in LEGACY if row.kind == scenario.kind)
    job = {
        "apiVersion": kind.versions[0],
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {kind.pods[0][1]: scenario.roles, **scenario.spec},
    }
    jobset, *_ = trainc.compile(text=json.dumps(job), options=Options(legacy=True, no_config=True)).objects

    def annotations(replicated: str) -> Tree:
        found: Tree = {}
        for pod, ending in scenario.endings.items():
            of_job, _, index = pod.rpartition("-")
            if of_job == replicated:
                codes, _, seconds = ending.partition(" after ")
                found |= {f"{EXIT}-{index}": codes, f"{AFTER}-{index}": str(START + int(seconds or 0))}
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
    variables = {found["name"]: found for found in pod["spec"]["containers"][0]["env"]}
    field = FIELD.fullmatch(variables[variable]["valueFrom"]["fieldRef"]["fieldPath"])
    assert field
    return str(pod["metadata"][field[1]][field[2]])
