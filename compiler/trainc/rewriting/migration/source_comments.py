"""The comments of a document, each at the field, the item or the block that it describes.

Reads    the nodes of a text.
Returns  its comments: behind a field on its line, above the next field, or at the end of a block, to which a comment
         belongs that is indented as its fields are and deeper than the next field. A commented-out item at the column
         of the next field is at the end of the list before it. Lines without a blank one between them are one comment.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.records import NamedTuple
from trainc.source.source_text import MappingNode, ScalarNode, SequenceNode, indentation, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.source.source_text import Text, TextNode

Spot = tuple[int, str | int]
"""A field or an item: the identity of its mapping or list, and its key or index."""
_COMMENTED_OUT: Final = re.compile(r"# ?(?:(-) |([a-z][A-Za-z0-9]*):(?: |$))")
_MARGIN: Final = re.compile(r"#( {2,})")


class SourceField(NamedTuple):
    """A field of a mapping or an item of a list, in block style."""

    line: int
    column: int
    parent: TextNode
    key: str | int
    value: TextNode
    blocks: tuple[tuple[TextNode, int], ...]
    """The blocks that it is in, outer ones first, each with the column of its fields."""

    @property
    def spot(self) -> Spot:
        """Its identity."""
        return id(self.parent), self.key


class SourceComment(NamedTuple):
    """A comment of one or more lines."""

    line: int
    """Its first 0-based line."""
    texts: tuple[str, ...]
    """Its lines from the mark on; empty for blank lines."""
    blanks: int
    """The blank lines above it."""
    place: Literal["above", "behind", "inside", "last"]
    """Above, behind or between the lines of a field; or the last lines of a block."""
    block: TextNode
    """The block that it is in."""
    field: SourceField | None
    """The field that it describes; for the last lines of a block, the next field."""
    column: int = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines, and the blank ones above it."""
        return (*[""] * self.blanks, *self.texts)

    @property
    def commented_out(self) -> str:
        """The name of a commented-out field, `-` for an item; empty for another comment."""
        found = next(filter(None, map(_COMMENTED_OUT.match, self.texts)), None) if self.place != "behind" else None
        return (found[1] or found[2]) if found else ""


class SourceComments(NamedTuple):
    """The fields of a document in the order of their lines, and its comments."""

    fields: tuple[SourceField, ...]
    comments: tuple[SourceComment, ...]

    def part(self, node: TextNode) -> SourceComments:
        """Return those of a node, without those behind its aliases."""
        first, last = int(node.start_mark.line), int(node.end_mark.line) + 1
        fields = [
            each for each in _lines_of(self.fields, first, last) if any(block is node for block, _ in each.blocks)
        ]
        blocks = {id(field.parent) for field in fields}
        comments = (each for each in _lines_of(self.comments, first, last) if id(each.block) in blocks)
        return SourceComments(tuple(fields), tuple(comments))


def _lines_of(places: Sequence[Any], first: int, last: int) -> Sequence[Any]:
    begin = bisect_left(places, first, key=_line)
    return places[begin : bisect_left(places, last, key=_line)]


def _line(place: SourceField | SourceComment) -> int:
    return place.line


@lru_cache(maxsize=4)
def source_comments(text: str) -> SourceComments:
    """Return the comments of a text. Raises YAMLError."""
    read = parsed(text)
    fields = sorted(_fields(read, read.root, (), set()), key=lambda field: (field.line, field.column))
    found = sorted(_comments(read, fields), key=lambda comment: comment.line)
    return SourceComments(tuple(fields), tuple(found))


def _fields(
    read: Text, node: TextNode, blocks: tuple[tuple[TextNode, int], ...], seen: set[int]
) -> Iterator[SourceField]:
    """Yield the fields and items of the blocks of a node, each once; those of an alias are at its anchor."""
    if id(node) in seen or getattr(node, "flow_style", True) or not node.value:
        return
    seen.add(id(node))
    if isinstance(node, MappingNode):
        column = int(node.value[0][0].start_mark.column)
        blocks = (*blocks, (node, column))
        for key, value in node.value:
            yield SourceField(int(key.start_mark.line), column, node, str(key.value), value, blocks)
            yield from _fields(read, value, blocks, seen)
    elif isinstance(node, SequenceNode):
        line, column = _dash(read, node.value[0])
        blocks = (*blocks, (node, column))
        for index, value in enumerate(node.value):
            if value.start_mark.index >= node.start_mark.index:  # no alias
                line, _ = _dash(read, value)
                yield SourceField(line, column, node, index, value, blocks)
                yield from _fields(read, value, blocks, seen)


def _dash(read: Text, item: TextNode) -> tuple[int, int]:
    """Return the line and the column of the dash of an item: the last one before it."""
    line, end = int(item.start_mark.line), int(item.start_mark.column)
    while line and read.lines[line][:end].strip(" -"):
        line, end = line - 1, 0
    while line and "-" not in read.lines[line][: end or None]:
        line, end = line - 1, 0
    return line, max(read.lines[line].rfind("-", 0, end or None), 0)


def _comments(read: Text, fields: Sequence[SourceField]) -> Iterator[SourceComment]:
    alone = {comment.line: comment.column for comment in read.comments if comment.alone}
    placed: set[int] = set()
    for before, after in zip((None, *fields), (*fields, None), strict=True):
        gap = _gap(read, alone, before, after)
        placed.update(gap)
        yield from _in_gap(read, alone, gap, before, after)
    index = 0
    for comment in read.comments:
        while index + 1 < len(fields) and fields[index + 1].line <= comment.line:
            index += 1
        if comment.line not in placed:
            field = fields[index]
            is_behind = not comment.alone and comment.line == _last_line(field)
            margin = read.lines[comment.line][: comment.column]
            text = margin[len(margin.rstrip()) :] + comment.text
            place: Literal["behind", "inside"] = "behind" if is_behind else "inside"
            yield SourceComment(comment.line, (text,), 0, place, field.parent, field)


def _last_line(field: SourceField) -> int:
    """Return the line of a field with the comment behind it: the last one of a value without fields of its own."""
    value = field.value
    if isinstance(value, ScalarNode):
        is_block = value.style in ("|", ">")
    else:
        is_block = not getattr(value, "flow_style", True)
    is_elsewhere = value.start_mark.index == value.end_mark.index or value.start_mark.line < field.line
    return field.line if is_block or is_elsewhere else int(value.end_mark.line)


def _gap(read: Text, alone: dict[int, int], before: SourceField | None, after: SourceField | None) -> list[int]:
    """Return the lines of comments and the blank lines directly above a field, or at the end of the text."""
    first = 0 if before is None else before.line + 1
    if before is not None and isinstance(before.value, ScalarNode) and before.value.style in ("|", ">"):
        header = read.text[before.value.start_mark.index :].partition("\n")[0]
        if "+" in header.partition("#")[0]:  # its value ends with blank lines
            first = max(first, int(before.value.end_mark.line))
    end = line = len(read.lines) - read.text.endswith("\n") if after is None else after.line
    while line > first and (line - 1 in alone or not read.lines[line - 1].strip()):
        line -= 1
    return [*range(line, end)]


def _in_gap(
    read: Text, alone: dict[int, int], gap: Sequence[int], before: SourceField | None, after: SourceField | None
) -> Iterator[SourceComment]:
    """Yield the comments between two fields: first those at the end of inner blocks, then those above a field."""
    runs: list[tuple[int, list[int]]] = []
    blanks = 0
    for number in gap:
        if number not in alone:
            blanks += 1
        elif runs and not blanks and _continues(read.lines[runs[-1][1][0]], read.lines[number]):
            runs[-1][1].append(number)
        else:
            runs.append((blanks, [number]))
            blanks = 0
    kept = set() if after is None else {id(block) for block, _ in after.blocks}
    closed = [each for each in (before.blocks[::-1] if before is not None else ()) if id(each[0]) not in kept]
    for above, lines in runs:
        column = alone[lines[0]]
        texts = tuple(" " * (alone[line] - column) + read.lines[line].strip() for line in lines)
        if not column and (after is None or after.column or closed[:-1]):
            column, texts = _without_margin(texts)
        found = SourceComment(lines[0], texts, above, "above", read.root, after, column)
        while closed and not _is_in(found, closed[0], after):
            closed = closed[1:]
        if closed:
            yield found._replace(place="last", block=closed[0][0])
        elif after is not None:
            yield found._replace(block=after.parent)
    if blanks and after is not None:
        yield SourceComment(gap[-1], (), blanks, "above", after.parent, after)


def _continues(first: str, line: str) -> bool:
    """Return whether a line directly below a comment belongs to it: below a commented-out field, if it is deeper."""
    column, below = indentation(first), indentation(line)
    if _COMMENTED_OUT.match(first[column:]) and not _deeper(first[column:], line[below:]):
        return False
    return column == below or 0 < column < below


def _deeper(first: str, line: str) -> bool:
    return len(line) - len(line[1:].lstrip()) > len(first) - len(first[1:].lstrip())


def _without_margin(texts: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """Return the lines of a comment whose mark is in column 0 with the mark at their text, and the column of that."""
    margin = min((len(found[1]) for text in texts if (found := _MARGIN.match(text))), default=0)
    if not margin or not all(map(_MARGIN.match, texts)):
        return 0, texts
    return margin + 1, tuple(f"# {text[margin + 1 :]}" for text in texts)


def _is_in(comment: SourceComment, block: tuple[TextNode, int], after: SourceField | None) -> bool:
    """Return whether a comment is one of the last lines of a block that ends before the next field."""
    node, own = block
    column, is_list = comment.column, isinstance(node, SequenceNode)
    if column == own and is_list and comment.commented_out not in ("", "-"):
        return False  # a field of the mapping that has the list at the column of its keys
    if after is None or column > after.column:
        return column >= own
    return column == own == after.column and is_list and comment.commented_out == "-"
