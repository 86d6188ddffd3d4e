"""The hooks of .pre-commit-hooks.yaml, run by pre-commit in a repository created by `trainc init`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from committing import commit, git
from running import run

ROOT = Path(__file__).parents[2]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
BIN = Path(sys.executable).parent
UNREACHED = re.compile(r"Could not find a version|No matching distribution|Max retries|Temporary failure|unreachable")
"""pip's message without a package index; any other failure is an error of the hooks."""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a repository with everything committed, including its rendered folder."""
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    assert run("init").code == 0
    assert run("build").code == 0
    git("init", "--quiet")
    commit()
    return tmp_path / "repo"


def pre_commit(*args: str, seconds: int = 30) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "pre-commit"), *args, "--color", "never"]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


def verdicts(output: str) -> dict[str, str]:
    """Return the result of each hook by id. For a skipped hook, pre-commit prints only the name."""
    ends = dict(re.findall(r"^(.*?)\.{3,}(?:\(no files to check\))?(\w+)$", output, re.MULTILINE))
    return {hook["id"]: ends[hook["name"]] for hook in HOOKS if hook["name"] in ends}


def replace(file: str, old: str, new: str) -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))


def sources(folder: Path) -> Path:
    """Create a repository with trainc's sources as they are now, committed or not."""
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    for name in targets["sdist"]["include"]:
        path = ROOT / name.removeprefix("/")
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=hidden)
        else:
            shutil.copy(path, folder)
    for name in ("pyproject.toml", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder)
    git("-C", str(folder), "init", "--quiet")
    git("-C", str(folder), "add", "--all")
    git("-C", str(folder), "commit", "--quiet", "--message", "all")
    return folder


def settings_of_init() -> list[dict[str, Any]]:
    hooks: list[dict[str, Any]] = yaml.safe_load(Path(".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    return hooks


@pytest.mark.slow
def test_pre_commit_installs_them_from_this_repository(tmp_path: Path) -> None:
    trainc = sources(tmp_path / "trainc")
    replace("jobs/first-job.yaml", "train.py", "finetune.py")
    done = pre_commit("try-repo", str(trainc), "--all-files", "--verbose", seconds=300)
    if UNREACHED.search(done.stdout + done.stderr):
        pytest.skip("a package index for pip")
    assert verdicts(done.stdout) == {
        "trainc-build": "Failed",
        "trainc-build-check": "Passed",
        "trainc-fix": "Passed",
        "trainc-validate": "Passed",
    }
    assert "files were modified by this hook" in done.stdout
    assert "rendered/prod: 1 written, 0 removed, 0 unchanged" in done.stdout
    assert "no problems found: 1 TrainJob, 1 runtime in dev, prod" in done.stdout


def test_init_writes_these_hooks() -> None:
    defined = {hook["id"]: hook | {"language": "system"} for hook in HOOKS}
    assert [hook["id"] for hook in settings_of_init()] == ["trainc-validate", "trainc-build-check"]
    assert all(hook == defined[hook["id"]] for hook in settings_of_init())


@pytest.mark.parametrize(
    ("file", "old", "new", "expected", "said"),
    [
        pytest.param("README.md", "#", "# Our", {"trainc-build-check": "Passed"}, "Skipped", id="nothing of ours"),
        pytest.param(
            "jobs/first-job.yaml",
            "numNodes: 1",
            "numNodes: many",
            {"trainc-validate": "Failed", "trainc-build-check": "Failed"},
            'jobs/first-job.yaml:10:15: error[wrong-type]: numNodes must be an integer, not the string "many"',
            id="a job that the cluster refuses",
        ),
        pytest.param(
            "jobs/first-job.yaml",
            "train.py",
            "finetune.py",
            {"trainc-validate": "Passed", "trainc-build-check": "Failed"},
            "rendered is out of date",
            id="a job that is not rendered",
        ),
        pytest.param(
            "runtimes/team-torch.yaml",
            "name: team-torch",
            "name: our-torch",
            {"trainc-validate": "Failed", "trainc-build-check": "Failed"},
            'ClusterTrainingRuntime "team-torch" not found',
            id="a runtime that another file's job needs",
        ),
    ],
)
def test_a_commit(file: str, old: str, new: str, expected: dict[str, str], said: str) -> None:
    replace(file, old, new)
    git("add", "--all")
    done = pre_commit("run")
    ends = verdicts(done.stdout)
    assert {id: ends[id] for id in expected} == expected
    assert said in done.stdout
    assert done.returncode == ("Failed" in expected.values())


@pytest.mark.slow
def test_a_fix_stops_the_commit_once() -> None:
    (hook,) = [hook | {"language": "system"} for hook in HOOKS if hook["id"] == "trainc-fix"]
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook]}]}))
    replace("jobs/first-job.yaml", "numNodes: 1", "numNode: 1")
    git("add", "--all")
    done = pre_commit("run")
    assert verdicts(done.stdout) == {"trainc-fix": "Failed"}
    assert "fixed 1 problem in 1 file" in done.stdout
    assert "files were modified by this hook" in done.stdout
    assert "numNodes: 1" in Path("jobs/first-job.yaml").read_text()
    git("add", "--all")
    assert verdicts(pre_commit("run").stdout) == {"trainc-fix": "Passed"}


@pytest.mark.slow
def test_a_removal() -> None:
    Path("jobs/first-job.yaml").unlink()
    git("add", "--all")
    done = pre_commit("run")
    assert verdicts(done.stdout) == {"trainc-validate": "Skipped", "trainc-build-check": "Failed"}
    assert "-kind: JobSet" in done.stdout
