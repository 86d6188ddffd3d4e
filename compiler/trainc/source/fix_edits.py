"""A fix, applied: to the text of a file, whose other characters stay, or to the value of a document.

Reads    a fix, and the document that its paths are in.
Returns  the edits, in the texts that have written the values: the document's own, trainc.yaml, or a patch; for a
         diagnostic whose secrets are masked, with the title, so that a fix that writes one is gone. None if one
         of the values is behind an alias or a merge key, in a string of a ConfigMap, in a template, in a built-in
         runtime, in an output, behind a link or in standard input, or if its text cannot be changed in place. A changed
         value shares its unchanged parts. A hint that quotes a number has it as the file does: parsed, `1.10` is 1.1,
         and `010` is 8.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Addition, Relocation, Removal, Renaming, Replacement, Written, at_path, filled
from trainc.base.records import NamedTuple
from trainc.diagnostics import Location, Place
from trainc.files.confine import repository_above
from trainc.files.output_marks import is_marked
from trainc.kubernetes.documents.events import YAMLError
from trainc.kubernetes.trees import edit, get, put
from trainc.source.moved_fields import FieldMove, moved
from trainc.source.source_text import parsed
from trainc.source.text_spans import NoEditError, TextSpan, added, removed, renamed, replaced, written_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from trainc.base.fixes import Change, Fix
    from trainc.diagnostics import Diagnostic, Document
    from trainc.kubernetes.trees import Path
    from trainc.source.source_text import Text


STDIN: Final = "-"
BUILT_IN: Final = "<"
"""The start of the path of a built-in runtime."""
TEMPLATE: Final = "{{"


class TextEdit(NamedTuple):
    """A replacement of characters in a file."""

    at: Location
    """The characters that are replaced; an empty range for an insertion."""
    text: str


class TextChange(NamedTuple):
    """A change of a fix, in the text that has written the value."""

    file: str
    document: tuple[int, int]
    """The line and column at which the document starts."""
    path: Path
    """The path of the value in the document's text."""
    target: Path
    """The path in that text to which it moves; the same path if it does not move."""
    change: Change
    edits: tuple[TextEdit, ...]

    def in_text(self) -> Change:
        """Return the change with its paths in that text."""
        return at_path(self.change, self.path, self.target)


def text_changes(fix: Fix, document: Document) -> tuple[TextChange, ...]:
    """Return the changes of a fix with their edits; none if the fix cannot be applied to the texts."""
    if fix.applicability == "none":
        return ()
    try:
        if moves := _moves_of_one_mapping(fix.changes):
            return _text_moves(document, moves)
        return tuple(_text_change(document, change) for change in fix.changes)
    except (NoEditError, YAMLError):
        return ()


def as_one(edits: Sequence[TextEdit]) -> TextEdit:
    """Return the edits of one document, in order, as a single one."""
    first, *others = edits
    source = first.at.source
    text, end = first.text, first.at
    for other in others:
        assert source is not None, "edits of a document have it as their source"
        read = _parsed(source)
        begin = _index(source, read, end.end_line, end.end_column)
        text += read.text[begin : _index(source, read, other.at.line, other.at.column)] + other.text
        end = other.at
    at = first.at._replace(end_line=end.end_line, end_column=end.end_column)
    return TextEdit(at, text)


def _index(source: Document, read: Text, line: int, column: int) -> int:
    """Return the index in a document's text of a position in its file."""
    row = line - source.line
    return read.starts[row] + column - (source.column if row == 0 else 1)


def _parsed(source: Document) -> Text:
    """Return the nodes of a document's text; a byte order mark has no column."""
    return parsed(source.text.removeprefix("\ufeff"))


def _moves_of_one_mapping(changes: tuple[Change, ...]) -> list[Relocation]:
    """Return the changes if all of them are moves from one mapping to another."""
    moves = [change for change in changes if isinstance(change, Relocation)]
    mappings = {(change.path[:-1], change.target[:-1]) for change in moves}
    return moves if len(moves) == len(changes) and len(mappings) == 1 else []


def _text_moves(document: Document, changes: Sequence[Relocation]) -> tuple[TextChange, ...]:
    """Return moves as changes of a text, of which the first one has the edits."""
    sources = [_source(document, change.path) for change in changes]
    source = sources[0][0]
    if not is_fixable(source.file):
        raise NoEditError
    moves = []
    for change, (found, path) in zip(changes, sources, strict=True):
        if found.text is not source.text or path[len(source.within) :] != change.path:
            raise NoEditError
        is_same = get(source.value, change.path) == change.value
        moves.append(FieldMove(path, (*source.within, *change.target), change.value, is_same))
    read = _parsed(source)
    edits = tuple(TextEdit(_location(source, read, span), span.text) for span in moved(read, moves))
    return tuple(
        TextChange(source.file, (source.line, source.column), move.path, move.target, change, () if number else edits)
        for number, (move, change) in enumerate(zip(moves, changes, strict=True))
    )


def _text_change(document: Document, change: Change) -> TextChange:
    if isinstance(change, Relocation):
        raise NoEditError
    if isinstance(change, Addition):
        source, parent = _source(document, change.path[:-1])
        path: Path = (*parent, change.path[-1])
    else:
        source, path = _source(document, change.path, key=isinstance(change, Renaming))
    if not is_fixable(source.file):
        raise NoEditError
    read = _parsed(source)
    edits = tuple(TextEdit(_location(source, read, span), span.text) for span in _spans(read, path, change))
    target = path
    if isinstance(change, Renaming):
        target = (*path[:-1], change.name)
    return TextChange(source.file, (source.line, source.column), path, target, change, edits)


def _source(document: Document, path: Path, *, key: bool = False) -> tuple[Document, Path]:
    """Return the document whose text has written a value, and the path of the value in the text."""
    place = Place(document, path, key=key).in_text()
    source = place.document
    if source.inside is not None or source.file == STDIN or source.file.startswith(BUILT_IN) or TEMPLATE in source.text:
        raise NoEditError
    if place.path != path and (key and place.path[-1:] != path[-1:]):
        raise NoEditError
    if source.text is not document.text and get(source.value, place.path) != get(document.value, path):
        raise NoEditError
    return source, (*source.within, *place.path)


def _location(source: Document, read: Text, span: TextSpan) -> Location:
    """Return the location in the file of a range of characters."""
    line, column = _position(source, read, span.begin)
    end_line, end_column = _position(source, read, span.end)
    return Location(source.file, line, column, end_line, end_column, source)


def _position(source: Document, read: Text, index: int) -> tuple[int, int]:
    line = bisect_right(read.starts, index) - 1
    return source.line + line, index - read.starts[line] + (source.column if line == 0 else 1)


def _spans(read: Text, path: Path, change: Change) -> Iterator[TextSpan]:
    """Yield the replacements of a change other than a move."""
    if isinstance(change, Addition):
        yield added(read, path, change.value)
        return
    found = written_field(read, path)
    if isinstance(change, Renaming):
        yield renamed(read, path, found, change.name)
    elif isinstance(change, Replacement):
        yield replaced(read, found, change.value)
    else:
        yield removed(read, path, found)


_MARKED: Final = 4096
"""The first bytes of a file, which have an output's mark."""


def is_fixable(path: str) -> bool:
    """Return whether a path is a regular file that is no output of trainc, and has no link below its root."""
    full = os.path.abspath(path)
    root = repository_above(full) or os.path.dirname(full)
    at = full
    while at not in (root, os.path.dirname(at)):
        if os.path.islink(at):
            return False
        at = os.path.dirname(at)
    if not os.path.isfile(full):
        return False
    try:
        with open(full, "rb") as file:
            return not is_marked(file.read(_MARKED))
    except OSError:
        return False


class ReportedFix(NamedTuple):
    """A fix with its edits."""

    title: str
    applicability: Literal["safe", "unsafe"]
    edits: tuple[TextEdit, ...]
    """In the order of the file."""

    def is_in_one_document_of(self, file: str) -> bool:
        """Return whether all edits are in the text of one document of a file."""
        documents = {(edit.at.file, edit.at.source and edit.at.source.line) for edit in self.edits}
        return len(documents) == 1 and all(name == file for name, _ in documents)


def reported_fix(diagnostic: Diagnostic) -> ReportedFix | None:
    """Return the fix of a diagnostic with its edits; None without one that can be applied."""
    fix, document = diagnostic.fix, diagnostic.fixed_in
    if fix is None or document is None:
        return None
    edits = [edit for change in text_changes(fix, document) for edit in change.edits]
    if not edits:
        return None
    is_safe = fix.applicability == "safe" and diagnostic.severity == "error"
    return ReportedFix(fix.title, "safe" if is_safe else "unsafe", tuple(sorted(edits, key=lambda edit: edit.at[:5])))


def changed(value: Any, change: Change) -> Any:
    """Return a value with a change. Raise ValueError if a key of the new name is there, LookupError without a list."""
    *above, last = change.path
    match change:
        case Renaming(_, name):
            return edit(value, tuple(above), lambda parent: _renamed(parent, last, name))
        case Relocation(_, target, moved):
            without = edit(value, tuple(above), lambda parent: _remove_step(parent, last))
            return put(without, target, moved)
        case Removal():
            return edit(value, tuple(above), lambda parent: _remove_step(parent, last))
        case Addition(_, added) if isinstance(last, int):
            return edit(value, tuple(above), lambda items: [*items, added])
    return put(value, change.path, change.value)


def _remove_step(parent: Any, step: str | int) -> Any:
    if isinstance(parent, list):
        return [each for index, each in enumerate(parent) if index != step]
    return {key: each for key, each in parent.items() if key != step}


def _renamed(parent: dict[str, Any], name: str | int, new: str) -> dict[str, Any]:
    if new in parent:
        raise ValueError(f"the mapping has the key {new!r}")
    return {new if key == name else key: value for key, value in parent.items()}


_PLAIN: Final = re.compile(r"[-+.\w]{1,60}", re.ASCII)


def as_written(help: str, fix: Fix | None, document: Document) -> tuple[str, Fix | None]:
    """Return a hint and its fix with the texts of the document instead of parsed numbers.

    If a text is not known, the hint shows no value, and there is no fix.
    """
    if fix is None:
        return help, fix
    try:
        new = fix.mapped(lambda _, value: filled(value, lambda written: _text(written, document)))
    except LookupError:
        return help.replace(fix.title, fix.bare), None
    return help.replace(fix.title, new.title), new


def _text(written: Written, document: Document) -> str | None:
    """Return the text of a scalar without quotes, if its file has one."""
    from trainc.source.excerpt import place as indices

    place = Place(document, written.path)
    at: Any = place.locate()
    if at.source is None:
        return None
    begin, end = indices(at)
    text: str = at.source.text[begin:end]
    return text if _PLAIN.fullmatch(text) else None
