"""Line lookup in large texts, without a scan of all lines.

Reads a text; returns lines by index, and indices by line. The line breaks before each block of the text are counted
once; within a block they are searched.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate
from typing import Final

_BLOCK: Final = 2**14


class Lines:
    """The lines of a text, counted from 1."""

    __slots__ = ("_before", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        blocks = (text.count("\n", begin, begin + _BLOCK) for begin in range(0, len(text), _BLOCK))
        self._before = list(accumulate(blocks, initial=0))

    def __len__(self) -> int:
        return self._before[-1] + 1

    def position(self, index: int) -> tuple[int, int]:
        """Return the line of a character, and the index at which that line starts."""
        block = min(index // _BLOCK, len(self._before) - 1)
        line = self._before[block] + self._text.count("\n", block * _BLOCK, index) + 1
        return line, self._text.rfind("\n", 0, index) + 1

    def begin(self, line: int) -> int:
        """Return the index at which a line starts."""
        if line == 1:
            return 0
        block = bisect_left(self._before, line - 1) - 1
        index = block * _BLOCK
        for _ in range(line - 1 - self._before[block]):
            index = self._text.index("\n", index) + 1
        return index


@lru_cache(maxsize=4)
def lines(text: str) -> Lines:
    """Return the line lookup of a text."""
    return Lines(text)
