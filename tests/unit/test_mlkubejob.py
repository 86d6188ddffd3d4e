"""MxJob of the first MXNet operator: the pods of each job, worked out from its types, defaults and validation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from purposes import plan_of
from running import run
from unit.legacy_specs import MOST, compiled_legacy, errors, spec

from trainc.kubernetes.trees import Tree, get
from trainc.legacy import mlkubejob
from trainc.pods import jobs_of

URI = "mnist-scheduler-0-0.mnist"
RULES = {rule: name for name, rule in vars(mlkubejob).items() if rule in mlkubejob.LOSSES}


def item(kind: str | None = None, replicas: int | None = None, port: int | None = None, **pod: Any) -> Tree:
    """Return an item of replicaSpecs; a field that is None is missing."""
    containers = pod.pop("containers", [{"name": "mxnet", "image": "acme/mxnet:1"}])
    template = {"spec": {"restartPolicy": "OnFailure", "containers": containers} | pod}
    fields = {"mxReplicaType": kind, "replicas": replicas, "PsRootPort": port}
    return {key: value for key, value in fields.items() if value is not None} | {"template": template}


def mxjob(*items: Any, mode: str | None = "dist", **fields: Any) -> Tree:
    given = fields | ({} if mode is None else {"jobMode": mode}) | {"replicaSpecs": [*items]}
    return {"apiVersion": "mxnet.mlkube.io/v1beta1", "kind": "MxJob", "metadata": {"name": "mnist"}, "spec": given}


def main(*env: Any, **fields: Any) -> Tree:
    return {"name": "mxnet", "image": "acme/mxnet:1"} | ({"env": [*env]} if env else {}) | fields


def dmlc(role: str, servers: int = 1, workers: int = 1, port: int = 9091) -> list[tuple[str, str]]:
    """Return the five variables of the operator in its order, and trainc's addition."""
    return [
        ("DMLC_PS_ROOT_PORT", str(port)),
        ("DMLC_PS_ROOT_URI", URI),
        ("DMLC_NUM_SERVER", str(servers)),
        ("DMLC_NUM_WORKER", str(workers)),
        ("DMLC_ROLE", role),
        ("DMLC_USE_KUBERNETES", "1"),
    ]


def variables(container: Tree) -> list[tuple[str, str]]:
    """Return the variables of a container without that of the Job controller, which has no literal value."""
    return [(each["name"], each["value"]) for each in container.get("env", []) if "value" in each]


SCHEDULER, SERVER, WORKER = item("SCHEDULER"), item("SERVER"), item("WORKER")
OWN = ({"name": "A", "value": "a"}, {"name": "DMLC_ROLE", "value": "mine"}, {"name": "B", "value": "$(DMLC_ROLE)"})
SIDECAR = {"name": "logs", "image": "acme/logs:1"}
GPU = {"limits": {"alpha.kubernetes.io/nvidia-gpu": "1"}}
DIST = {
    "scheduler-0-0": [("mxnet", dmlc("scheduler"))],
    "server-0-0": [("mxnet", dmlc("server"))],
    "worker-0-0": [("mxnet", dmlc("worker"))],
}
PODS: list[Any] = [
    pytest.param(mxjob(SCHEDULER, SERVER, WORKER), DIST, id="a pod of each role"),
    pytest.param(mxjob(WORKER, SERVER, SCHEDULER), DIST, id="roles in any order"),
    pytest.param(mxjob(SCHEDULER, SERVER, item()), DIST, id="the default type is WORKER"),
    pytest.param(mxjob(SCHEDULER, SERVER, item("")), DIST, id="an empty type is WORKER"),
    pytest.param(mxjob(item("SCHEDULER", 1, 9091), item("SERVER", 1), item("WORKER", 1)), DIST, id="defaults as given"),
    pytest.param(
        mxjob(SCHEDULER, item("SERVER", 2), item("WORKER", 3)),
        {"scheduler-0-0": [("mxnet", dmlc("scheduler", 2, 3))]}
        | {f"server-0-{index}": [("mxnet", dmlc("server", 2, 3))] for index in range(2)}
        | {f"worker-0-{index}": [("mxnet", dmlc("worker", 2, 3))] for index in range(3)},
        id="replicas",
    ),
    pytest.param(
        mxjob(item("SCHEDULER", port=9000), item("SERVER", port=9001), item("WORKER", port=9002)),
        {f"{role}-0-0": [("mxnet", dmlc(role, port=9000))] for role in ("scheduler", "server", "worker")},
        id="the port of the scheduler",
    ),
    pytest.param(
        mxjob(SCHEDULER, item("SERVER", 0), WORKER),
        {"scheduler-0-0": [("mxnet", dmlc("scheduler", 0))], "worker-0-0": [("mxnet", dmlc("worker", 0))]},
        id="a role without replicas has no pods",
    ),
    pytest.param(
        mxjob(SCHEDULER, SERVER, item(containers=[SIDECAR, main()])),
        DIST | {"worker-0-0": [("logs", []), ("mxnet", dmlc("worker"))]},
        id="only the container mxnet has the variables",
    ),
    pytest.param(
        mxjob(SCHEDULER, SERVER, item(containers=[main(*OWN)])),
        DIST | {"worker-0-0": [("mxnet", [("A", "a"), ("B", "mine"), *dmlc("worker")])]},
        id="variables are appended, and the last one of a name applies",
    ),
    pytest.param(
        mxjob(SCHEDULER, SERVER, item(initContainers=[{"name": "fetch", "image": "acme/mxnet:1"}])),
        DIST,
        id="an init container has no variables",
    ),
    pytest.param(mxjob(SCHEDULER, SERVER, WORKER, RuntimeId="abcd"), DIST, id="the runtime id is in no name"),
    pytest.param(mxjob(SCHEDULER, SERVER, item(containers=[main(resources=GPU)])), DIST, id="a GPU is a resource"),
    pytest.param(mxjob(WORKER, mode="local"), {"worker-0-0": [("mxnet", [])]}, id="local"),
    pytest.param(mxjob(item(), mode="local"), {"worker-0-0": [("mxnet", [])]}, id="local, with the default type"),
    pytest.param(mxjob(item("WORKER", 0), mode="local"), {"worker-0-0": [("mxnet", [])]}, id="local, without replicas"),
    pytest.param(
        mxjob(item(containers=[main(*OWN)]), mode="local"),
        {"worker-0-0": [("mxnet", [("A", "a"), ("DMLC_ROLE", "mine"), ("B", "$(DMLC_ROLE)")])]},
        id="local, with variables",
    ),
]


@pytest.mark.parametrize(("tree", "pods"), PODS)
def test_pods(tree: Tree, pods: Any) -> None:
    result = compiled_legacy(tree)
    assert errors(tree) == []
    found = {
        str(pod.hostname).removeprefix("mnist-"): [
            (container.tree["name"], variables(container.tree)) for container in pod.containers if not container.init
        ]
        for each in jobs_of(result.objects[0], {})
        for pod in each.pods()
    }
    assert found == pods


@pytest.mark.parametrize(
    ("tree", "decides"),
    [
        pytest.param(mxjob(SCHEDULER, SERVER, WORKER), ["scheduler"], id="dist"),
        pytest.param(mxjob(SCHEDULER, item("SERVER", 0), item("WORKER", 0)), None, id="a scheduler alone"),
        pytest.param(mxjob(WORKER, mode="local"), None, id="local"),
    ],
)
def test_success(tree: Tree, decides: list[str] | None) -> None:
    assert spec(tree)["successPolicy"].get("targetReplicatedJobs") == decides


@pytest.mark.parametrize(("restart", "kept"), [("OnFailure", "OnFailure"), ("Never", "Never"), (None, "OnFailure")])
def test_the_jobs_have_the_default_limit(restart: str | None, kept: str) -> None:
    each = item(restartPolicy=restart)
    (worker,) = spec(mxjob(each, mode="local"))["replicatedJobs"]
    assert "backoffLimit" not in worker["template"]["spec"]
    assert worker["template"]["spec"]["template"]["spec"]["restartPolicy"] == kept


def test_the_labels_of_the_pods() -> None:
    own = {"team": "a", "job_type": "mine", "task_index": "7"}
    each = item()
    each["template"]["metadata"] = {"labels": own, "annotations": {"b": "c"}}
    (worker,) = spec(mxjob(each, mode="local"))["replicatedJobs"]
    metadata = worker["template"]["spec"]["template"]["metadata"]
    assert metadata["labels"] == {"team": "a", "mxnet.mlkube.io": "", "job_type": "WORKER"}
    assert metadata["annotations"] == {"b": "c"}


@pytest.mark.parametrize(
    ("tree", "rules"),
    [
        pytest.param(mxjob(SCHEDULER, SERVER, WORKER), set(), id="none"),
        pytest.param(
            mxjob(SCHEDULER, SERVER, item(containers=[main(*OWN[:2])])),
            {"OVERWRITTEN", "SHADOWED"},
            id="variables",
        ),
        pytest.param(mxjob(item(containers=[main(OWN[0])]), mode="local"), set(), id="variables in mode local"),
        pytest.param(mxjob(SCHEDULER, SERVER, item("WORKER", 1, 9000)), {"OTHER_PORT"}, id="the port of a worker"),
        pytest.param(mxjob(item("WORKER", 1), mode="local"), {"ONE_POD"}, id="replicas in mode local"),
        pytest.param(mxjob(SCHEDULER, SERVER, WORKER, RuntimeId="a"), {"RUNTIME"}, id="the runtime id"),
    ],
)
def test_losses_of_written_fields(tree: Tree, rules: set[str]) -> None:
    plan = plan_of(compiled_legacy(tree).jobs[0])
    written = {loss.rule for loss in plan.losses if not loss.rule.is_added and get(tree, loss.path) is not None}
    assert {RULES[rule] for rule in written} == rules


def test_gangs_do_not_apply() -> None:
    import trainc
    from trainc.compilation.run import Options

    tree = mxjob(SCHEDULER, SERVER, WORKER)
    options = Options(legacy=True, no_config=True, gang="volcano")
    assert trainc.compile(text=json.dumps(tree), options=options).objects == compiled_legacy(tree).objects


def test_no_gang_is_offered() -> None:
    done = run("validate", "--legacy", "-", stdin=json.dumps(mxjob(SCHEDULER, SERVER, WORKER)).encode())
    assert "help: if other jobs compete for the nodes, use a Kueue queue\n" in done.out


NO_TEMPLATE = {"mxReplicaType": "WORKER"}
OTHER = item(containers=[{"name": "main", "image": "a:1"}])


@pytest.mark.parametrize(
    ("tree", "field", "message"),
    [
        pytest.param(
            mxjob(SCHEDULER, SERVER, NO_TEMPLATE),
            "spec.replicaSpecs[2].template", "the WORKER has no template", id="template",
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER, WORKER, item("MASTER")),
            "spec.replicaSpecs[3].mxReplicaType", 'unknown mxReplicaType "MASTER"', id="type",
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER, item("worker")),
            "spec.replicaSpecs[2].mxReplicaType", 'unknown mxReplicaType "worker"', id="a type in lower case",
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER, OTHER),
            "spec.replicaSpecs[2].template.spec.containers", 'the role WORKER has no container "mxnet"', id="container",
        ),
        pytest.param(
            mxjob(SERVER, WORKER), "spec.replicaSpecs", "mode dist requires a SCHEDULER", id="dist without a scheduler"
        ),
        pytest.param(
            mxjob(SCHEDULER, WORKER), "spec.replicaSpecs", "mode dist requires a SERVER", id="dist without a server"
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER), "spec.replicaSpecs", "mode dist requires a WORKER", id="dist without a worker"
        ),
        pytest.param(
            mxjob(WORKER, SERVER, mode="local"),
            "spec.replicaSpecs[1].mxReplicaType", "mode local allows only a WORKER, not a SERVER", id="local server",
        ),
        pytest.param(
            mxjob(item(replicas=2), mode="local"),
            "spec.replicaSpecs[0].replicas", "the WORKER must have at most 1 replica in mode local, not 2",
            id="local workers",
        ),
        pytest.param(mxjob(mode="local"), "spec.replicaSpecs", "mode local requires a WORKER",
            id="local without items"),
        pytest.param(mxjob(WORKER, mode="Local"), "spec.jobMode", 'unknown jobMode "Local"', id="mode"),
        pytest.param(mxjob(WORKER, mode=None), "spec.jobMode", "the job has no jobMode", id="no mode"),
        pytest.param(
            mxjob(SCHEDULER, SERVER, WORKER, item()),
            "spec.replicaSpecs[3].mxReplicaType", "two replicaSpecs are a WORKER", id="two items of one type",
        ),
        pytest.param(
            mxjob(item("SCHEDULER", 2), SERVER, WORKER),
            "spec.replicaSpecs[0].replicas", "the SCHEDULER must have 1 replica in mode dist, not 2", id="schedulers",
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER, item(restartPolicy="Always")),
            "spec.replicaSpecs[2].template.spec.restartPolicy",
            'unsupported restartPolicy "Always" of the WORKER: its pods are those of a Job', id="always",
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER, item(replicas=MOST)),
            "spec.replicaSpecs[2].replicas", f"WORKER has {MOST} replicas; an indexed Job has at most 100000 pods",
            id="pods",
        ),
        pytest.param(
            mxjob(item(replicas=MOST), mode="local"),
            "spec.replicaSpecs[0].replicas", f"WORKER has {MOST} replicas; an indexed Job has at most 100000 pods",
            id="pods in mode local",
        ),
        pytest.param(
            mxjob(SCHEDULER, SERVER, item(replicas=-1)),
            "spec.replicaSpecs[2].replicas", "replicaSpecs[2].replicas must be at least 0, not -1", id="negative",
        ),
    ],
)  # fmt: skip
def test_an_invalid_job(tree: Tree, field: str, message: str) -> None:
    found = [(each.field, each.message) for each in compiled_legacy(tree).diagnostics if each.severity == "error"]
    assert found == [(field, message)]
