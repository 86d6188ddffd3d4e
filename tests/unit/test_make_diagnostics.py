"""scripts/make_diagnostics.py: its files are current; a missing page, and files that are out of date."""

from __future__ import annotations

from pathlib import Path

import make_diagnostics
import pytest
from files import write

from trainc.base.data import declared_in

INDEX = declared_in()


def test_the_files_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert (make_diagnostics.main(["--check"]), capsys.readouterr().err) == (0, "")


def test_a_missing_page_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(make_diagnostics, "declared_in", lambda root: {"new-fault": "trainc", "other-fault": "trainc"})
    assert make_diagnostics.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "diagnostics/new-fault.md is missing: write it as CONTRIBUTING.md describes\n"
        "diagnostics/other-fault.md is missing: write it as CONTRIBUTING.md describes\n"
    )


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the current outputs of the script and the pages."""
    for path, text in make_diagnostics.outputs(INDEX).items():
        write(tmp_path / path, text)
    monkeypatch.setattr(make_diagnostics, "ROOT", tmp_path)
    monkeypatch.setattr(make_diagnostics, "declared_in", lambda root: INDEX)
    return tmp_path


@pytest.mark.parametrize("path", [make_diagnostics.INDEX, make_diagnostics.SETTINGS, make_diagnostics.PAGE], ids=str)
def test_a_file_that_is_out_of_date_is_named_and_rewritten(
    path: Path, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    current = (checkout / path).read_text()
    (checkout / path).write_text(current.replace("no-gang", "no-gong"))
    assert make_diagnostics.main(["--check"]) == 1
    assert capsys.readouterr().err == f"{path} is out of date: run scripts/make_diagnostics.py\n"
    assert make_diagnostics.main([]) == 0
    assert (checkout / path).read_text() == current
    assert make_diagnostics.main(["--check"]) == 0
