"""Explanations as text, for people: a table of fields, or a few fields with the lines that set them.

Reads    accounts.
Returns  for each object a heading, then its fields in groups, one for each replicated job and container: the field,
         its value, the stage that set it, the place and whose it is; below it, behind `was`, what it was before. Where
         no more than FEW fields are asked for, their lines of the input are shown. Control characters of the input are
         escaped, secrets are hidden.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from trainc.columns import line, padded
from trainc.reports.text import BLUE, BOLD, CYAN, painter, position, underlined
from trainc.source.excerpt import excerpt
from trainc.source.printable import escape
from trainc.tracing.counterparts import at
from trainc.tracing.spelling import by_names, name_of_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.diagnostics import Location, Path
    from trainc.explaining import Account, Explained, Writing

    Paint = Callable[[str, str], str]

FEW: Final = 4
"""So many fields are shown with their lines."""
PARTS: Final = ("replicatedJobs", "containers", "initContainers")
"""The lists whose items have a group of their own."""
WIDEST: Final = 60
"""Characters of a value in a table; a longer one is cut."""
_QUOTED: Final = re.compile(
    r"|\s.*|.*\s|[-+]?(\d[\d_]*\.?\d*|\.\d+)(e[-+]?\d+)?|true|false|yes|no|on|off|null|~|[\[{\"'].*",
    re.IGNORECASE | re.DOTALL,
)
"""What could be taken for something other than the text that it is."""


def render(accounts: Sequence[Account], *, color: bool, asked: bool) -> str:
    """The whole text. `asked` says whether some fields were asked for, not just all."""
    paint = painter(color)
    few = asked and sum(len(account.fields) for account in accounts) <= FEW
    blocks = [
        "\n".join((_heading(account, paint), "", *(_full if few else _table)(account, paint))) for account in accounts
    ]
    return "\n\n".join(blocks) + "\n"


def _heading(account: Account, paint: Paint) -> str:
    """Which object it is, and of which TrainJob."""
    metadata = account.tree["metadata"]
    where = f" in namespace {metadata['namespace']}" if metadata.get("namespace") else ""
    name = paint(BOLD, escape(f"{account.tree['kind']} {metadata['name']}"))
    return f"{name}{escape(where)}, of TrainJob {escape(account.job.name)} ({_line(account.job.at().locate())})"


def _full(account: Account, paint: Paint) -> Iterator[str]:
    """Fields one by one, each writing with its line."""
    for number, (path, writings) in enumerate(account.fields):
        if number:
            yield ""
        for order, writing in enumerate(writings):
            value = escape(shown(writing.value))
            yield f"  was {value}" if order else f"{paint(CYAN, escape(by_names(account.tree, path)))}: {value}"
            where = f"{paint(BOLD, position(writing.at))}: " if writing.at else ""
            yield f"  {where}{writing.stage}: {escape(writing.by)}"
            shown_line = excerpt(writing.at) if writing.at else None
            if shown_line:
                yield from underlined(shown_line, len(str(shown_line.number)), "-" if order else "^", BLUE, paint)


def _table(account: Account, paint: Paint) -> Iterator[str]:
    """Fields in groups, a line for each writing."""
    parts: dict[Path, list[tuple[str, ...]]] = {}
    for explained in account.fields:
        if not _is_told(account, explained):
            part = _part(explained.path)
            parts.setdefault(part, []).extend(_rows(account, part, explained))
    for number, (part, rows) in enumerate(parts.items()):
        if number:
            yield ""
        if part:
            yield paint(CYAN, escape(by_names(account.tree, part)))
        for row, cells in zip(rows, padded(rows), strict=True):
            name, value, stage, place, by = cells
            painted = paint(BLUE, row[3]) + place.removeprefix(row[3])
            yield f"  {line((name, value, stage, painted, by))}"


def _is_told(account: Account, explained: Explained) -> bool:
    """Whether a field is the name that an item of a list goes by, and who wrote it is told by another field of it."""
    *item, last = explained.path
    if not item or not isinstance(item[-1], int) or len(explained.writings) > 1:
        return False
    if name_of_item(at(account.tree, tuple(item[:-1])), item[-1])[0] != last:
        return False
    author = _author(explained.writings[0])
    return any(
        author == _author(writing)
        for other in account.fields
        if other is not explained and list(other.path[: len(item)]) == item
        for writing in other.writings
    )


def _author(writing: Writing) -> tuple[str, str]:
    """The stage, and whose document it merged where there are several."""
    return writing.stage, writing.by if writing.stage == "override" else ""


def _rows(account: Account, part: Path, explained: Explained) -> Iterator[tuple[str, ...]]:
    """A field, and what it was before: name, value, stage, place, who."""
    name = by_names(account.tree, explained.path)[len(by_names(account.tree, part)) :].removeprefix(".")
    for order, writing in enumerate(explained.writings):
        yield "  was" if order else escape(name), *_cells(writing)


def _cells(writing: Writing) -> tuple[str, ...]:
    value = escape(shown(writing.value))
    if len(value) > WIDEST:
        value = f"{value[: WIDEST - 3]}..."
    return value, writing.stage, _line(writing.at), escape(writing.by)


def _line(place: Location | None) -> str:
    """`file:line`."""
    return position(place._replace(column=0)).removesuffix(":0") if place else "-"


def _part(path: Path) -> Path:
    """The replicated job or container that a field is in; empty outside of them."""
    ends = (end for end, step in enumerate(path[1:], 2) if path[end - 2] in PARTS and isinstance(step, int))
    return path[: max(ends, default=0)]


def shown(value: Any) -> str:
    """A value on one line; a text in quotes where it could be taken for something else.

    >>> shown(4), shown("4"), shown("torchrun train.py"), shown(["a"])
    ('4', '"4"', 'torchrun train.py', '["a"]')
    """
    if isinstance(value, str) and not _QUOTED.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)
