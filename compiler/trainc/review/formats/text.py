"""Text, for terminals: three lines, the environments, the changes by cause, what is added and removed, the pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.texts import UNLIMITED, escape, wrapped
from trainc.compilation.important_objects import DELETED
from trainc.review import queue_figures
from trainc.review.formats import (
    amounts,
    by_sentence,
    changed_figures,
    difference,
    edited,
    effect_on_reports,
    environment_table,
    field_of,
    files_of,
    first_remarks,
    fits_one_line,
    important_first,
    listed_rows,
    losses,
    moved,
    named,
    names_of,
    notes_of,
    numbers_of,
    origin,
    possible_causes,
    setting_name,
    shortened,
    value_lines,
)
from trainc.review.job_entries import number_of, one_sided, subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.review.changes import Change
    from trainc.review.formats import Shade
    from trainc.review.job_entries import OneSided, Subject
    from trainc.review.reviewed import CauseGroup, ChangedSetting, Line, Review, Reviewed
    from trainc.review.sides.side_files import NotCompared, Status

    Paint = Callable[[str, str], str]

BOLD: Final = "\x1b[1m"
RED: Final = "\x1b[31m"
GREEN: Final = "\x1b[32m"
YELLOW: Final = "\x1b[33m"
CYAN: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"
ARROW: Final = " -> "
ONE_SIDED: Final[tuple[tuple[Status, str, str], ...]] = (("added", "+", GREEN), ("removed", "-", RED))
QUEUES: Final = 20
"""The maximum number of Kueue's queues; those with exceeded quotas come first."""
NAMES: Final = 6
"""The maximum number of jobs in a list."""
SIDES: Final = 50
"""The maximum number of added or removed jobs, without those with objects of important kinds."""
SETTINGS: Final = 50
"""The maximum number of changed settings, if each key has one of them."""
NOT_COMPARED: Final = 100
"""The maximum number of differences that are not compared, without those of important kinds."""
LINES: Final = 12
"""The maximum number of lines of a value."""
MARKS: Final = {"-": RED, "+": GREEN, " ": ""}
COLORS: Final[dict[Shade, str]] = {"bad": RED, "warn": YELLOW, "": ""}


def render(review: Review, *, color: bool, width: int = UNLIMITED) -> str:
    """Return the review, broken at a width; blank lines separate its parts."""
    paint = _painted if color else _without_color
    head = [f"{escape(review.old)} -> {escape(review.new)}", paint(BOLD, numbers_of(review))]
    if lost := losses(review):
        head.append("; ".join(paint(COLORS[each.shade], escape(each.text)) for each in lost))
    head += (paint(YELLOW, escape(each)) for each in first_remarks(review))
    parts = ["\n".join(head)]
    if table := environment_table(review):
        parts.append("\n".join(_table(table)))
    groups = review.groups()
    if settings := review.other_settings(groups):
        parts.append("\n".join(_settings(settings, paint)))
    parts += ["\n".join(_group(group, paint)) for group in groups]
    for status, mark, shade in ONE_SIDED:
        found = one_sided(review.with_status(status))
        if found:
            parts.append("\n".join(_one_sides(found, f"{mark} {review.word(status)}", shade, paint)))
    if review.moves:
        rows = [f"  {paint(BOLD, escape(f'{each.old} -> {each.new}'))}: {escape(moved(each))}" for each in review.moves]
        parts.append("\n".join([paint(YELLOW, "Moved to another folder"), *rows]))
    if review.not_compared:
        parts.append("\n".join(_not_compared(review.not_compared, paint)))
    if rows := list(_numbers(review, paint)):
        parts.append("\n".join(rows))
    return wrapped("\n\n".join(parts), width) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, whose first column is text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *numbers in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))]
        yield escape("  ".join(cells))


def _settings(settings: Sequence[ChangedSetting], paint: Paint) -> Iterator[str]:
    """Yield each changed setting and its effect."""
    for setting in shortened(settings, SETTINGS):
        yield from _setting(setting, paint)
        found = subjects(setting.objects)
        if effect := names_of(found, NAMES) if found else effect_on_reports(setting):
            yield f"  changes {escape(effect)}"
    if more := len(settings) - len(shortened(settings, SETTINGS)):
        yield f"... and {more} more settings{escape(files_of(settings, shortened(settings, SETTINGS)))}"


def _setting(setting: ChangedSetting, paint: Paint) -> Iterator[str]:
    """Yield a changed setting or annotation with its values."""
    name = f"setting {setting_name(setting)}"
    if setting.owner is not None:
        name = f"annotation {setting_name(setting)} of {named(setting.owner)}"
    yield f"{paint(BOLD, escape(origin(setting)))}: {escape(name + edited(setting.change))}"
    if not fits_one_line(setting.change):
        yield from _shown_values(setting.change, paint)


def _not_compared(rows: Sequence[NotCompared], paint: Paint) -> Iterator[str]:
    """Yield the differences that are not compared."""
    found = listed_rows(rows, NOT_COMPARED)
    yield paint(YELLOW, "Not compared") + (f": {escape(found.counts)}" if found.counts else "")
    for row in found.rows:
        yield f"  {paint(BOLD, escape(row.file))}{escape(difference(row))}"
    if more := len(rows) - len(found.rows):
        yield f"  ... and {more:,} more"


def _group(group: CauseGroup, paint: Paint) -> Iterator[str]:
    """Yield a cause, what the cluster does with its changes, and the changes."""
    cause = group.cause
    whole = subjects(group.objects)
    changed = escape(names_of(whole, NAMES))
    if group.setting is not None:
        yield from _setting(group.setting, paint)
        yield f"  changes {changed}"
    elif cause is not None and cause.own:
        yield f"{paint(BOLD, escape(origin(cause)))}: {changed}"
    elif cause is not None:
        yield f"{paint(BOLD, escape(origin(cause)))}: {escape(cause.by)}, {escape(cause.field + edited(cause.edit))}"
        yield f"  changes {changed}"
    else:
        yield paint(BOLD, changed)
        if causes := possible_causes(group):
            yield f"  {escape(causes)}"
    for said in by_sentence(group):
        yield f"  {paint(COLORS[said.shade], escape(said.text))}"
        for line, having in said.lines:
            yield from _line(line, having, whole, paint)


def _line(line: Line, having: Sequence[Reviewed], whole: Sequence[Subject], paint: Paint) -> Iterator[str]:
    """Yield a change: its field, and its values on the same line or, if they are long, below it."""
    change = line.change
    notes = notes_of(line, having, whole, NAMES)
    note = escape(f"  ({'; '.join(notes)})" if notes else "")
    field = paint(CYAN, escape(field_of(line, having)))
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
    lines = list(value_lines(change))
    for mark, text in lines[:LINES]:
        yield paint(MARKS[mark], f"      {mark} {escape(text)}")
    if len(lines) > LINES:
        yield f"        ... and {len(lines) - LINES} more lines"


def _one_sides(given: Sequence[OneSided], status: str, shade: str, paint: Paint) -> Iterator[str]:
    """Yield the lines of the added or the removed jobs and objects."""
    shown = important_first(given, SIDES)
    more = len(given) - len(shown)
    if more:
        yield f"{paint(shade, status)} {number_of([each.subject for each in given])}:"
    yield from (_one_sided(each, status, shade, paint) for each in shown)
    if more:
        yield f"  ... and {more:,} more"


def _one_sided(each: OneSided, status: str, shade: str, paint: Paint) -> str:
    """Return the line of an added or removed job or object, with its locations or causes in all environments."""
    where = ", ".join(dict.fromkeys(filter(None, map(_place, each.objects))))
    lost = f": {paint(RED, DELETED)}" if any(one.loses_data for one in each.objects) else ""
    name = each.subject.title if each.is_whole else f"{each.kinds} of {each.subject.title}"
    kinds = f" ({each.kinds})" if each.is_whole and not each.subject.source.kind else ""
    return f"{paint(shade, status)} {escape(name + kinds)}  {escape(where)}{lost}"


def _place(reviewed: Reviewed) -> str:
    if reviewed.cause is not None:
        return f"{origin(reviewed.cause)}: {reviewed.cause.by}, {reviewed.cause.field}"
    return reviewed.at.file if reviewed.at else ""


def _numbers(review: Review, paint: Paint) -> Iterator[str]:
    """Yield the changed numbers of pods, first the total, then each queue."""
    for figure in changed_figures(review):
        parts = (
            f"{row.name} {row.before} -> {row.after} ({row.more})" if row.more else f"{row.name} {row.after}"
            for row in amounts(figure.before, figure.after)
        )
        yield f"{escape(figure.title + figure.scope)}: {escape(', '.join(parts))}"
    if review.kind == "live" or not review.is_empty:
        yield from queue_figures.lines(review, QUEUES, lambda text: paint(YELLOW, text), escape)


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{PLAIN}" if color else text


def _without_color(_: str, text: str) -> str:
    return text
