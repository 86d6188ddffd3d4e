"""Trees with the layouts of public repositories: the whole output of four commands, as a user sees it.

Each test copies a tree, commits it, changes one line, and writes a console of the commands to outputs/<tree>.txt.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

HERE = Path(__file__).parent
TREES = HERE / "trees"
GIT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Console(TextFile):
    folder = HERE / "outputs"


@dataclass(frozen=True)
class Repository:
    """How a tree is used."""

    application: str
    """The folder of an Argo CD Application, in which `cmp generate` runs."""
    changed: str
    """The file that `diff` compares with the commit."""
    old: str
    new: str
    rendered: str = ""
    """The arguments of a build before the commit."""


SIZE = 'requests: {cpu: "4", memory: 16Gi}'
LARGER = 'requests: {cpu: "8", memory: 16Gi}'
REPOSITORIES = {
    "app-of-apps": Repository("training", "training/runtimes.yaml", "torch:2.9.1", "torch:2.10.0"),
    "chart-beside-manifests": Repository(
        "deployments/add-ons/storage", "deployments/add-ons/storage/training-sample/train.yaml", SIZE, LARGER
    ),
    "configmap-runtimes": Repository(
        ".",
        "platform/kubeflow-trainer/templates/runtimes/installer-configmap.yaml",
        "[torchrun, /workspace/train.py]",
        "[torchrun, /workspace/finetune.py]",
    ),
    "cookiecutter": Repository("examples", "examples/quickstart.yml", SIZE, LARGER),
    "flux": Repository("apps/production", "apps/base/finetune/trainjob.yaml", SIZE, LARGER),
    "kustomize-overlays": Repository(".", "base/trainjob.yaml", SIZE, LARGER),
    "monorepo": Repository("manifests/base", "manifests/overlays/dev/trainjob-patch.yaml", "true", "false"),
    "rendered": Repository("apps", "apps/app-b/trainjob.yaml", SIZE, LARGER, rendered="build apps -o rendered"),
    "trainer-manifests": Repository(
        "examples/pytorch",
        "manifests/base/runtimes/torch_distributed.yaml",
        "/workspace/train.py",
        "/workspace/mnist.py",
    ),
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ARGOCD_", "PARAM_", "GIT_", "KUBE_VERSION"))]:
        monkeypatch.delenv(name)
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)


def console(*commands: str) -> str:
    """Run trainc commands and return them with standard output, standard error and a failing exit code."""
    shown = ""
    for command in commands:
        done = run(*command.split())
        code = f"[exit code {done.code}]\n" if done.code else ""
        shown += f"$ trainc {command}\n{done.out}{done.err}{code}\n"
    return shown


@pytest.mark.parametrize("tree", REPOSITORIES)
def test_a_repository(tree: str, snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, root = REPOSITORIES[tree], tmp_path / "repository"
    shutil.copytree(TREES / tree, root)
    monkeypatch.chdir(root)
    shown = console(repository.rendered) if repository.rendered else ""
    for command in ("init --quiet --initial-branch=main", "add --all", "commit --quiet --message first"):
        subprocess.run(["git", *command.split()], check=True)
    shown += console("validate", "build")
    changed = Path(repository.changed)
    before = changed.read_text()
    assert before.count(repository.old) == 1
    changed.write_text(before.replace(repository.old, repository.new))
    shown += f"$ sed -i 's|{repository.old}|{repository.new}|' {repository.changed}\n\n"
    shown += console("diff main")
    changed.write_text(before)
    monkeypatch.chdir(repository.application)
    monkeypatch.setenv("ARGOCD_APP_SOURCE_PATH", repository.application)
    monkeypatch.setenv("ARGOCD_APP_NAMESPACE", "training")
    shown += f"$ git restore . && cd {repository.application}\n\n" + console("cmp generate")
    assert str(tmp_path) not in shown
    assert shown == snapshot(extension_class=Console)


def test_every_tree_is_in_the_table_and_has_a_test() -> None:
    rows = re.findall(r"^\| `([^`]+)` \|", (HERE / "README.md").read_text(), re.MULTILINE)
    assert rows == sorted(REPOSITORIES) == sorted(path.name for path in TREES.iterdir())
    assert {path.stem for path in (HERE / "outputs").iterdir()} == set(REPOSITORIES)
