"""Pinned runtimes: `trainc runtimes pull` gives the JobSets that the controller creates from the cluster's runtimes.

A pull reads the runtimes of all namespaces, and those of others change while a test runs: the namespace of an earlier
test is deleted, or the cluster has other users. So each test compares the files of its own namespace.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.cases import GOLDEN
from cluster.server import Cluster, load, stream, until
from cluster.versions import JOBSET, RUNTIME, TRAINJOB
from running import run

from trainc.kubernetes.trees import put

Tree = dict[str, Any]

CRDS = (JOBSET, TRAINJOB, RUNTIME)

WAYS = {
    "client-side": ["apply", "--filename=-"],
    "server-side": ["apply", "--server-side", "--field-manager=platform", "--filename=-"],
}
"""How a platform team applies its runtimes."""


@pytest.fixture
def pulled(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of pinned runtimes; the working directory has the TrainJobs."""
    monkeypatch.setenv("KUBECONFIG", cluster.kubeconfig)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runtimes"


@pytest.mark.parametrize("way", [*WAYS, "ConfigMap"])
def test_no_difference(cluster: Cluster, pulled: Path, way: str) -> None:
    namespace = cluster.namespace("pull")
    runtime, job = _documents(namespace)
    if way == "ConfigMap":
        runtime = _installed(cluster, namespace, runtime)
    else:
        done = cluster.kubectl(*WAYS[way], stdin=stream([runtime]))
        assert done.code == 0, done.err
    assert _pull().code == 0
    before = _texts(pulled / namespace)
    assert before.keys() == {f"{runtime['metadata']['name']}.yaml"}
    Path("job.yaml").write_text(yaml.safe_dump(job))
    built = run("build", "job.yaml", "-r", "runtimes", "--no-config")
    assert built.code == 0, built.err
    (ours,) = load(built.out)
    until(lambda: True if cluster.try_create(job).code == 201 else None, "the runtime in Trainer's webhook")
    assert cluster.create(job).code == 201
    theirs = until(lambda: cluster.get("JobSet", namespace, job["metadata"]["name"]), "the JobSet")
    theirs["spec"].pop("suspend")  # difference suspend-unset
    assert _compact(theirs["spec"]) == ours["spec"]
    assert f"/{namespace}/" not in _pull("--check").out
    assert _pull().code == 0
    assert _texts(pulled / namespace) == before


def test_an_edit_in_the_cluster(cluster: Cluster, pulled: Path) -> None:
    namespace = cluster.namespace("pull")
    runtime, _ = _documents(namespace)
    cluster.apply([runtime])
    assert _pull().code == 0
    before = _texts(pulled / namespace)
    cluster.apply([put(runtime, ("spec", "mlPolicy", "numNodes"), 7)])
    checked = _pull("--check")
    assert checked.code == 3
    assert re.search(r"^\+ +numNodes: 7$", checked.out, re.MULTILINE)
    assert _texts(pulled / namespace) == before


def _documents(namespace: str) -> tuple[Tree, Tree]:
    """Return a runtime and a TrainJob of the gallery in a namespace."""
    runtime, job = load((GOLDEN / "accelerators" / "input.yaml").read_text())
    place = ("metadata", "namespace")
    return put(runtime, place, namespace), put(job, place, namespace)


def _installed(cluster: Cluster, namespace: str, runtime: Tree) -> Tree:
    """Apply a runtime as the installer of Trainer's Helm chart does, from the text of a ConfigMap in the cluster."""
    text = yaml.safe_dump(runtime)
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "installer", "namespace": namespace}}
    cluster.apply([config | {"data": {"runtimes.yaml": text}}])
    stored = cluster.get("ConfigMap", namespace, "installer")
    assert stored is not None
    done = cluster.kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=stored["data"]["runtimes.yaml"]
    )
    assert done.code == 0, done.err
    return runtime


def _pull(*options: str) -> Any:
    return run("runtimes", "pull", "-o", "runtimes", *options)


def _texts(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def _compact(value: Any) -> Any:
    """Return a value without the empty fields that the controller writes (difference stored-form)."""
    if isinstance(value, list):
        return [_compact(item) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {key: _compact(field) for key, field in value.items()}
    return {key: field for key, field in fields.items() if field != {} or key not in {"metadata", "resources"}}
