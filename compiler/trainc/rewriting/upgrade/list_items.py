"""The items of a List as separate texts: an upgrade then reads each item, instead of the List for each item.

Reads    the text of a List and the path of an item.
Returns  the item's text without its indentation, or None if the text cannot be separated. Raises YAMLError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.source.source_text import MappingNode, indentation, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path


class ListItem(NamedTuple):
    """The lines of an item, and its text."""

    first: int
    last: int
    column: int
    text: str


def cut(text: str, within: Path) -> ListItem | None:
    """Return an item in block style that has no alias of an anchor outside of it."""
    read = parsed(text)
    found = read.field(within)
    if found is None or found.key is not None or found.flow or read.has_alias(found):
        return None
    node = found.value
    if not isinstance(node, MappingNode) or node.flow_style or not node.value:
        return None
    start, column = node.start_mark, node.start_mark.column
    if read.lines[start.line][:column].strip() != "-" or start.index != node.value[0][0].start_mark.index:
        return None  # several dashes, an anchor or a tag
    last = read.last_line(found)
    while last + 1 < len(read.lines) and _is_comment(read.lines[last + 1], column):
        last += 1
    below = read.lines[start.line + 1 : last + 1]
    if any(line.strip() and indentation(line) < column for line in below):
        return None
    return ListItem(start.line, last, column, "\n".join(line[column:] for line in (read.lines[start.line], *below)))


def _is_comment(line: str, column: int) -> bool:
    return line.lstrip(" ").startswith("#") and indentation(line) >= column


def pasted(text: str, items: Iterable[tuple[ListItem, str]]) -> str:
    """Return the List with new texts of items, which are in the order of the List."""
    old = text.split("\n")
    lines: list[str] = []
    end = 0
    for item, new in items:
        first, *below = new.split("\n")
        lines += (*old[end : item.first], old[item.first][: item.column] + first)
        lines += (" " * item.column + line if line.strip() else line for line in below)
        end = item.last + 1
    return "\n".join((*lines, *old[end:]))
