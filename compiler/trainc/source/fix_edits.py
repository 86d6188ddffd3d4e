"""The edits of a text that apply a fix: each replaces some characters of a file, and all others stay.

Reads    a fix, and the document that its paths are in.
Returns  the edits, in the texts that have written the values: the document's own, trainc.yaml, or a patch. None if one
         of the values is behind an alias or a merge key, in a string of a ConfigMap, in a template, in a built-in
         runtime, in an output, behind a link or in standard input, or if its text cannot be changed in place.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Addition, Relocation, Removal, Renaming, Replacement, flow
from trainc.base.records import NamedTuple
from trainc.diagnostics import Location, Place
from trainc.emit.yaml import inline, render
from trainc.kubernetes.documents.events import YAMLError
from trainc.kubernetes.trees import get
from trainc.source.fixable_files import is_fixable
from trainc.source.source_text import Text, TextField, indentation, parsed, shifted
from trainc.source.text_nodes import MappingNode, ScalarNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.base.fixes import Change, Fix
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Path

STDIN: Final = "-"
BUILT_IN: Final = "<"
"""The start of the path of a built-in runtime."""
TEMPLATE: Final = "{{"
STEP: Final = 2
_SPECIAL: Final = frozenset("&*!|>?")
"""The first characters of a node that is not only its value: an anchor, an alias, a tag, a block scalar."""
_FLOW_SYNTAX: Final = frozenset(",[]{}")


class NoEditError(Exception):
    """The text cannot be changed in place."""


class TextEdit(NamedTuple):
    """A replacement of characters in a file."""

    at: Location
    """The characters that are replaced; an empty range for an insertion."""
    text: str


class TextChange(NamedTuple):
    """A change of a fix, in the text that has written the value."""

    file: str
    document: tuple[int, int]
    """The line and column at which the document starts."""
    path: Path
    """The path of the value in the document's text."""
    target: Path
    """The path in that text to which it moves; the same path if it does not move."""
    change: Change
    edits: tuple[TextEdit, ...]


class _Span(NamedTuple):
    """A replacement in a document's text, by indices."""

    begin: int
    end: int
    text: str


def text_changes(fix: Fix, document: Document) -> tuple[TextChange, ...]:
    """Return the changes of a fix with their edits; none if the fix cannot be applied to the texts."""
    if fix.applicability == "none":
        return ()
    try:
        return tuple(_text_change(document, change) for change in fix.changes)
    except (NoEditError, YAMLError):
        return ()


def as_one(edits: Sequence[TextEdit]) -> TextEdit:
    """Return the edits of one document, in order, as a single one."""
    first, *others = edits
    source = first.at.source
    text, end = first.text, first.at
    for edit in others:
        assert source is not None, "edits of a document have it as their source"
        read = _parsed(source)
        begin = _index(source, read, end.end_line, end.end_column)
        text += read.text[begin : _index(source, read, edit.at.line, edit.at.column)] + edit.text
        end = edit.at
    at = first.at._replace(end_line=end.end_line, end_column=end.end_column)
    return TextEdit(at, text)


def _index(source: Document, read: Text, line: int, column: int) -> int:
    """Return the index in a document's text of a position in its file."""
    row = line - source.line
    return read.starts[row] + column - (source.column if row == 0 else 1)


def _parsed(source: Document) -> Text:
    """Return the nodes of a document's text; a byte order mark has no column."""
    return parsed(source.text.removeprefix("\ufeff"))


def _text_change(document: Document, change: Change) -> TextChange:
    if isinstance(change, Addition):
        source, parent = _source(document, change.path[:-1])
        path: Path = (*parent, change.path[-1])
    else:
        source, path = _source(document, change.path, key=isinstance(change, Renaming))
    if not is_fixable(source.file):
        raise NoEditError
    read = _parsed(source)
    edits = tuple(TextEdit(_location(source, read, span), span.text) for span in _spans(read, source, path, change))
    target = path
    if isinstance(change, Renaming):
        target = (*path[:-1], change.name)
    elif isinstance(change, Relocation):
        target = (*path[: len(source.within)], *change.target)
    return TextChange(source.file, (source.line, source.column), path, target, change, edits)


def _source(document: Document, path: Path, *, key: bool = False) -> tuple[Document, Path]:
    """Return the document whose text has written a value, and the path of the value in the text."""
    place = Place(document, path, key=key).in_text()
    source = place.document
    if source.inside is not None or source.file == STDIN or source.file.startswith(BUILT_IN) or TEMPLATE in source.text:
        raise NoEditError
    if place.path != path and (key and place.path[-1:] != path[-1:]):
        raise NoEditError
    if source.text is not document.text and get(source.value, place.path) != get(document.value, path):
        raise NoEditError
    return source, (*source.within, *place.path)


def _location(source: Document, read: Text, span: _Span) -> Location:
    """Return the location in the file of a range of characters."""
    line, column = _position(source, read, span.begin)
    end_line, end_column = _position(source, read, span.end)
    return Location(source.file, line, column, end_line, end_column, source)


def _position(source: Document, read: Text, index: int) -> tuple[int, int]:
    line = bisect_right(read.starts, index) - 1
    return source.line + line, index - read.starts[line] + (source.column if line == 0 else 1)


def _spans(read: Text, source: Document, path: Path, change: Change) -> Iterator[_Span]:
    if isinstance(change, Addition):
        yield _added(read, path, change.value)
        return
    field = _field(read, path)
    if isinstance(change, Renaming):
        yield _renamed(read, path, field, change.name)
    elif isinstance(change, Replacement):
        yield _replaced(read, field, change.value)
    elif isinstance(change, Removal):
        yield _removed(read, path, field)
    else:
        length = len(source.within)
        target = (*path[:length], *change.target) if path[length:] == change.path else ()
        if not target:
            raise NoEditError
        yield from _moved(read, path, target, change.value, same=get(source.value, path[length:]) == change.value)


def _field(read: Text, path: Path) -> TextField:
    """Return a field whose value is written in place."""
    field = read.field(path)
    if field is None or read.has_alias(field):
        raise NoEditError
    for node in (field.key, field.value):
        if node is not None and read.text[node.start_mark.index : node.start_mark.index + 1] in _SPECIAL:
            raise NoEditError
    return field


def _renamed(read: Text, path: Path, field: TextField, name: str) -> _Span:
    parent = read.field(path[:-1])
    if field.key is None or parent is None or name in _keys(parent):
        raise NoEditError
    begin, end = field.key.start_mark.index, field.key.end_mark.index
    return _Span(begin, end, _scalar_text(name, read.text[begin:end], flow_style=field.flow))


def _keys(mapping: TextField) -> list[str]:
    if not isinstance(mapping.value, MappingNode):
        raise NoEditError
    return [str(key.value) for key, _ in mapping.value.value]


def _scalar_text(value: Any, old: str, *, flow_style: bool) -> str:
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
    return json.dumps(value) if flow_style and _FLOW_SYNTAX & set(text) and text[:1] not in "\"'" else text


def _replaced(read: Text, field: TextField, value: Any) -> _Span:
    """Return the replacement of a value by another one."""
    begin, end = field.value.start_mark.index, field.value.end_mark.index
    old = read.text[begin:end]
    if isinstance(field.value, ScalarNode) and not isinstance(value, dict | list):
        return _Span(begin, end, _scalar_text(value, old if old[:1] in "\"'" else "", flow_style=field.flow))
    if "\n" not in old and not _has_marks(old):
        in_json = _is_quoted(read, field)
        return _Span(begin, end, json.dumps(value, ensure_ascii=False) if in_json else flow(value))
    return _as_block(read, field, value)


def _as_block(read: Text, field: TextField, value: Any) -> _Span:
    """Return the replacement of a mapping or list of several lines in block style, which has no comments."""
    node = field.value
    if isinstance(node, ScalarNode) or getattr(node, "flow_style", True) or not isinstance(value, dict | list):
        raise NoEditError
    first, last = int(node.start_mark.line), read.last_line(field)
    begin, column = node.start_mark.index, int(node.start_mark.column)
    end = _end_of_line(read, last)
    if _has_comment(read, begin, end) or _has_marks(read.text[begin:end]) or not read.lines[first][:column].isspace():
        raise NoEditError
    newline = "\r\n" if "\r\n" in read.text else "\n"
    lines = render([value] if isinstance(value, dict) else [{"v": value}]).rstrip("\n").split("\n")
    if isinstance(value, list):
        lines = shifted(lines[1:], -indentation(lines[1]))
    tail = "\r" if read.text[end - 1 : end] == "\r" else ""
    return _Span(begin, end, newline.join([lines[0], *shifted(lines[1:], column)]) + tail)


def _has_marks(text: str) -> bool:
    """Return whether a text may have an anchor, an alias or a tag."""
    return any(character in text for character in "&*!")


def _has_comment(read: Text, begin: int, end: int) -> bool:
    """Return whether a range of characters has a comment."""
    if "#" not in read.text[begin:end]:
        return False
    return any(begin <= read.starts[comment.line] + comment.column < end for comment in read.comments)


def _end_of_line(read: Text, line: int) -> int:
    return read.starts[line + 1] - 1


def _is_quoted(read: Text, field: TextField) -> bool:
    """Return whether the text of a field is JSON: its keys are in double quotes."""
    key = field.key
    return read.text.lstrip()[:1] in "{[" and (key is None or read.text[key.start_mark.index] == '"')


def _removed(read: Text, path: Path, field: TextField) -> _Span:
    """Return the removal of a field or an item that has no comment."""
    parent = read.field(path[:-1])
    if parent is None:
        raise NoEditError
    if len(parent.value.value) == 1:
        return _emptied(read, parent)
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
        end = _end_of_line(read, read.last_line(field))
    if _has_comment(read, begin, end):
        raise NoEditError
    return _Span(begin, end, "")


def _emptied(read: Text, parent: TextField) -> _Span:
    """Return the replacement of a mapping or list with one field or item by an empty one."""
    empty = "{}" if isinstance(parent.value, MappingNode) else "[]"
    begin, end = parent.value.start_mark.index, parent.value.end_mark.index
    if not getattr(parent.value, "flow_style", False):
        if parent.key is None or parent.flow:
            raise NoEditError
        begin, end, empty = parent.key.end_mark.index, _end_of_line(read, read.last_line(parent)), f": {empty}"
        end -= read.text[end - 1 : end] == "\r"
    if _has_comment(read, begin, end):
        raise NoEditError
    return _Span(begin, end, empty)


def _added(read: Text, path: Path, value: Any) -> _Span:
    """Return the insertion of a field after the last one of a mapping, or of an item after the last one of a list."""
    parent = _field(read, path[:-1])
    name = path[-1]
    if isinstance(name, str) and (not isinstance(parent.value, MappingNode) or name in _keys(parent)):
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
        return _Span(node.end_mark.index, node.end_mark.index, f", {text}")
    field = TextField(key, node, flow=False)
    end = _end_of_line(read, read.last_line(field))
    column = int((key or node).start_mark.column)
    dash = "" if isinstance(name, str) else "- "
    newline = "\r\n" if "\r\n" in read.text else "\n"
    end -= read.text[end - 1 : end] == "\r"
    return _Span(end, end, f"{newline}{' ' * (column - len(dash))}{dash}{text}")


def _moved(read: Text, path: Path, target: Path, value: Any, *, same: bool) -> Iterator[_Span]:
    """Yield the replacements that move a field: in place if its new parent is a new field beside it."""
    length = len(path) - 1
    parent, field = read.field(path[:-1]), _field(read, path)
    names = [str(step) for step in target[length:]]
    if parent is None or field.key is None:
        raise NoEditError
    if target[:length] != path[:-1] or names[0] in (key for key in _keys(parent) if key != path[-1]):
        yield from _moved_elsewhere(read, path, target, value)
        return
    begin, end = field.key.start_mark.index, field.value.end_mark.index
    old = read.text[field.value.start_mark.index : end]
    if field.flow or "\n" not in read.text[begin:end]:
        if "\n" in old or "#" in old:
            raise NoEditError
        text = old if same else flow(value)
        if field.flow or len(names) == 1:
            yield _Span(begin, end, _nested(names, text, quoted=_is_quoted(read, field), braces=True))
            return
    elif not same:
        raise NoEditError
    yield _nested_block(read, field, names, old if same else flow(value))


def _moved_elsewhere(read: Text, path: Path, target: Path, value: Any) -> Iterator[_Span]:
    """Yield the removal of a field on one line, and its insertion into another mapping."""
    field = _field(read, path)
    if "\n" in read.text[field.value.start_mark.index : field.value.end_mark.index]:
        raise NoEditError
    length = next(length for length in range(len(target) - 1, -1, -1) if read.field(target[:length]) is not None)
    for name in reversed(target[length + 1 :]):
        value = {name: value}
    yield _removed(read, path, field)
    yield _added(read, target[: length + 1], value)


def _nested(names: list[str], text: str, *, quoted: bool, braces: bool) -> str:
    """Return a field below others on one line."""
    first, *others = [json.dumps(name) if quoted else inline(name) for name in names]
    inner = "".join(f"{{{name}: " for name in others)
    return f"{first}: {inner}{text}{'}' * len(others)}"


def _nested_block(read: Text, field: TextField, names: list[str], text: str) -> _Span:
    """Return the replacement of a field in block style by one below others, with its lines and comments."""
    assert field.key is not None
    key = field.key
    begin, column = key.start_mark.index, int(key.start_mark.column)
    newline = "\r\n" if "\r\n" in read.text else "\n"
    heads = [f"{' ' * (column + STEP * depth if depth else 0)}{inline(name)}" for depth, name in enumerate(names)]
    first, last = int(key.start_mark.line), read.last_line(field)
    if first == last and field.value.start_mark.line == key.start_mark.line:
        return _Span(begin, field.value.end_mark.index, f":{newline}".join(heads) + f": {text}")
    rest = read.text[key.end_mark.index : _end_of_line(read, last)].split("\n")
    moved = "\n".join([rest[0], *shifted(rest[1:], STEP * (len(names) - 1))])
    return _Span(begin, _end_of_line(read, last), f":{newline}".join(heads) + moved)
