"""scripts/make_diagnostics.py, if a page is missing."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from trainc.declarations import Declaration

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_diagnostics.py"


def test_a_missing_page_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    unwritten = [Declaration(id, ("job",), "Undocumented fault") for id in ("new-fault", "other-fault")]
    monkeypatch.setattr("trainc.catalogue.entries", lambda: {declared.id: declared for declared in unwritten})
    assert runpy.run_path(str(SCRIPT))["main"](["--check"]) == 1
    assert capsys.readouterr().err == (
        "diagnostics/new-fault.md is missing: write it as CONTRIBUTING.md describes\n"
        "diagnostics/other-fault.md is missing: write it as CONTRIBUTING.md describes\n"
    )
