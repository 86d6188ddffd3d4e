"""Pull requests on a repository of three teams: examples/teams, and a generated one with 1,000 jobs.

A pull request is a function that edits the files of the current folder, which is the repository's root.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from committing import commit
from files import write
from pages import ROOT

TEAMS: Final = {"language": 400, "speech": 300, "vision": 300}
"""The number of jobs of each team in the generated repository."""
SETTINGS: Final = """\
sources: [jobs]
runtimes: {paths: [platform/runtimes], builtin: forbid}
labels: {app.kubernetes.io/managed-by: trainc}
environments:
  dev: {namespaceSuffix: -dev, labels: {env: dev}}
  staging: {namespaceSuffix: -staging, labels: {env: staging}}
  prod: {labels: {env: prod}}
"""
JOB: Final = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: {team}, labels: {{kueue.x-k8s.io/queue-name: gpu}}}}
spec:
  runtimeRef: {{name: torch-gpu}}
  trainer:
    numNodes: 2
    image: ghcr.io/acme/{team}:v1.0.0
    command: [torchrun, -m, acme.{team}]
"""
QUEUE: Final = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: gpu, namespace: {team}}}
spec: {{clusterQueue: research}}
"""


def copy_example() -> None:
    """Commit examples/teams, without its rendered manifests, in the current folder."""
    shutil.copytree(ROOT / "examples/teams", ".", dirs_exist_ok=True, ignore=shutil.ignore_patterns("rendered"))
    _replace("trainc.yaml", "output: rendered\n", "")
    commit()


def generate() -> None:
    """Commit the repository of 1,000 jobs in the current folder."""
    write("trainc.yaml", SETTINGS)
    shutil.copytree(ROOT / "examples/teams/platform/runtimes", "platform/runtimes")
    for team, count in TEAMS.items():
        write(f"jobs/{team}/team.yaml", QUEUE.format(team=team))
        for number in range(count):
            name = f"{team}-{number:03}"
            write(f"jobs/{team}/{name}.yaml", JOB.format(name=name, team=team))
    commit()


def _replace(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text, path
    Path(path).write_text(text.replace(old, new, 1))


def _job(team: str, number: int = 0) -> str:
    """Return the path of a job of a team that is no part of the team's experiments."""
    return [str(path) for path in sorted(Path("jobs", team).glob("*.yaml")) if path.name != "team.yaml"][number]


def one_edit() -> None:
    _replace(_job("vision"), "numNodes: 2", "numNodes: 3")


def five_edits() -> None:
    one_edit()
    _replace(_job("speech"), "trainer:\n", "trainer:\n    args: [--resume]\n")
    _replace("trainc.yaml", "env: prod", "env: production")
    runtime_edit()
    _replace("jobs/speech/team.yaml", "namespace: speech}", "namespace: speech, labels: {team: speech}}")


def runtime_edit() -> None:
    _replace("platform/runtimes/torch.yaml", "medium: Memory", "medium: Memory, sizeLimit: 32Gi")


def renamed_job() -> None:
    path = Path(_job("vision"))
    _replace(str(path), f"name: {path.stem}", f"name: {path.stem}-v2")
    path.rename(path.with_stem(f"{path.stem}-v2"))


def removed_team() -> None:
    shutil.rmtree("jobs/speech")


PULL_REQUESTS: Final[dict[str, Callable[[], None]]] = {
    "one-edit": one_edit,
    "five-edits": five_edits,
    "runtime-edit": runtime_edit,
    "renamed-job": renamed_job,
    "removed-team": removed_team,
    "name-suffix-hash": one_edit,
}
