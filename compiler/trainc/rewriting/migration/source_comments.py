"""The comments of a document, each at the field or the list item that it describes.

Reads    a document that ruamel.yaml has parsed for a round trip. ruamel.yaml keeps a comment above a field with the
         field before it, wherever that one is.
Returns  the comments above each field and behind it on its line, so that they can move with the field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.tokens import CommentToken

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Spot = tuple[int, Any]
"""A field or an item: the identity of its mapping or list, and its key or index."""


class CommentLine(NamedTuple):
    """A line of a comment."""

    number: int
    """The 0-based line of the document."""
    text: str
    """The text without the mark; empty for a blank line."""
    behind: bool
    """Whether it follows a value on its line."""


class SourceComments:
    """The comments of a document."""

    def __init__(self, root: Any) -> None:
        self.above: dict[Spot, list[str]] = {}
        self.behind: dict[Spot, str] = {}
        self.last: list[str] = []
        """The comments after the last field."""
        self.used: set[Spot] = set()
        """The fields whose comments are in a new document."""
        self._assign(sorted(_lines(root)), sorted(_spots(root), key=lambda spot: spot[0]))

    def _assign(self, lines: Iterable[CommentLine], spots: list[tuple[tuple[int, int], Spot]]) -> None:
        at = 0
        for line in lines:
            while at < len(spots) and spots[at][0][0] < line.number:
                at += 1
            if line.behind:
                same = [spot for position, spot in spots if position[0] <= line.number]
                if same:
                    self.behind.setdefault(same[-1], line.text)
            elif at < len(spots):
                self.above.setdefault(spots[at][1], []).append(line.text)
            else:
                self.last.append(line.text)

    def unused_texts(self) -> Iterator[str]:
        """Yield the comments of the fields that no new document has, without repeated ones."""
        known = {text for spot in self.used for text in (*self.above.get(spot, ()), self.behind.get(spot, ""))}
        for spot in dict.fromkeys((*self.above, *self.behind)):
            if spot not in self.used:
                for text in (*self.above.get(spot, ()), *filter(None, [self.behind.get(spot)])):
                    if text not in known:
                        known.add(text)
                        yield text


def _lines(root: Any) -> Iterator[CommentLine]:
    seen: set[int] = set()
    for token in _tokens(root, seen):
        number = int(token.start_mark.line)
        for offset, text in enumerate(str(token.value).split("\n")):
            if mark := text.strip():
                yield CommentLine(
                    number + offset, mark.removeprefix("#").removeprefix(" "), offset == 0 and _is_behind(token)
                )


def _is_behind(token: Any) -> bool:
    """Return whether a comment follows a value: ruamel.yaml's own comments begin with the line break otherwise."""
    buffer, pointer = token.start_mark.buffer, token.start_mark.pointer
    if buffer is None:
        return int(token.start_mark.column) > 0
    begin = buffer.rfind("\n", 0, pointer) + 1
    return bool(buffer[begin:pointer].strip())


def _tokens(node: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the comment tokens of a tree, each once."""
    if isinstance(node, CommentToken):
        if id(node) not in seen:
            seen.add(id(node))
            yield node
    elif isinstance(node, list) and not isinstance(node, CommentedSeq):
        for item in node:
            yield from _tokens(item, seen)
    elif isinstance(node, CommentedMap | CommentedSeq) and id(node) not in seen:
        seen.add(id(node))
        for found in (node.ca.comment, node.ca.end, *node.ca.items.values()):
            yield from _tokens(found, seen)
        for child in node.values() if isinstance(node, CommentedMap) else node:
            yield from _tokens(child, seen)
    comment = getattr(node, "comment", None)
    if comment is not None and not isinstance(node, CommentToken | CommentedMap | CommentedSeq):
        yield from _tokens(comment if isinstance(comment, list) else [comment], seen)


def _spots(node: Any) -> Iterator[tuple[tuple[int, int], Spot]]:
    """Yield the position of each field and item, outer ones first; those on one line, in brackets, have no comments."""
    if isinstance(node, CommentedMap | CommentedSeq) and node.fa.flow_style():
        return
    if isinstance(node, CommentedMap):
        for key in node:
            if key in (node.lc.data or {}):
                yield node.lc.key(key), (id(node), key)
                yield from _spots(node[key])
    elif isinstance(node, CommentedSeq):
        for index, item in enumerate(node):
            if index in (node.lc.data or {}):
                yield node.lc.item(index), (id(node), index)
                yield from _spots(item)
