"""The script that lists new releases of upstream projects."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
import watch_upstream

from trainc.base.releases import RELEASES

LINES = [f"0123\trefs/tags/{tag}" for tag in ("v0.9.1", "v0.12.0", "v0.12.1", "v0.13.0", "v0.14.0-rc.1", "helm-v1.0.0")]


def test_newer_releases_are_listed_in_order() -> None:
    assert watch_upstream.newer("v0.12.0", LINES[::-1]) == ["v0.12.1", "v0.13.0"]
    assert watch_upstream.newer("v0.13.0", LINES) == []


def test_the_newest_release_of_trainer_is_known() -> None:
    known = json.loads(watch_upstream.KNOWN.read_text())
    assert known["kubeflow/trainer"] == RELEASES[-1].tag
    assert all(watch_upstream.version(tag) for tag in known.values())


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
    assert watch_upstream.main(["--open-issues"]) == 0
    assert capsys.readouterr().out == f"kubeflow/trainer v9.0.0 (followed: {RELEASES[-1].tag})\n"
    created = [command for command in commands if command[:3] == ["gh", "issue", "create"]]
    assert len(created) == (0 if exists else 1)
