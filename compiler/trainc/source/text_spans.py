"""The replacements of characters in a YAML text that rename, replace, remove or add a field in its own style.

Reads    the nodes of a text, and the path of a field or an item.
Returns  replacements. Raises NoEditError for a field that is behind an alias or a merge key, or whose text cannot be
         changed in place.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import flow
from trainc.base.records import NamedTuple
from trainc.emit.yaml import inline, render
from trainc.source.source_text import MappingNode, ScalarNode, SequenceNode, TextField, indentation, shifted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.kubernetes.trees import Path
    from trainc.source.source_text import Text, TextNode

_SPECIAL: Final = frozenset("&*!|>?")
"""The first characters of a node that is not only its value: an anchor, an alias, a tag, a block scalar."""
FLOW_SYNTAX: Final = frozenset(",[]{}")


class NoEditError(Exception):
    """The text cannot be changed in place."""


class TextSpan(NamedTuple):
    """A replacement in a document's text, by indices."""

    begin: int
    end: int
    text: str


def with_spans(text: str, spans: Iterable[TextSpan]) -> str:
    """Return the text with replacements that do not overlap."""
    for span in sorted(spans, reverse=True):
        text = text[: span.begin] + span.text + text[span.end :]
    return text


def written_field(read: Text, path: Path) -> TextField:
    """Return a field whose value is written in place."""
    field = read.field(path)
    if field is None or read.has_alias(field):
        raise NoEditError
    for node in (field.key, field.value):
        if node is not None and read.text[node.start_mark.index : node.start_mark.index + 1] in _SPECIAL:
            raise NoEditError
    return field


def renamed(read: Text, path: Path, field: TextField, name: str) -> TextSpan:
    """Return the replacement of a key by another one, which its mapping does not have."""
    parent = read.field(path[:-1])
    if field.key is None or parent is None or name in keys(parent):
        raise NoEditError
    begin, end = field.key.start_mark.index, field.key.end_mark.index
    return TextSpan(begin, end, scalar_text(name, read.text[begin:end], flow_style=field.flow))


def keys(mapping: TextField) -> list[str]:
    """Return the keys of a mapping."""
    if not isinstance(mapping.value, MappingNode):
        raise NoEditError
    return [str(key.value) for key, _ in mapping.value.value]


def scalar_text(value: Any, old: str, *, flow_style: bool) -> str:
    """Return a scalar as text, in the quotes of the old one if it is a string."""
    if "\n" in old:
        raise NoEditError
    if not isinstance(value, str):
        return json.dumps(value)
    if old.startswith('"'):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if old.startswith("'") and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    text = inline(value)
    return json.dumps(value) if flow_style and FLOW_SYNTAX & set(text) and text[:1] not in "\"'" else text


def replaced(read: Text, field: TextField, value: Any) -> TextSpan:
    """Return the replacement of a value by another one."""
    begin, end = field.value.start_mark.index, field.value.end_mark.index
    old = read.text[begin:end]
    if isinstance(field.value, ScalarNode) and not isinstance(value, dict | list):
        return TextSpan(begin, end, scalar_text(value, old if old[:1] in "\"'" else "", flow_style=field.flow))
    if isinstance(value, dict) and (item := _only_item(field.value, value)) is not None:
        if not getattr(field.value, "flow_style", False):
            return TextSpan(begin, begin + 1, " ")  # the dash
        return TextSpan(begin, end, read.text[item.start_mark.index : item.end_mark.index])
    if "\n" not in old and not _has_marks(old):
        in_json = is_quoted(read, field)
        return TextSpan(begin, end, json.dumps(value, ensure_ascii=False) if in_json else flow(value))
    return _as_block(read, field, value)


def _only_item(node: TextNode, value: dict[str, Any]) -> MappingNode | None:
    """Return the only item of a list, if it is a mapping with the keys of a value, which takes the list's place."""
    if not isinstance(node, SequenceNode) or len(node.value) != 1 or not isinstance(item := node.value[0], MappingNode):
        return None
    return item if [key.value for key, _ in item.value] == [*value] else None


def _as_block(read: Text, field: TextField, value: Any) -> TextSpan:
    """Return the replacement of a mapping or list of several lines in block style, which has no comments."""
    node = field.value
    if isinstance(node, ScalarNode) or getattr(node, "flow_style", True) or not isinstance(value, dict | list):
        raise NoEditError
    first, last = int(node.start_mark.line), read.last_line(field)
    begin, column = node.start_mark.index, int(node.start_mark.column)
    end = end_of_line(read, last)
    if has_comment(read, begin, end) or _has_marks(read.text[begin:end]) or not read.lines[first][:column].isspace():
        raise NoEditError
    newline = "\r\n" if "\r\n" in read.text else "\n"
    lines = render([value] if isinstance(value, dict) else [{"v": value}]).rstrip("\n").split("\n")
    if isinstance(value, list):
        lines = shifted(lines[1:], -indentation(lines[1]))
    tail = "\r" if read.text[end - 1 : end] == "\r" else ""
    return TextSpan(begin, end, newline.join([lines[0], *shifted(lines[1:], column)]) + tail)


def _has_marks(text: str) -> bool:
    """Return whether a text may have an anchor, an alias or a tag."""
    return any(character in text for character in "&*!")


def has_comment(read: Text, begin: int, end: int) -> bool:
    """Return whether a range of characters has a comment."""
    if "#" not in read.text[begin:end]:
        return False
    return any(begin <= read.starts[comment.line] + comment.column < end for comment in read.comments)


def end_of_line(read: Text, line: int) -> int:
    """Return the index of the line break that ends a line."""
    return read.starts[line + 1] - 1


def is_quoted(read: Text, field: TextField) -> bool:
    """Return whether the text of a field is JSON: its keys are in double quotes."""
    key = field.key
    return read.text.lstrip()[:1] in "{[" and (key is None or read.text[key.start_mark.index] == '"')


def removed(read: Text, path: Path, field: TextField) -> TextSpan:
    """Return the removal of a field or an item that has no comment."""
    parent = read.field(path[:-1])
    if parent is None:
        raise NoEditError
    if len(parent.value.value) == 1:
        return emptied(read, parent)
    nodes = [each[0] if isinstance(each, tuple) else each for each in parent.value.value]
    own = field.key or field.value
    index = next(number for number, node in enumerate(nodes) if node is own)
    if index + 1 < len(nodes):
        begin, end = own.start_mark.index, nodes[index + 1].start_mark.index
        if not field.flow and field.key is None:  # both items keep their dashes
            dash = read.text.index("-", read.starts[int(nodes[index + 1].start_mark.line)])
            begin, end = read.text.rindex("-", 0, begin), dash
    elif field.flow:
        before = parent.value.value[index - 1]
        begin = (before[1] if isinstance(before, tuple) else before).end_mark.index
        end = field.value.end_mark.index
    else:
        begin = read.starts[int(own.start_mark.line)] - 1
        end = end_of_line(read, read.last_line(field))
    if has_comment(read, begin, end):
        raise NoEditError
    return TextSpan(begin, end, "")


def emptied(read: Text, parent: TextField) -> TextSpan:
    """Return the replacement of a mapping or list with one field or item by an empty one."""
    empty = "{}" if isinstance(parent.value, MappingNode) else "[]"
    begin, end = parent.value.start_mark.index, parent.value.end_mark.index
    if not getattr(parent.value, "flow_style", False):
        if parent.key is None or parent.flow:
            raise NoEditError
        begin, end, empty = parent.key.end_mark.index, end_of_line(read, read.last_line(parent)), f": {empty}"
        end -= read.text[end - 1 : end] == "\r"
    if has_comment(read, begin, end):
        raise NoEditError
    return TextSpan(begin, end, empty)


def added(read: Text, path: Path, value: Any) -> TextSpan:
    """Return the insertion of a field after the last one of a mapping, or of an item after the last one of a list."""
    parent = written_field(read, path[:-1])
    name = path[-1]
    if isinstance(name, str) and (not isinstance(parent.value, MappingNode) or name in keys(parent)):
        raise NoEditError
    if not parent.value.value:
        raise NoEditError
    last = parent.value.value[-1]
    key, node = last if isinstance(last, tuple) else (None, last)
    quoted = key is not None and read.text[key.start_mark.index] == '"'
    text = json.dumps(value, ensure_ascii=False) if quoted else flow(value)
    if isinstance(name, str):
        text = f"{json.dumps(name) if quoted else inline(name)}: {text}"
    if getattr(parent.value, "flow_style", False):
        return TextSpan(node.end_mark.index, node.end_mark.index, f", {text}")
    field = TextField(key, node, flow=False)
    end = end_of_line(read, read.last_line(field))
    column = int((key or node).start_mark.column)
    dash = "" if isinstance(name, str) else "- "
    newline = "\r\n" if "\r\n" in read.text else "\n"
    end -= read.text[end - 1 : end] == "\r"
    return TextSpan(end, end, f"{newline}{' ' * (column - len(dash))}{dash}{text}")
