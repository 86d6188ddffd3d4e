"""The text of a YAML document with its nodes: which lines a field takes, and which comments stand among them.

Reads    a text that can be read.
Returns  nodes by path, lines, comments. What is not a node of the text itself (behind an alias or a merge) has none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path

_COMMENT: Final = re.compile(r"(?:^|(?<=[ \t]))#[^\n]*")


class Comment(NamedTuple):
    """A comment, and the 0-based line on which it stands; `alone` when nothing else does."""

    line: int
    column: int
    text: str
    alone: bool


class Field(NamedTuple):
    """A field of a mapping, or (without key) an item of a list."""

    key: ScalarNode | None
    value: Node
    flow: bool
    """Whether it stands between brackets."""


class Text:
    """A document, read once. Raises ruamel.yaml.error.YAMLError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.root = YAML(typ="safe", pure=True).compose(text)

    def field(self, path: Path) -> Field | None:
        """The field at a path, if the text has it."""
        found = Field(None, self.root, flow=False)
        for step in path:
            node = found.value
            flow = bool(getattr(node, "flow_style", False))
            if isinstance(step, int):
                items = node.value if isinstance(node, SequenceNode) else []
                if step >= len(items) or self._elsewhere(node, items[step]):
                    return None
                found = Field(None, items[step], flow)
            else:
                pairs = node.value if isinstance(node, MappingNode) else []
                pair = next(((key, value) for key, value in pairs if key.value == step), None)
                if pair is None or self._elsewhere(node, pair[0]):
                    return None
                found = Field(pair[0], pair[1], flow)
        return found

    def _elsewhere(self, parent: Node, child: Node) -> bool:
        """Whether a child is written before its parent, so that it is there by an alias."""
        return bool(child.start_mark.index < parent.start_mark.index)

    def is_alias(self, field: Field) -> bool:
        """Whether the value is written elsewhere."""
        return field.key is not None and field.value.start_mark.index < field.key.end_mark.index

    def has_alias(self, field: Field) -> bool:
        """Whether some of the value is written elsewhere."""
        begin = field.value.start_mark.index
        return self.is_alias(field) or any(node.start_mark.index < begin for node in _nodes(field.value))

    def last_line(self, field: Field) -> int:
        """The last line on which something of a field stands that is no comment."""
        if field.key is not None and (
            self.is_alias(field) or field.value.start_mark.index == field.value.end_mark.index
        ):
            return int(field.key.end_mark.line)
        return self._end(field.value)

    def _end(self, node: Node) -> int:
        if isinstance(node, ScalarNode) and node.style in ("|", ">"):
            written = self.text[node.start_mark.index : node.end_mark.index].rstrip("\n ")
            return int(node.start_mark.line) + written.count("\n")
        if isinstance(node, MappingNode) and not node.flow_style:
            key, value = node.value[-1]
            return self.last_line(Field(key, value, flow=False))
        if isinstance(node, SequenceNode) and not node.flow_style and not self._elsewhere(node, node.value[-1]):
            return self._end(node.value[-1])
        if isinstance(node, SequenceNode) and not node.flow_style:
            return int(node.end_mark.line) - 1  # the last item is an alias: up to what comes next
        return int(node.end_mark.line)

    def region(self, field: Field) -> range:
        """All lines of a field of a block mapping, with the comments above that belong to it, and those inside."""
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

    @cached_property
    def comments(self) -> list[Comment]:
        """All comments: what begins with a `#` that is in no scalar."""
        scalars = (node for node in _nodes(self.root) if isinstance(node, ScalarNode))
        spans = sorted((int(node.start_mark.index), int(node.end_mark.index)) for node in scalars)
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


def _nodes(node: Node) -> Iterator[Node]:
    """A node and all below it, each once."""
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


def indentation(line: str) -> int:
    """How many spaces a line begins with."""
    return len(line) - len(line.lstrip(" "))


def shifted(lines: list[str], by: int) -> list[str]:
    """Lines with more spaces in front, or fewer."""
    return [line if not line.strip() else " " * max(indentation(line) + by, 0) + line.lstrip(" ") for line in lines]
