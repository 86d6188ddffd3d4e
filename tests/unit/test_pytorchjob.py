"""PyTorchJobs: their layout, their variables, how they end, and the jobs that admission refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run
from unit.legacy_specs import compiled_legacy, losses

import trainc
from trainc.compilation.run import Options
from trainc.diagnostics import Diagnostic, Location, Place
from trainc.kubernetes.trees import Tree
from trainc.legacy.layout import field_paths

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
GLOBAL_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"
JOB_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-index']"
MOST = 2147483647


def pytorch_role(replicas: int | None = 1, *, image: str = "acme/mnist:v1", **fields: Any) -> Any:
    container = {"name": "pytorch", "image": image, **fields.pop("container", {})}
    template = {"spec": {"containers": [container]}}
    return {"template": template} | ({} if replicas is None else {"replicas": replicas}) | fields


def pytorch_job(spec: Any | None = None, metadata: Any | None = None, **roles: Any) -> Tree:
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "mnist"} | (metadata or {}),
        "spec": (spec or {}) | {"pytorchReplicaSpecs": roles},
    }


def spec(tree: Tree) -> Any:
    result = compiled_legacy(tree)
    assert [str(found) for found in result.diagnostics if found.severity == "error"] == []
    (jobset,) = result.objects
    return jobset["spec"]


def pods(replicated: Any) -> Any:
    return replicated["template"]["spec"]["template"]["spec"]


def env(replicated: Any) -> dict[str, Any]:
    (container,) = pods(replicated)["containers"]
    return {
        each["name"]: each["value"] if "value" in each else each["valueFrom"]["fieldRef"]["fieldPath"]
        for each in container["env"]
    }


def test_equal_roles_are_one_job() -> None:
    (node,) = spec(pytorch_job(Master=pytorch_role(), Worker=pytorch_role(3)))["replicatedJobs"]
    assert (node["name"], node["replicas"], node["template"]["spec"]["completions"]) == ("node", 1, 4)
    assert node["template"]["spec"]["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert env(node) == {
        "PYTHONUNBUFFERED": "1",
        "MASTER_PORT": "23456",
        "PET_MASTER_PORT": "23456",
        "MASTER_ADDR": "mnist-node-0-0.mnist",
        "PET_MASTER_ADDR": "mnist-node-0-0.mnist",
        "WORLD_SIZE": "4",
        "RANK": INDEX,
        "PET_NODE_RANK": INDEX,
        "PET_NPROC_PER_NODE": "auto",
        "PET_NNODES": "4",
    }


@pytest.mark.parametrize(
    ("master", "worker"),
    [
        pytest.param({}, {"image": "acme/mnist:v2"}, id="templates"),
        pytest.param({}, {"restartPolicy": "Always"}, id="restart policies"),
        pytest.param({"restartPolicy": "Never"}, {"restartPolicy": "Never"}, id="pods that fail for ever"),
        pytest.param({"restartPolicy": "ExitCode"}, {"restartPolicy": "ExitCode"}, id="exit codes"),
    ],
)
def test_other_roles_have_jobs_of_their_own(master: Any, worker: Any) -> None:
    found = spec(pytorch_job(Master=pytorch_role(**master), Worker=pytorch_role(3, **worker)))
    first, second = found["replicatedJobs"]
    assert [(each["name"], each["replicas"]) for each in (first, second)] == [("master", 1), ("worker", 3)]
    assert [each["template"]["spec"]["completions"] for each in (first, second)] == [1, 1]
    assert (env(second)["RANK"], env(second)["MASTER_ADDR"]) == (GLOBAL_INDEX, "mnist-master-0-0.mnist")
    assert found["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["master"]}


def test_a_role_that_reads_its_index_is_not_folded() -> None:
    label = {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/replica-index']"}}
    container = {"env": [{"name": "INDEX", "valueFrom": label}]}
    both = spec(pytorch_job(Master=pytorch_role(container=container), Worker=pytorch_role(2, container=container)))[
        "replicatedJobs"
    ]
    assert [env(each)["INDEX"] for each in both] == [INDEX, JOB_INDEX]
    (alone,) = spec(pytorch_job(Worker=pytorch_role(2, container=container)))["replicatedJobs"]
    assert env(alone)["INDEX"] == INDEX


def test_volumes_that_show_the_index_have_the_new_field() -> None:
    label = {"fieldPath": "metadata.labels['training.kubeflow.org/replica-index']"}
    items = [{"path": "index", "fieldRef": label}]
    volumes = [
        {"name": "a", "downwardAPI": {"items": items}},
        {"name": "b", "projected": {"sources": [{"downwardAPI": {"items": items}}]}},
    ]
    roles = {"Master": pytorch_role(), "Worker": pytorch_role(2)}
    for each in roles.values():
        each["template"]["spec"]["volumes"] = volumes
    found = [[*field_paths(pods(each)["volumes"])] for each in spec(pytorch_job(**roles))["replicatedJobs"]]
    assert found == [[INDEX, INDEX], [JOB_INDEX, JOB_INDEX]]


@pytest.mark.parametrize(
    ("policy", "limit", "pod", "backoff_limit", "rules"),
    [
        ("OnFailure", None, "OnFailure", MOST, 0),
        ("OnFailure", 3, "OnFailure", 3, 0),
        ("Always", None, "OnFailure", MOST, 0),
        ("Never", None, "Never", 0, 0),
        ("Never", 3, "Never", 0, 0),
        ("ExitCode", None, "Never", 0, 3),
        ("ExitCode", 3, "Never", 0, 3),
        ("ExitCode", 0, "Never", 0, 1),
    ],
)
def test_restart_policies(policy: str, limit: int | None, pod: str, backoff_limit: int, rules: int) -> None:
    run_policy = {} if limit is None else {"runPolicy": {"backoffLimit": limit}}
    (worker,) = spec(pytorch_job(run_policy, Worker=pytorch_role(2, restartPolicy=policy)))["replicatedJobs"]
    found = worker["template"]["spec"]
    assert (pods(worker)["restartPolicy"], found["backoffLimit"]) == (pod, backoff_limit)
    assert len(found.get("podFailurePolicy", {}).get("rules", [])) == rules


@pytest.mark.parametrize(
    ("roles", "elastic", "rule"),
    [
        ({"Worker": pytorch_role(2)}, None, None),
        ({"Worker": pytorch_role(2)}, {}, {"succeededCount": 1}),
        ({"Worker": pytorch_role(1)}, {}, None),
        ({"Master": pytorch_role(), "Worker": pytorch_role(2)}, {}, {"succeededIndexes": "0"}),
        ({"Master": pytorch_role()}, None, None),
    ],
)
def test_success(roles: Any, elastic: Any, rule: Any) -> None:
    found = spec(pytorch_job({} if elastic is None else {"elasticPolicy": elastic}, **roles))
    (only,) = found["replicatedJobs"]
    assert found["successPolicy"] == {"operator": "All"}
    assert only["template"]["spec"].get("successPolicy") == (None if rule is None else {"rules": [rule]})


def test_an_elastic_job() -> None:
    policy = {"minReplicas": 1, "maxRestarts": 3, "rdzvId": "a", "rdzvConf": [{"key": "timeout", "value": "9"}]}
    (worker,) = spec(pytorch_job({"elasticPolicy": policy, "nprocPerNode": "2"}, Worker=pytorch_role(3)))[
        "replicatedJobs"
    ]
    assert env(worker) == {
        "PYTHONUNBUFFERED": "1",
        "PET_NPROC_PER_NODE": "2",
        "PET_RDZV_ENDPOINT": "mnist-worker-0-0.mnist:23456",
        "PET_RDZV_BACKEND": "c10d",
        "PET_NNODES": "1:1",
        "PET_MAX_RESTARTS": "3",
        "PET_RDZV_ID": "a",
        "PET_RDZV_CONF": "timeout=9",
    }


def test_a_folded_elastic_job_has_its_rendezvous_at_the_first_worker() -> None:
    (node,) = spec(pytorch_job({"elasticPolicy": {}}, Master=pytorch_role(), Worker=pytorch_role(3)))["replicatedJobs"]
    assert env(node)["PET_RDZV_ENDPOINT"] == "mnist-node-0-1.mnist:23456"
    etcd = {"rdzvBackend": "etcd", "rdzvHost": "etcd.infra", "rdzvPort": 2379}
    (node,) = spec(pytorch_job({"elasticPolicy": etcd}, Master=pytorch_role(), Worker=pytorch_role(3)))[
        "replicatedJobs"
    ]
    assert (env(node)["PET_RDZV_ENDPOINT"], env(node)["PET_RDZV_BACKEND"]) == ("etcd.infra:2379", "etcd")


def test_the_last_variable_of_a_name_applies() -> None:
    variables = [{"name": "WORLD_SIZE", "value": "8"}, {"name": "BATCH", "value": "$(WORLD_SIZE)00"}]
    (worker,) = spec(pytorch_job(Master=pytorch_role(container={"env": variables})))["replicatedJobs"]
    assert [*env(worker)][:2] == ["BATCH", "PYTHONUNBUFFERED"]
    assert (env(worker)["BATCH"], env(worker)["WORLD_SIZE"]) == ("800", "1")


def test_old_host_names_are_replaced() -> None:
    command = ["train.py", "--a=mnist-master-0", "mnist-worker-1.ml.svc:80", "mnist-worker-7", "my-mnist-worker-1"]
    (node,) = spec(
        pytorch_job(
            Master=pytorch_role(container={"command": command}), Worker=pytorch_role(2, container={"command": command})
        )
    )["replicatedJobs"]
    assert pods(node)["containers"][0]["command"] == [
        "train.py",
        "--a=mnist-node-0-0.mnist",
        "mnist-node-0-2.mnist.ml.svc:80",
        "mnist-worker-7",
        "my-mnist-worker-1",
    ]


@pytest.mark.parametrize(
    ("ports", "opened", "number"),
    [
        ([], ["pytorchjob-port"], "23456"),
        ([{"containerPort": 23456}], [None], "23456"),
        ([{"containerPort": 23456, "name": "mine"}], ["mine"], "23456"),
        ([{"containerPort": 9, "name": "pytorchjob-port"}], ["pytorchjob-port"], "9"),
        ([{"containerPort": 9, "name": "other"}], ["other", "pytorchjob-port"], "23456"),
    ],
)
def test_ports(ports: Any, opened: list[str | None], number: str) -> None:
    (master,) = spec(pytorch_job(Master=pytorch_role(container={"ports": ports})))["replicatedJobs"]
    assert [port.get("name") for port in pods(master)["containers"][0]["ports"]] == opened
    assert env(master)["MASTER_PORT"] == number


def test_fields_of_the_job() -> None:
    policy = {"ttlSecondsAfterFinished": 60, "activeDeadlineSeconds": 600, "suspend": True}
    found = spec(pytorch_job({"runPolicy": policy}, Master=pytorch_role(), Worker=pytorch_role(image="acme/mnist:v2")))
    assert (found["ttlSecondsAfterFinished"], found["suspend"]) == (60, True)
    assert [each["template"]["spec"]["activeDeadlineSeconds"] for each in found["replicatedJobs"]] == [600, 600]


def test_a_queue_keeps_suspend_out() -> None:
    queue = {"labels": {"kueue.x-k8s.io/queue-name": "gpu"}}
    result = compiled_legacy(pytorch_job({"runPolicy": {"suspend": True}}, queue, Master=pytorch_role()))
    (jobset,) = result.objects
    assert jobset["metadata"]["labels"] == queue["labels"]
    assert "suspend" not in jobset["spec"]


def test_a_name_suffix_reaches_the_host_names() -> None:
    result = trainc.compile(
        text=yaml.safe_dump(pytorch_job(Master=pytorch_role(), Worker=pytorch_role(2))),
        options=Options(legacy=True, no_config=True, name_suffix_hash=True),
    )
    (jobset,) = result.objects
    name = jobset["metadata"]["name"]
    assert name.startswith("mnist-")
    assert env(jobset["spec"]["replicatedJobs"][0])["MASTER_ADDR"] == f"{name}-node-0-0.{name}"


ELASTIC = {"elasticPolicy": {"minReplicas": 1}}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        pytest.param(pytorch_job(), "the job has no roles", id="no roles"),
        pytest.param(pytorch_job(Master=pytorch_role(), Worker=None), "the role Worker is null", id="null"),
        pytest.param(pytorch_job(master=pytorch_role()), 'unknown role "master"', id="lower case"),
        pytest.param(pytorch_job(Master=pytorch_role(), PS=pytorch_role()), 'unknown role "PS"', id="unknown"),
        pytest.param(pytorch_job(Master=pytorch_role(2)), "the Master must have 1 replica, not 2", id="two masters"),
        pytest.param(pytorch_job(Master=pytorch_role(None)), "the Master has no replicas", id="replicas missing"),
        pytest.param(pytorch_job(Master=pytorch_role(0)), "Master must have at least 1 replica, not 0", id="no master"),
        pytest.param(
            pytorch_job(Master=pytorch_role(), Worker=pytorch_role(0)),
            "Worker must have at least 1 replica, not 0", id="no worker"),
        pytest.param(
            pytorch_job(Worker=pytorch_role(container={"name": "main"})), 'the role Worker has no container "pytorch"',
            id="container"
        ),
        pytest.param(
            pytorch_job(ELASTIC, Master=pytorch_role()), "elasticPolicy applies to the role Worker, which is missing",
            id="elastic"
        ),
        pytest.param(
            pytorch_job({"nprocPerNode": "2", "elasticPolicy": {"nProcPerNode": 2}}, Worker=pytorch_role()),
            "the number of processes is set in elasticPolicy.nProcPerNode and in nprocPerNode",
            id="processes",
        ),
        pytest.param(
            pytorch_job(metadata={"name": "7-seven"}, Master=pytorch_role()),
            '"7-seven" is not a valid name: it starts with a digit',
            id="name",
        ),
        pytest.param(
            pytorch_job({"runPolicy": {"managedBy": "acme.io/x"}}, Master=pytorch_role()),
            '"acme.io/x" cannot manage the job',
            id="manager",
        ),
    ],
)  # fmt: skip
def test_refused_jobs(tree: Tree, message: str) -> None:
    assert [found.message for found in compiled_legacy(tree).diagnostics if found.severity == "error"] == [message]


def test_an_earlier_version_has_one_diagnostic() -> None:
    tree = {
        "apiVersion": "kubeflow.org/v1alpha1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a"},
        "spec": {"backend": "gloo", "masterPort": 1, "replicaSpecs": [{"replicas": 1}]},
    }
    (found,) = compiled_legacy(tree).diagnostics
    assert (found.id, found.message) == ("unknown-version", "unknown version kubeflow.org/v1alpha1 of PyTorchJob")
    assert "spec.pytorchReplicaSpecs" in found.help


def test_unknown_fields_are_warnings_unless_field_validation_is_set(tmp_path: Path) -> None:
    tree = pytorch_job({"cleanPodPolicy": "All"}, Master=pytorch_role())

    def severities(**options: Any) -> list[str]:
        return [found.severity for found in compiled_legacy(tree, **options).diagnostics if found.id == "unknown-field"]

    assert [severities(), severities(field_validation="strict"), severities(field_validation="ignore")] == [
        ["warning"],
        ["error"],
        [],
    ]
    (tmp_path / "trainc.yaml").write_text("fieldValidation: strict\n")
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(tree))
    assert "error[unknown-field]" in run("validate", "--legacy", str(tmp_path)).out


def test_a_placeholder_is_a_template() -> None:
    (found,) = compiled_legacy(
        pytorch_job(Master=pytorch_role(), Worker=pytorch_role() | {"replicas": "$NUM_NODES"})
    ).diagnostics
    assert found.id == "template-not-rendered"


def test_a_helm_template_has_no_other_error() -> None:
    text = (
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: {{ .Release.Name }}}\nspec:\n"
        "  pytorchReplicaSpecs:\n    {{- range .Values.roles }}\n    {{ .name }}: {replicas: {{ .count }}}\n"
        "    {{- end }}\n"
    )
    (found,) = failures(text)
    assert found.id == "template-not-rendered"


def test_a_generated_name_reaches_the_host_names() -> None:
    tree = pytorch_job(Master=pytorch_role(), Worker=pytorch_role(2))
    tree["metadata"] = {"generateName": "mnist-"}
    result = compiled_legacy(tree)
    (jobset,) = result.objects
    name = jobset["metadata"]["name"]
    assert name.startswith("mnist-")
    assert env(jobset["spec"]["replicatedJobs"][0])["MASTER_ADDR"] == f"{name}-node-0-0.{name}"


def test_a_number_of_replicas_beyond_all_limits_is_a_diagnostic() -> None:
    for roles in (
        {"Worker": pytorch_role(MOST)},
        {"Master": pytorch_role(), "Worker": pytorch_role(MOST, image="acme/mnist:v2")},
    ):
        found, *_ = compiled_legacy(pytorch_job(**roles)).diagnostics
        assert found.message == f"Worker has {MOST} replicas; an indexed Job has at most 100000 pods"


GPUS = {"limits": {"nvidia.com/gpu": 4, "memory": "8Gi"}}


def test_a_fault_in_a_template_that_two_roles_share_has_the_lines_of_both() -> None:
    def with_mount() -> Any:
        return pytorch_role(container={"volumeMounts": [{"name": "data", "mountPath": "/data"}]})

    text = yaml.safe_dump(pytorch_job(Master=with_mount(), Worker=with_mount()), sort_keys=False)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "- name: data"]
    (found,) = failures(text)
    assert found.id == "volume-missing"
    assert [located(place).line for place in (found.place, *(each.place for each in found.related))] == lines
    assert [each.message for each in found.related] == ["the same in Worker"]


def test_a_fault_behind_an_anchor_has_one_line() -> None:
    text = (
        "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: mnist}, spec: {pytorchReplicaSpecs: {\n"
        "Master: &role {replicas: 1, template: {spec: {containers: [{name: pytorch, image: a:v1,\n"
        "volumeMounts: [{name: data, mountPath: /data}]}]}}},\n"
        "Worker: *role}}}\n"
    )
    (found,) = failures(text)
    assert (located(found.place).line, found.related) == (3, ())


def failures(text: str) -> list[Diagnostic]:
    result = trainc.compile(text=text, options=Options(legacy=True, no_config=True))
    return [found for found in result.diagnostics if found.severity == "error"]


def located(place: Place | Location | None) -> Location:
    assert place is not None
    return place.locate() if isinstance(place, Place) else place


@pytest.mark.parametrize(
    ("rule", "container", "help"),
    [
        ("one-process", {"command": ["python", "train.py"], "resources": GPUS}, 'set `nprocPerNode: "1"`'),
        ("no-shared-memory", {"command": ["torchrun", "train.py"], "resources": GPUS}, "at /dev/shm"),
        ("torchrun-flags", {"command": ["torchrun", "--nnodes=9", "train.py"]}, "or change replicas"),
        ("no-resources", {"command": ["torchrun", "train.py"]}, ""),
    ],
)
def test_lint_rules_read_the_main_container(rule: str, container: Any, help: str) -> None:
    tree = pytorch_job(Master=pytorch_role(container=container), Worker=pytorch_role(3, container=container))
    (found,) = [each for each in compiled_legacy(tree).diagnostics if each.id == rule]
    assert help in found.help
    assert found.object.kind == "PyTorchJob"


def test_losses() -> None:
    policy = {"cleanPodPolicy": "All", "backoffLimit": 2, "schedulingPolicy": {"queue": "a"}}
    tree = pytorch_job(
        {"runPolicy": policy, "elasticPolicy": {"metrics": []}}, Worker=pytorch_role(2, restartPolicy="ExitCode")
    )
    found = {".".join(map(str, loss.path)): loss.rule.effect for loss in losses(tree)}
    labels = "spec.pytorchReplicaSpecs.Worker.template.metadata.labels.training.kubeflow.org/"
    assert found == {
        "spec.runPolicy.cleanPodPolicy": "not carried",
        "spec.runPolicy.schedulingPolicy.queue": "not carried",
        "spec.runPolicy.backoffLimit": "without effect",
        "spec.runPolicy.suspend": "approximated",
        "spec.pytorchReplicaSpecs.Worker.restartPolicy": "approximated",
        "spec.pytorchReplicaSpecs.Worker.replicas": "not carried",
        f"{labels}operator-name": "not carried",
        f"{labels}replica-index": "not carried",
        f"{labels}job-role": "not carried",
        "spec.elasticPolicy.metrics": "not carried",
    }
