"""The command `trainc lsp` itself; tests/lsp speaks to the server."""

from __future__ import annotations

import sys

import pytest
from running import run


def test_check_prints_the_versions() -> None:
    done = run("lsp", "--check")
    assert done.code == 0
    assert "the language server can start" in done.out


def test_without_pygls_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.startswith("trainc.lsp"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    monkeypatch.setitem(sys.modules, "pygls", None)
    done = run("lsp", "--check")
    assert done.code == 2
    assert "in the clone of trainc, run pip install '.[lsp]'." in done.err
