"""A project of two environments of one cluster with the data of two teams, and the applies of a tool that prunes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from running import run

Tree = dict[str, Any]

OBJECTS = """\
apiVersion: v1
kind: Namespace
metadata: {{name: {team}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: {team}}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: run, namespace: {team}}}
subjects: [{{kind: ServiceAccount, name: trainer, namespace: {team}}}]
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: run}}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: train, namespace: {team}}}
spec: {{runtimeRef: {{name: torch-distributed}}}}
"""
EXCLUDING = "environments: {{dev: {{namespaceSuffix: -dev, exclude: [{}-job.yaml]}}, prod: {{}}}}\n"
ENVIRONMENTS = "environments: {dev: {namespaceSuffix: -dev}, prod: {}}\n"
SETTINGS = f"output: rendered\npassthrough: true\nruntimes: {{builtin: allow}}\n{ENVIRONMENTS}"


def write_teams(folder: Path, *teams: str) -> None:
    """Write the project of some teams, each with a job and a claim in a namespace of its own."""
    (folder / ".git").mkdir()
    (folder / "trainc.yaml").write_text(SETTINGS)
    for team in teams:
        (folder / f"{team}.yaml").write_text(OBJECTS.format(team=team))
        (folder / f"{team}-job.yaml").write_text(JOB.format(team=team))


def exclude_job(folder: Path, team: str) -> None:
    """Exclude the job of a team in dev."""
    (folder / "trainc.yaml").write_text(SETTINGS.replace(ENVIRONMENTS, EXCLUDING.format(team)))


def rendered(folder: Path) -> dict[str, list[Tree]]:
    """Build the project; return the objects of each environment."""
    done = run("build")
    assert done.code == 0, done.err
    return {
        environment: [
            tree
            for path in sorted((folder / "rendered" / environment).rglob("*.yaml"))
            for tree in yaml.safe_load_all(path.read_text())
            if tree is not None
        ]
        for environment in ("dev", "prod")
    }
