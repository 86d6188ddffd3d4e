"""Differences that keep the behavior of a migrated job: those that a row allows, and similar ones that none does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainc.kubernetes.trees import put
from trainc.rewriting.migration.accepted_differences import TABLE, compare

DOCS = Path(__file__).parents[2] / "docs" / "migration.md"
TORCHRUN = ["torchrun", "train.py"]
NAMED = ["ls", "/mnt/mpi-ssh-auth"]
PYTHON = ["python", "train.py"]
NAME = {"name": "J", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/jobset-name']"}}}
LABELS = ("template", "spec", "template", "metadata", "labels")


def env(*texts: str) -> list[Any]:
    """Return variables from `NAME=value`."""
    return [dict(zip(("name", "value"), text.split("=", 1), strict=True)) for text in texts]


def jobset(
    *variables: Any,
    command: Any = PYTHON,
    name: str = "node",
    container: str = "node",
    ports: Any = (),
    pod: Any = None,
    resources: Any = None,
) -> list[Any]:
    """Return a JobSet with one replicated job."""
    main = {"name": container, "command": command, "env": [*variables], "ports": [*ports]}
    main |= {} if resources is None else {"resources": resources}
    spec = {"containers": [main], **(pod or {})}
    job = {"name": name, "replicas": 1, "template": {"spec": {"parallelism": 2, "template": {"spec": spec}}}}
    return [{"kind": "JobSet", "metadata": {"name": "mnist"}, "spec": {"replicatedJobs": [job]}}]


def job_with(path: Any, value: Any) -> list[Any]:
    [tree] = jobset()
    return [put(tree, ("spec", "replicatedJobs", 0, *path), value)]


def annotated(annotations: Any) -> list[Any]:
    [tree] = jobset()
    return [put(tree, ("metadata", "annotations"), annotations)]


def config_map(text: str) -> Any:
    return {"kind": "ConfigMap", "metadata": {"name": "mnist-hosts"}, "data": {"hosts": text}}


def ending(command: Any) -> list[Any]:
    """Return a JobSet whose Job succeeds with its first pod."""
    rules = {"rules": [{"succeededIndexes": "0"}]}
    path = ("spec", "replicatedJobs", 0, "template", "spec", "successPolicy")
    return [put(jobset(command=command)[0], path, rules)]


def lasting(seconds: int) -> list[Any]:
    return [put(jobset()[0], ("spec", "ttlSecondsAfterFinished"), seconds)]


def with_keys(*folders: str, command: Any = PYTHON) -> list[Any]:
    """Return a JobSet with a volume, and with Trainer's volume of SSH keys in some folders."""
    keys = {"name": "mpi-ssh-auth", "secret": {"secretName": "keys"}}
    volumes = [{"name": "shm", "emptyDir": {}}, *([keys] if folders else [])]
    [tree] = jobset(pod={"volumes": volumes}, command=command)
    mounts = [{"name": "shm", "mountPath": "/shm"}, *({"name": "mpi-ssh-auth", "mountPath": each} for each in folders)]
    path = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "containers", 0, "volumeMounts")
    return [put(tree, path, mounts)]


OTHER = {"name": "a", "secret": {"secretName": "other", "items": [{"key": "a", "path": "a"}]}}
SECRET = {"secretName": "keys", "items": [{"key": "a", "path": "a"}]}
MODES = {"secretName": "keys", "items": [{"key": "a", "path": "a", "mode": 0o640}], "defaultMode": 0o400}
AMOUNTS = {"cpu": 4, "memory": "8Gi"}
QUEUE = "scheduling.volcano.sh/queue-name"
DOMAIN = {"searches": ["mnist.ml.svc.cluster.local"]}


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (jobset(), jobset(), []),
        (jobset(name="worker"), jobset(), ["job-names"]),
        (jobset(container="pytorch"), jobset(), ["container-names"]),
        (
            jobset(ports=[{"name": "port", "containerPort": 1}]),
            jobset(ports=[{"containerPort": 1}]),
            ["port-names"],
        ),
        (
            jobset(pod={"volumes": [{"name": "a", "secret": {"secretName": "keys"}}]}),
            jobset(pod={"volumes": [{"name": "b", "secret": {"secretName": "keys"}}]}),
            ["volume-names"],
        ),
        (
            jobset(*env("HOST=mnist-worker-0-0.mnist"), name="worker"),
            jobset(NAME, *env("HOST=$(J)-node-0-0.$(J)")),
            ["job-names", "host-names", "added-variables"],
        ),
        (
            [*jobset(name="worker"), config_map("mnist-worker-0-1.mnist slots=2\n")],
            [*jobset(), config_map("mnist-node-0-1.mnist slots=2\n")],
            ["job-names", "host-names"],
        ),
        (
            job_with(("template", "metadata", "labels"), {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}),
            jobset(),
            ["trainer-labels"],
        ),
        (job_with(LABELS, {"training.kubeflow.org/job-name": "mnist"}), jobset(), ["job-name-label"]),
        (jobset(*env("A=1", "B=$(C)")), jobset(*env("B=$(C)", "A=1")), ["variable-order"]),
        (
            jobset(*env("RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=m", "MASTER_PORT=1"), command=TORCHRUN),
            jobset(command=TORCHRUN),
            ["process-variables"],
        ),
        (
            jobset(*env("PET_MASTER_PORT=23456"), command=TORCHRUN, ports=[{"name": "p", "containerPort": 23456}]),
            jobset(*env("PET_MASTER_PORT=29500"), command=TORCHRUN, ports=[{"containerPort": 29500}]),
            ["rendezvous-port"],
        ),
        (
            jobset(pod={"volumes": [{"name": "a", "secret": SECRET}]}),
            jobset(pod={"volumes": [{"name": "a", "secret": MODES}]}),
            ["ssh-key-modes"],
        ),
        (jobset(), jobset(pod={"securityContext": {"fsGroup": 1000}}), ["ssh-key-group"]),
        (
            jobset(pod={"securityContext": {"runAsUser": 1000}}),
            jobset(pod={"securityContext": {"runAsUser": 1000, "fsGroup": 1000}}),
            ["ssh-key-group"],
        ),
        (jobset(pod={"dnsConfig": DOMAIN}), jobset(), ["search-domain"]),
        (
            jobset(resources={"limits": AMOUNTS}),
            jobset(resources={"limits": AMOUNTS, "requests": AMOUNTS}),
            ["requests-of-limits"],
        ),
        (
            jobset(resources={"limits": AMOUNTS, "requests": {"cpu": 1}}),
            jobset(resources={"limits": AMOUNTS, "requests": {"cpu": 1, "memory": "8Gi"}}),
            ["requests-of-limits"],
        ),
        (job_with(("template", "spec", "backoffLimit"), 6), jobset(), ["default-limit"]),
        (ending(TORCHRUN), jobset(command=TORCHRUN), ["end-of-all"]),
        (lasting(60), jobset(), ["time-to-live"]),
        (
            jobset(*env("WORLD_SIZE=2", "PET_NNODES=2"), command=["torchrun", "--nnodes=$(WORLD_SIZE)"]),
            jobset(*env("PET_NNODES=2"), command=["torchrun", "--nnodes=$(PET_NNODES)"]),
            ["process-variables", "passed-on"],
        ),
        (
            jobset(*env("PET_NPROC_PER_NODE=auto")),
            jobset(*env("PET_NPROC_PER_NODE=4")),
            ["unread-processes"],
        ),
        (jobset(), jobset(ports=[{"containerPort": 1}]), ["added-port"]),
        (with_keys(), with_keys("/mnt/mpi-ssh-auth"), ["unused-ssh-keys"]),
        (jobset(), annotated({QUEUE: "gold"}), ["queue-annotation"]),
        (annotated({"a": "b"}), annotated({"a": "b", QUEUE: "gold"}), ["queue-annotation"]),
    ],
)
def test_a_difference_that_keeps_behavior(old: Any, new: Any, rows: list[str]) -> None:
    found = compare(old, new)
    assert [change.field for change in found.others] == []
    assert [row.id for row in found.rows] == rows


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        (
            jobset(resources={"limits": AMOUNTS}),
            jobset(resources={"limits": AMOUNTS, "requests": {"cpu": 3}}),
            "requests",
        ),
        (
            jobset(resources={"limits": {"cpu": 4}}),
            jobset(resources={"limits": {"cpu": 4}, "requests": AMOUNTS}),
            "requests",
        ),
        (jobset(), annotated({QUEUE: "gold", "a": "b"}), "annotations"),
        (annotated({QUEUE: "gold"}), annotated({QUEUE: "silver"}), f'annotations["{QUEUE}"]'),
        (jobset(command=PYTHON), jobset(command=["python", "eval.py"]), "command[1]"),
        (jobset(*env("RANK=1")), jobset(), "env[RANK]"),
        (
            jobset(*env("RANK=1"), command=["sh", "-c", "torchrun --node_rank=$RANK train.py"]),
            jobset(command=["sh", "-c", "torchrun --node_rank=$RANK train.py"]),
            "env[RANK]",
        ),
        (job_with(("template", "spec", "backoffLimit"), 5), jobset(), "backoffLimit"),
        (ending(PYTHON), jobset(), "successPolicy"),
        (lasting(60), lasting(90), "ttlSecondsAfterFinished"),
        (
            jobset(command=["torchrun", "--nnodes=$(RANK)"]),
            jobset(command=["torchrun", "--nnodes=$(PET_NNODES)"]),
            "command[1]",
        ),
        (
            jobset(*env("PET_NNODES=3", "PET_NODE_RANK=0", "RANK=1"), command=["torchrun", "--rank=$(RANK)"]),
            jobset(*env("PET_NNODES=3", "PET_NODE_RANK=0", "RANK=1"), command=["torchrun", "--rank=$(PET_NODE_RANK)"]),
            "command[1]",
        ),
        (
            jobset(*env("PET_NPROC_PER_NODE=auto"), command=["sh", "train.sh"]),
            jobset(*env("PET_NPROC_PER_NODE=4"), command=["sh", "train.sh"]),
            "env[PET_NPROC_PER_NODE].value",
        ),
        (
            jobset(pod={"hostNetwork": True}),
            jobset(pod={"hostNetwork": True}, ports=[{"containerPort": 1}]),
            "ports[containerPort=1]",
        ),
        (
            jobset(ports=[{"name": "a", "containerPort": 1}], command=PYTHON),
            jobset(ports=[{"name": "a", "containerPort": 2}], command=PYTHON),
            "containerPort",
        ),
        (
            with_keys(command=NAMED),
            with_keys("/mnt/mpi-ssh-auth", command=NAMED),
            "volumeMounts[mountPath=/mnt/mpi-ssh-auth]",
        ),
        (with_keys(), with_keys("/root/.ssh"), "volumeMounts[mountPath=/root/.ssh]"),
        (jobset(pod={"volumes": [{"name": "a", "secret": SECRET}]}), jobset(pod={"volumes": [OTHER]}), "secretName"),
        (
            job_with(("template", "metadata", "labels"), {"a": "b"}),
            jobset(),
            "labels.a",
        ),
        (jobset(container="a", command=["x"]), jobset(container="b", command=["y"]), "command[0]"),
        (jobset(pod={"securityContext": {"fsGroup": 1}}), jobset(pod={"securityContext": {"fsGroup": 2}}), "fsGroup"),
        (jobset(), jobset(*env("PET_NNODES=2")), "env[PET_NNODES]"),
        (
            jobset(*env("TEXT=$(LATER)")),
            jobset(*env("LATER=1", "TEXT=$(LATER)")),
            "env[LATER]",
        ),
        (jobset(*env("A=1", "B=$(A)")), jobset(*env("B=$(A)", "A=1")), "env"),
        (
            jobset(*env("HOST=mnist-worker-0-0.mnist"), name="worker"),
            jobset(NAME, *env("HOST=$(J)-node-0-1.$(J)")),
            "env[HOST].value",
        ),
        (
            jobset(*env("HOST=mnist-worker-0-0.mnist"), name="worker"),
            jobset(*env("HOST=$(J)-node-0-0.$(J)"), NAME),
            "env[HOST].value",
        ),
        (jobset(*env("MASTER_PORT=23456")), jobset(*env("MASTER_PORT=29500")), "env[MASTER_PORT].value"),
        (
            jobset(*env("PET_RDZV_ENDPOINT=a:1"), command=TORCHRUN),
            jobset(*env("PET_RDZV_ENDPOINT=b:1"), command=TORCHRUN),
            "env[PET_RDZV_ENDPOINT].value",
        ),
        (
            jobset(*env("PET_NPROC_PER_NODE=auto"), command=TORCHRUN),
            jobset(*env("PET_NPROC_PER_NODE=4"), command=TORCHRUN),
            "env[PET_NPROC_PER_NODE].value",
        ),
        (job_with(LABELS, {"app": "mnist"}), jobset(), "labels.app"),
        (jobset(pod={"dnsConfig": DOMAIN | {"options": []}}), jobset(), "dnsConfig"),
        ([*jobset(), config_map("a")], jobset(), 'ConfigMap "mnist-hosts"'),
        (job_with(("template", "spec", "parallelism"), 3), jobset(), "parallelism"),
    ],
)
def test_a_difference_that_changes_behavior(old: Any, new: Any, field: str) -> None:
    [change] = compare(old, new).others
    assert change.field.endswith(field)


def test_the_page_has_the_table() -> None:
    rows = [f"| {row.difference} | {row.reason} |" for row in TABLE]
    text = DOCS.read_text()
    section = text.partition("## Accepted differences")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("|")][2:] == rows
