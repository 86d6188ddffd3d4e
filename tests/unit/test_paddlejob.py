"""PaddleJob: the rendezvous with and without parameter servers."""

from __future__ import annotations

import pytest
from unit.legacy_specs import LegacyKind, env, errors, losses, spec

from trainc.kubernetes.trees import Tree
from trainc.legacy import simple_kinds

KIND = LegacyKind("PaddleJob", "paddleReplicaSpecs", "paddle")
role, job = KIND.role, KIND.job


def test_the_first_worker_is_the_rendezvous() -> None:
    (worker,) = spec(job(Worker=role(2)))["replicatedJobs"]
    assert [*env(worker).items()] == [
        ("PYTHONUNBUFFERED", "1"),
        ("PADDLE_JOB_ID", "mnist"),
        ("PADDLE_NNODES", "2"),
        ("POD_IP_DUMMY", "status.podIP"),
        ("PADDLE_MASTER", "mnist-worker-0-0.mnist:36543"),
    ]


def test_with_a_master_it_is_the_rendezvous_and_decides() -> None:
    found = spec(job(Master=role(2, {"ports": [{"name": "master", "containerPort": 7}]}), Worker=role(3)))
    master, worker = found["replicatedJobs"]
    assert found["successPolicy"]["targetReplicatedJobs"] == ["master"]
    assert [*env(worker).items()] == [
        ("PYTHONUNBUFFERED", "1"),
        ("PADDLE_JOB_ID", "mnist"),
        ("PADDLE_NNODES", "5"),
        ("PADDLE_MASTER", "mnist-master-0-0.mnist:7"),
        ("PADDLE_TRAINER_NUM", "1"),
    ]
    assert env(master)["PADDLE_SERVER_NUM"] == "1"


def test_an_elastic_policy_has_no_effect() -> None:
    tree = job({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4}}, Worker=role(2))
    assert spec(tree) == spec(job(Worker=role(2)))
    lost = [loss.path[-1] for loss in losses(tree) if loss.rule is simple_kinds.NOT_ELASTIC]
    assert lost == ["minReplicas", "maxReplicas"]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(job(), "the job has no roles", id="no roles"),
        pytest.param(job(worker=role()), 'unknown role "worker"', id="lower case"),
        pytest.param(job(Worker=role(container={"name": "a"})), 'the role Worker has no container "paddle"', id="name"),
        pytest.param(
            job(version="batch.paddlepaddle.org/v1", Worker=role()),
            "unknown version batch.paddlepaddle.org/v1 of PaddleJob", id="another operator",
        ),
    ],
)  # fmt: skip
def test_refused_jobs(tree: Tree, message: str) -> None:
    assert errors(tree) == [message]
