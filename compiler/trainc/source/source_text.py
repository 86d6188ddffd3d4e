"""The text of a YAML document with its nodes: the lines and comments of each field.

Reads    a valid text.
Returns  nodes by path, lines, comments. An alias is the node of its anchor. Raises YAMLError.

libyaml also ends lines at NEL, LS and PS, where YAML 1.2 has no line break. The lines here are those of "\\n".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    YAMLError,
    end,
    events,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.kubernetes.trees import Path


_COMMENT: Final = re.compile(r"(?:^|(?<=[ \t]))#[^\n]*")


class Comment(NamedTuple):
    """A comment with its 0-based line; `alone` if nothing else is on that line."""

    line: int
    column: int
    text: str
    alone: bool


class TextField(NamedTuple):
    """A field of a mapping, or, without key, an item of a list."""

    key: TextNode | None
    value: TextNode
    flow: bool
    """Whether it is in a flow collection."""


class Text:
    """A document, parsed once. Raises YAMLError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.root = compose(text)

    @cached_property
    def starts(self) -> list[int]:
        """The index of the first character of each line."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def field(self, path: Path) -> TextField | None:
        """Return the field at a path, if the text has it."""
        found = TextField(None, self.root, flow=False)
        for step in path:
            node = found.value
            flow = bool(getattr(node, "flow_style", False))
            if isinstance(step, int):
                items = node.value if isinstance(node, SequenceNode) else []
                if step >= len(items) or self._is_alias(node, items[step]):
                    return None
                found = TextField(None, items[step], flow)
            else:
                pairs = node.value if isinstance(node, MappingNode) else []
                pair = next(((key, value) for key, value in pairs if key.value == step), None)
                if pair is None or self._is_alias(node, pair[0]):
                    return None
                found = TextField(pair[0], pair[1], flow)
        return found

    def _is_alias(self, parent: TextNode, child: TextNode) -> bool:
        """Return whether a child starts before its parent, so that an alias refers to it."""
        return bool(child.start_mark.index < parent.start_mark.index)

    def is_alias(self, field: TextField) -> bool:
        """Return whether the value is an alias."""
        return field.key is not None and field.value.start_mark.index < field.key.end_mark.index

    def has_alias(self, field: TextField) -> bool:
        """Return whether the value is or contains an alias."""
        begin = field.value.start_mark.index
        return self.is_alias(field) or any(node.start_mark.index < begin for node in _nodes(field.value))

    def last_line(self, field: TextField) -> int:
        """Return the last line of a field, without comments below it."""
        if field.key is not None and (
            self.is_alias(field) or field.value.start_mark.index == field.value.end_mark.index
        ):
            return int(field.key.end_mark.line)
        return self._end(field.value)

    def _end(self, node: TextNode) -> int:
        if isinstance(node, ScalarNode) and node.style in ("|", ">"):
            written = self.text[node.start_mark.index : node.end_mark.index].rstrip("\n ")
            return int(node.start_mark.line) + written.count("\n")
        if isinstance(node, MappingNode) and not node.flow_style:
            key, value = node.value[-1]
            return self.last_line(TextField(key, value, flow=False))
        if isinstance(node, SequenceNode) and not node.flow_style and not self._is_alias(node, node.value[-1]):
            return self._end(node.value[-1])
        if isinstance(node, SequenceNode) and not node.flow_style:
            return int(node.end_mark.line) - 1  # the last item is an alias, and the node ends at the next token
        return int(node.end_mark.line)

    def region(self, field: TextField) -> range:
        """Return the lines of a block mapping's field, with its comments above and inside."""
        assert field.key is not None
        first, column = int(field.key.start_mark.line), int(field.key.start_mark.column)
        while first and (above := self.lines[first - 1]).lstrip(" ").startswith("#") and indentation(above) == column:
            first -= 1
        last = self.last_line(field) + 1
        while (
            last < len(self.lines)
            and (below := self.lines[last]).lstrip(" ").startswith("#")
            and indentation(below) > column
        ):
            last += 1
        return range(first, last)

    def _content(self, node: ScalarNode) -> int:
        """Return the index at which the text of a scalar begins: below its header, which may have a comment."""
        begin = int(node.start_mark.index)
        return self.text.index("\n", begin) if node.style in ("|", ">") else begin

    @cached_property
    def comments(self) -> list[Comment]:
        """All comments: texts from a `#` outside of scalars."""
        scalars = (node for node in _nodes(self.root) if isinstance(node, ScalarNode))
        spans = sorted((self._content(node), int(node.end_mark.index)) for node in scalars)
        starts = [start for start, _ in spans]
        found, offset = [], 0
        for number, line in enumerate(self.lines):
            for match in _COMMENT.finditer(line):
                index = offset + match.start()
                at = bisect_right(starts, index) - 1
                if at < 0 or index >= spans[at][1]:
                    found.append(Comment(number, match.start(), match[0].rstrip(), not line[: match.start()].strip()))
                    break
            offset += len(line) + 1
        return found


@lru_cache(maxsize=4)
def parsed(text: str) -> Text:
    """Return a text's nodes. The steps of an upgrade read the same few texts, so the last ones are kept.

    Raises YAMLError.
    """
    return Text(text)


def _nodes(node: TextNode) -> Iterator[TextNode]:
    """Yield a node and all nodes below it, each once."""
    waiting, seen = [node], set()
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            if isinstance(node, MappingNode):
                waiting += [part for pair in node.value for part in pair]
            elif isinstance(node, SequenceNode):
                waiting += node.value


def without_anchors(lines: list[str]) -> list[str]:
    """Return the lines of a block mapping without its anchors. Raises YAMLError."""
    text = "\n".join(lines)
    for anchor in reversed(list(anchors_in(text))):
        before, after = text[: anchor.start], text[anchor.stop :]
        text = before + after.lstrip(" ") if after.strip(" ")[:1] not in ("", "\n") else before.rstrip(" ") + after
    return text.split("\n")


def indentation(line: str) -> int:
    """Return the number of spaces at the start of a line."""
    return len(line) - len(line.lstrip(" "))


def shifted(lines: list[str], by: int) -> list[str]:
    """Return lines with their indentation changed by a number of spaces."""
    return [line if not line.strip() else " " * max(indentation(line) + by, 0) + line.lstrip(" ") for line in lines]


class TextMark:
    """A position: 0-based indices of the character, its line, and its column."""

    __slots__ = ("column", "index", "line")

    def __init__(self, index: int, line: int, column: int) -> None:
        self.index = index
        self.line = line
        self.column = column


class TextNode:
    """A value of a text, from its anchor or tag to its end."""

    __slots__ = ("end_mark", "start_mark", "value")
    value: Any

    def __init__(self, first: TextMark, last: TextMark) -> None:
        self.start_mark = first
        self.end_mark = last


class ScalarNode(TextNode):
    """A scalar; `style` is `|`, `>` or another one."""

    __slots__ = ("style",)
    value: str

    def __init__(self, first: TextMark, last: TextMark, value: str, style: str | None) -> None:
        super().__init__(first, last)
        self.value = value
        self.style = style


class _CollectionNode(TextNode):
    __slots__ = ("flow_style",)

    def __init__(self, first: TextMark, last: TextMark, *, flow_style: bool) -> None:
        super().__init__(first, last)
        self.value = []
        self.flow_style = flow_style


class SequenceNode(_CollectionNode):
    """A list."""

    __slots__ = ()
    value: list[TextNode]


class MappingNode(_CollectionNode):
    """A mapping, with its keys and values in the order of the text."""

    __slots__ = ()
    value: list[tuple[TextNode, TextNode]]


def compose(text: str) -> TextNode:
    """Return the root node of a document's text. Raises YAMLError."""
    following = events(text)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def mark(index: int) -> TextMark:
        line = bisect_right(starts, index) - 1
        return TextMark(index, line, index - starts[line])

    anchors: dict[str, TextNode] = {}
    while (event := following()) is not None:
        if isinstance(event, NodeEvent):
            return _node(event, following, mark, anchors)
    raise YAMLError("the document is empty")


def _node(
    event: NodeEvent,
    following: Callable[[], Event | None],
    mark: Callable[[int], TextMark],
    anchors: dict[str, TextNode],
) -> TextNode:
    if isinstance(event, AliasEvent):
        if event.anchor not in anchors:
            raise YAMLError(f"found undefined alias {event.anchor}")
        return anchors[event.anchor]
    first, last = mark(start(event)), mark(end(event))
    node: ScalarNode | SequenceNode | MappingNode
    if isinstance(event, ScalarEvent):
        node = ScalarNode(first, last, event.value, event.style)
    elif isinstance(event, SequenceStartEvent):
        node = SequenceNode(first, last, flow_style=bool(event.flow_style))
    else:
        assert isinstance(event, MappingStartEvent)
        node = MappingNode(first, last, flow_style=bool(event.flow_style))
    if event.anchor is not None:
        anchors[event.anchor] = node
    if isinstance(event, CollectionStartEvent):
        children: list[TextNode] = []
        while isinstance(child := following(), NodeEvent):
            children.append(_node(child, following, mark, anchors))
        assert isinstance(child, CollectionEndEvent)
        node.end_mark = mark(end(child))
        if isinstance(node, MappingNode):
            node.value = list(zip(children[::2], children[1::2], strict=True))
        elif isinstance(node, SequenceNode):
            node.value = children
    return node


def anchors_in(text: str) -> Iterator[range]:
    """Yield the places of the anchors in a text. Raises YAMLError."""
    following = events(text)
    while (event := following()) is not None:
        if isinstance(event, NodeEvent) and not isinstance(event, AliasEvent) and event.anchor is not None:
            at = text.index(f"&{event.anchor}", start(event))  # a tag may precede it
            yield range(at, at + 1 + len(event.anchor))
