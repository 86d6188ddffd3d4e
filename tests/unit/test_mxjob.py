"""MXJob: roles, MX_CONFIG and the variables of ps-lite, and how a job ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from purposes import plan_of
from unit.legacy_specs import INDEX, MOST, LegacyKind, compiled_legacy, env, errors, spec

from trainc.kubernetes.trees import Tree, put

KIND = LegacyKind("MXJob", "mxReplicaSpecs", "mxnet")
role = KIND.role
MODE = {"jobMode": "MXTrain"}


def mxjob(fields: Any = None, version: Any = "kubeflow.org/v1", **roles: Any) -> Tree:
    return KIND.job(MODE | (fields or {}), version, **roles)


def config(replicated_job: Any, index: int = 0) -> Any:
    return json.loads(env(replicated_job)["MX_CONFIG"].replace("$(MX_TASK_INDEX)", str(index)))


def variables(replicated_job: Any, container: int = 0) -> list[tuple[str, str]]:
    pod = replicated_job["template"]["spec"]["template"]["spec"]
    return [(each["name"], each.get("value", "")) for each in pod["containers"][container]["env"]]


def test_each_role_is_a_job() -> None:
    roles = ("Tuner", "TunerServer", "TunerTracker", "Worker", "Server", "Scheduler")
    found = spec(mxjob(**{name: role(2 if name == "Worker" else 1) for name in roles}))["replicatedJobs"]
    assert [(each["name"], each["template"]["spec"]["completions"]) for each in found] == [
        ("scheduler", 1), ("server", 1), ("worker", 2), ("tunertracker", 1), ("tunerserver", 1), ("tuner", 1),
    ]  # fmt: skip


def test_the_variables_of_a_worker() -> None:
    *_, worker = spec(mxjob(Scheduler=role(), Server=role(2), Worker=role(3)))["replicatedJobs"]
    text = env(worker)["MX_CONFIG"]
    assert [*env(worker).items()] == [
        ("MX_TASK_INDEX", INDEX),
        ("MX_CONFIG", text),
        ("DMLC_PS_ROOT_PORT", "9091"),
        ("DMLC_PS_ROOT_URI", "mnist-scheduler-0-0.mnist"),
        ("DMLC_NUM_SERVER", "2"),
        ("DMLC_NUM_WORKER", "3"),
        ("DMLC_ROLE", "worker"),
        ("DMLC_USE_KUBERNETES", "1"),
        ("DMLC_WORKER_ID", INDEX),
    ]
    assert text.startswith(
        '{"cluster":{"scheduler":[{"url":"mnist-scheduler-0-0.mnist","port":9091}],"server":[{"url":'
    )
    assert config(worker, 2)["task"] == {"type": "worker", "index": 2}


def test_only_workers_have_a_worker_id() -> None:
    found = spec(mxjob(Scheduler=role(), Server=role(), Worker=role()))["replicatedJobs"]
    assert ["DMLC_WORKER_ID" in env(each) for each in found] == [False, False, True]


def test_without_a_scheduler_the_address_is_empty() -> None:
    (worker,) = spec(mxjob(Worker=role()))["replicatedJobs"]
    assert variables(worker)[2:6] == [
        ("DMLC_PS_ROOT_PORT", "0"), ("DMLC_PS_ROOT_URI", ""), ("DMLC_NUM_SERVER", "0"), ("DMLC_NUM_WORKER", "1"),
    ]  # fmt: skip


def test_the_annotation_is_the_label_of_a_role() -> None:
    metadata = {"annotations": {"tuner-server-key": "2080ti", "other": "a"}}
    server = put(role(), ("template", "metadata"), metadata)
    tuner, _ = spec(mxjob(Tuner=role(), TunerServer=server))["replicatedJobs"]
    assert config(tuner)["labels"] == {"tuner": "", "tunerserver": "2080ti"}


@pytest.mark.parametrize("key", ["scheduler", "SCHEDULER", "sChEdUlEr"])
def test_roles_have_any_case(key: str) -> None:
    found = spec(mxjob({}, **{"wOrKeR": role(), key: role()}))
    assert [each["name"] for each in found["replicatedJobs"]] == ["scheduler", "worker"]
    assert found["successPolicy"]["targetReplicatedJobs"] == ["scheduler"]


def test_each_role_has_its_port() -> None:
    def with_port(number: int) -> Tree:
        return role(1, {"ports": [{"name": "mxjob-port", "containerPort": number}]})

    _, worker = spec(mxjob(Scheduler=with_port(9000), Worker=with_port(9002)))["replicatedJobs"]
    assert [[each["port"] for each in pods] for pods in config(worker)["cluster"].values()] == [[9000], [9002]]
    assert env(worker)["DMLC_PS_ROOT_PORT"] == "9000"


def test_sidecars_have_the_variables_too() -> None:
    tree = mxjob(Worker=role())
    tree["spec"]["mxReplicaSpecs"]["Worker"]["template"]["spec"]["containers"].insert(0, {"name": "a", "image": "a:1"})
    (worker,) = spec(tree)["replicatedJobs"]
    assert env(worker, 0) == env(worker, 1)


def test_a_role_without_replicas_has_a_pod_outside_of_the_cluster() -> None:
    _, server, worker = spec(mxjob(Scheduler=role(), Server=role(0), Worker=role()))["replicatedJobs"]
    assert server["template"]["spec"]["completions"] == 1
    assert (config(worker)["cluster"]["server"], env(worker)["DMLC_NUM_SERVER"]) == ([], "0")


@pytest.mark.parametrize(
    ("roles", "targets", "is_approximated"),
    [
        pytest.param({"Scheduler": role(), "Worker": role(2)}, ["scheduler"], False, id="scheduler"),
        pytest.param({"Scheduler": role(2), "Worker": role()}, ["scheduler"], False, id="two schedulers"),
        pytest.param({"Server": role(), "Worker": role(2)}, None, True, id="no scheduler"),
        pytest.param({"Tuner": role(), "TunerServer": role()}, None, True, id="tuning"),
    ],
)
def test_the_scheduler_decides(roles: Tree, targets: list[str] | None, is_approximated: bool) -> None:
    tree = mxjob(**roles)
    found = spec(tree)
    assert found["successPolicy"].get("targetReplicatedJobs") == targets
    assert all("successPolicy" not in each["template"]["spec"] for each in found["replicatedJobs"])
    rules = [loss.rule.field for loss in plan_of(compiled_legacy(tree).jobs[0]).losses]
    assert ("*: a job without a role that decides about success" in rules) is is_approximated


def test_the_default_restart_policy_is_never() -> None:
    for each in spec(mxjob(Scheduler=role(), Server=role(), Worker=role()))["replicatedJobs"]:
        assert each["template"]["spec"]["template"]["spec"]["restartPolicy"] == "Never"
        assert each["template"]["spec"]["backoffLimit"] == 0


def test_the_first_operator_of_the_kind_has_the_run_policy_in_the_spec() -> None:
    top = {"backoffLimit": 3, "activeDeadlineSeconds": 60, "ttlSecondsAfterFinished": 5, "cleanPodPolicy": "All"}
    roles = {"Scheduler": role(restartPolicy="OnFailure"), "Worker": role(2)}
    assert spec(mxjob(top, "kubeflow.org/v1beta1", **roles)) == spec(mxjob({"runPolicy": top}, **roles))


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(mxjob(), "the job has no roles", id="no roles"),
        pytest.param(mxjob(Worker=None), "the role Worker is null", id="null"),
        pytest.param(mxjob(Worker=role(), worker=role()), "the role Worker has two keys: Worker and worker", id="keys"),
        pytest.param(mxjob(Worker=role(1, {"name": "a"})), 'the role Worker has no container "mxnet"', id="container"),
        pytest.param(mxjob(Worker=role(-1)), "Worker must have at least 0 replicas, not -1", id="negative"),
        pytest.param(
            mxjob(Worker=role(MOST)), f"Worker has {MOST} replicas; an indexed Job has at most 100000 pods", id="pods"
        ),
        pytest.param(
            mxjob({"backoffLimit": 1, "runPolicy": {"backoffLimit": 2}}, "kubeflow.org/v1beta1", Worker=role()),
            "backoffLimit is set in spec and in spec.runPolicy", id="twice",
        ),
        pytest.param(
            mxjob({}, "kubeflow.org/v1alpha1", Worker=role()), "unknown version kubeflow.org/v1alpha1 of MXJob",
            id="version",
        ),
    ],
)  # fmt: skip
def test_an_invalid_job(tree: Tree, message: str) -> None:
    assert errors(tree) == [message]


def test_a_config_that_is_too_long_is_not_written() -> None:
    (message,) = errors(mxjob(Scheduler=role(), Worker=role(100_000)))
    assert message.startswith("variable MX_CONFIG, including its name, takes ")


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 100, 101])
def test_the_length_of_a_config_is_that_of_its_text(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainc.pipeline.checks import limits

    tree = mxjob(Scheduler=role(), Server=role(0), Worker=role(count))
    size = max(len(f"MX_CONFIG={env(each)['MX_CONFIG']}") for each in spec(tree)["replicatedJobs"])
    monkeypatch.setattr(limits, "MAX_ARGUMENT", size - 1)
    assert errors(tree)[0] == limits.too_long("variable MX_CONFIG, including its name,", size)
    monkeypatch.setattr(limits, "MAX_ARGUMENT", size)
    assert errors(tree) == []
