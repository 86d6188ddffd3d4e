"""Split a file into the chunks of its documents, as the API machinery's decoder does, but without losing text.

Reads the bytes or text of a file; returns its chunks, each with its position in the file. The file is split before it
is decoded: a single four-byte character would make the whole decoded text four times as large in memory.
Source: k8s.io/apimachinery 0.36, util/yaml (documentDecoder). Deliberate differences: a document keeps the newline
before the separator, text on the separator line is an error, and the last document is never dropped.
"""

from __future__ import annotations

from typing import Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.yamlerror import YamlError

LARGEST: Final = 16 * 2**20
"""Maximum bytes of a document, or of the JSON objects that follow one another without a separator."""
MOST: Final = 50_000
"""Maximum documents in a file."""
_SEPARATOR: Final = b"\n---"
_PIECE: Final = 2**20
_ANY: Final = ("utf-8", "surrogatepass")
"""UTF-8 that allows lone surrogates."""


class Chunk(NamedTuple):
    """The part of a file with one document, and its position in the file."""

    text: str
    line: int = 1
    column: int = 1

    def in_file(self, line: int, column: int) -> tuple[int, int]:
        """Convert a position in the chunk to a position in the file; lines and columns count from 1."""
        return self.line + line - 1, column + (self.column - 1 if line == 1 else 0)

    def error_in_file(self, error: YamlError) -> YamlError:
        """Convert an error in the chunk to an error in the file; an unknown position becomes the chunk's start."""
        line, column = self.in_file(error.line or 1, error.column or 1)
        since = error.since and error.since + self.line - 1
        found = YamlError(error.what, line=line, column=column, help=error.help, since=since)
        return found.losing(error.document or self.text)

    def end(self) -> tuple[int, int]:
        """Return the position in the file directly after the chunk."""
        line_start = self.text.rfind("\n") + 1
        return self.in_file(self.text.count("\n") + 1, len(self.text) - line_start + 1)


def decode(data: bytes) -> str:
    """Decode a file: UTF-8, or UTF-16 with a byte order mark.

    Invalid UTF-8 becomes lone surrogates, which are rejected later, so that other documents can be read.
    Raises YamlError.
    """
    return str(*_in_utf8(data))


def split(data: bytes | str) -> tuple[list[Chunk], list[YamlError]]:
    """Return the chunks of a file, and the errors of skipped chunks and separator lines. Raises YamlError.

    A separator is a line break, `---`, and the rest of that line. `---` on the first line separates nothing.
    """
    text, *codec = (data.encode(*_ANY), *_ANY) if isinstance(data, str) else _in_utf8(data)
    chunks: list[Chunk] = []
    errors: list[YamlError] = []
    begin, line = 0, 1
    for _ in range(MOST + 1):
        separator = text.find(_SEPARATOR, begin)
        if separator < 0:
            break
        after = separator + len(_SEPARATOR)
        end = text.find(b"\n", after) + 1 or len(text)
        _add(chunks, errors, text[begin : separator + 1], line, codec)
        line += text.count(b"\n", begin, separator + 1)
        if end - separator > LARGEST:
            errors.append(too_large(line))
        else:
            lost = lost_on_separator(str(text[after:end], *codec), line, 1)
            errors.extend(error.losing(_rest(text, after, codec)) for error in lost)
        begin = end
        line += 1
    else:
        raise too_many().losing(str(text, *codec))
    if begin < len(text):
        _add(chunks, errors, text[begin:], line, codec)
    return chunks, errors


def _in_utf8(data: bytes) -> tuple[bytes, str, str]:
    """Return a file's bytes in UTF-8, and their codec. UTF-16 is converted in pieces, to save memory."""
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2])
    if encoding is None:
        return data, "utf-8", "surrogateescape"
    import codecs
    from io import BytesIO

    decoder, recoded = codecs.getincrementaldecoder(encoding)("surrogatepass"), BytesIO()
    try:
        for at in range(2, len(data), _PIECE):
            recoded.write(decoder.decode(data[at : at + _PIECE], at + _PIECE >= len(data)).encode(*_ANY))
        return recoded.getvalue(), *_ANY
    except UnicodeDecodeError:
        raise YamlError(
            "the file has a UTF-16 byte order mark, but is not UTF-16", line=1, column=1, help="save the file as UTF-8"
        ).losing(str(data, "utf-8", "surrogateescape")) from None


def _rest(text: bytes, begin: int, codec: list[str]) -> str:
    """Return the text from an index up to the next separator."""
    end = text.find(_SEPARATOR, begin)
    return str(text[begin:] if end < 0 else text[begin:end], *codec)


def _add(chunks: list[Chunk], errors: list[YamlError], text: bytes, line: int, codec: list[str]) -> None:
    """Add a chunk, or the error if it is too large to read."""
    if len(text) > LARGEST:
        # One byte per character, however wide the characters are: only its ASCII fields are looked at.
        errors.append(too_large(line).losing(str(text, "latin-1")))
    else:
        chunks.append(Chunk(str(text, *codec), line))


def too_large(line: int) -> YamlError:
    """Return the error for a document that is too large."""
    return YamlError("the document is larger than 16 MiB", line=line, column=1, help="split it")


def too_many() -> YamlError:
    """Return the error for a file with too many documents."""
    return YamlError(f"the file has more than {MOST} documents", line=1, column=1, help="split it")


def lost_on_separator(text: str, line: int, column: int) -> list[YamlError]:
    """Return the error for text after the `---` at a line and column, unless it is a comment."""
    rest = text.strip()
    if not rest or rest.startswith("#"):
        return []
    if not rest.strip("-"):
        message = "the separator between documents must be exactly `---`"
        return [YamlError(message, line=line, column=column, help="write `---`, or indent the line")]
    help = "move it to the next line: only a comment may follow `---`"
    return [YamlError("text after the separator `---` would be lost", line=line, column=column, help=help)]
