"""The output is what the API server stores: applying it again changes nothing, by any kind of apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from cluster.cases import GENERATED, Case, generated, golden, placed, quarter
from cluster.server import Cluster, path_of, stream
from cluster.versions import JOBSET, PODGROUP, VOLCANO

Tree = dict[str, Any]

CRDS = (JOBSET, PODGROUP, VOLCANO)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
BATCH = 75
"""The number of TrainJobs in one kubectl command."""


@pytest.mark.parametrize("suspend", [True, False], ids=["suspended", "running"])
def test_golden_cases(cluster: Cluster, counted: Callable[[str, int], None], suspend: bool) -> None:
    # Pods take most of the time, so most of the gallery is checked without them.
    cases = list(golden())
    count = _apply_three_times(cluster, cases if suspend else quarter(cases), suspend=suspend)
    counted(f"objects of the gallery, applied three times, {'suspended' if suspend else 'running'}", count)


@pytest.mark.parametrize("seed", quarter(range(GENERATED // BATCH)))
def test_generated_jobs(cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path, seed: int) -> None:
    count = _apply_three_times(cluster, generated(tmp_path, BATCH, seed=seed), suspend=True)
    counted("objects of generated jobs, applied three times", count)


def _apply_three_times(cluster: Cluster, cases: Iterable[Case], *, suspend: bool) -> int:
    """Apply the objects three times; return their number."""
    objects = placed(cluster, cases)
    for tree in objects:
        if suspend and tree["kind"] == "JobSet":
            tree["spec"]["suspend"] = True
    _assert_all(cluster.apply(objects), "created")
    before = _stored(cluster, objects)
    _assert_all(cluster.apply(objects), "unchanged")
    difference = cluster.kubectl("diff", "--filename=-", stdin=stream(objects))
    assert (difference.code, difference.out) == (0, "")
    cluster.apply(objects, "--server-side", "--field-manager=another")
    assert _stored(cluster, objects) == before
    return len(objects)


def _assert_all(lines: list[str], word: str) -> None:
    assert [line for line in lines if not line.endswith(f" {word}")] == []


def _stored(cluster: Cluster, objects: list[Tree]) -> list[Tree]:
    """Return the stored objects without status and the fields by which the server and kubectl track changes."""
    found = []
    for tree in objects:
        answer = cluster.ask("GET", path_of(tree))
        assert answer.code == 200, answer.message
        metadata = answer.body["metadata"]
        annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key != LAST_APPLIED}
        tracked = {"managedFields": None, "resourceVersion": None, "annotations": annotations}
        found.append({**answer.body, "status": None, "metadata": metadata | tracked})
    return found
