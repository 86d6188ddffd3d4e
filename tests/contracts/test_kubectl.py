"""The commands of the pages that need a cluster, tested as far as possible without one.

The real kubectl runs on files only (`--local`): it applies a patch to an object like the cluster's, and parses the
manifests that would be applied. The flags of `flux` are compared with its source, and the name of the built image with
its uses. Requires `kubectl` on the PATH; otherwise its tests are skipped.

**An integration**. Copy from `integrations/flux`.
1. Put its files in `integrations/<tool>/`.
2. Write a page in `docs/` with examples, and list it in `docs/README.md`. `test_kubectl.py` contains the commands that
   need a cluster.
3. Write a test that runs the tool itself or its linter. Schemas of other projects are in `tests/contracts/crds`,
   each with its source. `tests/argocd/test_server.py` runs Argo CD's own plugin server through `cmp-harness` from
   the PATH, and is skipped if `cmp-harness` is missing. `tests/argocd/sidecar.py` performs the steps of the
   Dockerfile in a venv, once per run, for tests as user 999.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

ROOT = Path(__file__).parents[2]
ARGOCD = ROOT / "integrations" / "argocd"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = ROOT / "docs"
PIN = (DOCS / "pin-runtimes.md").read_text()
SCRIPTS = [
    script
    for page in ("first-project", "flux", "argo-cd")
    for script in BLOCK.findall((DOCS / f"{page}.md").read_text())
]
COMMANDS = [shlex.split(line) for script in SCRIPTS for line in script.replace("\\\n", " ").splitlines()]
IMAGE = "registry.example.com/trainc-argocd:0.1.0"
FLAGS = {
    ("push", "artifact"): {"--path", "--source", "--revision"},
    ("tag", "artifact"): {"--tag"},
    ("get", "kustomizations"): set(),
}
"""The flags of flux that the page uses (fluxcd/flux2, cmd/flux)."""
THERE: dict[str, dict[str, Any]] = {
    "argocd-repo-server": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {
            "template": {
                "spec": {
                    "containers": [{"name": "argocd-repo-server", "image": "quay.io/argoproj/argocd:v3.2.1"}],
                    "initContainers": [
                        {"name": "copyutil", "volumeMounts": [{"name": "var-files", "mountPath": "/r"}]}
                    ],
                    "volumes": [{"name": name, "emptyDir": {}} for name in ("tmp", "var-files", "plugins")],
                }
            }
        },
    },
    "argocd-cm": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"url": "https://argocd.example.com"}},
}
"""The parts of Argo CD's own objects that the patches change (argoproj/argo-cd v3.2, manifests/base)."""

with_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl on the PATH")


def commands(*words: str) -> list[list[str]]:
    return [command for command in COMMANDS if tuple(command[: len(words)]) == words]


def kubectl(*words: str) -> str:
    done = subprocess.run(["kubectl", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def patched(name: str, tmp_path: Path) -> dict[str, Any]:
    """Return an object patched by the page's command."""
    (command,) = [command for command in commands("kubectl", "patch") if command[3] == name]
    assert command[2] == THERE[name]["kind"].lower()
    assert command[4:6] == ["--namespace", "argocd"]
    file = tmp_path / "there.yaml"
    file.write_text(yaml.safe_dump(THERE[name] | {"metadata": {"name": name, "namespace": "argocd"}}))
    made: dict[str, Any] = yaml.safe_load(kubectl("patch", *command[6:], "--local", "-f", str(file), "-o", "yaml"))
    assert made["metadata"]["name"] == name
    return made


def test_the_runtimes_of_a_cluster_are_pinned(tmp_path: Path) -> None:
    """kubectl and helm are programs that print recorded answers."""
    answers = {
        "kubectl": ROOT / "tests" / "unit" / "kubectl" / "list.json",
        "helm": ROOT / "golden" / "configmap-runtimes" / "input.yaml",
    }
    for name, file in answers.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\ncat {shlex.quote(str(file))}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

    def shell(script: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": path}
        return subprocess.run(
            ["sh", "-ec", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    assert shell("git init --quiet").returncode == 0
    pull, imports, check = BLOCK.findall(PIN)
    assert shell(pull).stderr == "runtimes/cluster: 3 written, 0 removed, 0 unchanged\n"
    staged = "runtimes/cluster/.trainc-runtimes\nruntimes/cluster/research/team-torch.yaml\n"
    assert shell("git diff --cached --name-only").stdout.startswith(staged)
    assert shell(check).returncode == 0
    first, second = shell(imports).stderr.splitlines()
    assert first == "runtimes/cluster: 0 written, 0 removed, 3 unchanged"
    assert second == "runtimes/cluster: 1 written, 3 removed, 0 unchanged"
    assert shell(check).returncode == 3


def test_every_command_is_covered() -> None:
    looked_at = [*commands("kubectl", "patch"), *commands("kubectl", "apply"), *commands("flux"), *commands("docker")]
    assert sorted(looked_at) == sorted(COMMANDS)


@with_kubectl
def test_the_sidecar_is_added_to_the_deployment(tmp_path: Path) -> None:
    pod = patched("argocd-repo-server", tmp_path)["spec"]["template"]["spec"]
    assert {part["name"] for part in pod["containers"]} == {"argocd-repo-server", "trainc"}
    assert [part["name"] for part in pod["initContainers"]] == ["copyutil"]
    volumes = [volume["name"] for volume in pod["volumes"]]
    assert sorted(volumes) == ["plugins", "tmp", "trainc-tmp", "var-files"]
    mounted = {mount["name"] for part in pod["containers"] for mount in part.get("volumeMounts", ())}
    assert mounted == {"var-files", "plugins", "trainc-tmp"}


@with_kubectl
def test_the_health_check_is_added_to_the_settings(tmp_path: Path) -> None:
    data = patched("argocd-cm", tmp_path)["data"]
    assert data.pop("url") == "https://argocd.example.com"
    assert list(data.values()) == [(ARGOCD / "health.lua").read_text()]


@with_kubectl
def test_applied_manifests_are_parsed(empty_folder: Path) -> None:
    assert run("init").code == 0
    assert run("build", "-o", "rendered").code == 0
    (empty_folder / "integrations").symlink_to(ROOT / "integrations")
    found = {}
    for command in commands("kubectl", "apply"):
        local = ["kubectl", "label", "--local", *command[2:], "a=b", "-o", "name"]
        done = subprocess.run(local, cwd=empty_folder, capture_output=True, text=True, timeout=60, check=True)
        found[command[-1]] = done.stdout.split()
    assert found == {
        "rendered/prod": ["jobset.jobset.x-k8s.io/first-job"],
        "integrations/flux/training-jobs.yaml": [
            "ocirepository.source.toolkit.fluxcd.io/training-jobs",
            "kustomization.kustomize.toolkit.fluxcd.io/training-jobs",
        ],
        "integrations/argocd/application.yaml": ["application.argoproj.io/training"],
    }


@pytest.mark.parametrize("command", commands("flux"), ids=lambda command: command[1])
def test_flux_has_the_flags(command: list[str]) -> None:
    flags = {word.partition("=")[0] for word in command if word.startswith("--")}
    assert flags <= FLAGS[command[1], command[2]]


def test_the_image_that_is_built_is_the_one_that_is_used() -> None:
    built, pushed = commands("docker")
    assert built[built.index("-t") + 1] == pushed[-1] == IMAGE
    pod = yaml.safe_load((ARGOCD / "sidecar.yaml").read_text())["spec"]["template"]["spec"]
    assert [part["image"] for part in pod["containers"]] == [IMAGE]


@pytest.mark.parametrize("file", ["Dockerfile", "sidecar.yaml", "argocd-cm.yaml"])
def test_a_file_has_the_command_of_the_page(file: str) -> None:
    said = [
        shlex.split(line) for line in re.findall(r"^# +((?:docker|kubectl) .+)$", (ARGOCD / file).read_text(), re.M)
    ]
    assert said
    assert [command for command in said if command not in COMMANDS] == []
