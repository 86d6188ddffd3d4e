"""examples/projects: the commands of its README, and an Application of each team."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from plugin import generate
from running import run

PROJECTS = Path(__file__).parents[2] / "examples" / "projects"


@pytest.fixture(autouse=True)
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PROJECTS, tmp_path / "projects")
    (tmp_path / "projects" / ".git").mkdir()  # `extends` may be in a folder above up to the git root
    monkeypatch.chdir(tmp_path / "projects")


def test_the_commands_of_its_readme() -> None:
    for line in re.findall(r"^    trainc (.+?)(?:   .*)?$", Path("README.md").read_text(), re.MULTILINE):
        done = run(*line.split())
        assert done.code == 0, done.err
    written = sorted(str(path) for path in Path().rglob("rendered/**/*.yaml"))
    assert written == [
        "teams/nlp/rendered/dev/nlp-dev/summarize.yaml",
        "teams/nlp/rendered/prod/nlp/summarize.yaml",
        "teams/vision/rendered/dev/vision-dev/detect.yaml",
        "teams/vision/rendered/prod/vision/detect.yaml",
    ]
    assert run("build", "--check").code == 0


@pytest.mark.parametrize("team", ["nlp", "vision"])
def test_an_application_of_a_team_has_the_objects_of_a_build(team: str) -> None:
    built = run("build", "teams", "--env", "prod").out.split("---\n")
    assert generate(f"teams/{team}", "prod").out in built
