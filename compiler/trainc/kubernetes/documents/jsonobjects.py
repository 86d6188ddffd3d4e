"""The JSON objects that a chunk of a file begins with, read as Kubernetes reads them.

Reads a chunk; returns its objects, and the rest, which is for YAML to try: text that is no JSON, and JSON that is
refused, because a reading as YAML tells where the fault is.
Source: k8s.io/apimachinery 0.36 (util/yaml), sigs.k8s.io/json; on purpose, equal keys and half characters are refused.
JSON with trailing commas is refused here, as kubectl refuses it: YAML allows them.
"""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any, Final

from trainc.kubernetes.documents.events import MOST_EVENTS
from trainc.kubernetes.documents.scalars import json_number, shorten
from trainc.kubernetes.documents.streams import Chunk, lost_on_separator
from trainc.kubernetes.documents.yamlerror import YamlError
from trainc.records import NamedTuple

_BRACE: Final = re.compile(r"[ \t\r\n]*\{")
_SEPARATOR: Final = re.compile(r"[ \t\r\n]*---([^\n]*)(?:\n|$)")
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_OPENS_VALUE: Final = ",:[{"
"""The characters one of which stands before each value but the outermost."""
_TRAILING_COMMA: Final = re.compile(r",(?=[ \t\r\n]*+[}\]])")
_STRING_OR_TRAILING_COMMA: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|,(?=[ \t\r\n]*+[}\]])', re.DOTALL)
_STRING_OR_OPENING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[,:\[{]', re.DOTALL)


class Objects(NamedTuple):
    """What a chunk begins with."""

    objects: list[tuple[Chunk, Any]]
    errors: list[YamlError]
    rest: Chunk
    is_behind: bool
    """Whether the rest stands right behind an object, with no separator between them."""


def leading_objects(chunk: Chunk, *, deepest: int, most: int) -> Objects:
    """The JSON objects that a chunk begins with, one behind the other or with `---` between them.

    deepest   how deep an object may be nested
    most      how many objects are read at most
    """
    objects: list[tuple[Chunk, Any]] = []
    errors: list[YamlError] = []
    begin, here, is_behind = 0, (chunk.line, chunk.column), False
    readable, since = chunk.text[: _horizon(chunk.text, 0)], 0
    while len(objects) < most and (brace := _BRACE.match(chunk.text, begin)):
        try:
            found = _object(readable, brace.end() - 1, deepest)
            if found is None and since < begin and len(readable) < len(chunk.text):
                readable, since = chunk.text[: _horizon(chunk.text, begin)], begin
                found = _object(readable, brace.end() - 1, deepest)
        except YamlError as error:
            return Objects(objects, [*errors, chunk.error_in_file(error)], Chunk(""), is_behind)
        if found is None:
            comma = _trailing_comma(readable, brace.end() - 1, deepest)
            if comma is not None:
                what = "a trailing comma is not valid in JSON"
                fault = YamlError.at(chunk.text, comma, what, help="remove the comma")
                return Objects(objects, [*errors, chunk.error_in_file(fault)], Chunk(""), is_behind)
            break
        value, end = found
        objects.append((Chunk(chunk.text[begin:end], *here), value))
        begin, here, is_behind = end, objects[-1][0].end(), True
        if separator := _SEPARATOR.match(chunk.text, begin):
            line = Chunk(separator[0], *here)
            errors.extend(lost_on_separator(separator[1], *here))
            begin, here, is_behind = separator.end(), line.end(), False
    blank = _BLANK.match(chunk.text, begin)
    if blank is not None:
        begin, here = blank.end(), Chunk(blank[0], *here).end()
    return Objects(objects, errors, Chunk(chunk.text[begin:], *here), is_behind)


def _horizon(text: str, begin: int) -> int:
    """Where an object that begins at a character must have ended, lest it hold more values than a document may."""
    if len(text) - begin <= MOST_EVENTS or sum(text.count(char, begin) for char in _OPENS_VALUE) <= MOST_EVENTS:
        return len(text)
    left = MOST_EVENTS
    # In JSON, no two strings follow one another: a text with more of them is refused where they do.
    for token in islice(_STRING_OR_OPENING.finditer(text, begin), 2 * MOST_EVENTS):
        left -= text[token.start()] != '"'
        if not left:
            return token.start()
    return len(text)


def _object(text: str, begin: int, deepest: int) -> tuple[Any, int] | None:
    """The object that begins at a character, and the index of its end; None when it is left to YAML."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
        written = text[begin:end]
        # Half characters, as they are and as escapes, are a ValueError; so is what is no JSON.
        if not written.isascii():
            written.encode()
        if "\\u" in written:
            json.dumps(value, ensure_ascii=False).encode()
    except _TooLargeError as error:
        number = str(error)
        what = f"the number {shorten(number)} is too large"
        raise YamlError.at(text, text.find(number, begin), what, help="write a smaller one") from None
    except (ValueError, RecursionError):
        return None
    if written.count("[") + written.count("{") > deepest and _is_deeper(value, deepest):
        return None
    return value, end


def _trailing_comma(text: str, begin: int, deepest: int) -> int | None:
    """Return the index of the first trailing comma of an object that is JSON without them; None for other objects."""
    if not _TRAILING_COMMA.search(text, begin):
        return None
    commas: list[int] = []
    parts: list[str] = []
    at = 0
    for token in _STRING_OR_TRAILING_COMMA.finditer(text, begin):
        if token[0] == ",":
            commas.append(token.start())
            parts += text[at : token.start()], " "
            at = token.end()
    try:
        found = _object("".join([*parts, text[at:]]), begin, deepest) if commas else None
    except YamlError:
        return None
    return commas[0] if found is not None and commas[0] < found[1] else None


class _TooLargeError(Exception):
    """A number beyond the largest float."""


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _float(text: str) -> int | float:
    number = float(text)
    if math.isinf(number):
        raise _TooLargeError(text)
    return json_number(number)


def _integer(text: str) -> int | float:
    number = int(text) if len(text) <= 20 else 2**63
    return number if -(2**63) <= number < 2**63 else _float(text)


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_fields, parse_float=_float, parse_int=_integer, parse_constant=_constant)


def _is_deeper(value: Any, deepest: int) -> bool:
    level = [value]
    for _ in range(deepest):
        level = [
            child
            for collection in level
            for child in (collection.values() if isinstance(collection, dict) else collection)
            if isinstance(child, dict | list)
        ]
    return bool(level)
