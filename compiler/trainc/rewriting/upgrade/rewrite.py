"""Move the fields of a document's text to their paths in another dialect; all other lines stay the same, byte for byte.

Reads    the text, the path of the TrainJob in it, the moves of its dialect.
Returns  the new text. Moved fields keep their comments, order and quoting, at another indentation. A comment of a
         removed line moves above the field that follows it. Raises NotRewritableError.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple
from trainc.emit.yaml import render
from trainc.frontends.lowering import AS_IS
from trainc.kubernetes.documents.events import YAMLError
from trainc.kubernetes.trees import get, put
from trainc.rewriting.upgrade.text_edits import (
    STEP,
    NotRewritableError,
    edited,
    field_lines,
    is_structural,
    opened,
    tail_of,
)
from trainc.source.source_text import (
    Comment,
    MappingNode,
    SequenceNode,
    Text,
    TextField,
    indentation,
    parsed,
    shifted,
    without_anchors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.frontends.lowering import Move
    from trainc.kubernetes.trees import Path, Tree


class TextPart(NamedTuple):
    """A part of the new text: a field of the old text, or, without `field`, a new value."""

    field: TextField | None
    value: Any
    source: Path
    lead: list[Comment]
    """Comments of removed lines, to write above it."""
    again: bool
    """Whether an earlier part keeps the same field, so that this one must not repeat its anchors."""


def rewrite(
    text: str, at: Path, job: Tree, moves: Sequence[Move], gone: Sequence[str], renames: Sequence[Move] = ()
) -> str:
    """Return the document's text with the TrainJob at path `at` after the moves, and after the later renames."""
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    try:
        for level in (at, (*at, "spec")) if any(map(is_structural, moves)) else ():
            plain = opened(plain, level)
        for move in moves:
            plain = plain if is_structural(move) else edited(plain, at, move)
        structural = [move for move in moves if is_structural(move)]
        try:
            new = _with_lost_comments(text, _restructured(plain, at, job, structural, gone))
        except YAMLError:  # an alias may now precede its anchor: write the value instead
            expanded = _restructured(plain, at, job, structural, gone, expand=True)
            new = _with_lost_comments(text, expanded)
        for move in renames:
            new = edited(new, at, move)
    except YAMLError as error:
        raise NotRewritableError(str(error)) from None
    return new.replace("\n", newline)


def _with_lost_comments(old: str, new: str) -> str:
    """Return the new text with the comments at its top whose place in the old text is gone."""
    lost = Counter(c.text for c in parsed(old.replace("\r\n", "\n")).comments) - Counter(
        c.text for c in parsed(new).comments
    )
    return "".join(f"{comment}\n" for comment in lost.elements()) + new


def _restructured(
    text: str, at: Path, job: Tree, moves: Sequence[Move], gone: Sequence[str], *, expand: bool = False
) -> str:
    """Return the text with the fields of `spec` under their new names and paths."""
    read = parsed(text)
    spec = read.field((*at, "spec"))
    fields = {key: found for key in gone if (found := read.field((*at, "spec", key)))}
    for key in gone:
        if key in job["spec"] and key not in fields:
            raise NotRewritableError(f"spec.{key} comes from an alias or a merge key")
    if not fields or spec is None:
        return text
    regions = {key: read.region(field) for key, field in fields.items()}
    depth = int(next(iter(fields.values())).key.start_mark.column)  # type: ignore[union-attr]
    offset = _offset(read)
    new: dict[str, Any] = {}
    places: dict[str, int] = {}
    parts: list[TextPart] = []
    kept: set[int] = set()
    for move in moves:
        new_key, old_key = str(move.target[1]), str(move.source[1])
        source = _source(read, at, job, move)
        if expand and source is not None and read.has_alias(source):
            source = None
        start = None if source is None else int(source.value.start_mark.index)
        part = TextPart(source, _value(job, move), move.source, [], start in kept)
        kept.update(() if start is None else (start,))
        parts.append(part)
        _place(new, move.target[1:], part)
        places[new_key] = min(places.get(new_key, len(read.lines)), regions[old_key].start)
    _rehome(read, regions, parts)
    lines, line = [], 0
    by_place = {place: key for key, place in places.items()}
    while line < len(read.lines):
        if line in by_place:
            key = by_place[line]
            lines += _lines(read, {key: new[key]}, depth, offset)
        region = next((r for r in regions.values() if r.start == line), None)
        if region is not None:
            line = region.stop
            continue
        lines.append(read.lines[line])
        line += 1
    return "\n".join(lines)


def _value(job: Tree, move: Move) -> Any:
    return get(job, move.source) if move.value is AS_IS else move.value


def _source(read: Text, at: Path, job: Tree, move: Move) -> TextField | None:
    """Return the field that a move keeps as text; None if its value changes or comes from an alias."""
    if move.value is not AS_IS and get(job, move.source) != move.value:
        return None
    return read.field((*at, *move.source))


def _place(tree: dict[str, Any], path: Path, part: TextPart) -> None:
    node: Any = tree
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(node, dict):
            node = node.setdefault(step, empty)
        else:
            node += [empty] * (int(step) + 1 - len(node))
            node = node[step]
    node[path[-1]] = part


def _rehome(read: Text, regions: dict[str, range], parts: list[TextPart]) -> None:
    """Give each comment of the removed lines that belongs to no moved field to the field that follows it."""
    kept: set[int] = set()
    starts: list[tuple[int, TextPart]] = []
    seen: set[int] = set()
    for part in parts:
        if part.field is None or part.field.value.start_mark.index in seen:
            continue
        seen.add(part.field.value.start_mark.index)
        kept.update(_own_lines(read, part.field))
        node = part.field.key or part.field.value
        starts.append((int(node.start_mark.line), part))
    starts.sort(key=lambda pair: pair[0])
    for region in regions.values():
        inside = [(line, part) for line, part in starts if line in region]
        for comment in read.comments:
            if comment.line in region and comment.line not in kept:
                behind = [part for line, part in inside if line >= comment.line]
                following = behind[0] if behind else inside[-1][1] if inside else parts[0] if parts else None
                if following is not None:
                    following.lead.append(comment)


def _own_lines(read: Text, field: TextField) -> range:
    """Return the lines whose comments move with a field."""
    if field.key is not None and not field.flow:
        return read.region(field)
    first, last = int(field.value.start_mark.line), int(field.value.end_mark.line)
    return range(first, last + 1 if tail_of(read, field) else last)


def _lines(read: Text, tree: Any, depth: int, offset: int) -> list[str]:
    """Return the new fields as lines."""
    lines: list[str] = []
    for key, child in tree.items():
        margin = " " * depth
        if isinstance(child, TextPart):
            lines += [f"{margin}{comment.text}" for comment in child.lead]
            lines += _part_lines(read, child, key, depth)
        elif isinstance(child, dict):
            lines += [f"{margin}{key}:", *_lines(read, child, depth + STEP, offset)]
        else:
            lines.append(f"{margin}{key}:")
            for item in child:
                lines += _with_dash(_lines(read, item, depth + offset + 2, offset), depth + offset)
    return lines


def _with_dash(lines: list[str], depth: int) -> list[str]:
    first = next(i for i, line in enumerate(lines) if not line.lstrip().startswith("#"))
    dashed = " " * depth + "- " + lines[first].lstrip(" ")
    return [*shifted(lines[:first], -2), dashed, *lines[first + 1 :]]


def _part_lines(read: Text, part: TextPart, key: str, depth: int) -> list[str]:
    if part.field is None:
        return shifted(render([{key: part.value}]).rstrip("\n").split("\n"), depth)
    lines = field_lines(read, part.field, key, depth)
    return without_anchors(lines) if part.again else lines


def _offset(read: Text) -> int:
    """Return the indentation of list dashes below their key, taken from the first list in the text."""
    waiting = [read.root]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, MappingNode) and not node.flow_style:
            for key, value in node.value:
                if isinstance(value, SequenceNode) and not value.flow_style and value.value:
                    return max(indentation(read.lines[value.value[0].start_mark.line]) - int(key.start_mark.column), 0)
                waiting.append(value)
        elif isinstance(node, SequenceNode) and not node.flow_style:
            waiting += node.value
    return 0


def rewrite_json(text: str, values: Mapping[Path, Tree]) -> str:
    """Return a JSON document with new values at some paths, in the document's indentation."""
    tree = json.loads(text)
    for path, value in values.items():
        tree = put(tree, path, value)
    second = text.strip().partition("\n")[2].split("\n")[0]
    written = json.dumps(tree, ensure_ascii=False, indent=indentation(second) or None)
    return written + text[len(text.rstrip()) :]
