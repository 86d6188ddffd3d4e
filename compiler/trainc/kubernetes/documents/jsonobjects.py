"""The JSON objects at the start of a chunk of a file, read as Kubernetes reads them.

Reads a chunk; returns its objects, and the rest, which the YAML reader handles: text that is not JSON, and invalid
JSON, because the YAML reader locates its error.
Source: k8s.io/apimachinery 0.36 (util/yaml), sigs.k8s.io/json. Deliberate difference: duplicate keys and lone
surrogates are rejected. So are trailing commas, which kubectl rejects and YAML allows.
"""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.events import MOST_EVENTS
from trainc.kubernetes.documents.scalars import json_number, without_escapes
from trainc.kubernetes.documents.streams import Chunk, lost_on_separator
from trainc.kubernetes.documents.yamlerror import YamlError

_BRACE: Final = re.compile(r"[ \t\r\n]*\{")
_SEPARATOR: Final = re.compile(r"[ \t\r\n]*---([^\n]*)(?:\n|$)")
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_OPENS_VALUE: Final = ",:[{"
"""The characters that precede a value; every value except the outermost has one."""
_TRAILING_COMMA: Final = re.compile(r",(?=[ \t\r\n]*+[}\]])")
_STRING_OR_TRAILING_COMMA: Final = re.compile(r'"[^"]*+"?|,(?=[ \t\r\n]*+[}\]])')
_STRING_OR_OPENING: Final = re.compile(r'"[^"]*+"?|[,:\[{]')


class JsonObjects(NamedTuple):
    """The objects at the start of a chunk."""

    objects: list[tuple[Chunk, Any]]
    errors: list[YamlError]
    rest: Chunk
    follows_object: bool
    """Whether the rest directly follows an object, without a separator."""


def leading_objects(chunk: Chunk, *, deepest: int, most: int) -> JsonObjects:
    """Return the JSON objects at the start of a chunk, with or without `---` between them.

    deepest   the maximum nesting depth of an object
    most      the maximum number of objects
    """
    objects: list[tuple[Chunk, Any]] = []
    errors: list[YamlError] = []
    begin, here, follows_object = 0, (chunk.line, chunk.column), False
    readable, since = chunk.text[: _horizon(chunk.text, 0)], 0
    while len(objects) < most and (brace := _BRACE.match(chunk.text, begin)):
        try:
            found = _object(readable, brace.end() - 1, deepest)
            if found is None and since < begin and len(readable) < len(chunk.text):
                readable, since = chunk.text[: _horizon(chunk.text, begin)], begin
                found = _object(readable, brace.end() - 1, deepest)
        except YamlError as error:
            lost = chunk.error_in_file(error.losing(chunk.text[begin:]))
            return JsonObjects(objects, [*errors, lost], Chunk(""), follows_object)
        if found is None:
            comma = _trailing_comma(readable, brace.end() - 1, deepest)
            if comma is not None:
                what = "a trailing comma is not valid in JSON"
                fault = YamlError.at(chunk.text, comma, what, help="remove the comma")
                lost = chunk.error_in_file(fault.losing(chunk.text[begin:]))
                return JsonObjects(objects, [*errors, lost], Chunk(""), follows_object)
            break
        value, end = found
        objects.append((Chunk(chunk.text[begin:end], *here), value))
        begin, here, follows_object = end, objects[-1][0].end(), True
        if separator := _SEPARATOR.match(chunk.text, begin):
            line = Chunk(separator[0], *here)
            lost_text = chunk.text[separator.start(1) :]
            errors.extend(error.losing(lost_text) for error in lost_on_separator(separator[1], *here))
            begin, here, follows_object = separator.end(), line.end(), False
    blank = _BLANK.match(chunk.text, begin)
    if blank is not None:
        begin, here = blank.end(), Chunk(blank[0], *here).end()
    return JsonObjects(objects, errors, Chunk(chunk.text[begin:], *here), follows_object)


def sole_object(text: str, *, deepest: int) -> Any:
    """Return the JSON object that is all of a text, of any length; None for other texts. Raises YamlError."""
    brace = _BRACE.match(text)
    found = _object(text, brace.end() - 1, deepest) if brace else None
    return found[0] if found and not text[found[1] :].strip(" \t\r\n") else None


def _horizon(text: str, begin: int) -> int:
    """Return the index at which an object must have ended to stay within the maximum number of values."""
    if len(text) - begin <= MOST_EVENTS or sum(text.count(char, begin) for char in _OPENS_VALUE) <= MOST_EVENTS:
        return len(text)
    left = MOST_EVENTS
    # In JSON, two strings never follow one another directly: a text in which they do is rejected there.
    for token in islice(_STRING_OR_OPENING.finditer(without_escapes(text), begin), 2 * MOST_EVENTS):
        left -= text[token.start()] != '"'
        if not left:
            return token.start()
    return len(text)


def _object(text: str, begin: int, deepest: int) -> tuple[Any, int] | None:
    """Return the object that starts at an index, and the index of its end; None if the YAML reader handles it."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
        written = text[begin:end]
        # Lone surrogates, literal or escaped, raise ValueError, and so does invalid JSON.
        if not written.isascii():
            written.encode()
        if "\\u" in written:
            json.dumps(value, ensure_ascii=False).encode()
    except _TooLargeError as error:
        index = text.find(str(error), begin)
        raise YamlError.at(text, index, "the number is too large", help="use a smaller number") from None
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
    for token in _STRING_OR_TRAILING_COMMA.finditer(without_escapes(text), begin):
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
    """A number larger than the largest float."""


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("duplicate key")
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
    raise ValueError(f"{text} is not valid JSON")


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
