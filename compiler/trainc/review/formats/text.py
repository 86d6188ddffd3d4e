"""Text, for terminals: the changes by cause, then the added and removed objects, then the pods in numbers."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Final

from trainc.base.texts import UNLIMITED, escape, wrapped
from trainc.compilation.lost_data import DELETED
from trainc.kubernetes.violations import listed
from trainc.provenance.tracing.correspondence import GONE
from trainc.review.formats import (
    BLOCKING,
    amounts,
    block,
    by_identity,
    changed_by,
    counted,
    difference,
    edited,
    figures,
    fits_one_line,
    headline,
    loss,
    marked,
    meaning,
    named,
    names,
    origin,
    possible_causes,
    recreation,
    same_values,
    setting_name,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.review.changes import Change
    from trainc.review.reviewed import CauseGroup, ChangedSetting, Line, Review, Reviewed
    from trainc.review.sides.side_files import NotCompared

    Paint = Callable[[str, str], str]

BOLD: Final = "\x1b[1m"
RED: Final = "\x1b[31m"
GREEN: Final = "\x1b[32m"
YELLOW: Final = "\x1b[33m"
CYAN: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"
ARROW: Final = " -> "
NAMES: Final = 6
"""The maximum number of objects in a list."""
RECREATED: Final = 20
"""The maximum number of objects in a line that names what must be recreated, or is deleted with its data."""
SETTINGS: Final = 50
"""The maximum number of changed settings, if each key has one of them."""
NOT_COMPARED: Final = 100
"""The maximum number of differences that are not compared."""
LINES: Final = 12
"""The maximum number of lines of a value."""
LONGEST: Final = 2000
"""The maximum number of lines of two values that are compared line by line."""
SHADES: Final = {"-": RED, "+": GREEN, " ": ""}


def render(review: Review, *, color: bool, width: int = UNLIMITED) -> str:
    """Return the review, broken at a width; blank lines separate its parts."""
    paint = _painted if color else _without_color
    head = f"{escape(review.old)} -> {escape(review.new)}: {escape(headline(review))}"
    if recreated := recreation(review, RECREATED):
        head += f"\n{paint(YELLOW, 'must be recreated')}: {escape(recreated)}"
    if lost := loss(review, RECREATED):
        head += f"\n{paint(RED, DELETED)}: {escape(lost)}"
    parts = [head]
    if review.settings:
        parts.append("\n".join(_settings(review.settings, paint)))
    parts += ["\n".join(_group(group, paint)) for group in review.groups()]
    for status, mark, shade in (("added", "+", GREEN), ("removed", "-", RED)):
        found = by_identity(each for each in review.objects if each.status == status)
        if found:
            parts.append("\n".join(_one_sided(each, f"{mark} {status}", shade, paint) for each in found))
    if review.not_compared:
        parts.append("\n".join(_not_compared(review.not_compared, paint)))
    if rows := list(_numbers(review)):
        parts.append("\n".join(rows))
    return wrapped("\n\n".join(parts), width) + "\n"


def _settings(settings: Sequence[ChangedSetting], paint: Paint) -> Iterator[str]:
    """Yield each changed setting and its effect."""
    for setting in shortened(settings, SETTINGS):
        change = setting.change
        name = f"setting {setting_name(setting)}"
        if setting.owner is not None:
            name = f"annotation {setting_name(setting)} of {named(setting.owner)}"
        yield f"{paint(BOLD, escape(origin(setting)))}: {escape(name + edited(change))}"
        if not fits_one_line(change):
            yield from _shown_values(change, paint)
        if effect := changed_by(setting):
            yield f"  changes {escape(effect)}" + (f": {_names(setting.objects)}" if setting.objects else "")
    if more := len(settings) - len(shortened(settings, SETTINGS)):
        yield f"... and {more} more settings"


def _not_compared(rows: Sequence[NotCompared], paint: Paint) -> Iterator[str]:
    """Yield the differences that are not compared."""
    yield paint(YELLOW, "Not compared")
    for row in rows[:NOT_COMPARED]:
        yield f"  {paint(BOLD, escape(row.file))}: {escape(difference(row))}"
    if len(rows) > NOT_COMPARED:
        yield f"  ... and {len(rows) - NOT_COMPARED} more"


def _group(group: CauseGroup, paint: Paint) -> Iterator[str]:
    """Yield a cause, its changes and their effects; a common effect is shown once."""
    cause, first = group.cause, group.objects[0]
    if cause is not None:
        yield f"{paint(BOLD, escape(origin(cause)))}: {escape(cause.by)}, {escape(cause.field + edited(cause.edit))}"
        yield f"  changes {escape(counted(group.objects))}: {_names(group.objects)}"
    else:
        yield paint(BOLD, _names(group.objects, kind=True))
        if causes := possible_causes(group):
            yield f"  {escape(causes)}"
    meanings = list(dict.fromkeys(meaning(line, having[0]) for line, having in group.lines))
    if len(meanings) == 1:
        yield f"  {_meaning(group.lines[0][0], first, paint)}"
    for line, having in group.lines:
        yield from _line(line, having, group, paint)
        if len(meanings) > 1:
            yield f"      {_meaning(line, having[0], paint)}"


def _line(line: Line, having: Sequence[Reviewed], group: CauseGroup, paint: Paint) -> Iterator[str]:
    """Yield a change: its field, and its values on the same line or, if they are long, below it."""
    change = line.change
    notes = [] if len(having) == len(group.objects) else [_names(having)]
    if not same_values(line, having):
        notes.append(f"values of {marked(having[0], kind=False)}; the others differ")
    note = escape(f"  ({'; '.join(notes)})" if notes else "")
    field = paint(CYAN, escape(change.field))
    if fits_one_line(change):
        yield f"    {field}{_edited(change, paint)}{note}"
        return
    yield f"    {field}{note}"
    yield from _shown_values(change, paint)


def _edited(change: Change, paint: Paint) -> str:
    """Return the text after the name of a changed field, with its values in colors."""
    text = escape(edited(change))
    if change.kind != "changed":
        return text
    old, arrow, new = text.removeprefix(": ").partition(ARROW)
    return f": {paint(RED, old)}{arrow}{paint(GREEN, new)}" if arrow and ARROW not in new else text


def _shown_values(change: Change, paint: Paint) -> Iterator[str]:
    """Yield the first lines of long values."""
    lines = list(_values(change))
    for mark, text in lines[:LINES]:
        yield paint(SHADES[mark], f"      {mark} {escape(text)}")
    if len(lines) > LINES:
        yield f"        ... and {len(lines) - LINES} more lines"


def _meaning(line: Line, reviewed: Reviewed, paint: Paint) -> str:
    shown = escape(meaning(line, reviewed))
    return paint(YELLOW, shown) if line.consequence.effect in BLOCKING else shown


def _values(change: Change) -> Iterator[tuple[str, str]]:
    """Yield the lines of a value with their marks; for a changed value, a diff with one line of context."""
    old, new = ([] if part is GONE else block(part) for part in (change.old, change.new))
    if old and new and len(old) + len(new) <= LONGEST:
        for line in islice(unified_diff(old, new, n=1, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield line[0], line[1:]
            elif not line.startswith(("@@ -1 ", "@@ -1,")):
                yield " ", "..."
    else:
        yield from (("-", line) for line in old)
        yield from (("+", line) for line in new)


def _one_sided(objects: Sequence[Reviewed], status: str, shade: str, paint: Paint) -> str:
    """Return the line of an added or removed object, with its locations or causes in all environments."""
    (name,) = names(objects, kind=True)
    where = ", ".join(dict.fromkeys(map(_place, objects)))
    lost = f": {paint(RED, DELETED)}" if any(each.loses_data for each in objects) else ""
    return f"{paint(shade, status)} {escape(name)}  {escape(where)}{lost}"


def _place(reviewed: Reviewed) -> str:
    if reviewed.cause is not None:
        return f"{origin(reviewed.cause)}: {reviewed.cause.by}, {reviewed.cause.field}"
    return reviewed.at.file if reviewed.at else ""


def _names(objects: Sequence[Reviewed], *, kind: bool = False) -> str:
    shown = names(objects, kind=kind)
    if len(shown) > NAMES:
        return escape(listed([*shown[:NAMES], f"{len(shown) - NAMES} more"]))
    return escape(", ".join(shown))


def _numbers(review: Review) -> Iterator[str]:
    """Yield the changed numbers of pods, first the total, then each queue."""
    for figure in figures(review):
        rows = amounts(figure.before, figure.after)
        if any(row.more for row in rows):
            parts = (
                f"{row.name} {row.before} -> {row.after} ({row.more})" if row.more else f"{row.name} {row.after}"
                for row in rows
            )
            yield f"{escape(figure.title + figure.scope)}: {escape(', '.join(parts))}"


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{PLAIN}" if color else text


def _without_color(_: str, text: str) -> str:
    return text
