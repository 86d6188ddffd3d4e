"""Lines: two texts beside one another, as a page shows them.

Reads    a text before and after.
Returns  rows, each with a line of either text or of both, and in two lines that are told against one another the parts
         that differ; and stretches of lines that are the same and far from any difference. Lines of YAML are told
         against one another by their keys.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AROUND: Final = 3
"""So many lines are shown around a difference."""
WORTH_FOLDING: Final = 3
"""Fewer lines than these are not folded."""
LONGEST: Final = 2000
"""In longer lines only what begins and ends alike is looked for, and beyond as many lines only the same again."""
WORDS: Final = re.compile(r"[\w.]+|\s+|.", re.DOTALL)
ALIKE: Final = 0.4
"""Two lines that have less in common are told as two."""


class Part(NamedTuple):
    """A part of a line."""

    text: str
    differs: bool = False


class Row(NamedTuple):
    """A line of the old text, of the new one, or one of each; a number is 0 where there is none."""

    old: int = 0
    left: tuple[Part, ...] = ()
    new: int = 0
    right: tuple[Part, ...] = ()
    same: bool = False


class Stretch(NamedTuple):
    """Lines that are the same in both."""

    old: int
    """The number of the first one in the old text."""
    new: int
    lines: tuple[str, ...]


def beside(old: str, new: str) -> Iterator[Row | Stretch]:
    """Both texts, line by line.

    >>> for row in beside("a: 1\\nb: 2\\n", "a: 1\\nb: 3\\n"):
    ...     print(row.old, [part.text for part in row.left if part.differs], [*row.right[1:]])
    1 [] []
    2 ['2'] [Part(text='3', differs=True)]
    """
    before, after = (text.removesuffix("\n").split("\n") for text in (old, new))
    lines = len(before) + len(after)
    for (i, j, size), (next_i, next_j, _) in pairwise([(0, 0, 0), *_same(before, after), (len(before), len(after), 0)]):
        if size:
            yield from _alike(before[i : i + size], i, j, first=i + j == 0, last=i + j + 2 * size == lines)
        yield from _unlike(before[i + size : next_i], after[j + size : next_j], i + size, j + size)


def _same(before: list[str], after: list[str]) -> list[tuple[int, int, int]]:
    """Where lines are the same: their indices in both, and how many."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    found = [(0, 0, head)] if head else []
    middles = before[head : len(before) - tail], after[head : len(after) - tail]
    if all(middles) and max(map(len, middles)) <= LONGEST:
        matcher = SequenceMatcher(None, *middles)
        found += [(i + head, j + head, size) for i, j, size in matcher.get_matching_blocks() if size]
    return [*found, (len(before) - tail, len(after) - tail, tail)] if tail else found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items two sequences begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _alike(lines: list[str], old: int, new: int, *, first: bool, last: bool) -> Iterator[Row | Stretch]:
    """Lines that are the same: those next to a difference, and the others as a stretch."""
    begin = 0 if first else min(AROUND, len(lines))
    end = len(lines) if last else max(begin, len(lines) - AROUND)
    if end - begin < WORTH_FOLDING:
        begin = end = 0
    rows = [_row(line, old + index + 1, new + index + 1) for index, line in enumerate(lines)]
    yield from rows[:begin]
    if begin < end:
        yield Stretch(old + begin + 1, new + begin + 1, tuple(lines[begin:end]))
    yield from rows[end:]


def _row(line: str, old: int, new: int) -> Row:
    part = (Part(line),)
    return Row(old, part, new, part, same=True)


def _unlike(before: list[str], after: list[str], old: int, new: int) -> Iterator[Row]:
    """Lines that differ: those with the same key beside one another."""
    was, now = ([line.partition(":")[0] for line in lines] for lines in (before, after))
    blocks = SequenceMatcher(None, was, now).get_matching_blocks() if len(before + after) <= LONGEST else []
    ends = [(0, 0, 0), *blocks, (len(before), len(after), 0)]
    for (i, j, size), (next_i, next_j, _) in pairwise(ends):
        for index in range(size):
            yield from _told(before[i + index], after[j + index], old + i + index + 1, new + j + index + 1)
        left = list(enumerate(before[i + size : next_i], old + i + size + 1))
        right = list(enumerate(after[j + size : next_j], new + j + size + 1))
        for one, other in zip_longest(left, right):
            if one is None or other is None:
                yield _single(one, other)
            else:
                yield from _told(one[1], other[1], one[0], other[0])


def _told(before: str, after: str, old: int, new: int) -> Iterator[Row]:
    """Two lines: beside one another with what differs, or as two where little is alike."""
    left, right = parts(before, after)
    if any(not part.differs and re.search(r"\w", part.text) for part in left):
        yield Row(old, left, new, right)
    else:
        yield _single((old, before), (new, after))


def _single(one: tuple[int, str] | None, other: tuple[int, str] | None) -> Row:
    """Lines that have nothing to do with one another; they may still share a row."""
    old, left = (one[0], (Part(one[1]),)) if one else (0, ())
    new, right = (other[0], (Part(other[1]),)) if other else (0, ())
    return Row(old, left, new, right)


@lru_cache(maxsize=4096)  # one edit of a runtime changes the same line in many objects
def parts(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Two lines in parts: what they have in common, and what differs."""
    if len(before) + len(after) > LONGEST:
        return _ends(before, after)
    one, other = WORDS.findall(before), WORDS.findall(after)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < ALIKE:
        return _ends(before, after)
    left, right = [], []
    for tag, i, to_i, j, to_j in matcher.get_opcodes():
        left.append(Part("".join(one[i:to_i]), tag != "equal"))
        right.append(Part("".join(other[j:to_j]), tag != "equal"))
    return tuple(part for part in left if part.text), tuple(part for part in right if part.text)


def _ends(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Two lines in parts by their common beginning, at the end of a word, and nothing else."""
    key = re.match(r"[ -]*[^:]*: ", before)
    head = key.end() if key and after.startswith(key[0]) else _common(before, after) if len(before) > LONGEST else 0
    found = ((Part(line[:head]), Part(line[head:], differs=True)) for line in (before, after))
    left, right = (tuple(part for part in line if part.text) for line in found)
    return left, right
