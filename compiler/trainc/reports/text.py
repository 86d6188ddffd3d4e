"""Text report, for people: `file:line:column: error[id]: message`, the underlined source line, then the help.

Reads    diagnostics; with color, the variables in which a terminal says that it has links.
Returns  the report, ordered by file and line. Control characters of the input are escaped and secrets are masked.
Source   the variables: chalk's supports-hyperlinks; the sequence: OSC 8, "Hyperlinks in Terminal Emulators".
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.base.texts import escape
from trainc.budget import most_severe
from trainc.diagnostics import Diagnostic, Location
from trainc.reports import in_order, message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.diagnostics import Checked
    from trainc.source.excerpt import Excerpt

__all__ = ["block", "escape", "painter", "position", "render", "underlined"]

COLORS: Final = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
BOLD: Final = "\x1b[1m"
BLUE: Final = "\x1b[34m"
CYAN: Final = "\x1b[1;36m"
PLAIN: Final = "\x1b[0m"

MOST_PAGES: Final = 2
"""The most ids whose pages the last line names."""
TERMINALS: Final = ("Hyper", "WezTerm", "ghostty", "iTerm.app", "vscode")
"""The values of TERM_PROGRAM in terminals with links."""
TERMS: Final = ("alacritty", "foot", "xterm-ghostty", "xterm-kitty")
"""The values of TERM in others."""
OLDEST_VTE: Final = 5000
"""The first VTE_VERSION with links: of GNOME's and many other terminals."""


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the first diagnostics, the number of the others, and the summary, separated by blank lines.

    Below a summary, a line shows how to print the pages of the diagnostics.
    """
    paint = painter(color)
    found = in_order(diagnostics)
    shown = most_severe(found)
    parts = ["\n".join(_lines(diagnostic, paint, shown=True)) for diagnostic in shown]
    if len(found) > len(shown):
        parts.append(_omitted_counts(found, shown))
    if summary:
        parts.append("\n".join(filter(None, (summary, _pages(shown)))))
    return "\n\n".join(parts) + "\n" if parts else ""


def _omitted_counts(diagnostics: Iterable[Diagnostic], shown: Iterable[Diagnostic]) -> str:
    """Return the numbers of the diagnostics that are not shown, by id."""
    counts = Counter(diagnostic.id for diagnostic in diagnostics)
    counts.subtract(diagnostic.id for diagnostic in shown)
    ids = ", ".join(f"{count} {id}" for id, count in counts.most_common() if count)
    return f"{counts.total()} more: {ids} (trainc validate --format json lists them)"


def _pages(shown: Sequence[Diagnostic]) -> str:
    """Return the line with the commands for the pages of the most severe diagnostics; empty without diagnostics.

    >>> _pages([Diagnostic("yaml", "error", "read", "mapping values are not allowed here")])
    'For more: trainc explain yaml'
    """
    by_severity = sorted(shown, key=lambda diagnostic: [*COLORS].index(diagnostic.severity))
    ids = list(dict.fromkeys(diagnostic.id for diagnostic in by_severity))
    if not ids:
        return ""
    commands = ", ".join(f"trainc explain {id}" for id in ids[:MOST_PAGES])
    return f"For more: {commands}{', or any other id' if len(ids) > MOST_PAGES else ''}"


def block(diagnostic: Diagnostic, *, shown: bool) -> str:
    """Return one of the ordered diagnostics without color; with its source lines if `shown`."""
    return "\n".join(_lines(diagnostic, _without_color, shown=shown))


def one_line(diagnostic: Diagnostic, *, color: bool) -> str:
    """Return a diagnostic about a whole run without its place, which takes no second parse of a document."""
    about_run = diagnostic._replace(place=None, related=())
    return "\n".join(_lines(about_run, painter(color), shown=False)) + "\n"


def position(place: object) -> str:
    """Return `file:line:column`, which editors and terminals turn into links."""
    return escape(str(place)) if isinstance(place, Location) else ""


def _lines(diagnostic: Diagnostic, paint: Callable[[str, str], str], *, shown: bool) -> Iterator[str]:
    id = linked(diagnostic.id) if paint is _painted and has_links() else diagnostic.id
    severity, color = f"{diagnostic.severity}[{id}]", COLORS[diagnostic.severity]
    at = _shown(diagnostic.place) if shown else None
    related = [(relation, _shown(relation.place) if shown else None) for relation in diagnostic.related]
    excerpts = (at, *(excerpt for _, excerpt in related))
    digits = max((len(str(excerpt.number)) for excerpt in excerpts if excerpt), default=0)
    where = [paint(BOLD, position(diagnostic.place))] if diagnostic.place else []
    yield ": ".join([*where, paint(color, severity), escape(message(diagnostic))])
    if at:
        yield from underlined(at, digits, "^", color, paint)
    seen = {_line(diagnostic.place)}
    for relation, excerpt in related:
        yield f"  {paint(BOLD, position(relation.place))}: {escape(relation.message)}"
        if excerpt and _line(relation.place) not in seen:
            yield from underlined(excerpt, digits, "-", BLUE, paint)
        seen.add(_line(relation.place))
    if diagnostic.help:
        yield f"  {paint(CYAN, 'help')}: {escape(diagnostic.help)}"


def underlined(shown: Excerpt, digits: int, mark: str, color: str, paint: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a source line with its number, and the underline below it."""
    yield f"  {paint(BLUE, f'{shown.number:>{digits}} |')} {shown.text}".rstrip()
    yield f"  {paint(BLUE, ' ' * digits + ' |')} {' ' * shown.column}{paint(color, mark * shown.width)}"


def _shown(place: object) -> Excerpt | None:
    from trainc.source.excerpt import excerpt

    return excerpt(place) if isinstance(place, Location) else None


def _line(place: object) -> tuple[str, int] | None:
    return (place.file, place.line) if isinstance(place, Location) else None


def has_links() -> bool:
    """Return whether a terminal with color also has links (OSC 8); FORCE_HYPERLINK=1 or 0 decides.

    Color on a pipe (FORCE_COLOR) is for a log, and over SSH the page's file is on another machine than the browser.
    """
    known = os.environ.get
    if (forced := known("FORCE_HYPERLINK")) is not None:
        return forced not in ("", "0")
    if any(map(known, ("FORCE_COLOR", "CI", "SSH_CONNECTION"))):
        return False
    vte = known("VTE_VERSION", "")
    return (
        known("TERM_PROGRAM") in TERMINALS
        or known("TERM") in TERMS
        or (vte.isdecimal() and int(vte) >= OLDEST_VTE)
        or any(map(known, ("KONSOLE_VERSION", "WT_SESSION")))
    )


def linked(id: str) -> str:
    """Return an id as a link to its page."""
    from trainc.reports.catalogue import address

    return f"\x1b]8;;{address(id)}\x1b\\{id}\x1b]8;;\x1b\\"


def painter(color: bool) -> Callable[[str, str], str]:
    """Return a function that colors a text, or returns it unchanged."""
    return _painted if color else _without_color


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{PLAIN}"


def _without_color(_: str, text: str) -> str:
    return text
