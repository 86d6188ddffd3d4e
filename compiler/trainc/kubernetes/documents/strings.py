"""Documents inside a string of another document, such as manifests in a ConfigMap: their places in the outer text.

Reads    the outer text, the path of the string in it, the string, and the chunks that it is cut into.
Returns  lines of the outer text for a literal block scalar, which has each line of the string on a line of its own; and
         for any scalar the place of each character. Quotes, escapes and folded lines are followed.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.positions import Span, extent, lines, place_of, span
from trainc.kubernetes.documents.streams import Chunk

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path

_PROPERTIES: Final = re.compile(r"(?:[&!]\S*[ \t\r\n]+)*")
_FIRST_SEPARATOR: Final = re.compile(r"---[ \t]*(?:#[^\n]*)?\n")
_WHITE: Final = " \t\r\n"
_WHITE_ESCAPES: Final = " \t\r\ntnr"
_ESCAPES: Final = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_QUOTES: Final = ("'", '"')
_BLOCK: Final = ("|", ">")
_ESCAPED: Final = re.compile(r"""\\|''""")
_DIGITS: Final = {"x": 2, "u": 4, "U": 8}


class Scalar(NamedTuple):
    """A string as it is written, without tags and anchors: its indices, and `|`, `>`, a quote, or nothing for plain."""

    begin: int
    end: int
    style: str


class WrittenString(NamedTuple):
    """A string and the text that has its characters."""

    value: str
    text: str
    written: Scalar
    same: bool = False
    """Whether the characters from `written.begin` are those of the string."""

    def stretch(self, begin: int, end: int) -> tuple[int, int]:
        """Return the range of the text that has a range of the string's characters, which is not empty."""
        places = None if self.same else _places(self.text, self.written, self.value)
        if places is None:
            return self.written.begin + begin, min(self.written.begin + end, self.written.end)
        return places[0][begin], places[1][end - 1]


def without_separator(chunk: Chunk) -> Chunk:
    """Return a chunk without the `---` that it may start with: indented, it would be text.

    >>> without_separator(Chunk("---\\na: 1\\n", 1))
    Chunk(text='a: 1\\n', line=2, column=1)
    """
    separator = _FIRST_SEPARATOR.match(chunk.text)
    return chunk if separator is None else Chunk(chunk.text[separator.end() :], chunk.line + 1)


def scalar(text: str, path: Path) -> Scalar | None:
    """Return the string at a path; None where the text has no value there."""
    found = extent(text, path)
    return None if found is None else _scalar(text, *found)


def string_at(text: str, begin: int, end: int) -> WrittenString:
    r"""Return the string that is written in a range of the text; the text itself if it cannot be read.

    >>> string_at("a: 'it''s'", 3, 10).value, string_at("a: 'it''s'", 3, 10).stretch(3, 4)
    ("it's", (8, 9))
    """
    found = _scalar(text, begin, end)
    inner = found._replace(begin=found.begin + 1, end=found.end - 1) if found.style in _QUOTES else found
    raw = text[inner.begin : inner.end]
    if found.style not in _BLOCK and "\n" not in raw and not (found.style and _ESCAPED.search(raw)):
        return WrittenString(raw, text, inner, same=True)
    from trainc.kubernetes.documents import YamlError, parse

    try:
        value = parse(f"a: {text[found.begin : found.end]}")["a"]
    except YamlError:
        value = None
    return WrittenString(value, text, found) if isinstance(value, str) else WrittenString(raw, text, inner, same=True)


def _scalar(text: str, begin: int, end: int) -> Scalar:
    properties = _PROPERTIES.match(text, begin)
    begin = properties.end() if properties else begin
    return Scalar(begin, end, text[begin] if text[begin : begin + 1] in ("|", ">", '"', "'") else "")


def in_literal(text: str, scalar: Scalar, chunk: Chunk) -> Chunk | None:
    """Return the lines of the outer text that hold a chunk of a literal block scalar, with their place in that text."""
    if scalar.style != "|":
        return None
    known = lines(text)
    line = known.position(text.find("\n", scalar.begin) + 1)[0] + chunk.line - 1
    last = line + chunk.text.rstrip("\n").count("\n")
    if last > len(known):
        return None
    begin = known.begin(line)
    end = known.begin(last + 1) if last < len(known) else len(text)
    column = 1
    if chunk.column > 1:
        column = len(text[begin:end]) - len(text[begin:end].lstrip(" ")) + chunk.column
    return Chunk(text[begin + column - 1 : end], line, column)


def outer_span(text: str, path: Path, string: str, chunk: Chunk, inner: Span) -> Span:
    """Return the span in the outer text of a span in a chunk of the string; of the string's key where it is unknown."""
    places = _places_at(text, path, string)
    begin, end = (_index(string, chunk, *at) for at in ((inner.line, inner.column), (inner.end_line, inner.end_column)))
    if places is None or begin >= len(places[0]):
        return span(text, path, key=True)
    begins, ends = places
    last = min(max(end - 1, begin), len(ends) - 1)
    return Span(*place_of(text, begins[begin]), *place_of(text, ends[last]))


def part_span(text: str, path: Path, string: str, part: tuple[int, int]) -> Span:
    """Return the span in the text of some characters of a string; of all of it where they are unknown.

    A part that begins at the string's end is the place after its last character.

    >>> part_span("image: 'a b'", ("image",), "a b", (1, 2))
    Span(line=1, column=10, end_line=1, end_column=11)
    """
    places = _places_at(text, path, string)
    if not places or not string:
        return span(text, path)
    (begins, ends), (begin, end) = places, part
    if begin >= len(string):
        return Span(*place_of(text, ends[-1]), *place_of(text, ends[-1] + 1))
    return Span(*place_of(text, begins[begin]), *place_of(text, ends[min(max(end, begin + 1), len(string)) - 1]))


def _index(string: str, chunk: Chunk, line: int, column: int) -> int:
    """Return the index in a string of a line and column of one of its chunks."""
    line, column = chunk.in_file(line, column)
    known = lines(string)
    return known.begin(min(line, len(known))) + column - 1


def _places_at(text: str, path: Path, string: str) -> tuple[array[int], array[int]] | None:
    """Return begin and end in the outer text of each character of the string at a path; None where it is not there."""
    found = scalar(text, path)
    return None if found is None else _places(text, found, string)


@lru_cache(maxsize=4)
def _places(text: str, written: Scalar, string: str) -> tuple[array[int], array[int]] | None:
    """Return begin and end in the outer text of each character of the string; None where the two do not agree."""
    at = written.begin
    if written.style in ("|", ">"):
        at = text.find("\n", at) + 1
    elif written.style:
        at += 1
    begins, ends = array("L"), array("L")
    for character in string:
        white = character in _WHITE
        if not white:
            at = _behind_white(text, at, written)
        unit, end = _unit(text, at, written)
        if unit != character and not white:
            return None
        begins.append(at)
        if unit == character:  # else it comes from a folded line
            at = end
        ends.append(at)
    return begins, ends


def _behind_white(text: str, at: int, scalar: Scalar) -> int:
    """Return the index of the next character that is no white space, written out or escaped."""
    while at < scalar.end:
        if text[at] in _WHITE:
            at += 1
        elif scalar.style == '"' and text[at] == "\\" and text[at + 1] in _WHITE_ESCAPES:
            at += 2
        else:
            break
    return at


def _unit(text: str, at: int, scalar: Scalar) -> tuple[str, int]:
    """Return the character that is written at an index, and the index behind it; an empty one where there is none."""
    if at >= scalar.end:
        return "", at
    if scalar.style == "'" and text[at : at + 2] == "''":
        return "'", at + 2
    if scalar.style != '"' or text[at] != "\\":
        return text[at], at + 1
    kind = text[at + 1 : at + 2]
    if kind not in _DIGITS:
        return _ESCAPES.get(kind, ""), at + 2
    end = at + 2 + _DIGITS[kind]
    units = [text[at + 2 : end]]
    if units[0][:2] in ("d8", "D8", "d9", "D9", "da", "DA", "db", "DB") and text[end : end + 2] == "\\u":
        units.append(text[end + 2 : end + 6])
        end += 6
    try:
        if len(units) == 2:
            return bytes.fromhex("".join(units)).decode("utf-16-be"), end
        return chr(int(units[0], 16)), end
    except ValueError:
        return "", end
