"""`trainc runtimes list`: the number of TrainJobs that use each runtime."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linting import clean_container, replicated, runtime_of, trainjob
from manifests import write_json
from running import run


def counts(*paths: str) -> dict[str, int]:
    """Return the number of users of each runtime that has some, and of the own ones."""
    listed = json.loads(run("runtimes", "list", *paths, "--format", "json").out)
    return {each["name"]: each["users"] for each in listed if each["users"] or not each["builtIn"]}


def test_the_users_of_runtimes(tmp_path: Path) -> None:
    of_team: dict[str, Any] = runtime_of(namespace="team") | {"kind": "TrainingRuntime"}
    own = trainjob("c")
    own["metadata"]["namespace"] = "team"
    own["spec"]["runtimeRef"] = {"name": "r", "kind": "TrainingRuntime"}
    path = write_json(
        tmp_path,
        *(runtime_of() | {"metadata": {"name": name}} for name in ("used", "unused")),
        of_team,
        trainjob("a", runtime="used"),
        trainjob("b", runtime="used", image="bad image", numNodes=-1),
        own,
        trainjob("d", runtime="torch-distributed"),
        trainjob("e", runtime="missing"),
    )
    assert counts(path) == {"used": 2, "unused": 0, "r": 1, "torch-distributed": 1}


def test_the_column(tmp_path: Path) -> None:
    header, first, *_ = run("runtimes", "list", write_json(tmp_path, runtime_of(), trainjob())).out.splitlines()
    assert header.split()[5:7] == ["USERS", "ORIGIN"]
    assert first.split()[:6] == ["r", "ClusterTrainingRuntime", "torch", "1", "node", "1"]


def test_the_nearest_runtime_of_a_name_is_used(tmp_path: Path) -> None:
    for folder, image in (("dev", "a:1"), ("prod", "b:1")):
        (tmp_path / folder).mkdir()
        write_json(tmp_path / folder, runtime_of(replicated(clean_container(image=image))), trainjob(folder))
    listed = json.loads(run("runtimes", "list", str(tmp_path), "--format", "json").out)
    assert [each["users"] for each in listed if not each["builtIn"]] == [1, 1]


def test_a_trainjob_that_cannot_be_read_is_skipped(empty_folder: Path) -> None:
    write_json(
        empty_folder, runtime_of(), trainjob(), {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
    )
    assert counts() == {"r": 1}
