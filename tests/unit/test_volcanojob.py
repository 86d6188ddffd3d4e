"""Volcano Jobs with the plugin tensorflow: tasks, variables, the gang, policies, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from purposes import plan_of
from unit.legacy_specs import INDEX, MOST, compiled_legacy, env, errors, spec

from trainc.kubernetes.trees import Tree, get
from trainc.legacy import volcano_plugins, volcano_policies, volcano_tasks, volcanojob

COMPLETE = {"event": "TaskCompleted", "action": "CompleteJob"}
RESTART = {"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"}
MODULES = (volcanojob, volcano_tasks, volcano_policies, volcano_plugins)
RULES = {rule: name for module in MODULES for name, rule in vars(module).items() if rule in volcanojob.LOSSES}


def task(name: str | None, replicas: int | None = 1, pod: Any = None, **fields: Any) -> Tree:
    template = {"spec": {"restartPolicy": "OnFailure", "containers": [{"name": "main", "image": "acme/tf:1"}]}}
    template["spec"] |= pod or {}
    given = {"name": name, "replicas": replicas}
    return {key: value for key, value in given.items() if value is not None} | {"template": template} | fields


def vcjob(*tasks: Any, plugins: Any = None, **fields: Any) -> Tree:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "mnist"},
        "spec": {"plugins": {"tensorflow": []} | (plugins or {}), "tasks": [*tasks], **fields},
    }


def objects(tree: Tree) -> dict[str, Any]:
    result = compiled_legacy(tree)
    assert not result.failed, [found.message for found in result.diagnostics]
    return {each["kind"]: each for each in result.objects}


def pod(replicated_job: Any) -> Any:
    return replicated_job["template"]["spec"]["template"]["spec"]


def config(replicated_job: Any, index: int = 0) -> Any:
    return json.loads(env(replicated_job)["TF_CONFIG"].replace("$(TF_TASK_INDEX)", str(index)))


def losses(tree: Tree) -> set[str]:
    """Return the names of the rules of losses of written fields."""
    plan = plan_of(compiled_legacy(tree).jobs[0])
    return {
        RULES.get(loss.rule, loss.rule.field)
        for loss in plan.losses
        if not loss.rule.is_added and get(tree, loss.path) is not None
    }


def test_each_task_with_replicas_is_a_job_in_the_order_of_the_file() -> None:
    found = spec(vcjob(task("worker", 2), task("ps", 0), task("chief"), task("logs", None)))["replicatedJobs"]
    assert [(each["name"], each["template"]["spec"]["completions"]) for each in found] == [("worker", 2), ("chief", 1)]


def test_a_config_has_the_roles_in_the_order_of_the_plugin() -> None:
    names = ("evaluator", "chief", "worker", "logs", "ps")
    found = spec(vcjob(*(task(name) for name in names)))["replicatedJobs"]
    assert [*config(found[0])["cluster"]] == ["ps", "worker", "chief", "evaluator"]
    assert [config(each)["task"]["type"] for each in found] == [*names]
    assert env(found[0])["TF_TASK_INDEX"] == INDEX


@pytest.mark.parametrize(
    ("tasks", "has_config"),
    [
        pytest.param([task("worker")], False, id="one pod"),
        pytest.param([task("logs")], False, id="one pod of no role"),
        pytest.param([task("worker", 2)], True, id="two pods"),
        pytest.param([task("worker"), task("ps", 0)], True, id="two tasks, one pod"),
    ],
)
def test_one_pod_has_no_config(tasks: list[Tree], has_config: bool) -> None:
    (worker,) = spec(vcjob(*tasks))["replicatedJobs"]
    assert ("TF_CONFIG" in env(worker)) is has_config


def test_the_variables_of_the_plugins() -> None:
    init = {"initContainers": [{"name": "fetch", "image": "acme/tf:1"}]}
    first, _ = spec(vcjob(task("train-pool", 2, init), task("ps"), plugins={"env": []}))["replicatedJobs"]
    names = ["VK_TASK_INDEX", "VC_TASK_INDEX", "VC_PS_HOSTS", "VC_PS_NUM", "VC_TRAIN_POOL_HOSTS", "VC_TRAIN_POOL_NUM"]
    assert [*env(first)] == [*names, "TF_TASK_INDEX", "TF_CONFIG"]
    assert [each["name"] for each in pod(first)["initContainers"][0]["env"]] == names
    assert env(first)["VC_TRAIN_POOL_HOSTS"] == "mnist-train-pool-0-0.mnist,mnist-train-pool-0-1.mnist"


def test_the_files_of_the_plugin_svc() -> None:
    found = objects(vcjob(task("train-pool", 2), task("ps", 0)))
    files = found["ConfigMap"]
    assert files["metadata"]["name"] == "mnist-volcano-hosts"
    assert files["data"] == {
        "VC_PS_HOSTS": "",
        "VC_PS_NUM": "0",
        "VC_TRAIN_POOL_HOSTS": "mnist-train-pool-0-0.mnist,mnist-train-pool-0-1.mnist",
        "VC_TRAIN_POOL_NUM": "2",
        "train_pool.host": "mnist-train-pool-0-0.mnist\nmnist-train-pool-0-1.mnist",
        "ps.host": "",
    }
    (each,) = found["JobSet"]["spec"]["replicatedJobs"]
    assert pod(each)["volumes"] == [{"name": "volcano-hosts", "configMap": {"name": "mnist-volcano-hosts"}}]
    assert pod(each)["containers"][0]["volumeMounts"] == [{"name": "volcano-hosts", "mountPath": "/etc/volcano"}]


@pytest.mark.parametrize(
    ("fields", "tasks", "group"),
    [
        pytest.param({}, [task("ps"), task("worker", 2)], {"minMember": 3}, id="all pods"),
        pytest.param({"minAvailable": 2}, [task("worker", 3)], {"minMember": 2}, id="of the job"),
        pytest.param({}, [task("ps"), task("worker", 3, minAvailable=1)], {"minMember": 2}, id="of a task"),
        pytest.param({"minAvailable": 0}, [task("worker", 3)], {"minMember": 3}, id="zero"),
        pytest.param(
            {"queue": "gold", "priorityClassName": "high"}, [task("worker")],
            {"minMember": 1, "queue": "gold", "priorityClassName": "high"}, id="queue and priority",
        ),
    ],
)  # fmt: skip
def test_the_gang_is_that_of_volcano(fields: Tree, tasks: list[Tree], group: Tree) -> None:
    found = objects(vcjob(*tasks, **fields))
    assert found["PodGroup"]["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert found["PodGroup"]["spec"] == {"minResources": {}, "queue": "default"} | group
    for each in found["JobSet"]["spec"]["replicatedJobs"]:
        annotations = each["template"]["spec"]["template"]["metadata"]["annotations"]
        assert annotations == {"scheduling.k8s.io/group-name": "mnist"}


@pytest.mark.parametrize(
    ("fields", "own", "kept"),
    [
        pytest.param({}, {}, {"schedulerName": "volcano"}, id="default"),
        pytest.param({"schedulerName": "other"}, {}, {"schedulerName": "other"}, id="scheduler of the job"),
        pytest.param(
            {"schedulerName": "a"}, {"schedulerName": "b"}, {"schedulerName": "b"}, id="scheduler of the task"
        ),
        pytest.param({"priorityClassName": "a"}, {}, {"priorityClassName": "a"}, id="priority of the job"),
        pytest.param(
            {"priorityClassName": "a"},
            {"priorityClassName": "b"},
            {"priorityClassName": "b"},
            id="priority of the task",
        ),
        pytest.param({}, {"hostNetwork": True}, {"dnsPolicy": "ClusterFirstWithHostNet"}, id="host network"),
        pytest.param(
            {}, {"hostNetwork": True, "dnsPolicy": "Default"}, {"dnsPolicy": "Default"}, id="host network with a policy"
        ),
        pytest.param({}, {"restartPolicy": "Always"}, {"restartPolicy": "OnFailure"}, id="always"),
        pytest.param({}, {"hostname": "a", "subdomain": "b"}, {"hostname": None, "subdomain": None}, id="host name"),
    ],
)
def test_the_pods_of_a_task(fields: Tree, own: Tree, kept: Tree) -> None:
    (worker,) = spec(vcjob(task("worker", 1, own), **fields))["replicatedJobs"]
    assert {key: pod(worker).get(key) for key in kept} == kept


def test_a_claim_of_the_job_is_a_volume_of_all_containers() -> None:
    init = {"initContainers": [{"name": "fetch", "image": "acme/tf:1"}]}
    (worker,) = spec(
        vcjob(task("worker", 1, init), volumes=[{"mountPath": "/data", "volumeClaimName": "a"}])
    )["replicatedJobs"]  # fmt: skip
    assert pod(worker)["volumes"][0] == {"name": "volcano-volume-0", "persistentVolumeClaim": {"claimName": "a"}}
    mounts = [each["volumeMounts"] for key in ("containers", "initContainers") for each in pod(worker)[key]]
    assert [len(each) for each in mounts] == [2, 1]


@pytest.mark.parametrize(
    ("fields", "tasks", "policy"),
    [
        pytest.param({}, [task("ps"), task("worker")], {"operator": "All"}, id="all pods"),
        pytest.param(
            {}, [task("ps"), task("worker", policies=[COMPLETE])],
            {"operator": "All", "targetReplicatedJobs": ["worker"]}, id="a task",
        ),
        pytest.param(
            {}, [task("a", policies=[COMPLETE]), task("b"), task("c", policies=[COMPLETE])],
            {"operator": "Any", "targetReplicatedJobs": ["a", "c"]}, id="one of two tasks",
        ),
        pytest.param(
            {"policies": [COMPLETE]}, [task("a"), task("b")],
            {"operator": "Any", "targetReplicatedJobs": ["a", "b"]}, id="any task",
        ),
        pytest.param(
            {}, [task("a", 0, policies=[COMPLETE]), task("b")], {"operator": "All"}, id="a task without replicas"
        ),
        pytest.param(
            {}, [task("a", policies=[COMPLETE | {"timeout": "5m"}]), task("b")], {"operator": "All"}, id="a timeout"
        ),
    ],
)  # fmt: skip
def test_success(fields: Tree, tasks: list[Tree], policy: Tree) -> None:
    assert spec(vcjob(*tasks, **fields))["successPolicy"] == policy


@pytest.mark.parametrize(
    ("fields", "own", "restarts"),
    [
        pytest.param({}, {}, None, id="no policy"),
        pytest.param({"policies": [RESTART]}, {}, 3, id="default"),
        pytest.param({"policies": [RESTART], "maxRetry": 7}, {}, 7, id="limit"),
        pytest.param({"policies": [{"event": "*", "action": "RestartJob"}]}, {}, 3, id="any event"),
        pytest.param({}, {"policies": [RESTART]}, 3, id="of a task"),
        pytest.param({"maxRetry": 7}, {}, None, id="limit without a policy"),
        pytest.param({"policies": [{"event": "PodFailed", "action": "AbortJob"}]}, {}, None, id="another action"),
        pytest.param({"policies": [{"event": "PodPending", "action": "RestartJob"}]}, {}, None, id="another event"),
        pytest.param({"policies": [{"exitCode": 3, "action": "RestartJob"}]}, {}, None, id="an exit code"),
    ],
)
def test_restarts(fields: Tree, own: Tree, restarts: int | None) -> None:
    assert get(spec(vcjob(task("worker", **own), **fields)), ("failurePolicy", "maxRestarts")) == restarts


@pytest.mark.parametrize(("restart", "limit"), [("OnFailure", MOST), ("Always", MOST), ("Never", 0)])
def test_the_limit_of_a_job(restart: str, limit: int) -> None:
    (worker,) = spec(vcjob(task("worker", 1, {"restartPolicy": restart})))["replicatedJobs"]
    assert worker["template"]["spec"]["backoffLimit"] == limit


def test_a_task_follows_its_dependencies() -> None:
    tasks = (
        task("worker", 2, dependsOn={"name": ["ps", "chief", "none"], "iteration": "any"}),
        task("none", 0),
        task("chief", dependsOn={"name": ["ps"]}),
        task("ps"),
    )
    found = spec(vcjob(*tasks, minAvailable=1))["replicatedJobs"]
    assert [(each["name"], [other["name"] for other in each.get("dependsOn", [])]) for each in found] == [
        ("ps", []), ("chief", ["ps"]), ("worker", ["ps", "chief"]),
    ]  # fmt: skip


def test_a_gang_that_waits_for_itself_is_reported() -> None:
    tree = vcjob(task("ps"), task("worker", 2, dependsOn={"name": ["ps"]}))
    (found,) = (each for each in compiled_legacy(tree).diagnostics if each.id == "gang-waits-for-itself")
    assert found.help == 'remove dependsOn, or set a minAvailable that does not count the pods of job "worker"'


@pytest.mark.parametrize(
    ("tree", "rules"),
    [
        pytest.param(vcjob(task("ps"), task("worker", 2)), set(), id="none"),
        pytest.param(vcjob(task("a", 1, {"restartPolicy": "Always"})), {"ALWAYS"}, id="always"),
        pytest.param(vcjob(task("a", 1, {"restartPolicy": "Never"})), {"NEVER"}, id="never"),
        pytest.param(
            vcjob(task("a", 1, {"restartPolicy": "Never"}), policies=[RESTART]), {"RESTARTS"}, id="never, with restarts"
        ),
        pytest.param(vcjob(task("a", policies=[COMPLETE])), set(), id="complete"),
        pytest.param(
            vcjob(task("a"), task("b", 0, policies=[COMPLETE])), {"NO_TASK", "NO_PODS"}, id="complete, without pods"
        ),
        pytest.param(vcjob(task("a", policies=[COMPLETE | {"timeout": "5m"}])), {"OTHER_POLICY"}, id="timeout"),
        pytest.param(vcjob(task("a"), maxRetry=3), {"NO_RETRY"}, id="retries"),
        pytest.param(vcjob(task("a", maxRetry=3)), {"TASK_RETRY"}, id="retries of a task"),
        pytest.param(vcjob(task("a", 2), minAvailable=1), {"MIN_RESOURCES"}, id="a part of the pods"),
        pytest.param(vcjob(task("a", 2), minAvailable=2), set(), id="all pods"),
        pytest.param(vcjob(task("a", 2, minAvailable=1)), {"SUMMED"}, id="a part of a task"),
        pytest.param(vcjob(task("a", 2, minAvailable=1), minAvailable=2), {"NOT_SUMMED"}, id="both"),
        pytest.param(
            vcjob(task("a"), minSuccess=1, networkTopology={"mode": "hard"}, runningEstimate="1h"),
            {"spec.minSuccess", "spec.networkTopology", "spec.runningEstimate"}, id="fields of the job",
        ),
        pytest.param(
            vcjob(task("a", topologyPolicy="restricted", partitionPolicy={"partitionSize": 1})),
            {"spec.tasks[*].topologyPolicy", "spec.tasks[*].partitionPolicy"}, id="fields of a task",
        ),
        pytest.param(
            vcjob(task("a"), volumes=[{"mountPath": "/a", "volumeClaimName": "b", "volumeClaim": {}}]), set(),
            id="claim"
        ),
        pytest.param(
            vcjob(task("a"), volumes=[{"mountPath": "/a", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}}]),
            {"CLAIM"}, id="a new claim",
        ),
        pytest.param(vcjob(task("a", 1, {"hostname": "h"})), {"HOST"}, id="host name"),
        pytest.param(vcjob(task("a"), plugins={"ssh": []}), {"PLUGIN"}, id="ssh"),
        pytest.param(
            vcjob(task("a"), plugins={"svc": ["--disable-network-policy=true"]}), {"ARGUMENT"}, id="argument of svc"
        ),
        pytest.param(vcjob(task("a", 2), plugins={"tensorflow": ["--port=1"]}), set(), id="argument"),
        pytest.param(vcjob(task("a", 2), plugins={"tensorflow": ["x", "--port=1"]}), {"UNREAD"},
            id="argument not read"),
        pytest.param(vcjob(task("a"), plugins={"tensorflow": ["--port=1"]}), {"SINGLE"}, id="argument of one pod"),
    ],
)  # fmt: skip
def test_losses_of_written_fields(tree: Tree, rules: set[str]) -> None:
    assert losses(tree) == rules


@pytest.mark.parametrize(
    ("arguments", "is_lost"),
    [([], True), (["--disable-network-policy"], False), (["--disable-network-policy=f"], True)],
)
def test_the_network_policy_is_lost_unless_it_is_disabled(arguments: list[str], is_lost: bool) -> None:
    plan = plan_of(compiled_legacy(vcjob(task("a"), plugins={"svc": arguments})).jobs[0])
    assert (volcano_plugins.NETWORK_POLICY in {loss.rule for loss in plan.losses}) is is_lost


TWO = [task("a"), task("b")]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(
            vcjob(*TWO, plugins={"pytorch": []}),
            "the plugin pytorch is the second one of a framework beside tensorflow", id="pytorch",
        ),
        pytest.param(
            vcjob(*TWO, plugins={"mpi": []}),
            "the plugin mpi is the second one of a framework beside tensorflow", id="mpi",
        ),
        pytest.param(vcjob(*TWO, plugins={"srv": []}), 'unknown plugin "srv"', id="unknown plugin"),
        pytest.param(vcjob(task("a"), task("a")), 'two tasks are named "a"', id="names"),
        pytest.param(vcjob(task("default1"), task(None)), 'two tasks are named "default1"', id="a default name"),
        pytest.param(vcjob(task("a", 0), task("b", None)), "no task has a replica", id="no replicas"),
        pytest.param(
            vcjob(task("a", MOST)), f"a has {MOST} replicas; an indexed Job has at most 100000 pods", id="many replicas"
        ),
        pytest.param(
            vcjob(task("a", 2), minAvailable=3), "minAvailable is 3, but the tasks have 2 replicas", id="minAvailable"
        ),
        pytest.param(
            vcjob(task("a", 2, minAvailable=3)), 'minAvailable of task "a" is 3, but it has 2 replicas', id="of a task"
        ),
        pytest.param(
            vcjob(task("a", dependsOn={"name": ["c"]})), 'task "a" depends on "c", which the job does not have',
            id="task"
        ),
        pytest.param(
            vcjob(task("a", dependsOn={"name": ["b"]}), task("b", dependsOn={"name": ["a"]})),
            'task "a" depends on itself through other tasks', id="cycle",
        ),
        pytest.param(vcjob(task("a"), volumes=[{"mountPath": "/a"}]), "the volume has no claim", id="volume"),
        pytest.param(vcjob({"name": "a", "replicas": 1}), 'task "a" has no container', id="template"),
        pytest.param(
            vcjob(task("a"), policies=[{"action": "CompleteJob"}]),
            "the policy has no event and no exitCode", id="no event",
        ),
        pytest.param(
            vcjob(task("a", policies=[{"event": "PodFailed", "exitCode": 3, "action": "AbortJob"}])),
            "the policy has an event and an exitCode", id="event and exit code",
        ),
        pytest.param(
            vcjob(task("a"), policies=[{"exitCode": 0, "action": "CompleteJob"}]),
            "exitCode 0 is that of success", id="exit code 0",
        ),
        pytest.param(
            vcjob(task("a"), policies=[{"exitCode": 3, "action": "AbortJob"}, {"exitCode": 3, "action": "RestartJob"}]),
            "two policies are for 3", id="two exit codes",
        ),
        pytest.param(
            vcjob(task("a"), policies=[
                {"event": "PodFailed", "action": "AbortJob"},
                {"events": ["PodEvicted", "PodFailed"], "action": "RestartJob"},
            ]),
            "two policies are for PodFailed", id="two events",
        ),
        pytest.param(
            vcjob(task("a"), policies=[
                {"events": ["PodFailed"], "action": "AbortJob"}, {"event": "*", "action": "RestartJob"},
            ]),
            'the event "*" includes all others', id="all events",
        ),
    ],
)  # fmt: skip
def test_an_invalid_job(tree: Tree, message: str) -> None:
    assert errors(tree) == [message]


def test_one_event_twice_in_one_policy_is_one_event() -> None:
    policy = {"event": "TaskCompleted", "events": ["TaskCompleted"], "action": "CompleteJob"}
    assert errors(vcjob(task("a"), policies=[policy])) == []


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 100, 101])
@pytest.mark.parametrize("name", ["TF_CONFIG", "VC_WORKER_HOSTS"])
def test_the_length_of_a_variable_is_that_of_its_text(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainc.pipeline.checks import limits

    tree = vcjob(task("ps", 2), task("worker", count), task("chief", 0))
    size = max(len(f"{name}={env(each)[name]}") for each in spec(tree)["replicatedJobs"])
    monkeypatch.setattr(limits, "MAX_ARGUMENT", size - 1)
    assert limits.too_long(f"variable {name}, including its name,", size) in errors(tree)
    monkeypatch.setattr(limits, "MAX_ARGUMENT", size)
    assert not [each for each in errors(tree) if each.startswith(f"variable {name}")]
