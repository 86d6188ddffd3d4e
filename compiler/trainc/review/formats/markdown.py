"""Markdown, for a review comment on GitHub or GitLab: a summary that fits one screen, and collapsed details.

Reads    a review.
Returns  the headline; a table of the changed settings; a table of the causes with their changes and effects; the pods
         in numbers; and, collapsed, the changed fields, the object names, and the added and removed objects. Parts that
         do not fit a comment are omitted and named in the last line. A word of the input that GitHub or GitLab might
         interpret (a mention, a reference, a link, an emoji) becomes code, which neither interprets. No text can end a
         code span, a table cell, a fence or an element.
Source   GitHub Flavored Markdown 0.29; GitHub's maximum comment length; the sanitizers of both services.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.base.texts import escape, plural
from trainc.compilation.lost_data import DELETED
from trainc.kubernetes.pod_resources import order
from trainc.kubernetes.violations import listed
from trainc.provenance.tracing.correspondence import GONE
from trainc.reports import in_order, message
from trainc.review.consequences import RANK
from trainc.review.formats import (
    BLOCKING,
    amounts,
    block,
    by_identity,
    changed_by,
    counted,
    figures,
    fits_one_line,
    headline,
    marked,
    meaning,
    names,
    numbers,
    origin,
    possible_causes,
    printable,
    same_values,
    setting_name,
    shortened,
    value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.review.changes import Change
    from trainc.review.consequences import Effect
    from trainc.review.formats import PodFigure
    from trainc.review.reviewed import Cause, CauseGroup, ChangedSetting, Line, Review, Reviewed
    from trainc.review.sides.side_files import NotCompared

LONGEST: Final = 65_000
"""GitHub's limit is 65,536 characters; the length is counted in bytes, of which there are never fewer."""
RESERVED_FOR_NOTICE: Final = 600
ROWS: Final = 8
"""The maximum number of causes and of queues that are shown expanded."""
SETTINGS: Final = 20
"""The maximum number of changed settings, if each key has one of them."""
NOT_COMPARED: Final = 20
"""The maximum number of differences that are not compared."""
RECREATED: Final = 12
"""The maximum number of objects in a line that names what must be recreated, or is deleted with its data."""
NAMES: Final = 100
"""The maximum number of objects in a list."""
LINES: Final = 120
"""The maximum number of lines of changes for a cause."""
FIELD: Final = 40
"""The maximum length of a field in a table; a longer field is shown by its end."""
FIELDS: Final = 2
"""The maximum number of fields that are named beside an effect."""
DETAILS: Final = "details"
_DOT: Final = re.compile(r"\.(?![^\[\]]{0,256}\])")
"""A dot between two steps of a field, not one in an item name."""


WIDTH: Final = 200
"""The maximum length of a line of a comment."""
SENTENCE: Final = 600
"""The maximum length of a sentence."""
_PLAIN: Final = re.compile(r"(?!(?i:www)\.|[A-Za-z]+-\d)[A-Za-z0-9]+(?:['.-][A-Za-z0-9]+)*")
"""Words that neither service interprets: not a link, and not a reference such as GH-12."""
_WORD: Final = re.compile(r'"([^"]+)"|([^\s"(),;]+)|([\s(),;]+|")')
"""A quotation, a word, or a separator."""


class Section(NamedTuple):
    """A part of the comment, with its name in the notice about omitted parts."""

    name: str
    text: str


def render(review: Review, *, color: bool = False) -> str:
    """Return the review, with the parts that fit in order of importance."""
    kept, omitted = _fit(_parts(review), LONGEST - RESERVED_FOR_NOTICE)
    if omitted:
        kept.append(f"_Omitted, because the comment would be too long: {omitted}; `trainc diff` shows everything_")
    return "\n\n".join(kept) + "\n"


def _parts(review: Review) -> Iterator[Section]:
    groups = review.groups()
    yield Section("headline", f"**{prose(headline(review))}**, from {code(review.old)} to {code(review.new)}")
    if review.recreated:
        yield Section(
            "recreated objects", f"**Must be recreated**: {_names(review.recreated, kind=True, most=RECREATED)}"
        )
    if review.lost:
        lost = _names(review.lost, kind=True, most=RECREATED)
        yield Section("deleted data", f"**{DELETED[0].upper()}{DELETED[1:]}**: {lost}")
    if review.settings:
        yield Section("table of settings", "\n".join(_settings(review.settings)))
        if details := _settings_in_full(review.settings):
            yield Section("values of settings", details)
    if review.not_compared:
        yield Section("differences that are not compared", "\n".join(_not_compared(review.not_compared)))
    if groups:
        yield Section("table of causes", "\n".join(_table(groups[:ROWS])))
    yield from (Section("pods in numbers", text) for text in _numbers(review))
    yield from (Section(DETAILS, _details(group)) for group in groups[:ROWS])
    if groups[ROWS:]:
        yield Section("further causes", _later_causes(groups[ROWS:]))
    for status in ("added", "removed"):
        if found := [reviewed for reviewed in review.objects if reviewed.status == status]:
            yield Section(f"{status} objects", _one_sided(status, found))
    yield from (Section("warnings", text) for text in _warnings(review))


def _fit(parts: Iterable[Section], space: int) -> tuple[list[str], str]:
    """Return the parts that fit, and the names of the others; a short part may follow an omitted long one."""
    kept: list[str] = []
    omitted: dict[str, int] = {}
    for part in parts:
        size = len(part.text.encode()) + 2
        if size <= space:
            kept.append(part.text)
            space -= size
        else:
            omitted[part.name] = omitted.get(part.name, 0) + 1
    sections = [f"{name} of {plural(count, 'cause')}" if name == DETAILS else name for name, count in omitted.items()]
    return kept, listed(sections) if sections else ""


def _table(groups: Sequence[CauseGroup]) -> Iterator[str]:
    """Yield a row for each cause; rendered manifests have no causes."""
    known = any(group.cause or group.settings for group in groups)
    yield "| line | edit | changes | in the cluster |" if known else "| changes | in the cluster |"
    yield "|---|---|---|---|" if known else "|---|---|"
    for group in groups:
        cells = [prose(counted(group.objects)), "<br>".join(_effects(group))]
        if group.cause is not None:
            cells = [code(origin(group.cause)), _edit(group.cause), *cells]
        elif known:
            cells = ["", prose(possible_causes(group) or "cause unknown"), *cells]
        yield f"| {' | '.join(cells)} |"


def _settings(settings: Sequence[ChangedSetting]) -> Iterator[str]:
    """Yield a row for each changed setting."""
    yield "| line | setting | changes |"
    yield "|---|---|---|"
    for setting in shortened(settings, SETTINGS):
        name, owner = code(setting_name(setting)), setting.owner
        if owner is not None:
            name = f"annotation {name} of {prose(owner.kind)} {code(owner.qualified_name)}"
        edit = _edited(name, setting.change)
        yield f"| {code(origin(setting))} | {edit} | {prose(changed_by(setting))} |"
    if more := len(settings) - len(shortened(settings, SETTINGS)):
        yield f"| | and {more} more | |"


def _not_compared(rows: Sequence[NotCompared]) -> Iterator[str]:
    """Yield a row for each difference that is not compared."""
    yield "| Not compared | difference |"
    yield "|---|---|"
    for row in rows[:NOT_COMPARED]:
        name = f"{prose(row.object.kind)} {code(row.object.qualified_name)} is" if row.object else "is"
        yield f"| {code(row.file)} | {name} {row.status}: {prose(row.reason)} |"
    if len(rows) > NOT_COMPARED:
        yield f"| and {len(rows) - NOT_COMPARED} more | |"


def _settings_in_full(settings: Sequence[ChangedSetting]) -> str:
    """Return the values that are too long for the table, collapsed."""
    long = [setting for setting in shortened(settings, SETTINGS) if not fits_one_line(setting.change)]
    lines = [line for setting in long for line in _change(f"{origin(setting)} {setting.change.field}", setting.change)]
    return _collapsed(f"values of {plural(len(long), 'setting')}", fenced(lines, LINES)) if long else ""


def _edit(cause: Cause) -> str:
    """Return the edited field with its values."""
    return _edited(f"{prose(cause.by)}, {code(_end(cause.field))}", cause.edit)


def _edited(field: str, change: Change) -> str:
    """Return a field, which is Markdown, with the values that fit a table."""
    if change.kind == "moved":
        return f"{field} is reordered"
    if not fits_one_line(change):
        return f"{field} is {change.kind}"
    if change.kind == "changed":
        return f"{field}: {code(value(change.old))} → {code(value(change.new))}"
    return f"{field}: {code(value(change.new if change.kind == 'added' else change.old))} is {change.kind}"


def _effects(group: CauseGroup) -> Iterator[str]:
    """Yield the effects of the changes with reasons and fields, the most severe first."""
    found: dict[tuple[Effect, str], dict[str, None]] = {}
    for line, having in group.lines:
        found.setdefault((line.consequence.effect, _meaning(line, having)), {})[line.change.field] = None
    for (effect, shown), fields in sorted(found.items(), key=lambda each: -RANK[each[0][0]]):
        ends = [code(_end(field)) for field in [*fields][:FIELDS]]
        if len(fields) > FIELDS:
            ends.append(f"{len(fields) - FIELDS} more")
        words, colon, why = shown.partition(": ")
        mark = "**" if effect in BLOCKING else ""
        yield f"{mark}{prose(words)}{mark}{colon}{prose(why)} ({listed(ends)})"


def _meaning(line: Line, having: Sequence[Reviewed]) -> str:
    """Return the effect of a change on all objects that have it, without their new names, which differ."""
    return meaning(line, having[0] if len(having) == 1 else having[0]._replace(new_name=""))


def _details(group: CauseGroup) -> str:
    """Return the changes of a cause field by field, and the names of the changed objects."""
    cause, meanings = group.cause, list(dict.fromkeys(_meaning(*each) for each in group.lines))
    title = f"{plural(len(group.lines), 'field')} of {prose(counted(group.objects), in_html)}"
    lines = list(_changes(group, with_meanings=len(meanings) > 1))
    parts = [] if len(meanings) > 1 else [prose(meanings[0])]
    if cause is not None:
        title = f"{in_html(origin(cause))}: {title}"
        parts.insert(0, f"{code(origin(cause))}: {prose(cause.by)}, {code(cause.field)}")
        if not fits_one_line(cause.edit):
            lines = [*_change(f"{origin(cause)} {cause.field}", cause.edit), *lines]
    objects = f"{prose(counted(group.objects))}: {_names(group.objects, kind=cause is None)}"
    return _collapsed(title, *parts, fenced(lines, LINES), objects)


def _changes(group: CauseGroup, *, with_meanings: bool) -> Iterator[str]:
    """Yield a group's changes as a diff, with the effect of each if the effects differ."""
    for line, having in group.lines:
        yield from _change(line.change.field, line.change)
        notes = [_meaning(line, having)] if with_meanings else []
        if len(having) < len(group.objects):
            notes.append(f"in {_short_list(having)}")
        if not same_values(line, having):
            notes.append(f"values of {marked(having[0], kind=False)}; the others differ")
        if notes:
            yield f"! {'; '.join(notes)}"


def _short_list(objects: Sequence[Reviewed]) -> str:
    shown = names(objects)
    return listed([*shown[:FIELDS], f"{len(shown) - FIELDS} more"] if len(shown) > FIELDS else shown)


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
    """Yield the pods before and after: total, and by queue if there are queues."""
    found = figures(review)
    totals = [figure for figure in found if figure.queue is None]
    queues = [figure for figure in found if figure.queue is not None]
    changed = [figure for figure in queues if figure.before != figure.after]
    if not totals:
        return
    if not changed and all(figure.before == figure.after for figure in totals):
        for figure in totals:
            shown = listed(f"{row.after} {prose(row.name)}" for row in amounts(figure.before, figure.after))
            yield f"Pods{_scope(figure)}, unchanged: {shown}"
        return
    resources = {name for figure in totals for side in (figure.before, figure.after) for name in side.resources}
    columns = ["nodes", "pods", *sorted(resources, key=order)]
    head = [f"| pods | {' | '.join(map(prose, columns))} |", f"|---|{'---:|' * len(columns)}"]
    rows = [_row(figure, columns) for figure in changed]
    yield "\n".join([*head, *(_row(figure, columns) for figure in totals), *rows[:ROWS]])
    if len(rows) > ROWS:
        yield _collapsed(f"{len(rows) - ROWS} further queues", "\n".join([*head, *rows[ROWS:]]))


def _row(figure: PodFigure, columns: Sequence[str]) -> str:
    title = f"queue {code(figure.queue)}" if figure.queue else "no queue" if figure.queue == "" else "**total**"
    found = {row.name: row for row in amounts(figure.before, figure.after)}
    cells = []
    for name in columns:
        row = found.get(name)
        cells.append(f"{row.before} → {row.after} ({row.more})" if row and row.more else row.after if row else "0")
    return f"| {title}{_scope(figure)} | {' | '.join(cells)} |"


def _scope(figure: PodFigure) -> str:
    """Return where a figure counts; the environments are code."""
    where = prose(figure._replace(environments=()).scope)
    names = f"[{', '.join(figure.environments)}]"
    return f"{where} {code(names)}" if figure.environments else where


def _later_causes(groups: Sequence[CauseGroup]) -> str:
    """Return the causes after the first ones, collapsed."""
    parts = [Section("table", "\n".join(_table(groups))), *(Section(DETAILS, _details(group)) for group in groups)]
    kept, omitted = _fit(parts, LONGEST // 2)
    return _collapsed(f"{len(groups)} further causes", *kept, *([f"_Omitted: {omitted}_"] if omitted else []))


def _one_sided(status: str, objects: Sequence[Reviewed]) -> str:
    """Return the added or removed objects with their locations or causes in all environments."""
    groups = by_identity(objects)
    rows = []
    for group in groups[:NAMES]:
        (name,) = names(group, kind=True)
        lost = f": **{DELETED}**" if any(each.loses_data for each in group) else ""
        rows.append(f"- {code(name)} {', '.join(dict.fromkeys(map(_place, group)))}".rstrip() + lost)
    if len(groups) > NAMES:
        rows.append(f"- and {len(groups) - NAMES} more")
    return _collapsed(f"{prose(counted(objects), in_html)} {status}", "\n".join(rows))


def _place(reviewed: Reviewed) -> str:
    if reviewed.cause is not None:
        return f"{code(origin(reviewed.cause))}: {_edit(reviewed.cause)}"
    return code(reviewed.at.file) if reviewed.at else ""


def _warnings(review: Review) -> Iterator[str]:
    """Yield the warnings and notes about the sides; TrainJobs with errors are not compared."""
    rows = []
    for diagnostic in in_order(review.diagnostics)[:NAMES]:
        at = diagnostic.locate()
        where = f"{code(str(at))}: " if at else ""
        rows.append(f"- {where}{prose(message(diagnostic))}")
    if rows:
        yield _collapsed(numbers(review.diagnostics), "\n".join(rows))


def _names(objects: Sequence[Reviewed], *, kind: bool, most: int = NAMES) -> str:
    shown = [*map(code, names(objects, kind=kind))]
    return listed([*shown[:most], f"{len(shown) - most} more"] if len(shown) > most else shown)


def _collapsed(title: str, *parts: str) -> str:
    """Return collapsed parts, which are Markdown because of the blank lines; `title` is HTML."""
    return "\n\n".join([f"<details><summary>{title}</summary>", *parts, "</details>"])


def _end(field: str) -> str:
    """Return the last steps of a long field."""
    if len(field) <= FIELD:
        return field
    cuts = [found.end() for found in _DOT.finditer(field, len(field) - FIELD - 1)]
    return f"…{field[cuts[0] :]}" if cuts else f"…{field[-FIELD:]}"


def cut(given: str) -> str:
    """Return a line of a comment, truncated."""
    shown = escape(given[: WIDTH + 1])
    return shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…"


def in_html(given: str) -> str:
    """Return code for HTML within Markdown: the summary of collapsed details."""
    return f"<code>{html.escape(cut(given))}</code>"


def code(given: str) -> str:
    """Return code for Markdown. In a table, a pipe would end the cell even after a backslash.

    >>> code("a"), code("a|b")
    ('`a`', '<code>a&#124;b</code>')
    """
    shown = cut(given)
    if shown and shown == shown.strip() and not any(mark in shown for mark in "`|\\"):
        return f"`{shown}`"
    return f"<code>{''.join(map(_entity, shown))}</code>"


def _entity(character: str) -> str:
    """Return a character as an entity. Even as one, an @ marks an address, unless a comment follows."""
    if character.isalnum() or character == " ":
        return character
    return f"&#{ord(character)};" + ("<!-- -->" if character == "@" else "")


def prose(given: str, as_code: Callable[[str], str] = code) -> str:
    """Return a sentence whose quotations, and words that might be interpreted, are code.

    >>> prose('patch "a/b" of @team (so)')
    'patch `a/b` of `@team` (so)'
    """
    found = []
    for quoted, word, between in _WORD.findall(escape(given[:SENTENCE])[:SENTENCE]):
        if quoted:
            found.append(as_code(quoted))
        elif word:
            bare = word.rstrip(".:")
            plain = not bare or _PLAIN.fullmatch(bare)
            found.append((bare if plain else as_code(bare)) + word[len(bare) :])
        else:
            found.append(between.replace('"', "&quot;"))
    return "".join(found)


def fenced(lines: Sequence[str], most: int) -> str:
    """Return a diff in a fence that is longer than any fence in it."""
    shown = [printable(line if len(line) <= WIDTH else f"{line[:WIDTH]}…") for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"  ... and {len(lines) - most} more lines")
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}diff", *shown, fence])
