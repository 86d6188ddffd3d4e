"""docs/python.md has every public name, and the unit test of docs/unit-tests.md has types. Their examples run, too."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, sections

import trainc

PAGE = "docs/python.md"
EXAMPLE = Path(__file__).with_name("example_of_jobs.py")
"""The unit test as a file, which `make lint` checks with `mypy --strict`."""


def test_the_unit_test_has_types() -> None:
    (shown,) = (
        block for section in sections("docs/unit-tests.md") for block in section.blocks if block.file == "test_jobs.py"
    )
    assert EXAMPLE.read_text().partition('"""\n\n')[2] == shown.text.partition("\n")[2]


@pytest.mark.slow
def test_the_examples_have_types(tmp_path: Path) -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", (ROOT / PAGE).read_text(), re.DOTALL)
    examples = (example for block in blocks for example in doctest.DocTestParser().get_examples(block))
    program = tmp_path / "examples_of_the_page.py"
    program.write_text("".join(example.source for example in examples))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), str(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_page_has_every_public_name() -> None:
    page = (ROOT / PAGE).read_text()
    public = [name for name in trainc.__all__ if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"\b{name}\b", page)] == []


def test_dir_has_the_public_names() -> None:
    assert dir(trainc) == sorted(trainc.__all__)
    assert all(getattr(trainc, name) is not None for name in trainc.__all__)
    with pytest.raises(AttributeError, match="'trainc' has no attribute 'nope'"):
        _ = trainc.nope  # type: ignore[attr-defined]
