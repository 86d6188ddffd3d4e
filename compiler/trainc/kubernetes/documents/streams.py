"""A file cut into the chunks of its documents, where the API machinery's decoder cuts, but losing nothing.

Reads the bytes or the text of a file; returns its chunks, each with its place in the file.
Source: k8s.io/apimachinery 0.36, util/yaml (documentDecoder). On purpose unlike there: a document keeps the newline
before the separator, a text on the separator's line is an error, and the last document is never dropped.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from trainc.kubernetes.documents.scalars import shorten
from trainc.kubernetes.documents.yamlerror import YamlError

_SEPARATOR: Final = "\n---"


class Chunk(NamedTuple):
    """A part of a file that holds one document, and where in the file it starts."""

    text: str
    line: int = 1
    column: int = 1

    def in_file(self, line: int, column: int) -> tuple[int, int]:
        """A place in the chunk as a place in the file; lines and columns count from 1."""
        return self.line + line - 1, column + (self.column - 1 if line == 1 else 0)

    def error_in_file(self, error: YamlError) -> YamlError:
        """An error in the chunk as an error in the file; an unknown place becomes the chunk's start."""
        line, column = self.in_file(error.line or 1, error.column or 1)
        since = error.since and error.since + self.line - 1
        return YamlError(error.what, line=line, column=column, help=error.help, since=since)

    def end(self) -> tuple[int, int]:
        """The place in the file right behind the chunk."""
        line_start = self.text.rfind("\n") + 1
        return self.in_file(self.text.count("\n") + 1, len(self.text) - line_start + 1)


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 with a byte order mark.

    What is no UTF-8 becomes lone surrogates, which are refused where they stand: the other documents can be read.
    Raises YamlError.
    """
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2])
    if encoding is None:
        return data.decode("utf-8", "surrogateescape")
    try:
        return data[2:].decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        raise YamlError(
            "the file begins as UTF-16, but is none", line=1, column=1, help="save the file as UTF-8"
        ) from None


def split(text: str) -> tuple[list[Chunk], list[YamlError]]:
    """The chunks of a file's text, and what is wrong with the lines between them.

    A separator is a line break, `---`, and the rest of that line. `---` on the first line separates nothing.
    """
    chunks: list[Chunk] = []
    errors: list[YamlError] = []
    begin, line = 0, 1
    while (found := text.find(_SEPARATOR, begin)) >= 0:
        chunk = Chunk(text[begin : found + 1], line)
        chunks.append(chunk)
        end_of_line = text.find("\n", found + 1)
        begin = end_of_line + 1 if end_of_line >= 0 else len(text)
        line += chunk.text.count("\n")
        errors.extend(lost_on_separator(text[found + len(_SEPARATOR) : begin], line, 1))
        line += 1
    if begin < len(text):
        chunks.append(Chunk(text[begin:], line))
    return chunks, errors


def lost_on_separator(text: str, line: int, column: int) -> list[YamlError]:
    """The error of a text behind the `---` that stands at a line and column, unless it is a comment."""
    rest = text.strip()
    if not rest or rest.startswith("#"):
        return []
    if not rest.strip("-"):
        message = "the separator between two documents is exactly `---`"
        return [YamlError(message, line=line, column=column, help="write `---`, or indent the line")]
    message = f"`{shorten(rest)}` behind the separator `---` would be lost"
    way_out = "move it to the next line: nothing but a comment may follow `---`"
    return [YamlError(message, line=line, column=column, help=way_out)]
