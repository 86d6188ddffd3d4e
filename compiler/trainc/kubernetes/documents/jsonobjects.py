"""The JSON objects at the start of a chunk of a file, read as Kubernetes reads them.

Reads a chunk; returns its objects, and the rest, which the YAML reader handles: text that is not JSON, and invalid
JSON, because the YAML reader locates its error.
Source: k8s.io/apimachinery 0.36 (util/yaml), sigs.k8s.io/json. Deliberate difference: duplicate keys and lone
surrogates are rejected. So are trailing commas, which kubectl rejects and YAML allows.
`root_of_json` returns the positions of the values in a JSON text, at the speed of Python's own JSON scanner: generated
JSON may be a single line of 16 MiB. It returns None for a text that does not look like JSON.
"""

from __future__ import annotations

import gc
import json
import math
import re
from bisect import bisect_right
from contextlib import contextmanager
from itertools import islice
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.events import MOST_EVENTS
from trainc.kubernetes.documents.scalars import json_number, without_escapes
from trainc.kubernetes.documents.streams import Chunk, lost_on_separator
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BRACE: Final = re.compile(r"[ \t\r\n]*\{")
_SEPARATOR: Final = re.compile(r"[ \t\r\n]*---([^\n]*)(?:\n|$)")
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_OPENS_VALUE: Final = ",:[{"
"""The characters that precede a value; every value except the outermost has one."""
_TRAILING_COMMA: Final = re.compile(r",(?=[ \t\r\n]*+[}\]])")
_STRING_OR_TRAILING_COMMA: Final = re.compile(r'"[^"]*+"?|,(?=[ \t\r\n]*+[}\]])')
_STRING_OR_OPENING: Final = re.compile(r'"[^"]*+"?|[,:\[{]')
_SMALL: Final = 2**16
"""Maximum number of characters for which the YAML parser is fast enough."""
_NEVER: Final = -1
"""A number that no list item has."""
_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = JSONDecoder().scan_once  # type: ignore[attr-defined]
"""Returns the value that starts at an index, and the index after it."""


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


class JsonField(NamedTuple):
    """A field or item: the start and end index of its key, and its value. `end` is 0 for an item."""

    begin: int
    end: int
    value: JsonNode


class JsonNode:
    """A value in a JSON text; its content is read on demand."""

    __slots__ = ("_end", "_ends", "_keys", "_nodes", "_scanning", "_starts", "_text", "index", "sequence")

    block = False
    merges: tuple[JsonNode, ...] = ()
    duplicates: tuple[tuple[str, JsonNode], ...] = ()

    def __init__(self, text: str, index: int, end: int = 0) -> None:
        self.index = index
        self.sequence = {"[": True, "{": False}.get(text[index : index + 1])
        """None for a scalar."""
        self._text = text
        self._end = end
        self._scanning: Iterator[str | int] | None = None
        self._starts: list[int] = []  # of the values read so far
        self._ends: list[int] = []  # of the values after which reading has continued
        self._nodes: dict[int, JsonNode] = {}  # the requested values, by number
        self._keys: dict[str | int, tuple[int, int, int]] = {}  # in a mapping: the start, end and number of each key

    @property
    def end(self) -> int:
        """The index after its last character."""
        if not self._end:
            _, self._end = _SCAN(self._text, self.index)
        return self._end

    @property
    def fields(self) -> dict[str | int, JsonField]:
        """All its fields or items; of duplicate keys, the first one."""
        self._read(_NEVER)
        keys = range(len(self._starts)) if self.sequence else self._keys
        return {key: self._field(key) for key in keys}

    def find(self, part: str | int) -> JsonField | None:
        """Return a field or item; the text after it is not read."""
        self._read(part)
        return self._field(part) if self._has_field(part) else None

    def fields_between(self, begin: int, end: int) -> list[JsonField]:
        """Return the items of a list between two indices, and the item before them."""
        self._read(_NEVER, end)
        first = max(bisect_right(self._starts, begin) - 2, 0)
        return [self._field(number) for number in range(first, bisect_right(self._starts, end))]

    def _has_field(self, part: str | int) -> bool:
        if self.sequence and isinstance(part, int):
            return 0 <= part < len(self._starts)
        return part in self._keys

    def _field(self, part: str | int) -> JsonField:
        begin, end, number = self._keys[part] if not self.sequence else (self._starts[int(part)], 0, int(part))
        if number not in self._nodes:
            known = self._ends[number] if number < len(self._ends) else 0
            self._nodes[number] = JsonNode(self._text, self._starts[number], known)
        return JsonField(begin, end, self._nodes[number])

    def _read(self, part: str | int, end: int = -1) -> None:
        """Continue reading to the field or item, or to the first one after an index; otherwise to the end."""
        if self.sequence is None or self._has_field(part) or (self._starts and 0 <= end < self._starts[-1]):
            return
        if self._scanning is None:
            self._scanning = self._scan()
        with without_garbage_collection():
            for key in self._scanning:
                if key == part or (0 <= end < self._starts[-1]):
                    break

    def _scan(self) -> Iterator[str | int]:
        text, starts, ends, scan = self._text, self._starts, self._ends, _SCAN
        at = _skip(text, self.index + 1)
        while text[at] not in "]}":
            number, key = len(starts), None
            if not self.sequence:
                begin, (key, after) = at, scan(text, at)
                at = _skip(text, _skip(text, after) + 1)
                self._keys.setdefault(key, (begin, after, number))
            starts.append(at)
            yield number if key is None else key
            at = self._nodes[number].end if number in self._nodes else scan(text, at)[1]
            ends.append(at)
            if text[at] not in ",]}":
                at = _skip(text, at)
            if text[at] == ",":
                at = _skip(text, at + 1)
        self._end = at + 1


def root_of_json(text: str) -> JsonNode | None:
    """Return the value of a large text that is one JSON object; None for any other text."""
    if len(text) < _SMALL or text[(begin := _skip(text, 0)) : begin + 1] != "{":
        return None
    root = JsonNode(text, begin)
    try:
        with without_garbage_collection():
            end = root.end
    except (ValueError, StopIteration, RecursionError):
        return None
    return root if _skip(text, end) == len(text) else None


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector, which would traverse millions of small objects again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _skip(text: str, index: int) -> int:
    match = _BLANK.match(text, index)
    return match.end() if match else index
