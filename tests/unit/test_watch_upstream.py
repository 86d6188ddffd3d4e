"""The script that lists new releases of upstream projects."""

from __future__ import annotations

import io
import json
import re
import subprocess
from typing import Any

import pytest
import watch_upstream

from trainc.base.releases import RELEASES

LINES = [f"0123\trefs/tags/{tag}" for tag in ("v0.9.1", "v0.12.0", "v0.12.1", "v0.13.0", "v0.14.0-rc.1", "helm-v1.0.0")]


def test_newer_releases_are_listed_in_order() -> None:
    newer = [("v0.12.1", "v0.12.0"), ("v0.13.0", "v0.12.0")]
    assert watch_upstream.newer(["v0.12.0"], LINES[::-1]) == newer
    assert watch_upstream.newer(["v0.13.0"], LINES) == []


def test_a_patch_release_of_each_line_is_newer() -> None:
    assert watch_upstream.newer(["v0.12.0", "v0.13.0"], LINES) == [("v0.12.1", "v0.12.0")]


FOLLOWED = json.loads(watch_upstream.KNOWN.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("project", "tag"), [(project, tag) for project, tags in FOLLOWED.items() for tag in tags])
def test_the_next_patch_release_of_each_line_is_newer(project: str, tag: str) -> None:
    line, _, patch = tag.rpartition(".")
    released = f"{line}.{int(patch) + 1}"
    assert watch_upstream.newer(FOLLOWED[project], [f"0123\trefs/tags/{released}"]) == [(released, tag)]


def test_every_release_of_trainer_is_followed() -> None:
    followed = json.loads(watch_upstream.KNOWN.read_text())
    assert {release.tag for release in RELEASES} <= {*followed["kubeflow/trainer"]}
    assert followed["pypi:kubeflow-trainer-api"] == [[each for each in RELEASES if each.source == "code"][-1].tag]


PROJECTS = {
    "Kubeflow Trainer": "kubeflow/trainer",
    "earlier Trainer releases": "kubeflow/trainer",
    "Training Operator": "kubeflow/trainer",
    "MPI Operator": "kubeflow/mpi-operator",
    "torchtune": "pytorch/torchtune",
    "JobSet": "kubernetes-sigs/jobset",
    "Kueue": "kubernetes-sigs/kueue",
    "scheduler-plugins": "kubernetes-sigs/scheduler-plugins",
    "Volcano": "volcano-sh/volcano",
    "Kubernetes": "kubernetes/kubernetes",
    "sigs.k8s.io/yaml": "kubernetes-sigs/yaml",
    "kubeflow-trainer-api": "pypi:kubeflow-trainer-api",
}
"""The repository of each project in docs/versions.md. The first tags of Trainer are those of Training Operator."""


def test_the_page_lists_the_followed_releases() -> None:
    listed: dict[str, set[str]] = {}
    page = (watch_upstream.KNOWN.parents[1] / "docs" / "versions.md").read_text(encoding="utf-8")
    for project, versions in re.findall(r"^\| ([^|]+) \| (v\d[^|]+) \|", page, re.MULTILINE):
        listed.setdefault(PROJECTS[project], set()).update(re.findall(r"v\d+\.\d+\.\d+", versions))
    assert listed == {name: {*tags} for name, tags in json.loads(watch_upstream.KNOWN.read_text()).items()}


@pytest.mark.parametrize("exists", [False, True])
def test_an_issue_is_opened_once(exists: bool, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        title = "kubeflow/trainer v9.0.0" if exists else "kubeflow/trainer v9.0.0-rc.1"
        listed = "0\trefs/tags/v9.0.0\n" if command[0] == "git" and "trainer" in command[-1] else ""
        answer = listed if command[0] == "git" else json.dumps([{"title": title}])
        return subprocess.CompletedProcess(command, 0, answer)

    monkeypatch.setattr(subprocess, "run", run)
    package = '{"releases": {"2.3.0": [], "2.2.0": []}}'
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: io.StringIO(package))
    assert watch_upstream.main(["--open-issues"]) == 0
    assert capsys.readouterr().out == f"kubeflow/trainer v9.0.0 (followed: {RELEASES[-1].tag})\n"
    created = [command for command in commands if command[:3] == ["gh", "issue", "create"]]
    assert len(created) == (0 if exists else 1)
