"""Unified diffs of files, with secrets masked and unprintable characters escaped.

Reads    the old and the new text of a file, whose lines are compared as they are written.
Returns  the lines of the diff as they are shown. A masked value that changes is a changed line.

difflib takes time proportional to the product of the lengths. In long texts, lines that occur once in each text split
both into short sections (the patience algorithm), and difflib compares these.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from difflib import Match, SequenceMatcher
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from trainc.base.texts import escape_line
from trainc.kubernetes.documents import read_stream
from trainc.masking.document_secrets import secrets
from trainc.masking.masked_values import masked_text
from trainc.masking.text_secrets import in_text, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.masking.text_secrets import Stretch


LONG: Final = 1_000
"""Lines of a text that `difflib` compares as a whole; its time grows with the square."""


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> Iterator[str]:
    """Yield the lines of a unified diff, masked and escaped. Only a newline ends a line."""
    before, after = _ShownText(old), _ShownText(new)
    for number, group in enumerate(_matcher(before.lines, after.lines).get_grouped_opcodes()):
        if not number:
            yield from (escape_line(f"--- {old_name}\n"), escape_line(f"+++ {new_name}\n"))
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, i, j, k, m in group:
            yield from before.shown(" " if tag == "equal" else "-", i, j)
            if tag != "equal":
                yield from after.shown("+", k, m)


def _matcher(old: list[str], new: list[str]) -> SequenceMatcher[str]:
    if max(len(old), len(new)) <= LONG:
        return SequenceMatcher(None, old, new)

    return Sections(old, new)


def _range(start: int, stop: int) -> str:
    """Return the lines of a hunk as `diff -u` writes them."""
    if stop - start == 1:
        return f"{start + 1}"
    return f"{start + (stop > start)},{stop - start}"


class _ShownText:
    """The lines of a file, each masked when it is shown."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [line for line in re.split(r"(?<=\n)", text) if line]
        self._secrets_of: dict[int, list[Stretch]] = {}

    def shown(self, sign: str, begin: int, end: int) -> Iterator[str]:
        """Yield some lines as a diff shows them."""
        for number in range(begin, end):
            line = self.lines[number]
            shown = masked_text(line.removesuffix("\n"), self._secrets(number))
            yield escape_line(f"{sign}{shown}\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file\n"

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(map(len, self.lines))]

    @cached_property
    def _documents(self) -> tuple[list[tuple[int, str]], bool]:
        """The valid documents, each with the index at which it begins, and whether there are others."""
        found, errors = read_stream(self.text)
        return [
            (self._starts[chunk.line - 1] + chunk.column - 1, chunk.text) for chunk in (each.chunk for each in found)
        ], bool(errors)

    def _secrets(self, number: int) -> Iterator[Stretch]:
        """Yield the secrets of a line: those of the documents on it, and of the text between them."""
        start, line = self._starts[number], self.lines[number].removesuffix("\n")
        at, end = start, start + len(line)
        documents, broken = self._documents
        for begin, text in documents[max(bisect_right(documents, start, key=_begin) - 1, 0) :]:
            if begin >= end:
                break
            low, high = max(at, begin), min(end, begin + len(text))
            if low >= high:
                continue
            yield from self._secrets_outside(at, low, start, broken=broken)
            first_word = start + len(line) - len(line.lstrip())
            found = self._document_secrets(begin, text)
            for index in range(bisect_right(found, low - begin, key=_end), len(found)):
                first, last = found[index]
                if begin + first >= high:
                    break
                # A secret may begin on a line above, and end on one below.
                yield max(begin + first, low, first_word) - start, min(begin + last, high) - start
            at = high
        yield from self._secrets_outside(at, end, start, broken=broken)

    def _document_secrets(self, begin: int, text: str) -> list[Stretch]:
        """Return the secrets of a document, in order; they are searched once for all lines."""
        if begin not in self._secrets_of:
            self._secrets_of[begin] = list(joined(secrets(text, 0, len(text), parsed=True)))
        return self._secrets_of[begin]

    def _secrets_outside(self, begin: int, end: int, start: int, *, broken: bool) -> Iterator[Stretch]:
        """Yield the secrets of a text outside of valid documents: a comment, or a part of a broken document."""
        text = self.text[begin:end]
        for first, last in secrets(text, 0, len(text), parsed=False) if broken else in_text(text):
            yield begin + first - start, begin + last - start


def _begin(document: tuple[int, str]) -> int:
    return document[0]


def _end(stretch: Stretch) -> int:
    return stretch[1]


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
