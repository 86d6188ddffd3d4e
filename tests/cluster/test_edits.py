"""`trainc diff` knows which edits the API server accepts: every field of a JobSet's spec, one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.cases import quarter
from cluster.edits import Edit, edits
from cluster.server import Answer, Cluster, path_of, until
from running import run

Tree = dict[str, Any]

CONFLICT = 409
JOBSET = yaml.safe_load((Path(__file__).parent / "jobset.yaml").read_text())
"""A JobSet that sets many fields, so that they are changed and removed, too."""


@pytest.mark.parametrize("suspend", [False, True], ids=["running", "suspended"])
def test_every_field(cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path, suspend: bool) -> None:
    namespace = cluster.namespace("edits")
    cluster.apply(
        [JOBSET | {"metadata": {"name": "j", "namespace": namespace}, "spec": JOBSET["spec"] | {"suspend": suspend}}]
    )
    stored = _stored(cluster, namespace)
    served = {key: stored[key] for key in ("apiVersion", "kind", "metadata", "spec")}
    every = list(edits(served, cluster.schema("jobsets.jobset.x-k8s.io")))
    assert len(every) >= 300
    found = quarter(every)
    verdicts = _verdicts(served, found, tmp_path)
    wrong = []
    for edit, allowed in zip(found, verdicts, strict=True):
        answer = _updated(cluster, edit.jobset, served["metadata"])
        if allowed != (answer.code == 200):
            verdict = "allows" if allowed else "refuses"
            wrong.append(f"{edit.field} {edit.kind}: trainc {verdict} it; {answer.code} {answer.message}")
    assert not wrong, "\n".join(wrong)
    counted(f"edits of a {'suspended' if suspend else 'running'} JobSet", len(found))


def _stored(cluster: Cluster, namespace: str) -> Tree:
    """Return the stored JobSet, once the controller has written its status."""

    def found() -> Tree | None:
        jobset = cluster.get("JobSet", namespace, "j")
        return jobset if jobset and jobset.get("status") else None

    return until(found, "the JobSet's status")


def _verdicts(served: Tree, chosen: Sequence[Edit], folder: Path) -> list[bool]:
    """Return whether trainc allows each edit. One run compares them all, as JobSets with names of their own."""

    def written(name: str, jobsets: Iterable[Tree]) -> str:
        own = [{"name": f"j{number}", "namespace": served["metadata"]["namespace"]} for number in range(len(chosen))]
        documents = (json.dumps(jobset | {"metadata": each}) for jobset, each in zip(jobsets, own, strict=True))
        (folder / name).write_text("\n---\n".join(documents))
        return str(folder / name)

    old = written("old.yaml", (served for _ in chosen))
    new = written("new.yaml", (edit.jobset for edit in chosen))
    done = run("diff", old, new, "--format", "json")
    assert done.code == 0, done.err
    allowed = {each["name"]: each["allowed"] for each in json.loads(done.out)["objects"]}
    return [allowed[f"j{number}"] for number in range(len(chosen))]


def _updated(cluster: Cluster, edited: Tree, known: Tree) -> Answer:
    """Return the server's answer to an update; a conflict with a controller's update of the status is tried again.

    `known` is the metadata as last read.
    """
    while True:
        answer = cluster.try_update(edited | {"metadata": known})
        if answer.code != CONFLICT:
            return answer
        known |= cluster.ask("GET", path_of(edited)).body["metadata"]
