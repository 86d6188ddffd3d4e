"""Markdown, for a comment in a review on GitHub or GitLab: what fits one screen, and the rest folded below it.

Reads    a review.
Returns  the headline; a table of the causes with what each changes and what the cluster makes of it; the pods in
         numbers; and, folded, the changes by field, the names of the objects, and what comes and goes. What does not
         fit a comment is left out, and the last line says so. Words of the input stand in code, where neither service
         looks for mentions, references or links; `review.inert` lets nothing out of it.
Source   GitHub Flavored Markdown 0.29; GitHub's longest comment; what both services sanitize.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.plural import plural
from trainc.reports import in_order
from trainc.review.consequences import RANK
from trainc.review.formats import (
    BLOCKING,
    amounts,
    block,
    counted,
    headline,
    listed,
    meaning,
    named,
    origin,
    same_values,
    short,
    sums,
    value,
    within,
)
from trainc.review.inert import code, fenced, in_html, prose
from trainc.tracing.counterparts import GONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.consequences import Effect
    from trainc.review.model import Cause, Group, Line, Review, Reviewed

LONGEST: Final = 65_000
"""GitHub takes a comment of 65,536 characters; counted here in bytes, of which there are never fewer."""
ROOM_FOR_NOTICE: Final = 600
ROWS: Final = 8
"""So many causes, and so many queues, are shown; further ones are folded."""
NAMES: Final = 100
"""So many objects are named in a list."""
LINES: Final = 120
"""So many lines of changes are shown of a cause."""
FIELD: Final = 40
"""In a table, the end of a field that is longer."""
FIELDS: Final = 2
"""So many fields are named beside what the cluster makes of them."""
DETAILS: Final = "the details"
_DOT: Final = re.compile(r"\.(?![^\[\]]*\])")
"""Between two steps of a field; not within the name of an item."""


class Part(NamedTuple):
    """A part of the comment, and what it is called where it does not fit."""

    what: str
    text: str


def render(review: Review, *, color: bool = False) -> str:
    """The review; what is read first comes first, as far as there is room."""
    kept, left = _fitting(_parts(review), LONGEST - ROOM_FOR_NOTICE)
    if left:
        kept.append(f"_Left out, as the comment would be too long: {left}; `trainc diff` shows all of it_")
    return "\n\n".join(kept) + "\n"


def _parts(review: Review) -> Iterator[Part]:
    groups = review.groups()
    yield Part("the headline", f"**{prose(headline(review))}**, from {code(review.old)} to {code(review.new)}")
    if groups:
        yield Part("the table of causes", "\n".join(_table(groups[:ROWS])))
    yield from (Part("the pods in numbers", text) for text in _numbers(review))
    yield from (Part(DETAILS, _details(group)) for group in groups[:ROWS])
    if groups[ROWS:]:
        yield Part("further causes", _further(groups[ROWS:]))
    for status in ("added", "removed"):
        if found := [reviewed for reviewed in review.objects if reviewed.status == status]:
            yield Part(f"what is {status}", _alone(status, found))
    yield from (Part("the warnings", text) for text in _warnings(review))


def _fitting(parts: Iterable[Part], room: int) -> tuple[list[str], str]:
    """Those that fit, and what the others are; a long one may give way to a short one behind it."""
    kept: list[str] = []
    left: dict[str, int] = {}
    for part in parts:
        size = len(part.text.encode()) + 2
        if size <= room:
            kept.append(part.text)
            room -= size
        else:
            left[part.what] = left.get(part.what, 0) + 1
    words = [f"{what} of {plural(count, 'cause')}" if what == DETAILS else what for what, count in left.items()]
    return kept, listed(words) if words else ""


def _table(groups: Sequence[Group]) -> Iterator[str]:
    """A row for each cause; of rendered manifests none is known."""
    known = any(group.cause for group in groups)
    yield "| line | edit | changes | in the cluster |" if known else "| changes | in the cluster |"
    yield "|---|---|---|---|" if known else "|---|---|"
    for group in groups:
        cells = [prose(counted(group.objects)), "<br>".join(_effects(group))]
        if group.cause is not None:
            cells = [code(origin(group.cause)), _edit(group.cause), *cells]
        elif known:
            cells = ["", "of no line that is known", *cells]
        yield f"| {' | '.join(cells)} |"


def _edit(cause: Cause) -> str:
    """Whose field is edited, from what to what."""
    change = cause.edit
    said = f"{prose(cause.by)}, {code(_end(cause.field))}"
    if change.kind == "moved":
        return f"{said} in another order"
    if not short(change):
        return f"{said} is {change.kind}"
    if change.kind == "changed":
        return f"{said}: {code(value(change.old))} → {code(value(change.new))}"
    return f"{said}: {code(value(change.new if change.kind == 'added' else change.old))} is {change.kind}"


def _effects(group: Group) -> Iterator[str]:
    """What the cluster makes of the changes, what matters most first, with the reason and the fields."""
    found: dict[tuple[Effect, str], dict[str, None]] = {}
    for line, having in group.lines:
        found.setdefault((line.consequence.effect, _meaning(line, having)), {})[line.change.field] = None
    for (effect, said), fields in sorted(found.items(), key=lambda each: -RANK[each[0][0]]):
        names = [code(_end(field)) for field in [*fields][:FIELDS]]
        if len(fields) > FIELDS:
            names.append(f"{len(fields) - FIELDS} more")
        what, colon, why = said.partition(": ")
        mark = "**" if effect in BLOCKING else ""
        yield f"{mark}{prose(what)}{mark}{colon}{prose(why)} ({listed(names)})"


def _meaning(line: Line, having: Sequence[Reviewed]) -> str:
    """What a change means for all that have it: each has a new name of its own."""
    return meaning(line, having[0] if len(having) == 1 else having[0]._replace(anew=""))


def _details(group: Group) -> str:
    """What a cause changes, field by field, and the names of the objects."""
    cause, means = group.cause, list(dict.fromkeys(_meaning(*each) for each in group.lines))
    title = f"{plural(len(group.lines), 'field')} of {prose(counted(group.objects), in_html)}"
    lines = list(_changes(group, apart=len(means) > 1))
    parts = [] if len(means) > 1 else [prose(means[0])]
    if cause is not None:
        title = f"{in_html(origin(cause))}: {title}"
        parts.insert(0, f"{code(origin(cause))}: {prose(cause.by)}, {code(cause.field)}")
        if not short(cause.edit):
            lines = [*_change(f"{origin(cause)} {cause.field}", cause.edit), *lines]
    names = _names(group.objects, kind=cause is None)
    return _folded(title, *parts, fenced(lines, LINES), f"{prose(counted(group.objects))}: {names}")


def _changes(group: Group, *, apart: bool) -> Iterator[str]:
    """A group's changes as a diff; with what each means, where they mean different things."""
    for line, having in group.lines:
        yield from _change(line.change.field, line.change)
        notes = [_meaning(line, having)] if apart else []
        if len(having) < len(group.objects):
            notes.append(f"in {_short_list(having)}")
        if not same_values(line, having):
            notes.append(f"as in {within(having[0].id)}; the others have values of their own")
        if notes:
            yield f"! {'; '.join(notes)}"


def _short_list(objects: Sequence[Reviewed]) -> str:
    names = [within(reviewed.id) for reviewed in objects[:FIELDS]]
    return listed([*names, f"{len(objects) - FIELDS} more"] if len(objects) > FIELDS else names)


def _change(field: str, change: Change) -> Iterator[str]:
    yield f"@@ {field} @@"
    if change.kind == "moved":
        yield f"- {', '.join(map(str, change.old))}"
        yield f"+ {', '.join(map(str, change.new))}"
        return
    for mark, given in (("-", change.old), ("+", change.new)):
        yield from (f"{mark} {text}" for text in _lines(given))


def _lines(given: Any) -> list[str]:
    return [] if given is GONE else block(given)


def _numbers(review: Review) -> Iterator[str]:
    """The pods before and after: in all, and by queue where there are queues."""
    queues = sorted(review.before.keys() | review.after.keys())
    both = (review.before, review.after)
    total = amounts(*map(sums, both))
    if not queues:
        return
    changed = [queue for queue in queues if review.before.get(queue) != review.after.get(queue)]
    if not changed:
        yield f"Pods, before and after: {listed(f'{row.after} {prose(row.name)}' for row in total)}"
        return
    names = [row.name for row in total]
    named_queues = changed if queues != [""] else []
    head = [f"| pods | {' | '.join(map(prose, names))} |", f"|---|{'---:|' * len(names)}"]
    rows = [_row(_queue(queue), [side.get(queue) for side in both], names) for queue in named_queues]
    yield "\n".join([*head, _row("**in all**", [sums(side) for side in both], names), *rows[:ROWS]])
    if len(rows) > ROWS:
        yield _folded(f"{len(rows) - ROWS} further queues", "\n".join([*head, *rows[ROWS:]]))


def _queue(queue: str) -> str:
    return f"queue {code(queue)}" if queue else "no queue"


def _row(title: str, sides: Sequence[Footprint | None], names: Sequence[str]) -> str:
    found = {row.name: row for row in amounts(*sides)}
    cells = []
    for name in names:
        row = found.get(name)
        cells.append(f"{row.before} → {row.after} ({row.more})" if row and row.more else row.after if row else "0")
    return f"| {title} | {' | '.join(cells)} |"


def _further(groups: Sequence[Group]) -> str:
    """The causes beyond the first ones, in one fold."""
    parts = [Part("their table", "\n".join(_table(groups))), *(Part(DETAILS, _details(group)) for group in groups)]
    kept, left = _fitting(parts, LONGEST // 2)
    return _folded(f"{len(groups)} further causes", *kept, *([f"_Left out: {left}_"] if left else []))


def _alone(status: str, objects: Sequence[Reviewed]) -> str:
    """What comes or goes, and why."""
    rows = []
    for reviewed in objects[:NAMES]:
        where = code(reviewed.at.file) if reviewed.at else ""
        if reviewed.cause is not None:
            where = f"{code(origin(reviewed.cause))}: {_edit(reviewed.cause)}"
        rows.append(f"- {code(named(reviewed.id))} {where}".rstrip())
    if len(objects) > NAMES:
        rows.append(f"- and {len(objects) - NAMES} more")
    return _folded(f"{prose(counted(objects), in_html)} {status}", "\n".join(rows))


def _warnings(review: Review) -> Iterator[str]:
    """What is wrong with the sides: what is not compiled is not compared."""
    rows = []
    for said in in_order(review.diagnostics)[:NAMES]:
        at = said.locate()
        where = f"{code(str(at))}: " if at else ""
        rows.append(f"- {where}{prose(said.message)}")
    if rows:
        yield _folded(plural(len(review.diagnostics), "warning"), "\n".join(rows))


def _names(objects: Sequence[Reviewed], *, kind: bool) -> str:
    names = [code(named(each.id) if kind else within(each.id)) for each in objects[:NAMES]]
    return listed([*names, f"{len(objects) - NAMES} more"] if len(objects) > NAMES else names)


def _folded(title: str, *parts: str) -> str:
    """A fold; a blank line lets Markdown in again. `title` is HTML."""
    return "\n\n".join([f"<details><summary>{title}</summary>", *parts, "</details>"])


def _end(field: str) -> str:
    """The end of a long field, by whole steps."""
    if len(field) <= FIELD:
        return field
    cuts = [found.end() for found in _DOT.finditer(field) if len(field) - found.end() <= FIELD]
    return f"…{field[cuts[0] :]}" if cuts else f"…{field[-FIELD:]}"
