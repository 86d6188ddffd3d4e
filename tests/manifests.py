"""A TrainJob and its runtime, for tests of single fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from running import NO_LINT

import trainc
from trainc.base.kinds import CLUSTER_RUNTIME
from trainc.compilation.run import Options
from trainc.pipeline.library import BuiltIn

Tree = dict[str, Any]

HEAD = {"apiVersion": "trainer.kubeflow.org/v1alpha1"}
ANCESTOR = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}


def replicated_job(
    name: str = "node", *containers: Tree, trainer: bool | None = None, pod: Any = None, job: Any = None, **fields: Any
) -> Tree:
    """Return a replicated job; each container is named `node` and has an image unless it says otherwise.

    trainer     whether the TrainJob's trainer applies to it; by default, it applies to the job `node`
    pod, job    fields of the specifications of the pods and of the Job
    fields      fields of the replicated job
    """
    all_containers = [{"name": "node", "image": "i:1", **each} for each in containers or ({},)]
    spec = {"template": {"spec": {"containers": all_containers, **(pod or {})}}, **(job or {})}
    metadata = {"metadata": {"labels": ANCESTOR}} if trainer or (trainer is None and name == "node") else {}
    return {"name": name, **fields, "template": {**metadata, "spec": spec}}


def trainer_job(name: str = "node", **container: Any) -> Tree:
    """Return a replicated job with one container `node`, to which the TrainJob's trainer applies."""
    return replicated_job(name, container, trainer=True)


def cluster_runtime(
    *jobs: Tree, name: str = "r", metadata: Any = None, template: Any = None, jobset: Any = None, **spec: Any
) -> Tree:
    """Return a runtime of these jobs; `template` is metadata and `jobset` fields of the JobSet."""
    of_jobset = {"metadata": template or {}, "spec": {"replicatedJobs": list(jobs), **(jobset or {})}}
    metadata = {"name": name, **(metadata or {})}
    return {**HEAD, "kind": "ClusterTrainingRuntime", "metadata": metadata, "spec": {**spec, "template": of_jobset}}


def train_job(trainer: Any = None, *, name: Any = "j", runtime: Any = "r", metadata: Any = None, **spec: Any) -> Tree:
    """Return a TrainJob that uses a runtime."""
    of_job = {"runtimeRef": {"name": runtime}, **({} if trainer is None else {"trainer": trainer}), **spec}
    return {**HEAD, "kind": "TrainJob", "metadata": {"name": name, **(metadata or {})}, "spec": of_job}


def job_text(metadata: str = "name: a", ref: str = "name: r", trainer: str = "") -> str:
    """Return the text of a TrainJob from the fields of its metadata, its reference and its trainer, in flow style."""
    more = f", trainer: {{{trainer}}}" if trainer else ""
    spec = f"{{runtimeRef: {{{ref}}}{more}}}"
    return f"apiVersion: {HEAD['apiVersion']}\nkind: TrainJob\nmetadata: {{{metadata}}}\nspec: {spec}\n"


def write_json(folder: Path, *documents: Tree) -> str:
    """Write documents to a file, each on a line of its own; return its path."""
    file = folder / "x.json"
    file.write_text("\n".join(map(json.dumps, documents)))
    return str(file)


def compiled(
    folder: Path,
    jobs: Tree | Sequence[Tree],
    trainer: Any = None,
    *,
    name: str = "r",
    metadata: Any = None,
    release: str | None = None,
    **runtime: Any,
) -> trainc.Result:
    """Return the TrainJob `j` on the runtime `name` with these replicated jobs, compiled for a release.

    metadata    other metadata of the TrainJob
    runtime     the other arguments of `cluster_runtime`
    """
    given = cluster_runtime(*((jobs,) if isinstance(jobs, dict) else jobs), name=name, **runtime)
    file = write_json(folder, given, train_job(trainer or {}, runtime=name, metadata=metadata))
    return trainc.compile([file], options=Options(settings=NO_LINT), trainer_version=release)


def only_object(compilation: trainc.Result, kind: str) -> dict[str, Any]:
    """Return the only object of a kind; the compilation must have no diagnostics, but may have no nodes."""
    assert {found.id for found in compilation.diagnostics} <= {"node-count"}
    (found,) = (object for object in compilation.objects if object["kind"] == kind)
    return dict(found)


def pods_of(compilation: trainc.Result) -> dict[str, Any]:
    """Return the specifications of the pods by job of the first object, a JobSet."""
    jobs = compilation.objects[0]["spec"]["replicatedJobs"]
    return {job["name"]: job["template"]["spec"]["template"]["spec"] for job in jobs}


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


GOLDEN_CASES = sorted(
    path.parent.name
    for path in (Path(__file__).parents[1] / "golden").glob("*/expected.yaml")
    if not path.parent.name.startswith(("jobset-", "environment-"))
)
"""The golden cases that compile without an option; a JobSet of the input is copied as it is."""
