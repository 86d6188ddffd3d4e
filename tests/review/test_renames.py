"""A renamed TrainJob is one TrainJob: its new name, then its other edits, without the consequences of the name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from committing import commit
from files import write
from running import run

pytestmark = pytest.mark.usefixtures("empty_repository")

SETTINGS = "sources: [jobs]\noutput: rendered\n"
ENVIRONMENTS = "environments:\n  dev: {cluster: d, nameSuffix: -dev}\n  prod: {cluster: p}\n"


def job_text(name: str, image: str = "acme/ft:1", runtime: str = "torch-distributed", namespace: str = "ns") -> str:
    return (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\nspec:\n  runtimeRef: {{name: {runtime}}}\n"
        f"  trainer: {{numNodes: 2, image: '{image}'}}\n"
    )


def rewrite(files: dict[str, str]) -> None:
    for path in Path("jobs").glob("*"):
        path.unlink()
    for name, text in files.items():
        write(name, text)


def change(old: dict[str, str], new: dict[str, str]) -> list[tuple[str, str, str, list[str]]]:
    """Return the status, the old and the new name, and the changed fields of each object."""
    rewrite(old | ({} if "trainc.yaml" in old else {"trainc.yaml": SETTINGS}))
    commit()
    rewrite(new)
    done = run("diff", "--format", "json")
    assert done.code == 0, done.err
    return [shown(each) for each in json.loads(done.out)["objects"]]


def shown(each: dict[str, Any]) -> tuple[str, str, str, list[str]]:
    fields = [line["field"].rpartition(".")[2] for line in each.get("changes", [])]
    return each["status"], each.get("renamedFrom", {}).get("name", ""), each["name"], fields


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            {"a": job_text("a")},
            {"a": job_text("a2", "acme/ft:2")},
            [("changed", "a", "a2", ["name", "image"])],
            id="a name and an image",
        ),
        pytest.param(
            {"a": job_text("a", namespace="ns")},
            {"a": job_text("a", namespace="other")},
            [("changed", "a", "a", ["namespace"])],
            id="a namespace",
        ),
        pytest.param(
            {"a": job_text("a", runtime="openmpi-distributed")},
            {"a": job_text("a2", runtime="openmpi-distributed")},
            [("changed", "a", "a2", ["name"]), ("changed", "a-mpi-hostfile", "a2-mpi-hostfile", ["name"])],
            id="a job with a hostfile",
        ),
        pytest.param(
            {"a": f"{job_text('a')}---\n{job_text('b')}"},
            {"a": f"{job_text('b')}---\n{job_text('c')}"},
            [("changed", "a", "c", ["name"])],
            id="one of two jobs of a file",
        ),
        pytest.param(
            {"a": f"{job_text('a')}---\n{job_text('b')}"},
            {"a": f"{job_text('c')}---\n{job_text('d')}"},
            [("removed", "", "a", []), ("removed", "", "b", []), ("added", "", "c", []), ("added", "", "d", [])],
            id="both jobs of a file",
        ),
        pytest.param(
            {"a": job_text("a")},
            {"b": job_text("b")},
            [("removed", "", "a", []), ("added", "", "b", [])],
            id="another file",
        ),
        pytest.param({"a": job_text("a")}, {"b": job_text("a")}, [], id="a moved file"),
        pytest.param(
            {"a": job_text("a"), "b": job_text("b")},
            {"a": job_text("b"), "b": job_text("c")},
            [("removed", "", "a", []), ("added", "", "c", [])],
            id="a name that moves to another file",
        ),
    ],
)
def test_the_objects_of_a_renamed_job(
    old: dict[str, str], new: dict[str, str], expected: list[tuple[str, str, str, list[str]]]
) -> None:
    sides = ({f"jobs/{name}.yaml": text for name, text in side.items()} for side in (old, new))
    assert sorted(change(*sides)) == sorted(expected)


def test_the_text_of_a_renamed_job() -> None:
    rewrite({"trainc.yaml": SETTINGS, "jobs/a.yaml": job_text("a")})
    commit()
    rewrite({"jobs/a.yaml": job_text("a2", "acme/ft:2")})
    assert run("diff").out == (
        """\
HEAD -> the working tree
1 to change
1 JobSet starts under a new name: pruning stops the old one

jobs/a.yaml:3: the TrainJob, metadata.name: a -> a2
  changes ns/a -> ns/a2
  starts a new JobSet; pruning stops the old one
    metadata.name: a -> a2

jobs/a.yaml:6: the TrainJob, spec.trainer.image: acme/ft:1 -> acme/ft:2
  changes ns/a -> ns/a2
  starts a new JobSet; pruning stops the old one
    spec.replicatedJobs[node].template.spec.template.spec.containers[node].image: acme/ft:1 -> acme/ft:2
"""
    )


def test_a_setting_that_renames_all_jobs() -> None:
    jobs = {"jobs/a.yaml": f"{job_text('a')}---\n{job_text('b')}"}
    found = change(
        jobs | {"trainc.yaml": SETTINGS + ENVIRONMENTS},
        jobs | {"trainc.yaml": SETTINGS + ENVIRONMENTS.replace("-dev", "-develop")},
    )
    assert found == [("changed", f"{name}-dev", f"{name}-develop", ["name"]) for name in "ab"]
    out = run("diff", "--env", "dev").out
    assert "setting environments.dev.nameSuffix: -dev -> -develop\n  changes 2 jobs [dev]: ns/a, ns/b\n" in out
    assert "    metadata.name: a-dev -> a-develop  (values of ns/a [dev]; the others differ)\n" in out


def test_a_renamed_job_in_two_environments() -> None:
    settings = {"trainc.yaml": SETTINGS + ENVIRONMENTS.replace(", nameSuffix: -dev", "")}
    assert change(settings | {"jobs/a.yaml": job_text("a")}, settings | {"jobs/a.yaml": job_text("a2")}) == [
        ("changed", "a", "a2", ["name"])
    ]
    assert "changes ns/a -> ns/a2 [dev, prod]\n" in run("diff").out


def test_the_queue_of_a_renamed_job_is_that_of_its_new_namespace() -> None:
    label = "labels: {kueue.x-k8s.io/queue-name: gpu}}"
    old, new = (job_text("a", namespace=name).replace("}", f", {label}", 1) for name in ("ns", "other"))
    change({"jobs/a.yaml": old}, {"jobs/a.yaml": new})
    queues = {
        row["queue"]: row["after"]["nodes"] for row in json.loads(run("diff", "--format", "json").out)["pods"][1:]
    }
    assert queues == {"ns/gpu": 0, "other/gpu": 2}
