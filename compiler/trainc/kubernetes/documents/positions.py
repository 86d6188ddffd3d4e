"""Positions of fields in a manifest's text. The text is parsed a second time, only when a diagnostic is printed.

Reads the text of one document (YAML or JSON) and a field path; returns a line and column, or a span of the text.
Aliases and merge keys are followed to the position of the value. The text after the value is not parsed.
`Lines` finds lines by index, and indices by line: the line breaks before each block of the text are counted once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.events import (
    MOST_EVENTS,
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    YAMLError,
    end,
    events,
    start,
)
from trainc.kubernetes.documents.goyaml import TagError, rewritings, rewritten, tagged
from trainc.kubernetes.documents.jsonobjects import JsonField, JsonNode, root_of_json, without_garbage_collection
from trainc.kubernetes.documents.scalars import HINTS, MERGE_TAG, key_text, plain_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.documents.events import Event

_DEEPEST: Final = 1000
"""Maximum nesting depth; libyaml takes very long for hostile texts that are nested deeper."""
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89abcdefABCDEF][0-9a-fA-F]{2}")
_NO_FIELDS: Final[dict[str | int, PositionedKey]] = {}
_NO_NODES: Final[list[PositionNode]] = []
_NO_PAIRS: Final[list[tuple[str, PositionNode]]] = []
_NEVER: Final = -1
"""An index that no list item has."""
_BLOCK: Final = 2**14


class Span(NamedTuple):
    """A span of a text; lines and columns count from 1, and `end_column` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


def locate(text: str, path: tuple[str | int, ...], *, key: bool = False) -> tuple[int, int]:
    """Return the 1-based line and column of the value at a path of keys and indices, or with `key` of its key.

    If there is no value at the path, the position is that of the deepest existing value on it. Never raises.

    >>> locate("spec:\\n  ports:\\n  - 80\\n  - 443", ("spec", "ports", 1)), locate("a: b", ("a",), key=True)
    ((4, 5), (1, 1))
    """
    node, field, found = _walk(text, path)
    return place_of(text, field.begin if field is not None and key and found else node.index)


def span(text: str, path: tuple[str | int, ...], *, key: bool = False) -> Span:
    """Return the span of the value at a path, or with `key` of its key.

    For a block that starts below its key, as most mappings do, the span is the key: a block may be half a document.

    >>> span("spec:\\n  ports: [80]", ("spec", "ports")), span("spec:\\n  ports: [80]", ("spec",))
    (Span(line=2, column=10, end_line=2, end_column=14), Span(line=1, column=1, end_line=1, end_column=5))
    """
    node, field, found = _walk(text, path)
    begin, end = node.index, node.end
    if field is not None and field.end and ((key and found) or (node.block and "\n" in text[field.end : node.index])):
        begin, end = field.begin, field.end
    while end > begin and text[end - 1] in " \t\r\n":  # a block scalar ends where the next key starts
        end -= 1
    line, column = place_of(text, begin)
    if begin and text.find("\n", begin, end) < 0:
        return Span(line, column, line, column + end - begin)
    return Span(line, column, *place_of(text, end))


def extent(text: str, path: tuple[str | int, ...]) -> tuple[int, int] | None:
    """From which index to which the value at a path reaches; None where there is none.

    >>> extent("a: |\\n  x\\nb: 1", ("a",))
    (3, 9)
    """
    node, _, found = _walk(text, path)
    return (node.index, node.end) if found else None


def path_at(text: str, index: int) -> tuple[str | int, ...]:
    """Return the path of the innermost value or key around a character; the root's outside of all of them.

    >>> path_at("spec: {ports: [80, 443]}", 8), path_at("spec: {ports: [80, 443]}", 20)
    (('spec', 'ports'), ('spec', 'ports', 1))
    """
    node, path = tree(text).root, list[str | int]()
    while True:
        found = None
        for part, field in node.fields.items():
            begin = field.begin if field.end else field.value.index
            if begin <= index <= max(field.value.end, field.end) and (found is None or begin >= found[1]):
                found = part, begin, field.value
        if found is None:
            return tuple(path)
        path.append(found[0])
        node = found[2]


def place_of(text: str, index: int) -> tuple[int, int]:
    """Return the 1-based line and column of a character; a byte order mark occupies no column."""
    line, begin = lines(text).position(index)
    invisible = line == 1 and index > 0 and text.startswith("\ufeff")
    return line, index - begin + 1 - invisible


class PositionedKey(NamedTuple):
    """A field of a mapping or an item of a list: the start and end index of its key, and its value.

    `end` is 0 for an item.
    """

    begin: int
    end: int
    value: PositionNode


class PositionNode:
    """A value in the text: its start and end index, and its fields or items."""

    __slots__ = ("block", "duplicates", "end", "fields", "index", "key", "merges", "open", "sequence")

    def __init__(self, index: int, end: int = 0, *, sequence: bool | None = None, block: bool = False) -> None:
        self.index = index
        self.end = end
        self.sequence = sequence
        """None for a scalar."""
        self.open = sequence is not None
        """Whether its end has not been read: more fields or items may follow."""
        self.block = block
        """Whether it is a list or mapping without brackets."""
        self.fields: dict[str | int, PositionedKey] = _NO_FIELDS if sequence is None else {}
        self.merges: list[PositionNode] = _NO_NODES
        self.duplicates: list[tuple[str, PositionNode]] = _NO_PAIRS
        self.key: tuple[str | None, int, int] | None = None  # a key whose value has not been read yet

    def add(self, child: PositionNode) -> None:
        """Add the next value; of duplicate keys, the first one is kept."""
        if self.sequence:
            self.fields[len(self.fields)] = PositionedKey(child.index, 0, child)
        elif self.key is not None:
            name, begin, end = self.key
            if name is None:
                self.merges = self.merges or []
                self.merges.append(child)
            elif name in self.fields:
                self.duplicates = self.duplicates or []
                self.duplicates.append((name, child))
            else:
                self.fields[name] = PositionedKey(begin, end, child)
            self.key = None

    def find(self, part: str | int) -> PositionedKey | None:
        """Return a field or item; a mapping's own fields precede merged ones, and earlier merges precede later ones."""
        found = self.fields.get(part)
        if found is not None:
            return found
        waiting, seen = [self], set()
        while waiting:
            node = waiting.pop()
            if part in node.fields and (node is self or not node.sequence):
                return node.fields[part]
            if id(node) not in seen:
                seen.add(id(node))
                merged = [field.value for field in node.fields.values()] if node.sequence else node.merges
                waiting.extend(reversed(merged if node is not self or not node.sequence else []))
        return None


class PositionTree(NamedTuple):
    """The values of the readable part of a text."""

    root: PositionNode | JsonNode
    read: int
    """The index at which the readable part ends."""


class _Reading(NamedTuple):
    """The values of a text's first document, of which as many are read as have been requested."""

    top: PositionNode
    """A list with the document's value; its `end` marks the progress."""
    rest: Iterator[None]
    """The rest of the text: each step adds the next value to its node."""
    json: JsonNode | None = None
    """The value of a large JSON text, which is read on demand by itself."""

    @property
    def root(self) -> PositionNode | JsonNode:
        """The document's value."""
        if self.json is not None:
            return self.json
        self.read(self.top, 0)
        return self.top.fields[0].value if self.top.fields else self.top

    def find(self, node: PositionNode | JsonNode, part: str | int) -> PositionedKey | JsonField | None:
        """Return a field or item of a value."""
        if isinstance(node, PositionNode):
            self.read(node, part)
            if node.merges and part not in node.fields:
                self.read(self.top)  # a merged mapping may be one that encloses this one
        return node.find(part)

    def read(self, node: PositionNode | JsonNode, part: str | int = _NEVER) -> None:
        """Read up to a field or item of a value; by default, to the value's end."""
        if isinstance(node, PositionNode) and node.open and part not in node.fields:
            with without_garbage_collection():
                for _ in self.rest:
                    if not node.open or part in node.fields:
                        break


def _walk(
    text: str, path: tuple[str | int, ...]
) -> tuple[PositionNode | JsonNode, PositionedKey | JsonField | None, bool]:
    """Return the deepest existing value on a path, its field, and whether the path ends there."""
    reading = _reading_of(text)
    node, field = reading.root, None
    for part in path:
        below = reading.find(node, part)
        if below is None:
            return node, field, False
        field, node = below, below.value
    reading.read(node)
    return node, field, True


def tree(text: str) -> PositionTree:
    """Return the values of a text's first document."""
    reading = _reading_of(text)
    root = reading.root
    reading.read(reading.top)
    return PositionTree(root, reading.top.end if reading.json is None else len(text))


@lru_cache(maxsize=4)
def _reading_of(text: str) -> _Reading:
    """Return the reading of a text."""
    top = PositionNode(0, sequence=True)
    if root := root_of_json(text):
        return _Reading(top, iter(()), root)
    # JSON writes characters beyond U+FFFF as two escapes, which YAML rejects: replaced by escapes of the same length.
    return _Reading(top, _fill(top, _SURROGATE_ESCAPE.sub(r"\\u0020", text)))


def _events(text: str, mark: int) -> Iterator[Event]:
    """Yield the events of a text's readable part, without its byte order mark.

    A rewritten text has the same length and the same events up to the rewritten string: it continues there.
    """
    read = 0
    for _ in rewritings(text):
        try:
            for event in islice(iter(events(text[mark:]), None), read, None):
                read += 1
                yield event
        except YAMLError as error:
            again = rewritten(text, error, quote="''")
            if again is not None:
                text = again
                continue
        except UnicodeEncodeError:
            pass  # a text with lone surrogates has no events
        return


def _fill(root: PositionNode, text: str) -> Iterator[None]:
    """Add the values of a text to its root, one in each step. The root's `end` marks the progress."""
    mark = text.startswith("\ufeff")
    anchors: dict[str | None, PositionNode] = {}
    names: dict[str | None, str] = {}
    stack = [root]
    for event in islice(_events(text, mark), MOST_EVENTS):
        node = stack[-1]
        if isinstance(event, ScalarEvent) and event.anchor is None:  # the most frequent case
            begin, root.end = start(event) + mark, end(event) + mark
            if node.sequence or node.key is not None:
                node.add(PositionNode(begin, root.end))
            else:
                node.key = _name(event), begin, root.end
        elif isinstance(event, NodeEvent):
            begin, root.end = start(event) + mark, end(event) + mark
            child = _node(event, begin, root.end)
            if isinstance(event, AliasEvent):
                child = anchors.get(event.anchor, child)
            elif event.anchor is not None:
                anchors[event.anchor] = child
                names[event.anchor] = event.value if isinstance(event, ScalarEvent) else ""
            if node.sequence or node.key is not None:
                node.add(child)
            else:
                name = _name(event) if isinstance(event, ScalarEvent) else names.get(event.anchor, "")
                node.key = name, begin, root.end
            if isinstance(event, CollectionStartEvent):
                stack.append(child)
                if len(stack) > _DEEPEST:
                    return
        elif isinstance(event, CollectionEndEvent):
            # A block's end event is at the next key; its last value ends before that.
            node.end = root.end = root.end if node.block else end(event) + mark
            node.open = False
            stack.pop()
        elif isinstance(event, DocumentEndEvent):
            if not text[end(event) + mark :].strip():
                root.end = len(text)
            return
        yield


def _node(event: NodeEvent, begin: int, last: int) -> PositionNode:
    if isinstance(event, CollectionStartEvent):
        return PositionNode(begin, last, sequence=isinstance(event, SequenceStartEvent), block=not event.flow_style)
    return PositionNode(begin, last)


def _name(event: ScalarEvent) -> str | None:
    """Return a key as JSON writes it; None for a merge key."""
    text = event.value
    if event.tag is None and (not event.implicit[0] or (text and text[0] not in HINTS and text != "<<")):
        return text
    if text == "<<" and (event.implicit[0] or event.tag == MERGE_TAG):
        return None
    try:
        value = tagged(event.tag, text) if event.tag is not None else plain_scalar(text) if event.implicit[0] else text
    except TagError:
        value = text
    return key_text(value) or text


class Lines:
    """The lines of a text, counted from 1."""

    __slots__ = ("_before", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        blocks = (text.count("\n", begin, begin + _BLOCK) for begin in range(0, len(text), _BLOCK))
        self._before = list(accumulate(blocks, initial=0))

    def __len__(self) -> int:
        return self._before[-1] + 1

    def position(self, index: int) -> tuple[int, int]:
        """Return the line of a character, and the index at which that line starts."""
        block = min(index // _BLOCK, len(self._before) - 1)
        line = self._before[block] + self._text.count("\n", block * _BLOCK, index) + 1
        return line, self._text.rfind("\n", 0, index) + 1

    def begin(self, line: int) -> int:
        """Return the index at which a line starts."""
        if line == 1:
            return 0
        block = bisect_left(self._before, line - 1) - 1
        index = block * _BLOCK
        for _ in range(line - 1 - self._before[block]):
            index = self._text.index("\n", index) + 1
        return index


@lru_cache(maxsize=4)
def lines(text: str) -> Lines:
    """Return the line lookup of a text."""
    return Lines(text)
