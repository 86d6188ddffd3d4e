"""examples/teams: every command works without options, and the trees of both environments are golden."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from running import run

ROOT = Path(__file__).parents[2]
TEAMS = ROOT / "examples" / "teams"
GIT = {
    **os.environ,
    **{f"GIT_{who}_{what}": "ada@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], env=GIT, check=True, capture_output=True)


@pytest.fixture
def teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the project, committed to git."""
    shutil.copytree(TEAMS, tmp_path / "teams")
    monkeypatch.chdir(tmp_path / "teams")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "All")
    return tmp_path / "teams"


def test_the_project_has_three_teams_with_twelve_jobs_and_two_environments() -> None:
    assert sorted(path.name for path in (TEAMS / "jobs").iterdir()) == ["language", "speech", "vision"]
    assert len(list((TEAMS / "jobs").rglob("*.yaml"))) == 12
    assert sorted(path.name for path in (TEAMS / "rendered").iterdir()) == ["dev", "prod"]
    assert len(list((TEAMS / "rendered/dev").rglob("*.yaml"))) == 12
    assert len(list((TEAMS / "rendered/prod").rglob("*.yaml"))) == 10


@pytest.mark.parametrize("folder", [".", "jobs/vision"])
def test_the_rendered_trees_are_golden(teams: Path, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `trainc build` in examples/teams after a deliberate change of the output."""
    monkeypatch.chdir(folder)
    done = run("build", "--check")
    assert (done.code, done.out, done.reported) == (0, "", "")
    shutil.rmtree(teams / "rendered")
    assert run("build").code == 0
    for name in ("dev", "prod"):
        found = subprocess.run(["diff", "-r", teams / "rendered" / name, TEAMS / "rendered" / name], check=False)
        assert found.returncode == 0


COMMANDS = {
    "build": (),
    "validate": (),
    "diff": (),
    "explain": ("--env", "prod"),
    "pods": ("--env", "prod"),
    "graph": ("--env", "prod"),
    "queues": ("--env", "prod"),
    "settings": (),
    "runtimes": ("list",),
    "upgrade": (),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("teams")
def test_every_command_works_without_options(command: str) -> None:
    done = run(command, *COMMANDS[command])
    assert done.code == 0, done.err
    assert "warning" not in done.err
    assert "error" not in done.err


def test_every_command_of_the_readme_that_reads_a_project_is_tested() -> None:
    usage = (ROOT / "README.md").read_text().partition("## Usage")[2].partition("\n- **")[0]
    named = set(re.findall(r"^    trainc (\S+)", usage, re.MULTILINE))
    assert named - {"krm", "cmp", "init", "secret"} - COMMANDS.keys() == set()
