"""Tables for people at three terminal widths: totals first, and no column is cut.

tests/golden/tables/<table>-<width>.txt is the output of the command. Read the diff of a changed one at its width.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from running import run
from snapshots import TextFile
from syrupy.assertion import SnapshotAssertion

HERE: Final = Path(__file__).parent
GOLDEN: Final = HERE.parents[1] / "golden"
COMMANDS: Final = {
    "pods": ("pods", "input.yaml", "../gang-mpi/input.yaml"),
    "graph": ("graph", "input.yaml", "../gang-mpi/input.yaml"),
    "diff": ("diff", "../gang-mpi/input.yaml", "input.yaml"),
}
FOLDED: Final = ("pods", "graph")
"""The tables that fold in a narrow terminal."""
WIDTHS: Final = (60, 80, 160)


class Table(TextFile):
    folder = HERE / "tables"


@pytest.mark.parametrize("case", [f"{name}-{width}" for name in COMMANDS for width in WIDTHS])
def test_table(case: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, width = case.rpartition("-")
    monkeypatch.chdir(GOLDEN / "llm-finetune-4x8")
    monkeypatch.setenv("COLUMNS", width)
    done = run(*COMMANDS[name])
    assert done.code == 0, done.err
    if name in FOLDED:
        assert max(map(len, done.out.splitlines())) <= int(width)
    assert done.out == snapshot(extension_class=Table)


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_narrow_table_has_every_gpu(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "llm-finetune-4x8")
    monkeypatch.setenv("COLUMNS", str(width))
    out = run(*COMMANDS[name]).out
    assert out.startswith("total: 2 ")
    assert "32 GPUs" in out.partition("\n")[0]
    assert "nvidia.com/gpu=8" in out
