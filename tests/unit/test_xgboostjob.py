"""XGBoostJob: ranks, addresses, and the main container with two names."""

from __future__ import annotations

import re

import pytest
from unit.legacy_specs import GLOBAL_INDEX, INDEX, LegacyKind, compiled_legacy, env, errors, spec

from trainc.kubernetes.trees import Tree
from trainc.pipeline.checks import limits

KIND = LegacyKind("XGBoostJob", "xgbReplicaSpecs", "xgboost")
role, job = KIND.role, KIND.job


def test_roles_with_one_template_are_one_job() -> None:
    (node,) = spec(job(Master=role(restartPolicy="OnFailure"), Worker=role(2, restartPolicy="OnFailure")))[
        "replicatedJobs"
    ]
    assert node["template"]["spec"]["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert [*env(node).items()] == [
        ("MASTER_PORT", "9999"),
        ("MASTER_ADDR", "mnist-node-0-0.mnist"),
        ("WORLD_SIZE", "3"),
        ("RANK", INDEX),
        ("PYTHONUNBUFFERED", "1"),
        ("WORKER_PORT", "9999"),
        ("WORKER_ADDRS", "mnist-node-0-1.mnist,mnist-node-0-2.mnist"),
    ]


def test_the_default_is_never_and_each_worker_is_a_job() -> None:
    ports = [{"name": "xgboostjob-port", "containerPort": 9998}]
    found = spec(job(Master=role(), Worker=role(2, {"ports": ports})))
    master, worker = found["replicatedJobs"]
    assert (worker["replicas"], worker["template"]["spec"]["completions"]) == (2, 1)
    assert worker["template"]["spec"]["backoffLimit"] == 0
    assert found["successPolicy"]["targetReplicatedJobs"] == ["master"]
    assert (env(worker)["RANK"], env(master)["WORKER_PORT"]) == (GLOBAL_INDEX, "9998")
    assert env(master)["WORKER_ADDRS"] == "mnist-worker-0-0.mnist,mnist-worker-1-0.mnist"


@pytest.mark.parametrize("roles", [{"Master": role()}, {"Master": role(), "Worker": role(0)}])
def test_a_master_alone_has_no_workers(roles: Tree) -> None:
    master, *others = spec(job(**roles))["replicatedJobs"]
    assert len(others) == len(roles) - 1
    assert [*env(master)] == ["MASTER_PORT", "MASTER_ADDR", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED"]


def test_the_name_of_old_examples_is_accepted_with_a_warning() -> None:
    old = role(restartPolicy="ExitCode", container={"name": "xgboostjob"})
    result = compiled_legacy(job(version="xgboostjob.kubeflow.org/v1alpha1", Master=old))
    (job_,) = result.objects[0]["spec"]["replicatedJobs"]
    rules = job_["template"]["spec"]["podFailurePolicy"]["rules"]
    assert {rule["onExitCodes"]["containerName"] for rule in rules if "onExitCodes" in rule} == {"xgboostjob"}
    assert [found.field for found in result.diagnostics if found.id == "old-container-name"] == [
        "spec.xgbReplicaSpecs.Master.template.spec.containers[0].name"
    ]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(job(), "the job has no roles", id="no roles"),
        pytest.param(job(Worker=role()), "the role Master is missing", id="no master"),
        pytest.param(job(Master=role(2)), "the Master must have 1 replica, not 2", id="two masters"),
        pytest.param(job(Master=role(None)), "the Master has no replicas", id="replicas missing"),
        pytest.param(job(Master=role(), worker=role()), 'unknown role "worker"', id="lower case"),
        pytest.param(job(Master=role(1, {"name": "a"})), 'the role Master has no container "xgboost"', id="name"),
    ],
)
def test_refused_jobs(tree: Tree, message: str) -> None:
    assert errors(tree) == [message]


def test_a_misspelt_run_policy_has_a_hint() -> None:
    result = compiled_legacy(job({"RunPolicy": {"cleanPodPolicy": "None"}}, Master=role()))
    assert [found.help for found in result.diagnostics if found.id == "unknown-field"] == ["did you mean runPolicy?"]


@pytest.mark.parametrize("restart", ["Never", "OnFailure"])
@pytest.mark.parametrize("workers", [1, 11, 101])
def test_the_length_is_known_before_the_text(workers: int, restart: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = job(Master=role(restartPolicy=restart), Worker=role(workers, restartPolicy=restart))
    text = env(spec(tree)["replicatedJobs"][0])["WORKER_ADDRS"]
    monkeypatch.setattr(limits, "MAX_ARGUMENT", 0)
    (message,) = errors(tree)
    assert re.findall(r"takes ([0-9]+) bytes", message) == [str(len(f"WORKER_ADDRS={text}"))]
