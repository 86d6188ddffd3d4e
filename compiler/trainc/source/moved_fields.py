"""The replacements of characters in a YAML text that move fields of one mapping into another one.

Reads    the nodes of a text, and the fields with their new paths, which have the same parent before and after.
Returns  replacements that keep the order of the fields, the comments on their lines and directly above them, and their
         style. Raises NoEditError if the text cannot be changed in this way.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import flow
from trainc.base.records import NamedTuple
from trainc.emit.yaml import inline
from trainc.source.source_text import MappingNode, ScalarNode, TextField, anchors_in, shifted
from trainc.source.text_spans import (
    FLOW_SYNTAX,
    NoEditError,
    TextSpan,
    end_of_line,
    has_comment,
    is_quoted,
    keys,
    scalar_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Path
    from trainc.source.source_text import Text

_STEP: Final = 2
"""The indentation of a field in a document that shows no other one."""


class FieldMove(NamedTuple):
    """A field that moves, by paths in the text."""

    path: Path
    target: Path
    value: Any
    is_same: bool
    """Whether the value does not change."""


class _Moved(NamedTuple):
    """A field that moves, with the lines that it takes along."""

    move: FieldMove
    field: TextField
    first: int
    last: int


def moved(read: Text, moves: Sequence[FieldMove]) -> Iterator[TextSpan]:
    """Yield the replacements that move fields."""
    parent = read.field(moves[0].path[:-1])
    if parent is None or not isinstance(parent.value, MappingNode) or read.is_alias(parent):
        raise NoEditError
    found = sorted((_moved(read, move) for move in moves), key=lambda each: int(_start(each)))
    home, names = _home(read, moves)
    if home.value is parent.value and names:
        if names[0] in {*keys(parent)} - {move.path[-1] for move in moves}:
            raise NoEditError
        yield from (_into_new_of_flow if _is_flow(parent) else _into_new_of_block)(read, parent, found, names)
        return
    if {str(move.target[-1]) for move in moves} & {*keys(home)} and not names:
        raise NoEditError
    yield from _removed(read, parent, found)
    if _is_flow(home) and home.value.value:
        yield _into_flow(read, home, found, names)
    else:
        yield from _into_block(read, home, found, names)


def removed_with_comments(read: Text, path: Path) -> Iterator[TextSpan]:
    """Yield the removal of a field with the comments on its lines and directly above them."""
    parent, field = read.field(path[:-1]), read.field(path)
    if parent is None or field is None or field.key is None:
        raise NoEditError
    lines = _lines_of(read, field)
    yield from _removed(read, parent, [_Moved(FieldMove(path, (), None, is_same=True), field, lines[0], lines[-1])])


def _lines_of(read: Text, field: TextField) -> range:
    """Return the lines that a field takes along."""
    assert field.key is not None
    return range(int(field.key.start_mark.line), read.last_line(field) + 1) if field.flow else read.region(field)


def _start(moved: _Moved) -> int:
    assert moved.field.key is not None
    return int(moved.field.key.start_mark.index)


def _moved(read: Text, move: FieldMove) -> _Moved:
    field = read.field(move.path)
    if field is None or field.key is None or read.has_alias(field):
        raise NoEditError
    lines = _lines_of(read, field)
    text = "\n".join(read.lines[lines.start : lines.stop])
    if any(mark in text for mark in "&!*") and next(iter(anchors_in(text)), None) is not None:
        raise NoEditError
    if not move.is_same and ("\n" in read.text[_value_of(field)] or isinstance(move.value, dict | list)):
        raise NoEditError
    return _Moved(move, field, lines.start, lines.stop - 1)


def _value_of(field: TextField) -> slice:
    return slice(int(field.value.start_mark.index), int(field.value.end_mark.index))


def _home(read: Text, moves: Sequence[FieldMove]) -> tuple[TextField, list[str]]:
    """Return the mapping that has the fields' new parent or gets it, and the names of the new mappings in it."""
    above, own = moves[0].target[:-1], {move.path for move in moves}
    length = next(
        length
        for length in range(len(above), -1, -1)
        if above[:length] not in own and read.field(above[:length]) is not None
    )
    home = read.field(above[:length])
    assert home is not None
    if not isinstance(home.value, MappingNode) or read.is_alias(home):
        raise NoEditError
    return home, [str(name) for name in above[length:]]


def _is_flow(mapping: TextField) -> bool:
    return isinstance(mapping.value, MappingNode) and mapping.value.flow_style


def _newline(read: Text) -> str:
    return "\r\n" if "\r\n" in read.text else "\n"


def _lines(read: Text, moved: _Moved, column: int) -> list[str]:
    """Return the lines of a field below a mapping whose fields have a column, without the ends of lines."""
    key, field = moved.field.key, moved.field
    assert key is not None
    name, value = _name(read, moved), _value_text(read, moved, quoted=is_quoted(read, field))
    if field.flow:
        return [f"{' ' * column}{name}: {value}"]
    lines = [line.removesuffix("\r") for line in read.lines[moved.first : moved.last + 1]]
    number, own = int(key.start_mark.line) - moved.first, int(key.start_mark.column)
    rest = lines[number][own + key.end_mark.index - key.start_mark.index :]
    if not moved.move.is_same:
        begin = field.value.start_mark.index - key.end_mark.index
        rest = rest[:begin] + value + rest[field.value.end_mark.index - key.end_mark.index :]
    lines[number] = f"{' ' * own}{name}{rest}"
    return shifted(lines, column - own)


def _name(read: Text, moved: _Moved) -> str:
    assert moved.field.key is not None
    old = read.text[moved.field.key.start_mark.index : moved.field.key.end_mark.index]
    if moved.move.path[-1] == moved.move.target[-1]:
        return old
    return scalar_text(moved.move.target[-1], old, flow_style=moved.field.flow)


def _value_text(read: Text, moved: _Moved, *, quoted: bool) -> str:
    """Return the text of the value, as it is or as the new one."""
    if moved.move.is_same:
        return read.text[_value_of(moved.field)]
    return json.dumps(moved.move.value, ensure_ascii=False) if quoted else flow(moved.move.value)


def _inline(read: Text, moved: _Moved) -> str:
    """Return a field for a mapping in flow style, which has no comments and no lines of its own."""
    begin, end = _start(moved), int(moved.field.value.end_mark.index)
    is_whole = moved.first == moved.last and not has_comment(read, begin, end_of_line(read, moved.last))
    if "\n" in read.text[begin:end] or (not moved.field.flow and not is_whole):
        raise NoEditError
    text = _value_text(read, moved, quoted=is_quoted(read, moved.field))
    if not moved.field.flow and isinstance(moved.field.value, ScalarNode) and FLOW_SYNTAX & {*text}:
        text = json.dumps(moved.move.value, ensure_ascii=False)
    return f"{_name(read, moved)}: {text}"


def _wrapped(text: str, names: Sequence[str], *, quoted: bool) -> str:
    """Return fields in flow style below other ones."""
    for name in reversed(names):
        text = f"{json.dumps(name) if quoted else inline(name)}: {{{text}}}"
    return text


def _headers(names: Sequence[str], column: int, step: int) -> list[str]:
    return [f"{' ' * (column + step * depth)}{inline(name)}:" for depth, name in enumerate(names)]


def _step(mapping: TextField, column: int) -> int:
    """Return the indentation of the fields of a mapping below its own key."""
    return column - int(mapping.key.start_mark.column) if mapping.key is not None and not mapping.flow else _STEP


def _into_new_of_block(read: Text, parent: TextField, fields: list[_Moved], names: list[str]) -> Iterator[TextSpan]:
    """Yield the replacements of fields in block style by a new field in the place of the first one, which has them."""
    column = int(parent.value.value[0][0].start_mark.column)
    head, *others = fields
    before = read.lines[head.first][:column]
    if before.strip() and (head.field.key is None or head.first != head.field.key.start_mark.line):
        raise NoEditError
    step = _step(parent, column)
    below = column + step * len(names)
    lines = [*_headers(names, column, step), *_lines(read, head, below)]
    lines[0] = before + lines[0][column:]
    last = head.last
    for each in others:
        gap = range(last + 1, each.first)
        if all(not read.lines[number].strip() for number in gap):
            lines += [""] * len(gap)
            last = each.last
        lines += _lines(read, each, below)
    end = end_of_line(read, last)
    yield TextSpan(read.starts[head.first], end - (read.text[end - 1 : end] == "\r"), _newline(read).join(lines))
    yield from (_without_lines(read, each) for each in others if each.first > last)


def _into_new_of_flow(read: Text, parent: TextField, fields: list[_Moved], names: list[str]) -> Iterator[TextSpan]:
    """Yield the replacement of fields in flow style by a new field in the place of the first one, which has them."""
    text = ", ".join(_inline(read, each) for each in fields)
    yield _rebuilt(read, parent, fields, _wrapped(text, names, quoted=is_quoted(read, fields[0].field)))


def _rebuilt(read: Text, parent: TextField, fields: list[_Moved], new: str) -> TextSpan:
    """Return the replacement of fields of a flow mapping, in the range of them, by a new one in place of the first."""
    pairs = [(int(key.start_mark.index), int(value.end_mark.index)) for key, value in parent.value.value]
    numbers = [number for number, (start, _) in enumerate(pairs) if start in {_start(each) for each in fields}]
    first, last = numbers[0], numbers[-1]
    kept = [number for number in range(first, last) if number not in numbers]
    begin, end = pairs[first][0], pairs[last][1]
    if new or first:
        begin = begin if new else pairs[first - 1][1]
        text = new + "".join(read.text[pairs[number - 1][1] : pairs[number][1]] for number in kept)
    else:
        end = pairs[last + 1][0] if last + 1 < len(pairs) else end
        text = "".join(read.text[pairs[number][0] : pairs[number + 1][0]] for number in kept)
    if has_comment(read, begin, end):
        raise NoEditError
    return TextSpan(begin, end, text)


def _removed(read: Text, parent: TextField, fields: list[_Moved]) -> Iterator[TextSpan]:
    """Yield the removal of fields."""
    if _is_flow(parent):
        yield _rebuilt(read, parent, fields, "")
    elif len(fields) == len(parent.value.value):
        yield from _emptied(read, parent, fields)
    else:
        for each in fields:
            assert each.field.key is not None
            if read.lines[each.first][: each.field.key.start_mark.column].strip(" "):
                raise NoEditError
            yield _without_lines(read, each)


def _emptied(read: Text, parent: TextField, fields: list[_Moved]) -> Iterator[TextSpan]:
    """Yield the replacements of a block mapping by an empty one, with the comment on the line of its key."""
    if parent.key is None or parent.flow:
        raise NoEditError
    line, colon = int(parent.key.end_mark.line), read.text.index(":", parent.key.end_mark.index)
    behind = read.text[colon + 1 : end_of_line(read, line)].strip()
    gaps = (range(before.last + 1, after.first) for before, after in pairwise(fields))
    if behind[:1] not in ("", "#") or any(read.lines[number].strip() for gap in gaps for number in gap):
        raise NoEditError
    yield TextSpan(colon + 1, colon + 1, " {}")
    yield _without_lines(read, fields[0]._replace(last=fields[-1].last))


def _without_lines(read: Text, moved: _Moved) -> TextSpan:
    """Return the removal of a field's lines."""
    begin, end = read.starts[moved.first], end_of_line(read, moved.last) + 1
    if end > len(read.text):
        begin, end = begin - 1 - (read.text[begin - 2 : begin] == "\r\n"), len(read.text)
    return TextSpan(begin, end, "")


def _into_flow(read: Text, home: TextField, fields: list[_Moved], names: list[str]) -> TextSpan:
    """Return the insertion of fields after the last one of a flow mapping."""
    key, last = home.value.value[-1]
    text = ", ".join(_inline(read, each) for each in fields)
    text = _wrapped(text, names, quoted=is_quoted(read, TextField(key, last, flow=True)))
    return TextSpan(last.end_mark.index, last.end_mark.index, f", {text}")


def _into_block(read: Text, home: TextField, fields: list[_Moved], names: list[str]) -> Iterator[TextSpan]:
    """Yield the insertion of fields after the last one of a mapping in block style, or of an empty mapping."""
    if home.value.value:
        key, value = home.value.value[-1]
        last = read.region(TextField(key, value, flow=False)).stop - 1
        column = int(key.start_mark.column)
        step = _step(home, column)
    else:
        if home.key is None or home.flow or home.value.start_mark.line != home.key.start_mark.line:
            raise NoEditError
        begin, end = read.text.index(":", home.key.end_mark.index) + 1, int(home.value.end_mark.index)
        yield TextSpan(begin, end, "")
        last, column = int(home.key.start_mark.line), int(home.key.start_mark.column) + _STEP
        step = _STEP
    lines = _headers(names, column, step)
    for each in fields:
        lines += _lines(read, each, column + step * len(names))
    newline, at = _newline(read), end_of_line(read, last)
    at -= read.text[at - 1 : at] == "\r"
    yield TextSpan(at, at, newline + newline.join(lines))
