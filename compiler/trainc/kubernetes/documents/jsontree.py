"""Positions of the values in a JSON text, read on demand at the speed of Python's own JSON scanner.

Reads a text; returns its root, or None for a text that does not look like JSON. `positions` reads YAML, and so all of
JSON too; this module is for generated JSON, which may be a single line of 16 MiB.
"""

from __future__ import annotations

import gc
import re
from bisect import bisect_right
from contextlib import contextmanager
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_SMALL: Final = 2**16
"""Maximum number of characters for which the YAML parser is fast enough."""
_NEVER: Final = -1
"""A number that no list item has."""


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


_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = JSONDecoder().scan_once  # type: ignore[attr-defined]
"""Returns the value that starts at an index, and the index after it."""
