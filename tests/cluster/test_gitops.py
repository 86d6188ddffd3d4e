"""GitOps tools: what the Argo CD plugin prints, and a rendered folder, change nothing when they are applied again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.cases import GOLDEN
from cluster.server import Cluster, load, path_of
from cluster.versions import JOBSET, PODGROUP, VOLCANO
from running import run

Tree = dict[str, Any]

CRDS = (JOBSET, PODGROUP, VOLCANO)

CASES = ("deepspeed-2x4", "flux-lammps", "gang-volcano", "llm-finetune-4x8", "mxnet-parameter-server", "torchtune-lora")
MODES = {
    "client-side": ["--server-side=false"],
    "server-side": ["--server-side", "--field-manager=argocd-controller"],
    "server-side, force-conflicts": ["--server-side", "--force-conflicts", "--field-manager=argocd-controller"],
    "as Flux": ["--server-side", "--force-conflicts", "--field-manager=kustomize-controller"],
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty application folder, which is the working directory."""
    folder = tmp_path / "apps" / "training"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ARGOCD_APP_SOURCE_PATH", "apps/training")
    return folder


@pytest.mark.parametrize("mode", MODES)
def test_the_argo_cd_plugin(
    cluster: Cluster, counted: Callable[[str, int], None], repository: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    namespace = cluster.namespace("argocd")
    _write(repository, namespace)
    monkeypatch.setenv("ARGOCD_APP_NAMESPACE", namespace)
    done = run("cmp", "generate")
    assert done.code == 0, done.err
    objects = load(done.out)
    counted(f"objects of the Argo CD plugin, {mode}", _apply_twice(cluster, objects, done.out, MODES[mode]))


@pytest.mark.parametrize("mode", MODES)
def test_a_rendered_folder(cluster: Cluster, counted: Callable[[str, int], None], repository: Path, mode: str) -> None:
    _write(repository, cluster.namespace("rendered"))
    done = run("build", ".", "-o", "rendered", "--no-config")
    assert done.code == 0, done.err
    text = "---\n".join(path.read_text() for path in sorted((repository / "rendered").rglob("*.yaml")))
    objects = load(text)
    counted(f"objects of a rendered folder, {mode}", _apply_twice(cluster, objects, text, MODES[mode]))
    shutil.rmtree(repository / "rendered")


def _write(folder: Path, namespace: str) -> None:
    """Write golden cases with another namespace."""
    for case in CASES:
        documents = load((GOLDEN / case / "input.yaml").read_text())
        for tree in documents:
            if tree["kind"] != "ClusterTrainingRuntime":
                tree["metadata"]["namespace"] = namespace
        (folder / f"{case}.yaml").write_text(yaml.safe_dump_all(documents))


def _apply_twice(cluster: Cluster, objects: list[Tree], text: str, mode: list[str]) -> int:
    """Apply a text twice; the second time nothing changes. Return the number of objects."""
    assert objects
    versions = []
    for _ in range(2):
        done = cluster.kubectl("apply", *mode, "--filename=-", stdin=text)
        assert done.code == 0, done.err
        versions.append([_generation(cluster, tree) for tree in objects])
    assert versions[0] == versions[1]
    return len(objects)


def _generation(cluster: Cluster, tree: Tree) -> tuple[Any, ...]:
    """Return what changes with every edit of an object, but not with its status."""
    answer = cluster.ask("GET", path_of(tree))
    assert answer.code == 200, answer.message
    metadata = answer.body["metadata"]
    stored = {key: value for key, value in answer.body.items() if key not in {"metadata", "status"}}
    return metadata.get("generation"), metadata.get("labels"), metadata.get("annotations"), stored
