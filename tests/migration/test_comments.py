"""Comments of legacy jobs: each is where it is true, or it is dropped and named.

A comment is put at each place of each public job: above each field, behind it, and at the end of each block. After the
migration, one above a field is above a field of the same name, one behind a value is behind the same value, and one at
the end of a block is in a block of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from trainc.rewriting.migration import migrate, output_files
from trainc.rewriting.migration.source_comments import source_comments
from trainc.source.source_text import MappingNode, ScalarNode, TextField, TextNode, parsed

CASES: Final = sorted(path.parent.name for path in Path(__file__).parent.glob("*/input.yaml"))
MARK: Final = re.compile(r"# (?:- )?(?:above|behind|last) [0-9]+")
NEW_NAMES: Final = {"replicas": ("numNodes", "parallelism", "completions"), "resources": ("resourcesPerNode",)}


class Mark(NamedTuple):
    """A comment that is put into a job."""

    text: str
    kind: str
    line: str
    """The line that it is at, without the mark of an item."""
    role: str
    """The name of the role, if it is at its key: a new document has a replicated job for it."""


def with_marks(text: str) -> tuple[str, list[Mark]]:
    """Return a job with a comment at each place."""
    read, known = parsed(text), source_comments(text)
    above: dict[int, tuple[int, str]] = {}
    behind: dict[int, str] = {}
    last: dict[int, tuple[int, int, bool]] = {}
    marks: list[Mark] = []
    for field in known.fields:
        key = next(
            (key for key, value in _pairs(field.parent) if value is field.value and key.value == field.key), None
        )
        end = read.last_line(TextField(key, field.value, flow=False))
        last[id(field.parent)] = end, field.blocks[-1][1], isinstance(field.key, int)
        is_role = len(field.blocks) == 3 and str(field.key)[0].isupper()
        if field.line not in above:
            above[field.line] = field.column, f"# above {len(marks)}"
            marks.append(Mark(above[field.line][1], "above", *_line(read.lines[field.line], field.key, is_role)))
        is_block = getattr(field.value, "flow_style", None) is False
        line = field.line if is_block or _is_literal(field.value) else end
        if line not in behind and "#" not in read.lines[line]:
            behind[line] = f"  # behind {len(marks)}"
            marks.append(Mark(behind[line].strip(), "behind", *_line(read.lines[line], field.key, is_role)))
    ends: dict[int, dict[int, str]] = {}
    for line, column, is_list in reversed(last.values()):  # inner blocks first, such as a list at the column of its key
        if column not in ends.setdefault(line, {}):
            ends[line][column] = f"# {'- ' if is_list else ''}last {len(marks)}"
            marks.append(Mark(ends[line][column], "last", "", ""))
    return "\n".join(_lines(read.lines, above, behind, ends)), marks


def _lines(
    lines: list[str],
    above: dict[int, tuple[int, str]],
    behind: dict[int, str],
    ends: dict[int, dict[int, str]],
) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number in above:
            column, text = above[number]
            yield " " * column + text
        yield line + behind.get(number, "")
        yield from (" " * column + text for column, text in sorted(ends.get(number, {}).items(), reverse=True))


def _pairs(node: TextNode) -> list[tuple[TextNode, TextNode]]:
    return node.value if isinstance(node, MappingNode) else []


def _is_literal(value: object) -> bool:
    return isinstance(value, ScalarNode) and value.style in ("|", ">")


def _line(line: str, key: object, is_role: bool) -> tuple[str, str]:
    return content(line), str(key).lower() if is_role else ""


def content(line: str) -> str:
    """Return a line without comments, and without the dash of an item."""
    return re.sub(r"^(- +)+", "", re.sub(r"(^|\s+)#.*", "", line).strip())


def parent(lines: list[str], number: int) -> str:
    """Return the name of the field that has the block of a comment."""
    column = len(lines[number]) - len(lines[number].lstrip())
    is_item = "# - last" in lines[number]
    for line in reversed(lines[:number]):
        own = len(line) - len(line.lstrip())
        if content(line) and (own < column or (is_item and own == column and not line.lstrip().startswith("- "))):
            return "" if line.lstrip().startswith("- ") else content(line).partition(":")[0]
    return ""


def names(name: str) -> tuple[str, ...]:
    """Return the names that a field may have in a new document."""
    return (name, *NEW_NAMES.get(name, ()))


@pytest.mark.parametrize("case", CASES)
def test_each_comment_is_where_it_is_true(case: str) -> None:
    text, marks = with_marks((Path(__file__).parent / case / "input.yaml").read_text())
    new = output_files.documents(migrate(["-"], stdin=text.encode()))
    [job] = new.jobs
    before, after = text.split("\n"), "".join((job.document, "---\n", *new.runtimes.values())).split("\n")
    dropped = [mark for each in job.texts.dropped for mark in MARK.findall(each.text)]
    places = [(mark, number) for number, line in enumerate(after) for mark in MARK.findall(line)]
    kept = dict(places)
    assert sorted([*dropped, *(mark for mark, _ in places)]) == sorted(mark.text for mark in marks)
    assert {mark.kind for mark in marks if mark.text in kept} == {"above", "behind", "last"}
    for mark in (mark for mark in marks if mark.text in kept):
        number = kept[mark.text]
        if mark.kind == "last":
            [old] = (number for number, line in enumerate(before) if mark.text in MARK.findall(line))
            name = parent(before, old)
            assert parent(after, number) in names(name) or name[:1].isupper(), mark
            continue
        line = next(found for line in after[number + (mark.kind == "above") :] if (found := content(line)))
        name, value = mark.line.partition(":")[::2]
        if mark.role:
            assert line in (f"name: {mark.role}", "name: node"), mark
        elif mark.kind == "above":
            assert line.partition(":")[0] in (*names(name), "name"), mark
        else:
            assert (line.partition(":")[0] in names(name), line.partition(":")[2]) == (True, value), mark
