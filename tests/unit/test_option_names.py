"""Hints name the setting that their reader can use: an option, a functionConfig field or an Application parameter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Done, run

LOST = {"runtimeRef": {"name": "lost"}}
LONG = {"runtimeRef": {"name": "torch-distributed"}}
HINTS = {
    "build": (", --runtimes more (0), ", "add a path to search with --runtimes PATH", "remove --name-suffix-hash, "),
    "krm": (
        ", runtimes: [more] in the functionConfig (0), ",
        "add a path to search with runtimes: [PATH] in the functionConfig",
        "remove nameSuffixHash in the functionConfig, ",
    ),
    "cmp": (
        ", the parameter runtimes: more (0), ",
        "add a path to search with the parameter runtimes: PATH",
        "remove the parameter name-suffix-hash, ",
    ),
}


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> Path:
    """Create an application's folder and an empty folder of runtimes."""
    (empty_folder / "more").mkdir()
    return empty_folder


def diagnosed(by: str, job: dict[str, Any], project: Path, monkeypatch: pytest.MonkeyPatch) -> Done:
    """Return the diagnostics of a TrainJob, with a path for runtimes and a name suffix hash."""
    if by == "krm":
        spec = {"runtimes": ["more"], "nameSuffixHash": True}
        config = {"apiVersion": "trainc.dev/v1alpha1", "kind": "TrainJobCompiler", "spec": spec}
        given = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [job]}
        return run("krm", stdin=json.dumps(given | {"functionConfig": config}).encode())
    (project / "job.yaml").write_text(yaml.safe_dump(job))
    if by == "build":
        return run("build", "job.yaml", "--runtimes", "more", "--name-suffix-hash")
    said = [{"name": "runtimes", "array": ["more"]}, {"name": "name-suffix-hash", "string": "true"}]
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps(said))
    return run("cmp", "generate")


@pytest.mark.parametrize("by", HINTS)
def test_the_hint(by: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}
    searched, look, leave = HINTS[by]
    lost = diagnosed(by, head | {"metadata": {"name": "a"}, "spec": LOST}, project, monkeypatch)
    assert (lost.code, searched in lost.err, look in lost.err) == (1, True, True), lost.err
    long = diagnosed(by, head | {"metadata": {"name": "a" * 48}, "spec": LONG}, project, monkeypatch)
    assert (long.code, leave in long.err) == (1, True), long.err
