"""One source line as a terminal shows it, and the columns to underline.

Reads    a location, with the text that it refers to.
Returns  the line with masked secrets, cut to a width, with control characters escaped; and the columns to underline,
         which account for tabs, wide characters and accents.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.base.texts import escape_at
from trainc.kubernetes.documents.positions import lines
from trainc.masking.document_secrets import secrets
from trainc.masking.masked_values import MASK

if TYPE_CHECKING:
    from trainc.diagnostics import Document, Location
    from trainc.masking.text_secrets import Stretch

WIDTH: Final = 120
"""Maximum columns shown of a line."""
_BEFORE: Final = 40
"""Columns shown before the location if the line is cut on the left."""
_AROUND: Final = 1024
"""Distance from the location in which secrets are searched, in characters: one may start outside the excerpt."""
_CUT: Final = "..."
_TAB: Final = "    "
_TOKEN: Final = re.compile(r""""[^"\n]*"?|'[^'\n]*'?|[^\s"',:\[\]{}]+""")


class Excerpt(NamedTuple):
    """A source line as shown in a report."""

    number: int
    text: str
    column: int
    """The first column of `text` to underline, from 0."""
    width: int
    """The number of columns to underline."""


class _Cell(NamedTuple):
    """One character of the line, or one secret, as shown."""

    begin: int
    end: int
    shown: str
    width: int


def excerpt(at: Location) -> Excerpt | None:
    """Return the excerpt of a location; None for a location that is a whole file."""
    if at.source is None or not at.line:
        return None
    text = at.source.text
    begin, end = line(at.source, at.line)
    first, last = place(at)
    cells = _cells(text, max(begin, first - WIDTH), min(end, first + 2 * WIDTH), hidden(at))
    marked = [index for index, cell in enumerate(cells) if cell.begin < last and cell.end > first]
    inner = (marked[0], marked[-1] + 1) if marked else (len(cells), len(cells))
    return _cut(
        at.line,
        cells,
        inner,
        more=(bool(cells) and cells[0].begin > begin, bool(cells) and cells[-1].end < end),
        headless=at.line == at.source.line and at.source.column > 1,
    )


def hidden(at: Location) -> list[Stretch]:
    """Return the secrets in the part of a location's line that is shown."""
    assert at.source is not None
    begin, end = line(at.source, at.line)
    first, _ = place(at)
    step = (first - begin) // _AROUND  # the same for nearby locations, so that their secrets are cached
    low, high = begin + max(step - 1, 0) * _AROUND, min(end, begin + (step + 2) * _AROUND)
    found = secrets(at.source.text, low, high, parsed=at.source.value is not None)
    return [stretch for stretch in found if stretch[1] > first - WIDTH and stretch[0] < first + 2 * WIDTH]


def line(document: Document, number: int) -> tuple[int, int]:
    """Return the start and end index, in the document's text, of a line of its file, without its line break."""
    text, known = document.text, lines(document.text)
    wanted = min(max(number - document.line, 0) + 1, len(known))
    begin = known.begin(wanted)
    end = text.find("\n", begin)
    if end < 0:
        end = len(text)
    if begin == 0 and text.startswith("\ufeff"):
        begin = 1
    if end > begin and text[end - 1] == "\r":
        end -= 1
    return begin, end


def place(at: Location) -> tuple[int, int]:
    """Return the start and end index of a location on its first line."""
    assert at.source is not None
    text, document = at.source.text, at.source
    begin, end = line(document, at.line)
    shift = begin - 1 - (document.column - 1 if at.line == document.line else 0)
    first = min(max(at.column + shift, begin), end)
    if at.end_line == at.line:
        last = min(at.end_column + shift, end)
    elif at.end_line:
        last = len(text[first : first + 4 * WIDTH].partition("\n")[0].rstrip()) + first
    else:
        token = _TOKEN.match(text, first, min(end, first + 4 * WIDTH))
        last = token.end() if token else first + 1
    return first, max(min(last, end), first + 1)


def _cells(text: str, begin: int, end: int, secrets: list[Stretch]) -> list[_Cell]:
    """Return the cells of a line; a secret of any length is one cell."""
    cells: list[_Cell] = []
    at = begin
    for low, high in secrets:
        if high <= at or low >= end:
            continue
        margin = len(text[at:end]) - len(text[at:end].lstrip(" \t")) if low < at else 0
        cells += _plain_cells(text, at, max(low, at + margin))
        at = max(low, at + margin)
        cells.append(_Cell(at, high, MASK, len(MASK)))
        at = high
    return cells + _plain_cells(text, at, end)


def _plain_cells(text: str, begin: int, end: int) -> list[_Cell]:
    """Return the cells of a range without secrets."""
    stretch = text[begin:end]
    if stretch.isascii() and stretch.isprintable() and "##" not in stretch:
        return [_Cell(index, index + 1, character, 1) for index, character in enumerate(stretch, begin)]
    return [_cell(text, index) for index in range(begin, end)]


def _cell(text: str, index: int) -> _Cell:
    character = text[index]
    if character == "\t":
        return _Cell(index, index + 1, _TAB, len(_TAB))
    shown = escape_at(text, index)
    return _Cell(
        index, index + 1, shown, len(shown) if shown != character or character.isascii() else _width(character)
    )


def _width(character: str) -> int:
    """Return the number of terminal columns of a character."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _cut(
    number: int, cells: list[_Cell], marked: tuple[int, int], *, more: tuple[bool, bool], headless: bool
) -> Excerpt:
    """Return the excerpt with as many cells as fit, including the marked ones.

    more      whether the line continues before and after the cells
    headless  whether the line starts with text of another document
    """
    first, end = 0, len(cells)
    before, mark = _columns(cells[: marked[0]]), _columns(cells[marked[0] : marked[1]])
    space = WIDTH - 2 * len(_CUT) - _BEFORE  # for a mark that is moved to the left
    fits = not any(more) and _columns(cells) <= WIDTH
    if not fits and (more[0] or before > space or (before + mark > WIDTH - len(_CUT) and mark <= space)):
        first = _index_within(cells, marked[0], _BEFORE, backwards=True)
    head = _CUT if first or more[0] or headless else ""
    if more[1] or _columns(cells[first:]) > WIDTH - len(head):
        end = _index_within(cells, first, WIDTH - len(head) - len(_CUT), backwards=False)
    tail = _CUT if end < len(cells) or more[1] else ""
    column = len(head) + _columns(cells[first : marked[0]])
    width = _columns(cells[marked[0] : min(marked[1], end)])
    shown = "".join(cell.shown for cell in cells[first:end])
    return Excerpt(number, f"{head}{shown}{tail}".rstrip(), column, max(width, 1))


def _columns(cells: list[_Cell]) -> int:
    return sum(cell.width for cell in cells)


def _index_within(cells: list[_Cell], index: int, columns: int, *, backwards: bool) -> int:
    """Return the index that is reached from a cell within a number of columns."""
    step = -1 if backwards else 1
    while 0 <= (at := index - 1 if backwards else index) < len(cells) and cells[at].width <= columns:
        columns -= cells[at].width
        index += step
    return index
