"""Positions in files: from a position to the field there, and between code points and the UTF-16 units of editors.

trainc counts lines and columns from 1, and columns in code points. An editor's protocol counts both from 0, and columns
in UTF-16 units. In both, a byte order mark occupies no column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.api.checked_arguments import checked
from trainc.base.records import NamedTuple
from trainc.diagnostics import Document
from trainc.kubernetes.documents import positions

if TYPE_CHECKING:
    from trainc.diagnostics import Location, Path


class Utf16Range(NamedTuple):
    """A range in the protocol of editors: lines and UTF-16 units, both from 0; the end is exclusive."""

    line: int
    character: int
    end_line: int
    end_character: int


def path_at(document: Document, line: int, column: int) -> Path | None:
    """Return the path of the innermost field at a position of a document's file; None outside of the document.

    Args:
        document: a document as it is in its file.
        line: the line, from 1.
        column: the column in code points, from 1.
    """
    checked(document, Document, "document")
    own = line - document.line + 1
    if own < 1 or document.inside is not None:
        return None
    if own == 1:
        column -= document.column - 1
    lines = document.text.split("\n")
    if own > len(lines) or column < 1:
        return None
    begin = sum(len(text) + 1 for text in lines[: own - 1])
    index = begin + min(column - 1 + document.text.startswith("\ufeff") * (own == 1), len(lines[own - 1]))
    return positions.path_at(document.text, index)


def utf16_range(at: Location, text: str) -> Utf16Range:
    """Return a location in UTF-16 units. A location without an end is one character, that of a whole file is empty.

    Args:
        at: the location.
        text: the text of its file.
    """
    if not at.line:
        return Utf16Range(0, 0, 0, 0)
    lines = _lines(text)
    end_line, end_column = (at.end_line, at.end_column) if at.end_line else (at.line, at.column + 1)
    return Utf16Range(at.line - 1, _units(lines, at.line, at.column), end_line - 1, _units(lines, end_line, end_column))


def code_point(text: str, line: int, character: int) -> tuple[int, int]:
    """Return the line and the column in code points, both from 1, of a position in UTF-16 units.

    Args:
        text: the text of the file.
        line: the line, from 0.
        character: the UTF-16 units before the position in its line. A half of a pair counts as the whole.

    >>> code_point("a: \\U0001f600b", 0, 5)
    (1, 5)
    """
    lines = _lines(text)
    own = lines[line] if line < len(lines) else ""
    units = column = 0
    for char in own:
        if units >= character:
            break
        units += 2 if char > "\uffff" else 1
        column += 1
    return line + 1, column + 1


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").split("\n")


def _units(lines: list[str], line: int, column: int) -> int:
    """Return the UTF-16 units before a column of a line."""
    before = lines[line - 1][: column - 1] if line <= len(lines) else ""
    return column - 1 + sum(char > "\uffff" for char in before)
