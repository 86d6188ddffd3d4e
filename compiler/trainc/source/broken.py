"""Locations in a file with an unreadable document, by line and column instead of a field path.

Reads    the bytes of the file.
Returns  locations, each with the text of its document: a report shows the line, and the rest of a large file is not
         kept in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Document, Location, Related
from trainc.kubernetes.documents.streams import LARGEST, decode
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from trainc.files.inputs import File

_SEPARATOR: Final = b"\n---"
_AROUND: Final = 2**16
"""The number of bytes kept before and after the start of a line: a report needs the line, and `frontends.templates` the
placeholders near it."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_LABELS: Final = {"set": "set here", "starts": "starts here"}
"""The label of the line with which a message ends, by the word before it."""


class BrokenFile:
    """A file with an error."""

    def __init__(self, file: File) -> None:
        self.path = file.path
        self.data = file.data
        if self.data[:2] in _UTF_16:
            self.data = _in_utf_8(self.data)
        self.line = 1
        """The most recent line and its start index: lines are requested mostly in order."""
        self.index = 0

    def at(self, line: int, column: int = 0) -> Location:
        """Return a location; without a column, the whole line without its surrounding space."""
        index = self._start_of(line)
        if index is None:
            return Location(file=self.path, line=line, column=column)
        document = self._document(line, index)
        if column:
            return Location(file=self.path, line=line, column=column, source=document)
        written = decode(self.data[index : index + _AROUND].partition(b"\n")[0]).rstrip()
        first = len(written) - len(written.lstrip(" \t\ufeff")) + 1
        return Location(self.path, line, first, line, len(written) + 1, document)

    def conflicting_line(self, error: YamlError) -> tuple[Related, ...]:
        """Return the line with which the error conflicts, if that is another line."""
        if error.since in (0, error.line):
            return ()
        label = _LABELS.get(error.what.rpartition(" ")[2], "opened here")
        return (Related(message=label, place=self.at(error.since)),)

    def _start_of(self, line: int) -> int | None:
        """Return the index at which a line starts; None if there is no such line."""
        if line < self.line:
            self.line, self.index = 1, 0
        while self.line < line:
            found = self.data.find(b"\n", self.index)
            if found < 0:
                return None
            self.line, self.index = self.line + 1, found + 1
        return self.index

    def _document(self, line: int, index: int) -> Document:
        """Return the text around a line, up to the separators before and after it, as a document without a value."""
        begin = self.data.rfind(_SEPARATOR, max(index - _AROUND, 0), index + len(_SEPARATOR) - 1) + 1
        if not begin and index > _AROUND:
            begin = self.data.find(b"\n", index - _AROUND) + 1
        end = self.data.find(_SEPARATOR, index, index + _AROUND)
        before = self.data.count(b"\n", begin, index)
        text = decode(self.data[begin : end + 1 if end >= 0 else index + _AROUND])
        return Document(self.path, line - before, text, None)


def _in_utf_8(data: bytes) -> bytes:
    """Convert a file from UTF-16 to UTF-8; return nothing if it is too large to show, or not UTF-16."""
    if len(data) > LARGEST:
        return b""
    try:
        return decode(data).encode("utf-8", "surrogatepass")
    except YamlError:
        return b""
