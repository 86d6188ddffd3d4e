"""The matching lines of two long texts, in nearly linear time.

Reads    two lists of lines.
Returns  difflib's matching blocks.

difflib takes time proportional to the product of the lengths. Lines that occur once in each text split both into short
sections (the patience algorithm), and difflib compares these.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Sections(SequenceMatcher[str]):
    """A matcher that compares section by section."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_matching_blocks(self) -> list[Match]:
        """Return the blocks of equal lines in order, with an empty one at the end."""
        return [*_merged(_blocks(self._old, self._new)), Match(len(self._old), len(self._new), 0)]


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Match]:
    begin, start = 0, 0
    for i, j in [*_unique_lines(old, new), (len(old), len(new))]:
        section = SequenceMatcher(None, old[begin:i], new[start:j])
        yield from (Match(begin + a, start + b, size) for a, b, size in section.get_matching_blocks() if size)
        if i < len(old):
            yield Match(i, j, 1)
        begin, start = i + 1, j + 1


def _merged(blocks: Iterator[Match]) -> Iterator[Match]:
    """Yield the blocks with adjacent ones joined."""
    last = Match(0, 0, 0)
    for block in blocks:
        if (last.a + last.size, last.b + last.size) == (block.a, block.b):
            last = Match(last.a, last.b, last.size + block.size)
        else:
            if last.size:
                yield last
            last = block
    if last.size:
        yield last


def _unique_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indices of lines that occur once in both texts: the longest sequence in the order of both."""
    counts = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if counts[1][line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if counts[0][line] == 1 and line in places]
    ends: list[int] = []  # the smallest last index in `new` of a sequence by its length
    tails: list[int] = []  # the pair that has it
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        tails[length : length + 1] = [number]
    found = []
    number = tails[-1] if tails else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
