"""Two independent mistakes are reported in one run, whatever the phases in which the cluster finds them."""

from __future__ import annotations

import json
import random
from collections import Counter
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest
from files import write
from manifests import cluster_runtime, train_job, trainer_job

import trainc
from trainc.kubernetes.trees import put

NODE: Final = ("spec", "template", "spec", "replicatedJobs", 0, "template", "spec")
POD: Final = (*NODE, "template", "spec")
CONTAINER: Final = (*POD, "containers", 0)
PATCH: Final = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template")
OF_POD: Final = (*PATCH, "spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
MISTAKES: Final[dict[str, tuple[str, tuple[str | int, ...], Any]]] = {
    "the type of a number": ("job", ("spec", "trainer", "numNodes"), "4"),
    "a number out of range": ("job", ("spec", "trainer", "numNodes"), 2**33),
    "an unknown field": ("job", ("spec", "trainer", "numnode"), 4),
    "a name": ("job", ("metadata", "name"), "Big_Job"),
    "a label": ("job", ("metadata", "labels", "team"), "a b"),
    "an annotation": ("job", ("metadata", "annotations", "a b"), "c"),
    "the image of the trainer": ("job", ("spec", "trainer", "image"), "a b"),
    "the value of a variable": ("job", ("spec", "trainer", "env", 0, "value"), 1),
    "the name of a variable": ("job", ("spec", "trainer", "env", 1, "name"), "A=B"),
    "a reserved variable": ("job", ("spec", "trainer", "env", 1, "name"), "PET_NNODES"),
    "a quantity": ("job", ("spec", "trainer", "resourcesPerNode", "limits", "memory"), "8GB"),
    "a request above its limit": ("job", ("spec", "trainer", "resourcesPerNode", "requests", "cpu"), "9"),
    "the type of the arguments": ("job", ("spec", "trainer", "args"), "--lr=1"),
    "the manager of a patch": ("job", ("spec", "runtimePatches", 1, "manager"), "platform"),
    "a label of a patch": ("job", (*PATCH, "metadata", "labels", "a"), "b c"),
    "a container of a patch": ("job", (*OF_POD, "containers", 0, "name"), "nodee"),
    "a toleration of a patch": ("job", (*OF_POD, "tolerations", 0, "operator"), "Like"),
    "the path of a mount": ("runtime", (*CONTAINER, "volumeMounts", 0, "mountPath"), ""),
    "a volume that is missing": ("runtime", (*CONTAINER, "volumeMounts", 1, "name"), "cache"),
    "a port": ("runtime", (*CONTAINER, "ports", 0, "containerPort"), 70000),
    "the policy of an image": ("runtime", (*CONTAINER, "imagePullPolicy"), "Sometimes"),
    "a field of a container": ("runtime", (*CONTAINER, "imagepullPolicy"), "Always"),
    "the name of a port": ("runtime", (*CONTAINER, "ports", 0, "name"), "a-name-that-is-too-long"),
    "a deadline of the pods": ("runtime", (*POD, "activeDeadlineSeconds"), 0),
    "the restart policy": ("runtime", (*POD, "restartPolicy"), "Always"),
    "a node selector": ("runtime", (*POD, "nodeSelector", "zone"), "a b"),
    "the type of a limit": ("runtime", (*NODE, "backoffLimit"), "3"),
    "a limit": ("runtime", (*NODE, "backoffLimit"), -1),
    "a policy": ("runtime", ("spec", "template", "spec", "failurePolicy", "maxRestarts"), "1"),
    "a success policy": ("runtime", ("spec", "template", "spec", "successPolicy"), {"operator": "Some"}),
    "the class of a priority": ("runtime", (*POD, "priorityClassName"), "High Priority"),
    "the type of suspend": ("job", ("spec", "suspend"), "yes"),
    "a label of a runtime": ("runtime", ("metadata", "labels", "team"), "a b"),
}
"""The document of each mistake, its field and the wrong value."""
DEPENDENT: Final = frozenset(
    frozenset(pair)
    for pair in (
        ("the type of a number", "a number out of range"),  # one field
        ("the name of a variable", "a reserved variable"),
        ("the type of a limit", "a limit"),
        ("the policy of an image", "a field of a container"),
        ("the policy of an image", "a container of a patch"),  # which adds a container before it
    )
)
PAIRS: Final = [pair for pair in combinations(MISTAKES, 2) if frozenset(pair) not in DEPENDENT]


def documents() -> dict[str, Any]:
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("data", "scratch")]
    job = trainer_job(volumeMounts=mounts, ports=[{"name": "metrics", "containerPort": 9000}])
    job["template"]["spec"]["template"]["spec"]["volumes"] = [{"name": m["name"], "emptyDir": {}} for m in mounts]
    runtime = cluster_runtime(job, jobset={"failurePolicy": {"maxRestarts": 1}}, mlPolicy={"torch": {}})
    patch = {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {
        "containers": [{"name": "node", "securityContext": {"runAsUser": 0}}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
    }}}}}]}  # fmt: skip
    trainer = {
        "numNodes": 2,
        "image": "registry.acme.io/train:1",
        "args": ["--lr=1"],
        "env": [{"name": "A", "value": "a"}, {"name": "B", "value": "b"}],
        "resourcesPerNode": {"limits": {"cpu": "8", "memory": "8Gi"}, "requests": {"cpu": "8"}},
    }
    patches = [
        {"manager": "acme.io/a", "trainingRuntimeSpec": {"template": {"metadata": {"labels": {}}, "spec": patch}}},
        {"manager": "acme.io/b", "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"b": "c"}}}}},
    ]
    return {"runtime": runtime, "job": train_job(trainer, runtimePatches=patches)}


def reported(*names: str) -> Counter[tuple[str, str]]:
    """Return the ids and messages of the errors of a folder with some mistakes."""
    trees = documents()
    for name in names:
        document, path, value = MISTAKES[name]
        trees[document] = put(trees[document], path, deepcopy(value))
    for document, tree in trees.items():
        write(f"{document}.yaml", json.dumps(tree))
    found = trainc.check(".").diagnostics
    return Counter((each.id, each.message) for each in found if each.severity == "error")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def differences(count: int) -> list[Any]:
    alone = {name: reported(name) for name in MISTAKES}
    assert reported() == Counter()
    assert [name for name, errors in alone.items() if not errors] == []
    pairs = random.Random(68).sample(PAIRS, min(count, len(PAIRS)))
    wrong = []
    for pair in pairs:
        missing = alone[pair[0]] + alone[pair[1]]
        found = reported(*pair)
        if found != missing:
            wrong.append((pair, "missing", [*(missing - found)], "more", [*(found - missing)]))
    return wrong


def test_two_mistakes_are_two_errors() -> None:
    assert differences(60) == []


@pytest.mark.parametrize("name", ["", "a" * 300])
def test_an_invalid_name_in_a_patch_is_one_error(name: str) -> None:
    trees = documents()
    for path in ((*OF_POD, "containers", 0, "name"), (*PATCH, "spec", "replicatedJobs", 0, "name")):
        write("runtime.yaml", json.dumps(trees["runtime"]))
        write("job.yaml", json.dumps(put(trees["job"], path, name)))
        found = trainc.check(".").diagnostics
        assert [each.id for each in found if each.severity == "error"] == ["too-long" if name else "too-short"]


def test_a_missing_initializer_does_not_depend_on_its_fields() -> None:
    trees = documents()
    spec = trees["job"]["spec"] | {"initializer": {"model": {"storageUri": "hf://" + "a" * 2100}}}
    write("runtime.yaml", json.dumps(trees["runtime"]))
    write("job.yaml", json.dumps(trees["job"] | {"spec": spec}))
    found = trainc.check(".").diagnostics
    assert [each.id for each in found if each.severity == "error"] == ["too-long", "initializer-missing"]


@pytest.mark.slow
def test_two_of_all_mistakes_are_two_errors() -> None:
    assert differences(len(PAIRS)) == []
