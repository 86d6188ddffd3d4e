"""JAXJob: the coordinator, and the fields that only this kind treats in another way."""

from __future__ import annotations

import pytest
from unit.legacy_specs import INDEX, LegacyKind, env, errors, losses, spec

from trainc.kubernetes.trees import Tree
from trainc.legacy import simple_kinds

KIND = LegacyKind("JAXJob", "jaxReplicaSpecs", "jax")
role, job = KIND.role, KIND.job


def test_the_first_worker_is_the_coordinator() -> None:
    (worker,) = spec(job(Worker=role(3)))["replicatedJobs"]
    assert [*env(worker).items()] == [
        ("PYTHONUNBUFFERED", "1"),
        ("COORDINATOR_PORT", "6666"),
        ("COORDINATOR_ADDRESS", "mnist-worker-0-0.mnist"),
        ("NUM_PROCESSES", "3"),
        ("PROCESS_ID", INDEX),
    ]
    assert worker["template"]["spec"]["backoffLimit"] == 0
    assert "successPolicy" not in worker["template"]["spec"]


def test_the_port_of_the_job() -> None:
    ports = [{"name": "jaxjob-port", "containerPort": 1234}]
    (worker,) = spec(job(Worker=role(2, {"ports": ports})))["replicatedJobs"]
    assert env(worker)["COORDINATOR_PORT"] == "1234"


def test_the_manager_is_carried_and_a_loss() -> None:
    tree = job({"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}, Worker=role(2))
    assert spec(tree)["managedBy"] == "kueue.x-k8s.io/multikueue"
    assert [loss.path for loss in losses(tree) if loss.rule is simple_kinds.MANAGED] == [simple_kinds.MANAGER]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(job(), "the job has no roles", id="no roles"),
        pytest.param(job(worker=role()), 'unknown role "worker"', id="lower case"),
        pytest.param(job(Worker=role(container={"name": "a"})), 'the role Worker has no container "jax"', id="name"),
    ],
)
def test_refused_jobs(tree: Tree, message: str) -> None:
    assert errors(tree) == [message]
