"""Manifests for tests of lint rules: a runtime and a TrainJob without findings, with changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import cluster_runtime, replicated_job, train_job, write_json
from purposes import compile_for

import trainc
from trainc.compilation.run import COMPILE, NO_OPTIONS, Options, Purpose
from trainc.diagnostics import Diagnostic, Location

GPUS = {"limits": {"nvidia.com/gpu": 2}}
SHM = {"name": "shm", "mountPath": "/dev/shm"}


def clean_container(**fields: Any) -> dict[str, Any]:
    """Return a container without findings."""
    return {"name": "node", "image": "i:1", "resources": {"requests": {"cpu": 1}}, **fields}


def replicated(*containers: Any, pod: Any = None, name: str = "node", of_pods: Any = None) -> dict[str, Any]:
    """Return a replicated job; the one named `node` is the trainer."""
    job = replicated_job(name, pod={"containers": list(containers) or [clean_container()], **(pod or {})})
    job["template"]["spec"]["template"]["metadata"] = of_pods or {}
    return job


def runtime_of(
    *jobs: Any, policy: Any = None, gang: Any = None, of_jobset: Any = None, **metadata: Any
) -> dict[str, Any]:
    """Return a runtime of these jobs, by default for torch and without a gang."""
    policies: dict[str, Any] = {"mlPolicy": {"torch": {}} if policy is None else policy} | (
        {"podGroupPolicy": gang} if gang else {}
    )
    return cluster_runtime(*jobs or [replicated()], metadata=metadata, jobset=of_jobset, **policies)


def trainjob(name: Any = "j", *, runtime: Any = "r", **fields: Any) -> dict[str, Any]:
    """Return a TrainJob with labels, annotations, suspend and `patches`; other arguments are its trainer's."""
    metadata = {key: fields.pop(key, {}) for key in ("labels", "annotations")}
    spec = {"suspend": fields.pop("suspend")} if "suspend" in fields else {}
    spec["runtimePatches"] = fields.pop("patches", [])
    return train_job(fields, name=name, runtime=runtime, metadata=metadata, **spec)


TEMPLATE = ("trainingRuntimeSpec", "template")
POD = ("template", "spec", "template", "spec")


def patch(pod: Any) -> dict[str, Any]:
    """Return a runtimePatch for the pods of job `node`."""
    job = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    return {"manager": "acme.io/m", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}


def warnings(
    folder: Path, *documents: Any, options: Options = NO_OPTIONS, purpose: Purpose = COMPILE
) -> list[Diagnostic]:
    """Return the warnings for these documents."""
    done = compile_for(purpose, [write_json(folder, *documents)], options)
    assert [d.message for d in done.diagnostics if d.severity == "error"] == []
    return [d for d in done.diagnostics if d.severity == "warning"]


def env(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def pytorchjob(*args: str, restart: str = "OnFailure", **policy: Any) -> dict[str, Any]:
    """Return a PyTorchJob with two workers and a run policy; `args` are those of the container."""
    pod = {"containers": [clean_container(name="pytorch", args=list(args), resources={"limits": {"cpu": 2}})]}
    worker = {"replicas": 2, "restartPolicy": restart, "template": {"spec": pod}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "mnist"},
        "spec": {"runPolicy": policy, "pytorchReplicaSpecs": {"Worker": worker}},
    }


def fires(rule: str, *documents: Any, id: str) -> Any:
    return pytest.param(documents, [rule], id=f"{rule}: {id}")


def silent(rule: str, *documents: Any, id: str) -> Any:
    return pytest.param(documents, [], id=f"not {rule}: {id}")


def host(*, few: Any = None, count: Any = 2, **pod: Any) -> tuple[Any, Any]:
    """Return pods with 8 GPUs, or with `few`, with their own network or DNS."""
    eight = clean_container(resources=few or {"limits": {"nvidia.com/gpu": 8}}, volumeMounts=[SHM])
    volumes = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    return runtime_of(replicated(eight, pod={"volumes": volumes, **pod})), trainjob(numNodes=count)


WITH_HOST_NET = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
ONE_GPU = {"limits": {"nvidia.com/gpu": 1}}
NO_NAMES = {"network": {"enableDNSHostnames": False}}
MPI = {"mpi": {"runLauncherAsNode": True, "sshAuthMountPath": "/home/mpiuser/.ssh", "mpiImplementation": "OpenMPI"}}


def marked(folder: Path, text: str, options: Options = NO_OPTIONS) -> list[tuple[str, str, str, str]]:
    """Return the lint findings for a YAML text: id, severity, the marked part of the line, and the message."""
    path = folder / "x.yaml"
    path.write_text(text)
    found = [d for d in trainc.compile([str(path)], options=options).diagnostics if d.stage == "lint"]
    lines = text.splitlines()
    rows: list[tuple[str, str, str, str]] = []
    for diagnostic in found:
        place = diagnostic.locate()
        assert isinstance(place, Location)
        end = place.end_column - 1 if place.end_line == place.line else None
        mark = lines[place.line - 1][place.column - 1 : end]
        rows.append((diagnostic.id, diagnostic.severity, mark, diagnostic.message))
    return rows
