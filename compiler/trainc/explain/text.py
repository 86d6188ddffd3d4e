"""Explanations as text, for people: a table of fields, or a few fields with the lines that set them.

Reads    accounts.
Returns  for each object a heading, then its fields in groups, one for each replicated job and container: field, value,
         stage, line and author; below it, after `was`, each previous value. If a selector matches at most FEW fields,
         they are shown with their source lines. Control characters of the input are escaped and secrets are masked.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from trainc.base.texts import GAP, UNLIMITED, folded
from trainc.provenance.tracing.correspondence import KEYS, Names, by_names, name_of_item, value_at
from trainc.reports.text import BLUE, BOLD, CYAN, painter, position, underlined
from trainc.source.excerpt import excerpt
from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.diagnostics import Location, Path
    from trainc.explain import Account, Explained, Writing

    Paint = Callable[[str, str], str]

FEW: Final = 4
"""The maximum number of selected fields that are shown with source lines."""
GROUPS: Final = ("replicatedJobs", "containers", "initContainers")
"""The lists whose items have a group of their own."""
WIDEST: Final = 60
"""The maximum length of a value in a table; longer values are truncated."""
_QUOTED: Final = re.compile(
    r"|\s.*|.*\s|[-+]?(\d[\d_]*+(\.\d*+)?|\.\d+)(e[-+]?\d+)?|true|false|yes|no|on|off|null|~|[\[{\"'].*",
    re.IGNORECASE | re.DOTALL,
)
"""Strings that could be mistaken for another type, and are quoted."""


def render(accounts: Iterator[Account], *, color: bool, selected: bool, width: int = UNLIMITED) -> Iterator[str]:
    """Yield the text, in parts, folded to a width. `selected` is whether the fields result from a selector."""
    paint = painter(color)
    first: list[Account] = []
    while selected and sum(len(account.fields) for account in first) <= FEW and (account := next(accounts, None)):
        first.append(account)
    few = selected and sum(len(account.fields) for account in first) <= FEW
    for number, account in enumerate(chain(first, accounts)):
        lines = _field_lines(account, paint) if few else _table(account, paint, width)
        block = "\n".join((_heading(account, paint), "", *lines))
        yield f"\n{block}\n" if number else f"{block}\n"


def _heading(account: Account, paint: Paint) -> str:
    """Return the heading: the object and its TrainJob."""
    metadata = account.tree["metadata"]
    where = f" in namespace {metadata['namespace']}" if metadata.get("namespace") else ""
    name = paint(BOLD, escape(f"{account.tree['kind']} {metadata['name']}"))
    job = account.job
    source = "" if job.is_jobset else f", of {job.word} {escape(job.id.name)}"
    return f"{name}{escape(where)}{source} ({_line(job.at().locate())})"


def _field_lines(account: Account, paint: Paint) -> Iterator[str]:
    """Yield the fields, each writing with its source line."""
    for number, (path, writings, release) in enumerate(account.fields):
        if number:
            yield ""
        for order, writing in enumerate(writings):
            value = escape(shown(writing.value))
            yield f"  was {value}" if order else f"{paint(CYAN, escape(by_names(account.tree, path)))}: {value}"
            where = f"{paint(BOLD, position(writing.at))}: " if writing.at else ""
            stage = writing.stage if order or not release else f"{writing.stage} ({release})"
            yield f"  {where}{stage}: {escape(writing.by)}"
            shown_line = excerpt(writing.at) if writing.at else None
            if shown_line:
                yield from underlined(shown_line, len(str(shown_line.number)), "-" if order else "^", BLUE, paint)


def _table(account: Account, paint: Paint, width: int) -> Iterator[str]:
    """Yield the fields in groups, with a line for each writing."""
    groups: dict[Path, list[tuple[str, ...]]] = {}
    names = Names(account.tree)
    for number, explained in enumerate(account.fields):
        if not _is_redundant(account, number):
            group = _group(explained.path)
            groups.setdefault(group, []).extend(_rows(names, group, explained))
    for number, (group, rows) in enumerate(groups.items()):
        if number:
            yield ""
        if group:
            yield paint(CYAN, escape(names.name(group)))
        for row, lines in zip(rows, folded(rows, width - len(GAP)), strict=True):
            place = f"{GAP}{row[3]}"
            for each in lines:
                yield GAP + each.replace(place, GAP + paint(BLUE, row[3]), 1)


def _is_redundant(account: Account, number: int) -> bool:
    """Return whether a field is the name of a list item, and another field of the item has the same author."""
    path, writings, _ = account.fields[number]
    item = path[:-1]
    if not item or not isinstance(item[-1], int) or len(writings) > 1 or path[-1] not in KEYS:
        return False
    if name_of_item(value_at(account.tree, item[:-1]), item[-1])[0] != path[-1]:
        return False
    author = _author(writings[0])
    return any(
        author == _author(writing) for other in _other_fields_of_item(account, number) for writing in other.writings
    )


def _other_fields_of_item(account: Account, number: int) -> Iterator[Explained]:
    """Yield the other fields of the list item that has a field; they are next to it."""
    item = account.fields[number].path[:-1]
    for others in (range(number + 1, len(account.fields)), range(number - 1, -1, -1)):
        for other in others:
            if account.fields[other].path[: len(item)] != item:
                break
            yield account.fields[other]


def _author(writing: Writing) -> tuple[str, str]:
    """Return the stage, and for `override` also the merged document."""
    return writing.stage, writing.by if writing.stage == "override" else ""


def _rows(names: Names, group: Path, explained: Explained) -> Iterator[tuple[str, ...]]:
    """Yield a row for a field's value and for each previous value: name, value, stage, line, author."""
    name = names.name(explained.path)[len(names.name(group)) :].removeprefix(".")
    for order, writing in enumerate(explained.writings):
        value, stage, line, author = _cells(writing)
        shown_stage = stage if order or not explained.release else f"{stage} ({explained.release})"
        yield "  was" if order else escape(name), value, shown_stage, line, author


def _cells(writing: Writing) -> tuple[str, ...]:
    value = escape(shown(writing.value))
    if len(value) > WIDEST:
        value = f"{value[: WIDEST - 3]}..."
    return value, writing.stage, _line(writing.at), escape(writing.by)


def _line(place: Location | None) -> str:
    """Return `file:line`, or a dash."""
    if place is None:
        return "-"
    return position(place).rpartition(":")[0] if place.line else position(place)


def _group(path: Path) -> Path:
    """Return the path of the replicated job or container that contains a field; empty if there is none."""
    ends = (end for end, step in enumerate(path[1:], 2) if path[end - 2] in GROUPS and isinstance(step, int))
    return path[: max(ends, default=0)]


def shown(value: Any) -> str:
    """Return a value on one line. A string that could be mistaken for another type is quoted.

    >>> shown(4), shown("4"), shown("torchrun train.py"), shown(["a"])
    ('4', '"4"', 'torchrun train.py', '["a"]')
    """
    if isinstance(value, str) and not _QUOTED.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)
