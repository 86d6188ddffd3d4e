"""Text report, for people: `file:line:column: error[id]: message`, the underlined source line, then the help.

Reads    diagnostics.
Returns  the report, ordered by file and line. Control characters of the input are escaped and secrets are masked.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.budget import most_severe
from trainc.diagnostics import Diagnostic, Location
from trainc.reports import in_order, message
from trainc.source.printable import escape

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


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the first diagnostics, the number of the others, and the summary, separated by blank lines."""
    paint = painter(color)
    found = in_order(diagnostics)
    shown = most_severe(found)
    parts = ["\n".join(_lines(diagnostic, paint, shown=True)) for diagnostic in shown]
    if len(found) > len(shown):
        parts.append(_omitted_counts(found, shown))
    if summary:
        parts.append(summary)
    return "\n\n".join(parts) + "\n" if parts else ""


def _omitted_counts(diagnostics: Iterable[Diagnostic], shown: Iterable[Diagnostic]) -> str:
    """Return the numbers of the diagnostics that are not shown, by id."""
    counts = Counter(diagnostic.id for diagnostic in diagnostics)
    counts.subtract(diagnostic.id for diagnostic in shown)
    ids = ", ".join(f"{count} {id}" for id, count in counts.most_common() if count)
    return f"{counts.total()} more: {ids} (trainc validate --format json lists them)"


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
    severity, color = f"{diagnostic.severity}[{diagnostic.id}]", COLORS[diagnostic.severity]
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


def painter(color: bool) -> Callable[[str, str], str]:
    """Return a function that colors a text, or returns it unchanged."""
    return _painted if color else _without_color


def _painted(color: str, text: str) -> str:
    return f"{color}{text}{PLAIN}"


def _without_color(_: str, text: str) -> str:
    return text
