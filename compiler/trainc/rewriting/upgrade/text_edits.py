"""Edits of a text: expand a flow mapping to block style, replace a scalar; add, remove or move a field.

Reads    a text and its nodes.
Returns  new texts, or lines. Raises NotRewritableError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.emit.yaml import render
from trainc.frontends.moves import AS_IS, Move
from trainc.source.source_text import MappingNode, Text, TextField, indentation, parsed, shifted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.kubernetes.trees import Path

STEP: Final = 2
"""The indentation of a nested mapping, in spaces."""


class NotRewritableError(ValueError):
    """The text's YAML style cannot be preserved."""


def is_structural(move: Move) -> bool:
    """Return whether a move changes a field's path; other moves replace a scalar or remove a field."""
    return bool(move.target) and (move.value is AS_IS or move.target[1:2] == ("runtimePatches",))


def opened(text: str, at: Path) -> str:
    """Return the text with the mapping at a path in block style, one field per line, if it is in flow style."""
    read = parsed(text)
    found = read.field(at)
    if found is None or not isinstance(found.value, MappingNode) or not found.value.flow_style:
        return text
    if not found.value.value:
        return text
    start, end = found.value.start_mark.index, found.value.end_mark.index
    depth = 0 if found.key is None else indentation(read.lines[found.key.start_mark.line]) + STEP
    if found.key is not None and found.flow:
        raise NotRewritableError("it is in flow style (braces); write one field per line")
    lines: list[str] = []
    for key, value in found.value.value:
        lines += field_lines(read, TextField(key, value, flow=True), str(key.value), depth)
    behind = text[end:].partition("\n")
    tail = behind[0].strip()
    if tail and not tail.startswith("#"):
        raise NotRewritableError("it is in flow style (braces); write one field per line")
    if found.key is None:
        return text[:start] + "\n".join(lines) + (f"\n{tail}" if tail else "") + behind[1] + behind[2]
    return text[:start].rstrip(" ") + (f" {tail}\n" if tail else "\n") + "\n".join(lines) + behind[1] + behind[2]


def edited(text: str, at: Path, moves: Sequence[Move]) -> str:
    """Return the text with the moves applied that are not structural: new scalar values, added and removed fields."""
    for move in moves:
        if is_structural(move):
            continue
        read = parsed(text)
        field = read.field((*at, *move.source))
        if field is not None and move.target[: len(move.source)] == move.source != move.target:
            text = _with_field(read, at, move)
            continue
        if field is None or field.key is None or read.is_alias(field):
            raise NotRewritableError(f"{'.'.join(map(str, move.source))} comes from an alias or a merge key")
        if move.target:
            start, end = field.value.start_mark.index, field.value.end_mark.index
            text = text[:start] + _scalar(move.value) + text[end:]
        else:
            text = _without_field(read, field, (*at, *move.source))
    return text


def _with_field(read: Text, at: Path, move: Move) -> str:
    """Return the text with a new field, the first one in the nearest mapping of the target that exists."""
    depth = len(move.source)
    while (found := read.field((*at, *move.target[: depth + 1]))) and depth < len(move.target) - 1:
        depth += 1
    if found:
        raise NotRewritableError(f"{'.'.join(map(str, move.target))} is set already")
    parent = read.field((*at, *move.target[:depth]))
    if parent is None or not isinstance(parent.value, MappingNode) or not parent.value.value or read.is_alias(parent):
        raise NotRewritableError(f"{'.'.join(map(str, move.target[:depth]))} is not a mapping with fields")
    new = move.value
    for key in reversed(move.target[depth + 1 :]):
        new = {str(key): new}
    first = parent.value.value[0][0].start_mark
    if parent.value.flow_style:
        import json

        written = f"{move.target[depth]}: {json.dumps(new)}, "
    else:
        lines = render([{str(move.target[depth]): new}]).rstrip("\n").split("\n")
        written = f"\n{' ' * first.column}".join([*lines, ""])
    return read.text[: first.index] + written + read.text[first.index :]


def _without_field(read: Text, field: TextField, path: Path) -> str:
    """Return the text without a field."""
    assert field.key is not None
    parent = read.field(path[:-1])
    assert parent is not None
    pairs = parent.value.value
    if len(pairs) == 1:
        start, end = parent.value.start_mark.index, parent.value.end_mark.index
        if field.flow or parent.key is None:
            return read.text[:start] + "{}" + read.text[end:]
        region = read.region(field)
        kept = read.lines[: region.start] + read.lines[region.stop :]
        line = int(parent.key.end_mark.line)
        kept[line] = kept[line].replace(":", ": {}", 1)
        return "\n".join(kept)
    if not field.flow:
        region = read.region(field)
        return "\n".join(read.lines[: region.start] + read.lines[region.stop :])
    index = next(i for i, (key, _) in enumerate(pairs) if key is field.key)
    if index:
        return read.text[: pairs[index - 1][1].end_mark.index] + read.text[field.value.end_mark.index :]
    return read.text[: field.key.start_mark.index] + read.text[pairs[1][0].start_mark.index :]


def renamed(text: str, at: Path, move: Move) -> str:
    """Return the text with one field under another name or in another mapping, or without it."""
    read = parsed(text)
    path, target = (*at, *move.source), (*at, *move.target)
    field = read.field(path)
    if field is None or field.key is None or read.has_alias(field):
        raise NotRewritableError(f"{'.'.join(map(str, move.source))} comes from an alias or a merge key")
    if not move.target:
        return _without_field(read, field, path)
    if move.value is not AS_IS:
        text = text[: field.value.start_mark.index] + _scalar(move.value) + text[field.value.end_mark.index :]
        return renamed(text, at, move._replace(value=AS_IS))
    if path == target:
        return text
    if path[:-1] == target[:-1]:
        return text[: field.key.start_mark.index] + str(target[-1]) + text[field.key.end_mark.index :]
    read = parsed(_with_copy(read, field, target, len(at)))
    copied = read.field(path)
    assert copied is not None, "the new field is another one"
    return _without_field(read, copied, path)


def _with_copy(read: Text, field: TextField, target: Path, least: int) -> str:
    """Return the text with a field also at another path, the last one in the nearest mapping that exists."""
    depth = len(target) - 1
    while depth > least and read.field(target[:depth]) is None:
        depth -= 1
    parent = read.field(target[:depth])
    if parent is None or not isinstance(parent.value, MappingNode) or not parent.value.value or read.is_alias(parent):
        raise NotRewritableError(f"{'.'.join(map(str, target[:depth]))} is not a mapping with fields")
    last = TextField(*parent.value.value[-1], flow=bool(parent.value.flow_style))
    *above, name = map(str, target[depth:])
    if last.flow:
        value = read.text[field.value.start_mark.index : field.value.end_mark.index]
        if "\n" in value or not (field.flow or getattr(field.value, "flow_style", True)):
            raise NotRewritableError("it is in flow style (braces); write one field per line")
        inside = "".join(f"{key}: {{" for key in above)
        end = last.value.end_mark.index
        return f"{read.text[:end]}, {inside}{name}: {value}{'}' * len(above)}{read.text[end:]}"
    assert last.key is not None
    column, stop = int(last.key.start_mark.column), read.region(last).stop
    lines = [f"{' ' * (column + STEP * level)}{key}:" for level, key in enumerate(above)]
    lines += field_lines(read, field, name, column + STEP * len(above))
    return "\n".join([*read.lines[:stop], *lines, *read.lines[stop:]])


def tail_of(read: Text, field: TextField) -> str:
    """Return the comment after a value on its last line."""
    line = read.lines[field.value.end_mark.line]
    rest = line[field.value.end_mark.column :].strip()
    return rest if rest.startswith("#") else ""


def field_lines(read: Text, field: TextField, key: str, depth: int) -> list[str]:
    """Return a field's lines under a new name and at another indentation."""
    margin = " " * depth
    if field.key is not None and not field.flow:
        region = read.region(field)
        first, column = int(field.key.start_mark.line), int(field.key.start_mark.column)
        by = depth - column
        head = margin + key + read.lines[first][field.key.end_mark.column :]
        above, below = read.lines[region.start : first], read.lines[first + 1 : region.stop]
        return [*shifted(above, by), head, *shifted(below, by)]
    if field.key is not None and read.is_alias(field):
        raise NotRewritableError("it has an alias in flow style (braces); write one field per line")
    value = read.text[field.value.start_mark.index : field.value.end_mark.index].split("\n")
    least = min((indentation(line) for line in value[1:] if line.strip()), default=0)
    tail = tail_of(read, field) if not field.flow else ""
    value[-1] += f"  {tail}" if tail else ""
    return [f"{margin}{key}: {value[0]}".rstrip(), *shifted(value[1:], depth + STEP - least)]


def _scalar(value: Any) -> str:
    """Return a scalar as YAML text."""
    return render([{"v": value}]).removeprefix("v: ").rstrip("\n")
