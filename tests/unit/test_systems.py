"""Systems: Windows, and the file names of file systems that fold case or normalize Unicode."""

from __future__ import annotations

import gc
import os
import sys
import unicodedata
from pathlib import Path

import pytest
import yaml
from environments import JOB
from running import run

from trainc import cli

ROOT = Path(__file__).parents[2]


def test_windows_is_refused_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(SystemExit) as ended:
        cli.entry()
    monkeypatch.undo()
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"Error: {cli.WINDOWS}.\n")


def test_in_a_browser_the_command_leaves_the_interpreter_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(code: int) -> None:
        raise AssertionError(f"ended with {code}")

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(sys, "argv", ["trainc", "--version"])
    with pytest.raises(SystemExit) as ended:
        cli.entry()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("trainc ")
    assert gc.isenabled()


def test_names_that_differ_only_in_case_or_normalization_lose_no_document(empty_folder: Path) -> None:
    names = ["job.yaml", "Job.yaml", "JOB.YAML", *(unicodedata.normalize(form, "é.yaml") for form in ("NFC", "NFD"))]
    for index, name in enumerate(names):
        (empty_folder / name).write_text(JOB.format(name=f"job{index}"))
    there = {path.name for path in empty_folder.iterdir()}
    (empty_folder / "trainc.yaml").write_text("output: rendered\nnamespace: ml\n")
    expected = sorted(
        yaml.safe_load((empty_folder / name).read_text())["metadata"]["name"]
        for name in there
        if not name.endswith("YAML")
    )
    done = run("build")
    assert done.code == 0
    built = sorted(path.stem for path in (empty_folder / "rendered" / "ml").iterdir())
    assert built == expected
    # A file that is named in another form than the file system's is the same file, or missing, and never a second one.
    assert run("validate", *names[:2]).code == 0


def test_a_setting_in_another_normalization_finds_its_file(empty_folder: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "équipe") for form in ("NFC", "NFD"))
    (empty_folder / decomposed).mkdir()
    (empty_folder / decomposed / "job.yaml").write_text(JOB.format(name="train"))
    (empty_folder / "trainc.yaml").write_text(f"exclude: [{composed}/]\n")
    done = run("validate")
    if (empty_folder / composed).exists():  # macOS
        assert "all-excluded" in done.out
    else:  # another file
        assert "1 warning in 1 file" in done.out
        assert "[unused-setting]" in done.out


def test_the_workflow_tests_what_the_documentation_names() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yaml").read_text())
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    oldest, newest = matrix["python"]
    systems = {system.partition("-")[0] for system in matrix["system"]}
    assert systems == {"ubuntu", "macos"}
    assert f"It runs with Python {oldest} or later on Linux and macOS" in (ROOT / "README.md").read_text()
    promise = f"with Python {oldest} and {newest} on Linux and macOS"
    assert promise in (ROOT / "docs" / "install.md").read_text()
    assert {"run": "make test"} in workflow["jobs"]["test"]["steps"]
    assert f'requires-python = ">={oldest}"' in (ROOT / "pyproject.toml").read_text()
