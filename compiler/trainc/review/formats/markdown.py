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
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.texts import escape, plural
from trainc.compilation.important_objects import DELETED
from trainc.kubernetes.violations import listed
from trainc.reports import in_order, message
from trainc.review import queue_figures
from trainc.review.formats import (
    GUIDE,
    amounts,
    by_sentence,
    changed_figures,
    difference,
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
    names_of,
    notes_of,
    numbers,
    numbers_of,
    numbers_of_kinds,
    origin,
    possible_causes,
    printable,
    setting_name,
    shortened,
    value,
    value_lines,
)
from trainc.review.job_entries import number_of, one_sided, subjects
from trainc.review.reviewed import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.review.changes import Change
    from trainc.review.formats import PodFigure, Said
    from trainc.review.job_entries import OneSided, Subject
    from trainc.review.reviewed import CauseGroup, ChangedSetting, Line, Review, Reviewed
    from trainc.review.sides.moves import FolderMove
    from trainc.review.sides.side_files import NotCompared, Status

LONGEST: Final = 65_000
"""GitHub's limit is 65,536 characters; the length is counted in bytes, of which there are never fewer."""
RESERVED_FOR_NOTICE: Final = 600
ONE_SIDED: Final[tuple[Status, ...]] = ("added", "removed")
CHANGED: Final[Status] = "changed"
ROWS: Final = 8
"""The maximum number of causes and of queues that are shown expanded."""
SETTINGS: Final = 20
"""The maximum number of changed settings, if each key has one of them."""
NOT_COMPARED: Final = 20
"""The maximum number of differences that are not compared, without those of important kinds."""
FEW: Final = 6
"""The maximum number of jobs in a list that is not collapsed."""
NAMES: Final = 100
"""The maximum number of jobs in a collapsed list, and of warnings."""
ALL_NAMES: Final = 2000
"""The maximum number of jobs in a collapsed list of its own."""
LINES: Final = 120
"""The maximum number of lines of changes for a cause."""
FIELD: Final = 40
"""The maximum length of a field in a table; a longer field is shown by its end."""
DETAILS: Final = "details"
_DOT: Final = re.compile(r"\.(?![^\[\]]{0,256}\])")
"""A dot between two steps of a field, not one in an item name."""


WIDTH: Final = 200
"""The maximum length of a line of a comment."""
ARROW: Final = "->"
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
    kept: bool = False
    """Whether the comment is worth nothing without it."""


def render(review: Review, *, color: bool = False) -> str:
    """Return the review, with the parts that fit in order of importance."""
    parts = list(_parts(review))
    needed = sum(len(part.text.encode()) + 2 for part in parts if part.kept)
    if needed > LONGEST - RESERVED_FOR_NOTICE:
        return (
            f"{parts[0].text}\n\n{_counts(review)}\n\n**Too large for a comment**: read `trainc diff --format html`.\n"
        )
    kept, omitted = _fit(parts, LONGEST - RESERVED_FOR_NOTICE)
    if omitted:
        kept.append(f"_Omitted, because the comment would be too long: {omitted}; `trainc diff` shows everything_")
    return "\n\n".join(kept) + "\n"


def _parts(review: Review) -> Iterator[Section]:
    groups = review.groups()
    yield Section("head", "\n\n".join(_head(review)), kept=True)
    if table := environment_table(review):
        yield Section("environments", "\n".join(_environments(table)), kept=True)
    if important := list(_important(review)):
        yield Section("rights, code and data", "\n".join(["**Rights, code and data**", "", *important]), kept=True)
    if review.moves:
        yield Section("moves", "\n".join(_moves(review.moves)), kept=True)
    if settings := review.other_settings(groups):
        yield Section("settings", "\n".join(["**Settings**", "", *_settings(settings)]))
    if details := _settings_in_full([*settings, *(group.setting for group in groups[:ROWS] if group.setting)]):
        yield Section("values of settings", details)
    yield from (Section("causes", text) for text in _causes(groups[:ROWS]))
    yield from (Section("pods in numbers", text) for text in _numbers(review))
    if shown := [f"- {line}" for line in queue_figures.lines(review, ROWS, "**{}**".format, prose, code)]:
        yield Section("queues", "\n".join(shown))
    rows = [row for row in review.not_compared if not row.is_important]
    if rows:
        yield Section("differences that are not compared", "\n".join(_not_compared(rows)))
    yield from (Section(DETAILS, _details(group)) for group in groups[:ROWS])
    if groups[ROWS:]:
        yield Section("further causes", _later_causes(groups[ROWS:]))
    for status in ONE_SIDED:
        if found := one_sided(review.with_status(status)):
            yield Section(f"{status} objects", _one_sided(review.word(status), found))
    yield from (Section("warnings", text) for text in _warnings(review))
    yield from (Section("names of jobs", text) for text in _all_names(groups[:ROWS]))


def _head(review: Review) -> Iterator[str]:
    """Yield the three lines: the numbers as the title, what is compared, what is lost."""
    yield f"### {prose(numbers_of(review))}"
    yield f"{code(review.old)} → {code(review.new)}"
    if found := losses(review):
        yield "; ".join(f"**{prose(each.text)}**" if each.shade == "bad" else prose(each.text) for each in found)
    yield from ("\n".join(f"- {prose(each)}" for each in rows) for rows in [first_remarks(review)] if rows)


def _environments(table: Sequence[Sequence[str]]) -> Iterator[str]:
    head, *rows = table
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    yield from (f"| {' | '.join([code(name), *numbers])} |" for name, *numbers in rows)


def _counts(review: Review) -> str:
    """Return the numbers of objects by kind."""
    kinds = [each.id.kind for each in review.objects for _ in range(each.number)]
    kinds += (row.object.kind for row in review.not_compared if row.object is not None)
    return f"Changed: {prose(numbers_of_kinds(kinds))}."


def _important(review: Review) -> Iterator[str]:
    """Yield all objects of kinds that give rights, run code or delete data: these are never left out."""
    for status in (*ONE_SIDED, CHANGED):
        for subject in subjects(each for each in review.with_status(status) if each.is_important):
            yield f"- {_title(subject)} {prose(review.word(status))}"
    for row in review.not_compared:
        if row.is_important:
            yield _difference(row)


def _fit(parts: Iterable[Section], space: int) -> tuple[list[str], str]:
    """Return the parts that fit, and the names of the others; a short part may follow an omitted long one."""
    parts = [*parts]
    space -= sum(len(part.text.encode()) + 2 for part in parts if part.kept)
    kept: list[str] = []
    omitted: dict[str, int] = {}
    for part in parts:
        size = 0 if part.kept else len(part.text.encode()) + 2
        if size <= space:
            kept.append(part.text)
            space -= size
        else:
            omitted[part.name] = omitted.get(part.name, 0) + 1
    sections = [f"{name} of {plural(count, 'cause')}" if name == DETAILS else name for name, count in omitted.items()]
    return kept, listed(sections) if sections else ""


def _causes(groups: Sequence[CauseGroup]) -> Iterator[str]:
    """Yield the causes below what the cluster does with the most severe of their changes."""
    found: dict[str, list[CauseGroup]] = {}
    firsts: dict[str, Said] = {}
    for group in groups:
        first = by_sentence(group)[0]
        found.setdefault(first.text, []).append(group)
        firsts[first.text] = first
    order = {"bad": 0, "warn": 1, "": 2}
    for text, members in sorted(found.items(), key=lambda each: order[firsts[each[0]].shade]):
        shown, guide = prose(text[0].upper() + text[1:]), firsts[text].guide
        title = f"**{shown}**" if firsts[text].shade == "bad" else shown
        link = f" ([{GUIDE}]({guide}))" if guide else ""
        yield "\n".join([f"{title}{link}:", "", *map(_cause, members)])


def _cause(group: CauseGroup) -> str:
    """Return the line, the edit, and what it changes."""
    cause = group.setting or group.cause
    where = "" if cause is None else f"{code(origin(cause))} "
    later = [each.text for each in by_sentence(group)[1:]]
    also = f"<br>also: {prose('; '.join(later))}" if later else ""
    if isinstance(cause, Cause) and cause.own:
        is_one = len(group.lines) == 1
        edit = _edited(code(_end(cause.field)), cause.edit) if is_one else plural(len(group.lines), "field")
        return f"- {where}{_changed(subjects(group.objects), FEW)}: {edit}{also}"
    if group.setting is not None:
        edit = _edited(f"setting {code(_end(setting_name(group.setting)))}", group.setting.change)
    else:
        edit = _edit(group.cause) if group.cause else prose(possible_causes(group))
    changes = "<br>changes " if edit else ""
    return f"- {where}{edit}{changes}{_changed(subjects(group.objects), FEW)}{also}"


def _changed(given: Sequence[Subject], most: int) -> str:
    """Return the jobs that a cause changes."""
    return names_of(given, most, code, prose)


def _title(subject: Subject) -> str:
    """Return a source with its environments, which a line may break between."""
    return names_of([subject], 1, code)


def _settings(settings: Sequence[ChangedSetting]) -> Iterator[str]:
    """Yield a line for each changed setting."""
    for setting in shortened(settings, SETTINGS):
        name, owner = code(_end(setting_name(setting))), setting.owner
        if owner is not None:
            name = f"annotation {name} of {prose(owner.kind)} {code(owner.qualified_name)}"
        found = subjects(setting.objects)
        effect = _changed(found, FEW) if found else prose(effect_on_reports(setting))
        changed = f"<br>changes {effect}" if effect else ""
        yield f"- {code(origin(setting))} {_edited(name, setting.change)}{changed}"
    if more := len(settings) - len(shortened(settings, SETTINGS)):
        yield f"- and {more} more{prose(files_of(settings, shortened(settings, SETTINGS)))}"


def _not_compared(rows: Sequence[NotCompared]) -> Iterator[str]:
    """Yield a line for each difference that is not compared."""
    found = listed_rows(rows, NOT_COMPARED)
    yield "**Not compared**" + (f": {prose(found.counts)}" if found.counts else "")
    yield ""
    yield from map(_difference, found.rows)
    if more := len(rows) - len(found.rows):
        yield f"- and {more:,} more"


def _moves(moves: Sequence[FolderMove]) -> Iterator[str]:
    """Yield a line for the objects of each pair of folders."""
    yield "**Moved to another folder**"
    yield ""
    for move in moves:
        yield f"- {code(move.old)} → {code(move.new)}: {prose(moved(move))}"


def _difference(row: NotCompared) -> str:
    return f"- {code(row.file)}{prose(difference(row))}"


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


def _details(group: CauseGroup) -> str:
    """Return the changes of a cause field by field, below what the cluster does with them, and the changed jobs."""
    cause = group.setting or group.cause
    changed = subjects(group.objects)
    who = in_html(changed[0].title) if len(changed) == 1 else prose(number_of(changed), in_html)
    title = f"{plural(len(group.lines), 'field')} of {who}"
    parts, lines = [], list[str]()
    if cause is not None:
        title = f"{in_html(origin(cause))}: {title}"
        if isinstance(cause, Cause) and not cause.own and not fits_one_line(cause.edit):
            lines += _change(f"{origin(cause)} {cause.field}", cause.edit)
    for said in by_sentence(group):
        parts.append(prose(said.text[0].upper() + said.text[1:]))
        lines += [text for line, having in said.lines for text in _line(line, having, changed)]
        parts.append(fenced(lines, LINES))
        lines = []
    if len(changed) > 1:
        parts.append(_changed(changed, FEW if len(changed) > NAMES else NAMES))
    return _collapsed(title, *parts)


def _all_names(groups: Iterable[CauseGroup]) -> Iterator[str]:
    """Yield the collapsed lists of jobs that are too long for the details of a cause."""
    for group in groups:
        changed, cause = subjects(group.objects), group.setting or group.cause
        if len(changed) > NAMES:
            where = "" if cause is None else f"{in_html(origin(cause))}: "
            yield _collapsed(f"{where}all {prose(number_of(changed), in_html)}", _changed(changed, ALL_NAMES))


def _line(line: Line, having: Sequence[Reviewed], whole: Sequence[Subject]) -> Iterator[str]:
    """Yield a change as a diff."""
    yield from _change(field_of(line, having), line.change)
    if notes := notes_of(line, having, whole, 2):
        yield f"! {'; '.join(notes)}"


def _change(field: str, change: Change) -> Iterator[str]:
    yield f"@@ {field} @@"
    if change.kind == "moved":
        yield f"- {', '.join(map(str, change.old))}"
        yield f"+ {', '.join(map(str, change.new))}"
        return
    yield from (f"{mark} {text}" for mark, text in value_lines(change))


def _numbers(review: Review) -> Iterator[str]:
    """Yield the pods before and after that change: total, and by queue if there are queues."""
    changed = changed_figures(review)
    if not changed:
        return
    rows = [_figure(figure) for figure in changed]
    yield "\n".join(["**Pods**", "", *rows[:ROWS]])
    if len(rows) > ROWS:
        yield _collapsed(f"{plural(len(rows) - ROWS, 'further queue')}", "\n".join(rows[ROWS:]))


def _figure(figure: PodFigure) -> str:
    """Return the numbers of a total or a queue."""
    title = f"{figure.noun} {code(figure.queue)}" if figure.queue else "no queue" if figure.queue == "" else "**total**"
    parts = [
        f"{prose(row.name)} {row.before} → {row.after} ({row.more})" if row.more else f"{prose(row.name)} {row.after}"
        for row in amounts(figure.before, figure.after)
    ]
    return f"- {title}{_scope(figure)}: {', '.join(parts)}"


def _scope(figure: PodFigure) -> str:
    """Return where a figure counts; the environments are code."""
    where = prose(figure._replace(environments=()).scope)
    names = f"[{', '.join(figure.environments)}]"
    return f"{where} {code(names)}" if figure.environments else where


def _later_causes(groups: Sequence[CauseGroup]) -> str:
    """Return the causes after the first ones, collapsed."""
    parts = [
        *(Section("causes", text) for text in _causes(groups)),
        *(Section(DETAILS, _details(group)) for group in groups),
    ]
    kept, omitted = _fit(parts, LONGEST // 2)
    return _collapsed(f"{len(groups)} further causes", *kept, *([f"_Omitted: {omitted}_"] if omitted else []))


def _one_sided(word: str, given: Sequence[OneSided]) -> str:
    """Return the added or removed jobs and objects with their locations or causes in all environments."""
    rows = []
    shown = important_first(given, NAMES)
    for each in shown:
        lost = f": **{DELETED}**" if any(one.loses_data for one in each.objects) else ""
        name = _title(each.subject)
        if not each.subject.source.kind:
            name = f"{name} ({prose(each.kinds)})" if each.is_whole else f"{prose(each.kinds)} of {name}"
        where = ", ".join(dict.fromkeys(filter(None, map(_place, each.objects))))
        rows.append(f"- {name} {where}".rstrip() + lost)
    if more := len(given) - len(shown):
        rows.append(f"- and {more:,} more")
    title = number_of(list(dict.fromkeys(each.subject._replace(environments=()) for each in given)))
    return _collapsed(f"{prose(title, in_html)} {prose(word, in_html)}", "\n".join(rows))


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

    >>> prose('patch "a/b" of @team (so)'), prose("prod -> dev")
    ('patch `a/b` of `@team` (so)', 'prod → dev')
    """
    found = []
    for quoted, word, between in _WORD.findall(escape(given[:SENTENCE])[:SENTENCE]):
        if quoted:
            found.append(as_code(quoted))
        elif word == ARROW:
            found.append("→")
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
