"""Text, for people: what changes by its cause, then what comes and goes, then how much of the cluster the pods take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.review.formats import amounts, counted, headline, meaning, named, origin, value, within
from trainc.source.printable import escape
from trainc.tracing.counterparts import GONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.footprint import Footprint
    from trainc.review import Cause, Group, Line, Review, Reviewed
    from trainc.review.changes import Change

    Paint = Callable[[str, str], str]

BOLD: Final = "\x1b[1m"
RED: Final = "\x1b[31m"
GREEN: Final = "\x1b[32m"
YELLOW: Final = "\x1b[33m"
CYAN: Final = "\x1b[36m"
PLAIN: Final = "\x1b[0m"
BLOCKING: Final = frozenset({"new-object", "while-suspended", "refused"})
"""What a cluster with the old object does not take as it is."""
NAMES: Final = 6
"""So many objects are named in a list."""
LINES: Final = 12
"""So many lines of a value are shown."""


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
    if group.cause is not None:
        yield from _cause(group.cause, paint)
    yield (
        f"  changes {counted(group.objects)}: {_names(group.objects)}"
        if group.cause
        else _names(group.objects, kind=True)
    )
    for line, having in group.lines:
        yield from _line(line, having, group, paint)


def _cause(cause: Cause, paint: Paint) -> Iterator[str]:
    edit = cause.edit
    yield f"{paint(BOLD, escape(origin(cause)))}: {escape(cause.by)}, {escape(cause.field)}{_short(edit)}"


def _short(change: Change) -> str:
    """An edit on the line of its field, where its values are short."""
    if change.kind == "moved":
        return " in another order"
    if any(
        isinstance(part, dict | list) or len(str(part)) > 80 for part in (change.old, change.new) if part is not GONE
    ):
        return {"added": " is added", "removed": " is removed"}.get(change.kind, "")
    if change.kind == "changed":
        return f": {escape(value(change.old))} -> {escape(value(change.new))}"
    return (
        f": {escape(value(change.new))} is added"
        if change.kind == "added"
        else f": {escape(value(change.old))} is removed"
    )


def _line(line: Line, having: Sequence[Reviewed], group: Group, paint: Paint) -> Iterator[str]:
    change, effect = line.change, line.consequence.effect
    only = "" if len(having) == len(group.objects) else f"  ({_names(having)})"
    alike = (
        len(
            {
                (repr(other.change.old), repr(other.change.new))
                for each in having
                for other in each.lines
                if other.change.field == change.field
            }
        )
        == 1
    )
    note = "" if alike else f"  (of {within(having[0].id)}; the others have values of their own)"
    yield f"    {paint(CYAN, escape(change.field))}{escape(only)}{escape(note)}"
    if change.kind == "moved":
        yield f"      in another order: {escape(', '.join(map(str, change.old)))} -> {escape(', '.join(map(str, change.new)))}"
    else:
        yield from _values("-", change.old, RED, paint)
        yield from _values("+", change.new, GREEN, paint)
    said = meaning(line, having[0])
    yield f"      {paint(YELLOW, escape(said)) if effect in BLOCKING else escape(said)}"


def _values(mark: str, given: Any, shade: str, paint: Paint) -> Iterator[str]:
    if given is GONE:
        return
    lines = block(given)
    for number, text in enumerate(lines[:LINES]):
        yield paint(shade, f"      {mark if not number else ' '} {escape(text)}")
    if len(lines) > LINES:
        yield f"        ... and {len(lines) - LINES} more lines"


def block(given: Any) -> list[str]:
    """A value on lines of its own: a mapping or list as YAML, anything else on one."""
    if isinstance(given, dict | list) and given:
        from trainc.emit import yaml

        return yaml.Writer().part(given).splitlines()
    return [value(given)]


def _alone(each: Reviewed, said: str, shade: str, paint: Paint) -> str:
    if each.cause is not None:
        where = f"{origin(each.cause)}: {each.cause.by}, {each.cause.field}"
    else:
        where = each.at.file if each.at else ""
    return f"{paint(shade, said)} {escape(named(each.id))}  {escape(where)}"


def _names(objects: Sequence[Reviewed], *, kind: bool = False) -> str:
    names = [named(each.id) if kind else within(each.id) for each in objects[:NAMES]]
    if len(objects) > NAMES:
        names.append(f"and {len(objects) - NAMES} more")
    return escape(", ".join(names))


def _numbers(review: Review) -> Iterator[str]:
    """The pods in numbers, for each queue and in all, where they change."""
    if review.before == review.after:
        return
    queues = sorted(review.before.keys() | review.after.keys())
    several = queues != [""]
    for queue in queues if several else []:
        one, other = (side.get(queue) for side in (review.before, review.after))
        yield from _table(f"queue {queue}" if queue else "no queue", one, other)
    yield from _table("in all", *(_sum(side) for side in (review.before, review.after)))


def _sum(side: dict[str, Footprint]) -> Footprint | None:
    from trainc.footprint import NOTHING

    return sum(side.values(), NOTHING)


def _table(title: str, before: Footprint | None, after: Footprint | None) -> Iterator[str]:
    from trainc.footprint import NOTHING

    rows = amounts(before or NOTHING, after or NOTHING)
    yield f"{escape(title)}: " + ", ".join(
        f"{name} {one} -> {other} ({more})" if more else f"{name} {one}" for name, one, other, more in rows
    )


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{PLAIN}"


def _plain(_: str, text: str) -> str:
    return text
