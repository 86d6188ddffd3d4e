"""Places in a file that holds a document which cannot be read: known by line and column, not by a path of fields.

Reads    the bytes of the file.
Returns  locations, each with the text of the document around it: a report shows the line, and the rest of a large file
         need not be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Document, Location, Related
from trainc.kubernetes.documents.streams import decode
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from trainc.inputs import File

_SEPARATOR: Final = "\n---"
_SAYINGS: Final = {"set": "set here", "starts": "starts here"}
"""What to say at the line with which a message ends, by the word before it."""


class BrokenFile:
    """A file with something wrong in it."""

    def __init__(self, file: File) -> None:
        self.path = file.path
        try:
            self.text = decode(file.data)
        except YamlError:
            self.text = ""
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
        written = self.text[index:].partition("\n")[0].rstrip()
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
            found = self.text.find("\n", self.index)
            if found < 0:
                return None
            self.line, self.index = self.line + 1, found + 1
        return self.index

    def _document(self, line: int, index: int) -> Document:
        """The text between the separators before and behind a line, as a document without a value."""
        begin = self.text.rfind(_SEPARATOR, 0, index + len(_SEPARATOR) - 1) + 1
        end = self.text.find(_SEPARATOR, index)
        text = self.text[begin : end + 1 if end >= 0 else len(self.text)]
        return Document(self.path, line - text.count("\n", 0, index - begin), text, None)
