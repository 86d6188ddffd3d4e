"""examples/teams: every command works without options, and the trees of both environments are golden."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from committing import commit, git
from running import run

from trainc.cli.common import group

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TEAMS = ROOT / "examples" / "teams"


@pytest.fixture
def teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the project, committed to git."""
    shutil.copytree(TEAMS, tmp_path / "teams")
    monkeypatch.chdir(tmp_path / "teams")
    git("init", "--quiet")
    commit()
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


def pods(tree: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the name of each TrainJob, the JobSet's specification and that of its pods."""
    for path in sorted(tree.rglob("*.yaml")):
        jobset = next(yaml.safe_load_all(path.read_text()))
        (job,) = jobset["spec"]["replicatedJobs"]
        name = jobset["metadata"]["name"].removesuffix("-dev")
        yield name, jobset["spec"], job["template"]["spec"]["template"]["spec"]


CPUS = {"align", "resize-images", "tokenize"}
LANGUAGE = {"instruct", "long-context", "mixture", "pretrain", "tokenize"}


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_the_trees_contain_the_four_patches(environment: str) -> None:
    for name, jobset, pod in pods(TEAMS / "rendered" / environment):
        (container,) = pod["containers"]
        proxy = {"name": "HTTPS_PROXY", "value": "http://proxy.acme.io:3128"}
        assert (proxy in container.get("env", [])) is (name in LANGUAGE)
        assert pod["priorityClassName"] == "research"
        assert jobset["ttlSecondsAfterFinished"] == 86400
        assert pod.get("nodeSelector") == (
            {"acme.io/pool": "h100"} if environment == "prod" and name not in CPUS else None
        )


def test_explain_names_the_lines_of_the_patches(teams: Path) -> None:
    lines = {
        "**.env[HTTPS_PROXY].value": ("trainc.yaml", "http://proxy.acme.io:3128"),
        "**.priorityClassName": ("platform/patches/priority.yaml", "priorityClassName"),
        "**.ttlSecondsAfterFinished": ("trainc.yaml", "86400"),
        "**.nodeSelector.*": ("trainc.yaml", "h100"),
    }
    for pattern, (file, text) in lines.items():
        done = run("explain", "--env", "prod", pattern)
        line = (teams / file).read_text().partition(text)[0].count("\n") + 1
        assert re.search(rf"\s{file}:{line}(:|\s)", done.out), done.out


def test_the_commands_of_its_readme(teams: Path) -> None:
    readme = (teams / "README.md").read_text()
    commands = re.findall(r"^    trainc (.+?)(?:   .*)?$|`trainc ([^`]+ [^`]+)`", readme, re.MULTILINE)
    assert len(commands) == 7
    for block, inline in commands:
        done = run(*shlex.split(block or inline))
        assert (done.code, done.reported.count("warning")) == (0, 0), done.err


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
    "migrate": (),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("teams")
def test_every_command_works_without_options(command: str) -> None:
    done = run(command, *COMMANDS[command])
    assert done.code == 0, done.err
    assert "warning" not in done.err
    assert "error" not in done.err


def test_every_command_that_reads_a_project_is_tested() -> None:
    assert set(group.COMMANDS) - {"krm", "cmp", "init", "secret", "schema", "completion"} == COMMANDS.keys()
