"""`trainc diff` knows which edits the API server accepts: every field of a JobSet's spec, one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
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
    found = list(edits(served, cluster.schema("jobsets.jobset.x-k8s.io")))
    wrong = [difference for edit in found if (difference := _difference(cluster, stored, edit, tmp_path))]
    assert not wrong, "\n".join(wrong)
    assert len(found) >= 300
    counted(f"edits of a {'suspended' if suspend else 'running'} JobSet", len(found))


def _stored(cluster: Cluster, namespace: str) -> Tree:
    """Return the stored JobSet, once the controller has written its status."""

    def found() -> Tree | None:
        jobset = cluster.get("JobSet", namespace, "j")
        return jobset if jobset and jobset.get("status") else None

    return until(found, "the JobSet's status")


def _difference(cluster: Cluster, stored: Tree, edit: Edit, folder: Path) -> str:
    """Return how trainc's verdict on an edit differs from the server's answer; empty if it does not."""
    metadata = {key: stored["metadata"][key] for key in ("name", "namespace")}
    old, new = folder / "old.json", folder / "new.json"
    old.write_text(json.dumps(stored | {"metadata": metadata, "status": None}))
    new.write_text(json.dumps(edit.jobset | {"metadata": metadata}))
    done = run("diff", str(old), str(new), "--format", "json")
    assert done.code in {0, 1}, done.err
    allowed = done.code == 0 and all(object.get("allowed") for object in json.loads(done.out)["objects"])
    answer = _updated(cluster, stored, edit.jobset)
    if allowed == (answer.code == 200):
        return ""
    verdict = "allows" if allowed else "refuses"
    return f"{edit.field} {edit.kind}: trainc {verdict} it; {answer.code} {answer.message}{done.err}"


def _updated(cluster: Cluster, stored: Tree, edited: Tree) -> Answer:
    """Return the server's answer to an update; a conflict with a controller's update of the status is tried again."""
    path = path_of(stored)
    while True:
        answer = cluster.ask("PUT", f"{path}?dryRun=All", edited)
        if answer.code != CONFLICT:
            return answer
        version = cluster.ask("GET", path).body["metadata"]["resourceVersion"]
        edited = edited | {"metadata": edited["metadata"] | {"resourceVersion": version}}
