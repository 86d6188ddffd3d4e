"""A TrainJob and its runtime, for tests that are about one field of one of the two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import NO_ADVICE

import trainc
from trainc.frontends import CLUSTER
from trainc.library import Stock

HEAD = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
ANCESTOR = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}


def trainer_job(name: str = "node", **container: Any) -> dict[str, Any]:
    """A replicated job of one container `node`, which the TrainJob's trainer is for."""
    pod = {"containers": [{"name": "node", "image": "i:1", **container}]}
    return {"name": name, "template": {"metadata": {"labels": ANCESTOR}, "spec": {"template": {"spec": pod}}}}


def compiled(
    folder: Path, job: dict[str, Any], trainer: dict[str, Any] | None = None, *, metadata: Any = None, **runtime: Any
) -> trainc.Compilation:
    """The TrainJob `j` on the runtime `r` with this replicated job; `runtime` is more of its spec."""
    template = {"metadata": metadata or {}, "spec": {"replicatedJobs": [job]}}
    spec = {**runtime, "template": template}
    of_job = {"runtimeRef": {"name": "r"}, "trainer": trainer or {}}
    documents = [
        {**HEAD, "kind": "ClusterTrainingRuntime", "metadata": {"name": "r"}, "spec": spec},
        {**HEAD, "kind": "TrainJob", "metadata": {"name": "j"}, "spec": of_job},
    ]
    file = folder / "x.json"
    file.write_text("\n".join(map(json.dumps, documents)))
    return trainc.compile([str(file)], settings=NO_ADVICE)


def made(compilation: trainc.Compilation, kind: str) -> dict[str, Any]:
    """The only object of a kind; there must be nothing to say of the compilation."""
    assert compilation.diagnostics == ()
    (found,) = (object for object in compilation.objects if object["kind"] == kind)
    return dict(found)


def job_of(compilation: trainc.Compilation) -> dict[str, Any]:
    """The spec of the only Job of the only JobSet."""
    (job,) = made(compilation, "JobSet")["spec"]["replicatedJobs"]
    found: dict[str, Any] = job["template"]["spec"]
    return found


def container_of(compilation: trainc.Compilation) -> dict[str, Any]:
    """The only container of the only Job."""
    (found,) = job_of(compilation)["template"]["spec"]["containers"]
    return dict(found)


def only_built_in(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Hide the other built-in runtimes, for a test of what is said of all: a new one is no change of it."""
    monkeypatch.setattr(Stock, "known", lambda _: [(CLUSTER, "", name) for name in names])
