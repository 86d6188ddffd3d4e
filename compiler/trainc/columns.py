"""Rows of text in aligned columns, for a terminal.

Reads    rows of cells, each row with the same number of cells.
Returns  the cells padded to the widths of their columns, or whole lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return one line per row, without trailing spaces.

    >>> table([("NAME", "NODES"), ("torch-distributed", "1")])
    ['NAME               NODES', 'torch-distributed  1']
    """
    return [line(cells) for cells in padded(rows)]


def padded(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the cells of each row, padded to the widths of their columns."""
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        yield [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]


def line(cells: Iterable[str]) -> str:
    """Return padded cells as one line, without trailing spaces."""
    return "  ".join(cells).rstrip()
