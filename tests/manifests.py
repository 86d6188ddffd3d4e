"""A TrainJob and its runtime, for tests of single fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import NO_LINT

import trainc
from trainc.base.kinds import CLUSTER_RUNTIME
from trainc.compilation.run import Options
from trainc.pipeline.library import BuiltIn

HEAD = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
ANCESTOR = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}


def trainer_job(name: str = "node", **container: Any) -> dict[str, Any]:
    """Return a replicated job with one container `node`, to which the TrainJob's trainer applies."""
    pod = {"containers": [{"name": "node", "image": "i:1", **container}]}
    return {"name": name, "template": {"metadata": {"labels": ANCESTOR}, "spec": {"template": {"spec": pod}}}}


def compiled(
    folder: Path, job: dict[str, Any], trainer: dict[str, Any] | None = None, *, metadata: Any = None, **runtime: Any
) -> trainc.Result:
    """Return the TrainJob `j` on the runtime `r` with this replicated job; `runtime` adds to its spec."""
    template = {"metadata": metadata or {}, "spec": {"replicatedJobs": [job]}}
    spec = {**runtime, "template": template}
    of_job = {"runtimeRef": {"name": "r"}, "trainer": trainer or {}}
    documents = [
        {**HEAD, "kind": "ClusterTrainingRuntime", "metadata": {"name": "r"}, "spec": spec},
        {**HEAD, "kind": "TrainJob", "metadata": {"name": "j"}, "spec": of_job},
    ]
    file = folder / "x.json"
    file.write_text("\n".join(map(json.dumps, documents)))
    return trainc.compile([str(file)], options=Options(settings=NO_LINT))


def only_object(compilation: trainc.Result, kind: str) -> dict[str, Any]:
    """Return the only object of a kind; the compilation must have no diagnostics, but may have no nodes."""
    assert {found.id for found in compilation.diagnostics} <= {"node-count"}
    (found,) = (object for object in compilation.objects if object["kind"] == kind)
    return dict(found)


def job_of(compilation: trainc.Result) -> dict[str, Any]:
    """Return the Job spec of the only JobSet's only replicated job."""
    (job,) = only_object(compilation, "JobSet")["spec"]["replicatedJobs"]
    found: dict[str, Any] = job["template"]["spec"]
    return found


def container_of(compilation: trainc.Result) -> dict[str, Any]:
    """Return the only container of the only Job."""
    (found,) = job_of(compilation)["template"]["spec"]["containers"]
    return dict(found)


def only_built_in(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Hide the other built-in runtimes, so that a new one does not change the test's output."""
    monkeypatch.setattr(BuiltIn, "known", lambda _: [(CLUSTER_RUNTIME.kind, "", name) for name in names])


GOLDEN_CASES = sorted(path.parent.name for path in (Path(__file__).parents[1] / "golden").glob("*/expected.yaml"))
"""The golden cases that compile."""
