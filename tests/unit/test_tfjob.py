"""TFJob: roles, TF_CONFIG, and how a job ends."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from unit.legacy_specs import INDEX, MOST, LegacyKind, compiled_legacy, env, errors, losses, spec

from trainc.kubernetes.trees import Tree
from trainc.pipeline.checks import limits

KIND = LegacyKind("TFJob", "tfReplicaSpecs", "tensorflow")
role, job = KIND.role, KIND.job


def config(replicated_job: Any, index: int = 0) -> Any:
    return json.loads(env(replicated_job)["TF_CONFIG"].replace("$(TF_TASK_INDEX)", str(index)))


def ends(jobset: Any) -> Any:
    """Return the replicated jobs that decide about success, and the rules of their Jobs."""
    rules = [each["template"]["spec"].get("successPolicy", {}).get("rules") for each in jobset["replicatedJobs"]]
    return jobset.get("successPolicy", {}).get("targetReplicatedJobs"), rules


def test_each_role_is_a_job() -> None:
    found = spec(job(Worker=role(2), PS=role(), Chief=role(), Evaluator=role()))["replicatedJobs"]
    assert [(each["name"], each["template"]["spec"]["completions"]) for each in found] == [
        ("chief", 1), ("evaluator", 1), ("ps", 1), ("worker", 2),
    ]  # fmt: skip
    assert env(found[3])["TF_TASK_INDEX"] == INDEX
    assert config(found[3], 1) == {
        "cluster": {
            "chief": ["mnist-chief-0-0.mnist:2222"],
            "evaluator": ["mnist-evaluator-0-0.mnist:2222"],
            "ps": ["mnist-ps-0-0.mnist:2222"],
            "worker": ["mnist-worker-0-0.mnist:2222", "mnist-worker-0-1.mnist:2222"],
        },
        "task": {"type": "worker", "index": 1},
        "environment": "cloud",
    }


def test_the_text_is_compact_and_sorted() -> None:
    assert env(spec(job(Worker=role(), PS=role()))["replicatedJobs"][0])["TF_CONFIG"] == (
        '{"cluster":{"ps":["mnist-ps-0-0.mnist:2222"],"worker":["mnist-worker-0-0.mnist:2222"]},'
        '"task":{"type":"ps","index":$(TF_TASK_INDEX)},"environment":"cloud"}'
    )


@pytest.mark.parametrize("key", ["ps", "Ps", "pS", "PS"])
def test_roles_have_any_case(key: str) -> None:
    server, worker = spec(job({}, **{key: role(), "wOrKeR": role()}))["replicatedJobs"]
    assert (server["name"], worker["name"]) == ("ps", "worker")
    assert [*config(server)["cluster"]] == ["ps", "worker"]


@pytest.mark.parametrize(
    ("roles", "is_distributed"),
    [
        ({"Worker": 1}, False),
        ({"Chief": 1}, False),
        ({"Chief": 1, "Worker": 0}, False),
        ({"Chief": 1, "Ranker": 3}, False),
        ({"Worker": None}, False),
        ({"Worker": 0}, True),
        ({"Worker": 2}, True),
        ({"Worker": 1, "Evaluator": 1}, True),
        ({"Chief": 1, "Worker": 1, "Ranker": 1}, True),
    ],
)
def test_a_single_task_has_no_cluster(roles: dict[str, int | None], is_distributed: bool) -> None:
    found = spec(job(**{name: role(replicas) for name, replicas in roles.items()}))["replicatedJobs"]
    assert ["TF_CONFIG" in env(each) for each in found] == [is_distributed] * len(roles)


def test_a_role_without_replicas_has_a_pod_outside_of_the_cluster() -> None:
    chief, worker = spec(job(Chief=role(2), Worker=role(0)))["replicatedJobs"]
    assert worker["template"]["spec"]["completions"] == 1
    assert config(chief)["cluster"]["worker"] == []


def test_an_unknown_role_is_a_part_of_the_cluster() -> None:
    *_, ranker = spec(job(Chief=role(), Worker=role(), Ranker=role(2)))["replicatedJobs"]
    assert config(ranker)["cluster"]["ranker"] == ["mnist-ranker-0-0.mnist:2222", "mnist-ranker-0-1.mnist:2222"]
    assert config(ranker)["task"] == {"type": "ranker", "index": 0}


def test_each_role_has_its_port() -> None:
    ports = [{"name": "tfjob-port", "containerPort": 3333}]
    server, worker = spec(job(PS=role(container={"ports": ports}), Worker=role()))["replicatedJobs"]
    cluster = {"ps": ["mnist-ps-0-0.mnist:3333"], "worker": ["mnist-worker-0-0.mnist:2222"]}
    assert config(server)["cluster"] == config(worker)["cluster"] == cluster


def test_only_the_main_container_has_a_config() -> None:
    tree = job(Worker=role(2))
    containers = tree["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    containers.insert(0, {"name": "proxy", "image": "acme/proxy:v1"})
    (worker,) = spec(tree)["replicatedJobs"]
    assert env(worker) == {}
    assert [*env(worker, 1)] == ["TF_TASK_INDEX", "TF_CONFIG"]


def test_the_config_of_the_job_loses() -> None:
    own = {"env": [{"name": "TF_CONFIG", "value": "{}"}, {"name": "AFTER", "value": "$(TF_CONFIG)"}]}
    (worker,) = spec(job(Worker=role(2, own)))["replicatedJobs"]
    assert [*env(worker)] == ["AFTER", "TF_TASK_INDEX", "TF_CONFIG"]
    assert env(worker)["AFTER"] == "{}"


def test_dynamic_workers_know_the_tasks_to_which_they_connect() -> None:
    chief, server, worker = spec(job({"enableDynamicWorker": True}, Chief=role(), PS=role(2), Worker=role(2)))[
        "replicatedJobs"
    ]
    servers = ["mnist-ps-0-0.mnist:2222", "mnist-ps-0-1.mnist:2222"]
    assert config(chief, 0) == {"cluster": {"worker": {}, "ps": []}, "task": {"type": "chief", "index": 0}}
    assert config(server, 1) == {"cluster": {"worker": {}, "ps": servers[1:]}, "task": {"type": "ps", "index": 1}}
    assert config(worker, 1) == {
        "cluster": {"worker": {"1": "mnist-worker-0-1.mnist:2222"}, "ps": servers},
        "task": {"type": "worker", "index": 1},
    }
    (alone,) = spec(job({"enableDynamicWorker": True}, Worker=role(2)))["replicatedJobs"]
    assert config(alone)["cluster"]["ps"] is None


@pytest.mark.parametrize(
    ("fields", "roles", "decides"),
    [
        pytest.param({}, {"Chief": role(), "Worker": role(2)}, (["chief"], [None, None]), id="chief"),
        pytest.param({}, {"Master": role(), "Worker": role(2)}, (["master"], [None, None]), id="master"),
        pytest.param(
            {"successPolicy": "AllWorkers"}, {"Chief": role(), "Worker": role(2)}, (["chief"], [None, None]),
            id="chief of all workers",
        ),
        pytest.param({}, {"Worker": role(2)}, (["worker"], [[{"succeededIndexes": "0"}]]), id="worker 0"),
        pytest.param(
            {}, {"PS": role(), "Worker": role(2)}, (["worker"], [None, [{"succeededIndexes": "0"}]]), id="servers"
        ),
        pytest.param(
            {"successPolicy": "AllWorkers"}, {"PS": role(), "Worker": role(2)}, (["worker"], [None, None]),
            id="all workers",
        ),
        pytest.param({}, {"PS": role(2), "Evaluator": role()}, (None, [None, None]), id="nobody"),
    ],
)  # fmt: skip
def test_success(fields: Tree, roles: Tree, decides: Any) -> None:
    found = spec(job(fields, **roles))
    jobs, rules = ends(found)
    # JobSet's default is all replicated jobs.
    assert (jobs if len(found["replicatedJobs"]) > 1 else decides[0], rules) == decides


@pytest.mark.parametrize(
    ("fields", "restart", "limit", "rules"),
    [
        ({}, "Never", 0, 0),
        ({"enableDynamicWorker": False}, "ExitCode", 0, 3),
        ({"enableDynamicWorker": True}, "Never", MOST, 0),
        ({"enableDynamicWorker": True}, "ExitCode", MOST, 0),
        # The operator compares the failed pods with the limit 0 before it looks at enableDynamicWorker.
        ({"enableDynamicWorker": True, "runPolicy": {"backoffLimit": 0}}, "Never", 0, 0),
        ({"enableDynamicWorker": True, "runPolicy": {"backoffLimit": 0}}, "ExitCode", 0, 1),
        ({"enableDynamicWorker": True, "runPolicy": {"backoffLimit": 1}}, "Never", MOST, 0),
    ],
)
def test_a_dynamic_worker_may_fail(fields: Tree, restart: str, limit: int, rules: int) -> None:
    found = spec(job(fields, PS=role(), Worker=role(2, restartPolicy=restart)))
    worker = found["replicatedJobs"][1]["template"]["spec"]
    assert (worker["backoffLimit"], len(worker.get("podFailurePolicy", {}).get("rules", []))) == (limit, rules)


@pytest.mark.parametrize(
    ("is_dynamic", "limit", "lost"),
    [
        (True, 0, set()),
        (True, 1, {"spec.enableDynamicWorker: approximated", "spec.runPolicy.backoffLimit: without effect"}),
        (False, 0, {"spec.runPolicy.backoffLimit: without effect"}),
    ],
)
def test_the_limit_0_also_counts_dynamic_workers(is_dynamic: bool, limit: int, lost: set[str]) -> None:
    fields = {"enableDynamicWorker": is_dynamic, "runPolicy": {"backoffLimit": limit}}
    found = {(".".join(map(str, loss.path)), loss.rule.effect) for loss in losses(job(fields, Worker=role(2)))}
    paths = ("spec.enableDynamicWorker", "spec.runPolicy.backoffLimit")
    assert {f"{path}: {effect}" for path, effect in found if path in paths} == lost


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_fields_of_the_spec_in_earlier_versions(version: str) -> None:
    top = {"backoffLimit": 3, "activeDeadlineSeconds": 60, "ttlSecondsAfterFinished": 5, "cleanPodPolicy": "All"}
    worker = role(2, restartPolicy="OnFailure")
    older = spec(job(top, f"kubeflow.org/{version}", Worker=worker))
    assert older == spec(job({"runPolicy": top}, Worker=worker))
    (found,) = older["replicatedJobs"]
    assert (older["ttlSecondsAfterFinished"], found["template"]["spec"]["backoffLimit"]) == (5, 3)
    ignored = compiled_legacy(job(top, Worker=worker))
    helps = {found.help for found in ignored.diagnostics if found.id == "unknown-field"}
    assert helps == {f"did you mean spec.runPolicy.{key}?" for key in top}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(job(), "the job has no roles", id="no roles"),
        pytest.param(job(Worker=None), "the role Worker is null", id="null"),
        pytest.param(job(Chief=role(), chief=role()), "the role Chief has two keys: Chief and chief", id="two keys"),
        pytest.param(job(a=role(), A=role(), Chief=role()), "the role A has two keys: a and A", id="unknown keys"),
        pytest.param(
            job(Chief=role(), master=role()), "the job has a Chief and a Master, which is another name of it",
            id="leads",
        ),
        pytest.param(
            job(Worker=role(2, {"name": "main"})), 'the role Worker has no container "tensorflow"', id="container"
        ),
        pytest.param(job(Worker=role(-1)), "Worker must have at least 0 replicas, not -1", id="negative"),
        pytest.param(
            job(Worker=role(MOST)), f"Worker has {MOST} replicas; an indexed Job has at most 100000 pods", id="pods"
        ),
        pytest.param(
            job({"backoffLimit": 1, "runPolicy": {"backoffLimit": 2}}, "kubeflow.org/v1beta2", Worker=role()),
            "backoffLimit is set in spec and in spec.runPolicy", id="twice",
        ),
    ],
)  # fmt: skip
def test_refused_jobs(tree: Tree, message: str) -> None:
    assert errors(tree) == [message]


@pytest.mark.parametrize(
    ("fields", "roles"),
    [
        ({}, {"Worker": 12, "PS": 1}),
        ({}, {"Worker": 101, "Chief": 1, "PS": 10, "Ranker": 11}),
        ({}, {"Worker": 0, "PS": 2}),
        ({"enableDynamicWorker": True}, {"PS": 12, "Worker": 3}),
    ],
)
def test_the_length_is_known_before_the_text(
    fields: Tree, roles: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = job(fields, **{name: role(replicas) for name, replicas in roles.items()})
    texts = [env(each)["TF_CONFIG"] for each in spec(tree)["replicatedJobs"]]
    monkeypatch.setattr(limits, "MAX_ARGUMENT", 0)
    (message,) = errors(tree)
    (size,) = map(int, re.findall(r"takes ([0-9]+) bytes", message))
    assert size == max(len(f"TF_CONFIG={text}") for text in texts)
