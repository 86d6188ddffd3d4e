"""The examples of docs/patches.md: each writes its files and prints its output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from running import run

PAGE = (Path(__file__).parents[2] / "docs" / "patches.md").read_text()
EXAMPLES = PAGE.partition("\n## Examples\n")[2]
BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMON, *SECTIONS = EXAMPLES.split("\n### ")
NAMES = [section.partition("\n")[0] for section in SECTIONS]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def write(text: str) -> None:
    for language, content in BLOCK.findall(text):
        if language == "yaml":
            path = Path(content.partition("\n")[0].removeprefix("# "))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


def test_there_are_four() -> None:
    assert NAMES == ["Proxy variable", "Priority class", "Time to live", "Node pool"]


@pytest.mark.parametrize("section", SECTIONS, ids=NAMES)
def test_an_example(section: str) -> None:
    write(COMMON)
    write(section)
    (console,) = (content for language, content in BLOCK.findall(section) if language == "console")
    command, _, expected = console.partition("\n")
    done = run(*shlex.split(command.removeprefix("$ trainc ")))
    assert (done.code, done.out) == (0, expected)
    built = run("build", "jobs")
    assert (built.code, built.reported) == (0, "")


def test_the_first_example_of_the_page() -> None:
    write(COMMON)
    write(SECTIONS[NAMES.index("Priority class")])
    Path("trainc.yaml").write_text(BLOCK.findall(PAGE)[0][1].replace("llama-*", "llama*"))
    assert run("build", "jobs").reported == ""
