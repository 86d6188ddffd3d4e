"""For editors: the fix of a diagnostic as edits of files, the page of its id, and positions in files.

A position leads to the field there; editors count it in UTF-16 units, trainc in code points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.api.checked_arguments import checked
from trainc.base.data import declared_in
from trainc.base.fixes import Addition, Relocation, Removal, Renaming, Replacement, flow
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Document
from trainc.kubernetes.documents import positions
from trainc.kubernetes.violations import field_of
from trainc.rewriting.fixing import fixable_problems

if TYPE_CHECKING:
    from trainc.base.fixes import Change
    from trainc.diagnostics import Location, Path


LONGEST: Final = 60
"""The most characters of a value in a title."""


class FileEdit(NamedTuple):
    """A replacement of characters in a file."""

    file: str
    at: Location
    """The characters that are replaced; an empty range for an insertion."""
    text: str


class QuickFix(NamedTuple):
    """The fix of a diagnostic."""

    title: str
    """What it does: `Rename numNode to numNodes`."""
    edits: tuple[FileEdit, ...]
    is_safe: bool
    """Whether `trainc validate --fix` applies it without `--unsafe-fixes`."""


def fix_of(diagnostic: Diagnostic) -> QuickFix | None:
    """Return the fix of a diagnostic; None if it has none that can be applied to a file on its own."""
    checked(diagnostic, Diagnostic, "diagnostic")
    problem = next(fixable_problems([diagnostic], unsafe=True), None)
    if problem is None or diagnostic.fix is None:
        return None
    edits = tuple(FileEdit(change.file, edit.at, edit.text) for change in problem.changes for edit in change.edits)
    is_safe = diagnostic.fix.applicability == "safe" and diagnostic.severity == "error"
    return QuickFix(_title(diagnostic), edits, is_safe)


def page_of(id: str) -> str:
    """Return the page of a diagnostic's id as Markdown, as `trainc explain ID` prints it.

    Raise ValueError for an unknown id.
    """
    if id not in declared_in():
        from trainc.base.suggestions import nearest_name

        near = nearest_name(id, declared_in())
        raise ValueError(f'unknown diagnostic "{id}"' + (f': did you mean "{near}"?' if near else ""))
    from trainc.reports.catalogue import page

    return page(id)


def address_of(id: str) -> str:
    """Return the address of the page of a diagnostic's id: the public one, or else the file of the package.

    Raise ValueError for another id.
    """
    page_of(id)
    from trainc.reports.catalogue import address

    return address(id)


def _title(diagnostic: Diagnostic) -> str:
    fix = diagnostic.fix
    assert fix is not None
    if len(fix.changes) == 1:
        return _action(fix.changes[0])
    return fix.title[:1].upper() + fix.title[1:]


def _action(change: Change) -> str:
    if isinstance(change, Renaming):
        return f"Rename {change.path[-1]} to {change.name}"
    if isinstance(change, Relocation):
        return f"Move {field_of(change.path)} to {field_of(change.target)}"
    if isinstance(change, Removal):
        return f"Remove {field_of(change.path)}"
    value = flow(change.value)
    value = value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
    if isinstance(change, Addition):
        return f"Add {field_of(change.path)}: {value}"
    assert isinstance(change, Replacement)
    return f"Replace with {value}"


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
