"""Text, for people: what changes by its cause, then what comes and goes, then how much of the cluster the pods take."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Final

from trainc.review.formats import (
    BLOCKING,
    amounts,
    block,
    counted,
    edited,
    headline,
    listed,
    meaning,
    named,
    origin,
    same_values,
    short,
    sums,
    within,
)
from trainc.source.printable import escape
from trainc.tracing.correspondence import GONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.model import Group, Line, Review, Reviewed

    Paint = Callable[[str, str], str]

BOLD: Final = "\x1b[1m"
RED: Final = "\x1b[31m"
GREEN: Final = "\x1b[32m"
YELLOW: Final = "\x1b[33m"
CYAN: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"
NAMES: Final = 6
"""So many objects are named in a list."""
LINES: Final = 12
"""So many lines of a value are shown."""
LONGEST: Final = 2000
"""In so many lines of two values, those that differ are looked for."""
SHADES: Final = {"-": RED, "+": GREEN, " ": ""}


def render(review: Review, *, color: bool) -> str:
    """The review; blank lines between its parts."""
    paint = _painted if color else _plain
    parts = [f"{escape(review.old)} -> {escape(review.new)}: {headline(review)}"]
    parts += ["\n".join(_group(group, paint)) for group in review.groups()]
    for status, mark, shade in (("added", "+", GREEN), ("removed", "-", RED)):
        found = [each for each in review.objects if each.status == status]
        if found:
            parts.append("\n".join(_alone(each, f"{mark} {status}", shade, paint) for each in found))
    if rows := list(_numbers(review)):
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _group(group: Group, paint: Paint) -> Iterator[str]:
    """A cause, what it changes, and what that means: once, where all of it means the same."""
    cause, first = group.cause, group.objects[0]
    if cause is not None:
        yield f"{paint(BOLD, escape(origin(cause)))}: {escape(cause.by)}, {escape(cause.field + edited(cause.edit))}"
        yield f"  changes {counted(group.objects)}: {_names(group.objects)}"
    else:
        yield paint(BOLD, _names(group.objects, kind=True))
    means = list(dict.fromkeys(meaning(line, having[0]) for line, having in group.lines))
    if len(means) == 1:
        yield f"  {_meaning(group.lines[0][0], first, paint)}"
    for line, having in group.lines:
        yield from _line(line, having, group, paint)
        if len(means) > 1:
            yield f"      {_meaning(line, having[0], paint)}"


def _line(line: Line, having: Sequence[Reviewed], group: Group, paint: Paint) -> Iterator[str]:
    """A change: its field, and its values beside it or, where they are long, below."""
    change = line.change
    notes = [] if len(having) == len(group.objects) else [_names(having)]
    if not same_values(line, having):
        notes.append(f"as in {within(having[0].id)}; the others have values of their own")
    note = escape(f"  ({'; '.join(notes)})" if notes else "")
    field = paint(CYAN, escape(change.field))
    if short(change):
        yield f"    {field}{escape(edited(change))}{note}"
        return
    yield f"    {field}{note}"
    lines = list(_values(change))
    for mark, text in lines[:LINES]:
        yield paint(SHADES[mark], f"      {mark} {escape(text)}")
    if len(lines) > LINES:
        yield f"        ... and {len(lines) - LINES} more lines"


def _meaning(line: Line, reviewed: Reviewed, paint: Paint) -> str:
    said = escape(meaning(line, reviewed))
    return paint(YELLOW, said) if line.consequence.effect in BLOCKING else said


def _values(change: Change) -> Iterator[tuple[str, str]]:
    """The lines of a value, each behind its mark; of one that has changed, those that differ and their neighbours."""
    old, new = ([] if part is GONE else block(part) for part in (change.old, change.new))
    if old == new:
        yield " ", "what differs looks like a secret: ***"
    elif old and new and len(old) + len(new) <= LONGEST:
        for line in islice(unified_diff(old, new, n=1, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield line[0], line[1:]
            elif not line.startswith(("@@ -1 ", "@@ -1,")):
                yield " ", "..."
    else:
        yield from (("-", line) for line in old)
        yield from (("+", line) for line in new)


def _alone(each: Reviewed, said: str, shade: str, paint: Paint) -> str:
    where = each.at.file if each.at else ""
    if each.cause is not None:
        where = f"{origin(each.cause)}: {each.cause.by}, {each.cause.field}"
    return f"{paint(shade, said)} {escape(named(each.id))}  {escape(where)}"


def _names(objects: Sequence[Reviewed], *, kind: bool = False) -> str:
    names = [named(each.id) if kind else within(each.id) for each in objects[:NAMES]]
    if len(objects) > NAMES:
        names.append(f"{len(objects) - NAMES} more")
        return escape(listed(names))
    return escape(", ".join(names))


def _numbers(review: Review) -> Iterator[str]:
    """The pods in numbers, for each queue and in all, where they change."""
    queues = sorted(review.before.keys() | review.after.keys())
    if queues not in ([], [""]):
        for queue in queues:
            title = f"queue {queue}" if queue else "no queue"
            yield from _changed_numbers(title, *(side.get(queue) for side in (review.before, review.after)))
    yield from _changed_numbers("in all", sums(review.before), sums(review.after))


def _changed_numbers(title: str, before: Footprint | None, after: Footprint | None) -> Iterator[str]:
    rows = amounts(before, after)
    if any(row.more for row in rows):
        parts = (
            f"{row.name} {row.before} -> {row.after} ({row.more})" if row.more else f"{row.name} {row.after}"
            for row in rows
        )
        yield f"{escape(title)}: {escape(', '.join(parts))}"


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{PLAIN}" if color else text


def _plain(_: str, text: str) -> str:
    return text
