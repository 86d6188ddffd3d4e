"""Places in a file that holds a document which cannot be read: known by line and column, not by a path of fields.

Reads    the bytes of the file.
Returns  locations, each with the text of the document around it: a report shows the line, and the rest of a large file
         need not be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Document, Location, Related
from trainc.kubernetes.documents.streams import LARGEST, decode
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from trainc.inputs import File

_SEPARATOR: Final = b"\n---"
_AROUND: Final = 2**16
"""As many bytes before a line, and behind its beginning, are kept: a report needs the line, and what may say that it
holds a secret."""
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_SAYINGS: Final = {"set": "set here", "starts": "starts here"}
"""What to say at the line with which a message ends, by the word before it."""


class BrokenFile:
    """A file with something wrong in it."""

    def __init__(self, file: File) -> None:
        self.path = file.path
        self.data = file.data
        if self.data[:2] in _UTF_16:
            self.data = _in_utf_8(self.data)
        self.line = 1
        """A line of the text, and the index at which it begins: lines are asked for in order, more or less."""
        self.index = 0

    def at(self, line: int, column: int = 0) -> Location:
        """A place; without a column, all that is written on the line."""
        index = self._begin_of(line)
        if index is None:
            return Location(file=self.path, line=line, column=column)
        document = self._document(line, index)
        if column:
            return Location(file=self.path, line=line, column=column, source=document)
        written = decode(self.data[index : index + _AROUND].partition(b"\n")[0]).rstrip()
        first = len(written) - len(written.lstrip(" \t\ufeff")) + 1
        return Location(self.path, line, first, line, len(written) + 1, document)

    def since(self, error: YamlError) -> tuple[Related, ...]:
        """The line with which the error collides, where that is another one."""
        if error.since in (0, error.line):
            return ()
        saying = _SAYINGS.get(error.what.rpartition(" ")[2], "opened here")
        return (Related(message=saying, place=self.at(error.since)),)

    def _begin_of(self, line: int) -> int | None:
        """The index at which a line begins; None where there is no such line."""
        if line < self.line:
            self.line, self.index = 1, 0
        while self.line < line:
            found = self.data.find(b"\n", self.index)
            if found < 0:
                return None
            self.line, self.index = self.line + 1, found + 1
        return self.index

    def _document(self, line: int, index: int) -> Document:
        """The text around a line, between the separators before and behind it, as a document without a value."""
        begin = self.data.rfind(_SEPARATOR, max(index - _AROUND, 0), index + len(_SEPARATOR) - 1) + 1
        if not begin and index > _AROUND:
            begin = self.data.find(b"\n", index - _AROUND) + 1
        end = self.data.find(_SEPARATOR, index, index + _AROUND)
        before = self.data.count(b"\n", begin, index)
        text = decode(self.data[begin : end + 1 if end >= 0 else index + _AROUND])
        return Document(self.path, line - before, text, None)


def _in_utf_8(data: bytes) -> bytes:
    """The bytes of a file in UTF-16, or nothing where it is too large to be shown, or none."""
    if len(data) > LARGEST:
        return b""
    try:
        return decode(data).encode("utf-8", "surrogatepass")
    except YamlError:
        return b""
