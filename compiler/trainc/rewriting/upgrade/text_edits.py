"""Edits of a text: expand a flow mapping to block style, replace a scalar; add, remove or move a field.

Reads    a text and its nodes.
Returns  new texts, or lines. Raises NotRewritableError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.emit.yaml import render
from trainc.frontends.lowering import AS_IS, Move
from trainc.source.moved_fields import FieldMove, moved, removed_with_comments
from trainc.source.source_text import MappingNode, Text, TextField, indentation, parsed, shifted
from trainc.source.text_spans import NoEditError, renamed, replaced, with_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path
    from trainc.source.text_spans import TextSpan

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


def edited(text: str, at: Path, move: Move) -> str:
    """Return the text with one field under another name, in another mapping, with another value, added or removed."""
    read = parsed(text)
    path, target = (*at, *move.source), (*at, *move.target)
    field = read.field(path)
    if field is not None and move.target[: len(move.source)] == move.source != move.target:
        return _with_field(read, at, move)
    if field is None or field.key is None or read.has_alias(field):
        raise NotRewritableError(f"{'.'.join(map(str, move.source))} comes from an alias or a merge key")
    try:
        return with_spans(text, _spans(read, field, path, target if move.target else (), move.value))
    except NoEditError:
        raise NotRewritableError("its YAML style cannot be preserved") from None


def _spans(read: Text, field: TextField, path: Path, target: Path, value: Any) -> Iterator[TextSpan]:
    """Yield the replacements of characters that move a field, or remove it without a target."""
    if not target:
        yield from removed_with_comments(read, path)
    elif path[:-1] != target[:-1]:
        yield from moved(read, [FieldMove(path, target, value, is_same=value is AS_IS)])
    else:
        if path != target:
            yield renamed(read, path, field, str(target[-1]))
        if value is not AS_IS:
            yield replaced(read, field, value)


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
