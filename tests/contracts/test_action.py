"""The GitHub Action: its steps run one by one in a clone, as a runner runs them, with a gh that keeps the comments."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from committing import commit, git
from running import run

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
INSTALL, VALIDATE, CHECK, REVIEW, COMMENT = STEPS
BIN = Path(sys.executable).parent
GH = """
import json, os, sys
store, log = os.environ["STORE"], os.environ["LOG"]
words = sys.argv[1:]
text = sys.stdin.read() if "--input" in words else ""
with open(log, "a") as file:
    file.write(json.dumps(words) + "\\n")
if os.environ.get("REFUSED") in words:
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
comments = json.load(open(store))
path = next(word for word in words if word.startswith("repos/"))
if "POST" in words:
    comments.append(dict(json.loads(text), id=len(comments) + 1, user=dict(type="Bot")))
elif "PATCH" in words:
    (found,) = [comment for comment in comments if comment["id"] == int(path.rpartition("/")[2])]
    found.update(json.loads(text))
else:
    print(json.dumps([comments[:1], comments[1:]]))
    sys.exit()
json.dump(comments, open(store, "w"))
print("{}")
"""
"""A gh that answers with two pages of comments, and creates and edits comments."""


class Ended(NamedTuple):
    """The end of a step."""

    code: int
    out: str


Runner = Callable[..., Ended]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Check out a pull request with one changed job, and return a function that runs a step of the action."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITHUB_", "RUNNER_"))]:
        monkeypatch.delenv(name)
    temporary = tmp_path / "temporary"
    (temporary / "trainc" / "bin").mkdir(parents=True)
    (temporary / "trainc" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "programs").mkdir()
    (tmp_path / "gh.py").write_text(GH)
    # A shebang cannot name an interpreter whose path has spaces.
    script = f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path / "gh.py"}" "$@"\n'
    (tmp_path / "programs" / "gh").write_text(script)
    (tmp_path / "programs" / "gh").chmod(0o755)
    (tmp_path / "comments.json").write_text("[]")
    (tmp_path / "upstream").mkdir()
    monkeypatch.chdir(tmp_path / "upstream")
    git("init", "--quiet")
    assert run("init").code == 0
    assert run("build", "-o", "rendered").code == 0
    commit("A first job")
    git("clone", "--quiet", ".", "../clone")
    monkeypatch.chdir(tmp_path / "clone")
    git("checkout", "--quiet", "-b", "branch")
    four_gpus()

    def perform(step: dict[str, Any], inputs: dict[str, str] | None = None, **variables: str) -> Ended:
        given = {name: value.get("default", "") for name, value in ACTION["inputs"].items()} | (inputs or {})
        values = {f"inputs.{name}": value for name, value in given.items()}
        values["github.event.pull_request.number"] = "7"
        environment = {
            "PATH": f"{tmp_path / 'programs'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_BASE_REF": "main",
            "GITHUB_REPOSITORY": "team/training",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "RUNNER_TEMP": str(temporary),
            "STORE": str(tmp_path / "comments.json"),
            "LOG": str(tmp_path / "log"),
            **{
                name: re.sub(r"\$\{\{ (.*?) \}\}", lambda m: values[m[1]], value) for name, value in step["env"].items()
            },
            **variables,
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=60, check=False)
        return Ended(done.returncode, done.stdout + done.stderr)

    return perform


def four_gpus() -> None:
    job = Path("jobs/first-job.yaml")
    job.write_text(job.read_text().replace("gpu: 2", "gpu: 4"))
    assert run("build", "-o", "rendered").code == 0
    commit("Four GPUs")


def comments(tmp_path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((tmp_path / "comments.json").read_text())
    return found


def methods(tmp_path: Path) -> list[str]:
    """Return the methods of gh's calls."""
    calls = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    return [words[words.index("--method") + 1] if "--method" in words else "GET" for words in calls]


def test_the_schema_of_actions() -> None:
    check: list[str | Path] = [
        BIN / "check-jsonschema",
        "--builtin-schema",
        "vendor.github-actions",
        ROOT / "action.yml",
    ]
    subprocess.run(check, check=True, capture_output=True, timeout=60)


def test_no_expression_is_in_a_script() -> None:
    assert [step["run"] for step in STEPS if "${{" in step["run"]] == []


def test_a_good_pull_request(runner: Runner, tmp_path: Path) -> None:
    assert [runner(step).code for step in (VALIDATE, CHECK, REVIEW, COMMENT)] == [0, 0, 0, 0]
    summary = (tmp_path / "summary.md").read_text()
    assert "2 to change" in summary
    assert [comment["body"] for comment in comments(tmp_path)] == [f"<!-- trainc review: trainc -->\n{summary}"]
    assert methods(tmp_path) == ["GET", "POST"]


@pytest.mark.slow
def test_a_second_run_edits_the_comment(runner: Runner, tmp_path: Path) -> None:
    for step in (REVIEW, COMMENT):
        runner(step)
    four = comments(tmp_path)[0]["body"]
    job = Path("jobs/first-job.yaml")
    job.write_text(job.read_text().replace("gpu: 4", "gpu: 8"))
    commit("Eight GPUs")
    for step in (REVIEW, COMMENT, REVIEW, COMMENT):
        assert runner(step).code == 0
    (comment,) = comments(tmp_path)
    assert comment["body"] != four
    assert methods(tmp_path) == ["GET", "POST", "GET", "PATCH", "GET"]  # the same text is not written again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "first"),
    [
        pytest.param("User", "<!-- trainc review: trainc -->", id="a user's comment with the marker"),
        pytest.param("Bot", "<!-- trainc review: other -->", id="a comment with another key"),
        pytest.param("Bot", "see <!-- trainc review: trainc -->", id="a bot's comment that quotes the marker"),
    ],
)
def test_no_other_comment_is_edited(kind: str, first: str, runner: Runner, tmp_path: Path) -> None:
    theirs = {"id": 1, "user": {"type": kind}, "body": f"{first}\nmine"}
    (tmp_path / "comments.json").write_text(json.dumps([theirs]))
    for step in (REVIEW, COMMENT):
        runner(step)
    assert comments(tmp_path)[0] == theirs
    assert len(comments(tmp_path)) == 2


@pytest.mark.slow
def test_a_token_without_permission(runner: Runner) -> None:
    runner(REVIEW)
    ended = runner(COMMENT, REFUSED="POST")
    assert ended.code == 1
    assert "HTTP 403" in ended.out
    assert "give the job the permission 'pull-requests: write'" in ended.out


def test_an_invalid_job(runner: Runner) -> None:
    job = Path("jobs/first-job.yaml")
    job.write_text(job.read_text().replace("numNodes: 1", "numNodes: many"))
    ended = runner(VALIDATE)
    assert ended.code == 1
    assert ended.out.startswith("::error file=jobs/first-job.yaml,line=")


def test_a_stale_folder(runner: Runner) -> None:
    job = Path("jobs/first-job.yaml")
    job.write_text(job.read_text().replace("gpu: 4", "gpu: 8"))
    ended = runner(CHECK)
    assert ended.code == 3
    assert re.search(r'^\+ +nvidia.com/gpu: "8"$', ended.out, re.MULTILINE)


def test_a_shallow_clone(runner: Runner) -> None:
    git("update-ref", "-d", "refs/remotes/origin/main")
    ended = runner(REVIEW)
    assert (ended.code, ended.out.count("fetch-depth: 0")) == (1, 1)


@pytest.mark.slow
def test_several_paths(runner: Runner, tmp_path: Path) -> None:
    several = {"paths": "jobs\nruntimes\n"}
    assert [runner(step, several).code for step in (VALIDATE, CHECK, REVIEW)] == [0, 0, 0]
    assert "2 to change" in (tmp_path / "summary.md").read_text()
    assert runner(VALIDATE, {"paths": "missing"}).code != 0


def test_a_text_cannot_be_a_command_of_the_runner(runner: Runner) -> None:
    job = Path("jobs/first-job.yaml")
    job.write_text(job.read_text().replace("numNodes: 1", "numNodes: '\\n::stop-commands::x'"))
    ended = runner(VALIDATE)
    assert ended.code == 1
    assert [line for line in ended.out.splitlines() if line.lstrip().startswith("::stop")] == []
