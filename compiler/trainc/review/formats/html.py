"""HTML: one page that holds all it needs, for a reviewer who wants to look closer.

Reads    a review; the page's style and script (`templates/review/`).
Returns  the causes with what each changes; the pods in numbers; and each object with both sides beside one another,
         folded. The script filters and moves about; without it the page is whole. A content security policy lets
         nothing run, load or look otherwise than these two, known by their digests; words of the input are text.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from trainc.data import data_path
from trainc.plural import plural
from trainc.reports import in_order
from trainc.review.consequences import WORDS
from trainc.review.formats import (
    amounts,
    block,
    counted,
    headline,
    meaning,
    origin,
    same_values,
    short,
    sums,
    value,
    within,
)
from trainc.review.formats.sheets import badge, mark, sheets
from trainc.review.inert import path, text
from trainc.tracing.counterparts import GONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.model import Cause, Group, Line, Review, Reviewed

OPEN: Final = 3
"""Of so many causes, all are unfolded at first."""
QUEUES: Final = 5
"""So many queues that change are shown; more of them are folded."""
LINES: Final = 40
"""So many lines of a value are shown in a table; all of them are below, where both sides are."""


def render(review: Review, *, color: bool = False) -> str:
    """The page."""
    style, script = (_data(name) for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    numbers = {id(reviewed): number for number, reviewed in enumerate(review.objects, start=1)}
    groups = review.groups()
    title = f"{text(review.old)} → {text(review.new)}"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head>',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}: {text(headline(review))}</title>",
        f"<style>{style}</style></head><body>",
        '<a class="skip" href="#main">Skip to the changes</a>',
        f'<header><p class="sides"><code>{text(review.old)}</code> <span>→</span> <code>{text(review.new)}</code></p>',
        f"<h1>{text(headline(review))}</h1></header>",
        *_tools(review),
        '<main id="main" tabindex="-1">',
        *_warnings(review),
        *_causes(groups, numbers),
        *_pods(review),
        *sheets(review, groups),
        '<p id="none" hidden>Nothing here has all of these words.</p>',
        "</main>",
        '<footer><p id="keys" hidden>Keys: <kbd>/</kbd> filter, <kbd>n</kbd> and <kbd>p</kbd> next and previous, '
        "<kbd>Enter</kbd> unfold or fold, <kbd>Esc</kbd> show all again.</p>"
        "<p>Made by <code>trainc diff</code>. Values whose names look like a secret’s are <code>***</code>.</p>",
        "</footer>",
        f"<script>{script}</script>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _data(name: str) -> str:
    with open(data_path("templates", "review", name), encoding="utf-8", newline="\n") as file:
        return file.read()


def _digest(text: str) -> str:
    """What a content security policy knows a style or script by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _tools(review: Review) -> Iterator[str]:
    """The filter: words, and what the cluster makes of it; shown by the script, which does the filtering."""
    found: dict[str, int] = {}
    for reviewed in review.objects:
        found[mark(reviewed)] = found.get(mark(reviewed), 0) + 1
    words = WORDS | {"added": "added", "removed": "removed"}
    yield '<div class="tools" role="search" hidden><label for="query">Filter</label>'
    yield '<input id="query" type="search" placeholder="job, field, file or value" autocomplete="off">'
    yield '<div class="chips" role="group" aria-label="Show only objects that are">'
    for which, word in words.items():
        if which in found:
            said = f"{word.partition(':')[0]} <b>{found[which]}</b>"
            yield f'<button type="button" aria-pressed="false" data-mark="{which}">{said}</button>'
    yield '</div><p id="found" role="status"></p><button type="button" id="fold">Unfold all</button></div>'


def _warnings(review: Review) -> Iterator[str]:
    """What is wrong with the sides: what is not compiled is not compared."""
    if not review.diagnostics:
        return
    count = plural(len(review.diagnostics), "warning")
    yield f'<section class="warnings" aria-label="Warnings"><details><summary>{count}</summary><ul>'
    for said in in_order(review.diagnostics):
        at = said.locate()
        where = f"<code>{text(str(at))}</code> " if at else ""
        yield f"<li>{where}{text(said.message)}"
    yield "</ul></details></section>"


def _causes(groups: Sequence[Group], numbers: dict[int, int]) -> Iterator[str]:
    if not groups:
        return
    known = any(group.cause for group in groups)
    heading = "Changes" if not known else "Cause" if len(groups) == 1 else "Causes"
    nobody = f'<span class="where">{"Of no line that is known" if known else "By field"}</span>'
    yield f'<section aria-labelledby="why"><h2 id="why">{heading}</h2>'
    for number, group in enumerate(groups, start=1):
        effects = " ".join(sorted({line.consequence.effect for line, _ in group.lines}))
        yield f'<details class="item cause" id="c{number}" data-is="{effects}"{" open" if len(groups) <= OPEN else ""}>'
        edit = _edit(group.cause) if group.cause else nobody
        yield (
            f'<summary><span class="what">{edit}</span><span class="count">{text(counted(group.objects))}</span>'
            f"{badge(group.effect, group.objects[0])}</summary>"
        )
        yield '<div class="body"><table class="fields"><thead><tr><th>Field<th>Before<th>After<th>In the cluster<tbody>'
        yield from (_field(line, having, group) for line, having in group.lines)
        links = " ".join(f'<li><a href="#o{numbers[id(each)]}">{text(within(each.id))}</a>' for each in group.objects)
        yield f'</table><ul class="names" aria-label="Objects">{links}</ul></div></details>'
    yield "</section>"


def _edit(cause: Cause) -> str:
    """The line of the input, and what was done to it."""
    where = f'<code class="where">{text(origin(cause))}</code> <span class="by">{text(cause.by)}</span>'
    change = cause.edit
    field = f"<code>{path(cause.field)}</code>"
    if change.kind == "moved":
        said = f"{field} in another order"
    elif change.kind == "changed" and short(change):
        said = f"{field} <del>{text(value(change.old))}</del> → <ins>{text(value(change.new))}</ins>"
    elif short(change):
        tag, given = ("ins", change.new) if change.kind == "added" else ("del", change.old)
        said = f"{field} <{tag}>{text(value(given))}</{tag}> {change.kind}"
    else:
        said = f"{field} {change.kind}"
    return f'{where} <span class="edit">{said}</span>'


def _field(line: Line, having: Sequence[Reviewed], group: Group) -> str:
    """A row: a field, and its values where they are the same in all objects."""
    notes = []
    if len(having) < len(group.objects):
        notes.append(f"in {len(having)} of {len(group.objects)}: {', '.join(within(each.id) for each in having[:3])}")
    if not same_values(line, having):
        notes.append(f"as in {within(having[0].id)}; the others have values of their own")
    note = f'<p class="note">{text("; ".join(notes))}</p>' if notes else ""
    old, new = _values(line.change)
    reviewed = having[0] if len(having) == 1 else having[0]._replace(anew="")  # each has a name of its own
    said = f'<span class="said {line.consequence.effect}">{text(meaning(line, reviewed))}</span>'
    return f"<tr><td><code>{path(line.change.field)}</code>{note}<td>{old}<td>{new}<td>{said}"


def _values(change: Change) -> tuple[str, str]:
    if change.kind == "moved":
        old, new = (", ".join(map(str, names)) for names in (change.old, change.new))
        return f"<del>{text(old)}</del>", f"<ins>{text(new)}</ins>"
    return _value("del", change.old), _value("ins", change.new)


def _value(tag: str, given: Any) -> str:
    if given is GONE:
        return '<span class="gone">none</span>'
    lines = block(given)
    more = f'<p class="note">and {len(lines) - LINES} more lines</p>' if len(lines) > LINES else ""
    shown = "\n".join(map(text, lines[:LINES]))
    return f"<{tag}>{shown}</{tag}>{more}"


def _pods(review: Review) -> Iterator[str]:
    """The numbers, in all and by queue; queues that stay as they are come last, folded."""
    both = (review.before, review.after)
    queues = sorted(review.before.keys() | review.after.keys())
    if not queues:
        return
    yield '<section aria-labelledby="pods"><h2 id="pods">Pods before and after</h2><div class="cards">'
    yield _card("In all", *map(sums, both))
    named = queues if queues != [""] else []
    changed = [queue for queue in named if review.before.get(queue) != review.after.get(queue)]
    stay = [queue for queue in named if queue not in changed]
    if len(changed) <= QUEUES:
        yield from (_queue(review, queue) for queue in changed)
    yield "</div>"
    if len(changed) > QUEUES:
        yield from _folded(review, changed, "changes", "change")
    if stay:
        yield from _folded(review, stay, "stays as it is", "stay as they are")
    yield "</section>"


def _folded(review: Review, queues: Sequence[str], one: str, many: str) -> Iterator[str]:
    verb = one if len(queues) == 1 else many
    yield f'<details class="queues"><summary>{plural(len(queues), "queue")} {verb}</summary><div class="cards">'
    yield from (_queue(review, queue) for queue in queues)
    yield "</div></details>"


def _queue(review: Review, queue: str) -> str:
    title = f"Queue <code>{text(queue)}</code>" if queue else "No queue"
    return _card(title, review.before.get(queue), review.after.get(queue))


def _card(title: str, before: Footprint | None, after: Footprint | None) -> str:
    """A table of numbers; `title` is HTML."""
    rows = "".join(
        f'<tr{" class=same" if not row.more else ""}><th scope="row">{text(row.name)}'
        f"<td>{text(row.before)}<td>{text(row.after)}<td>{text(_signed(row.more))}"
        for row in amounts(before, after)
    )
    head = '<tr><td><th scope="col">before<th scope="col">after<th scope="col">difference'
    return f'<table class="numbers"><caption>{title}</caption><thead>{head}<tbody>{rows}</table>'


def _signed(more: str) -> str:
    """With a minus that is as wide as the plus."""
    return more.replace("-", "−", 1) if more else "="
