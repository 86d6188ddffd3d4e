"""The nodes of a YAML text with their positions.

Reads    a valid text.
Returns  its root node. An alias is the node of its anchor, at the position of the anchor. Raises YAMLError.

libyaml also ends lines at NEL, LS and PS, where YAML 1.2 has no line break. The lines here are those of "\\n".
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

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


class SequenceNode(TextNode):
    """A list."""

    __slots__ = ("flow_style",)
    value: list[TextNode]

    def __init__(self, first: TextMark, last: TextMark, *, flow_style: bool) -> None:
        super().__init__(first, last)
        self.value = []
        self.flow_style = flow_style


class MappingNode(TextNode):
    """A mapping, with its keys and values in the order of the text."""

    __slots__ = ("flow_style",)
    value: list[tuple[TextNode, TextNode]]

    def __init__(self, first: TextMark, last: TextMark, *, flow_style: bool) -> None:
        super().__init__(first, last)
        self.value = []
        self.flow_style = flow_style


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
