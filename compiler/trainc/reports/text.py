"""Text, for people: `file:line:column: error[id]: message`, then the way out.

Reads    diagnostics.  Returns  the report, ordered by file and line. Control characters of the input are escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Location, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLORS: Final = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
BOLD: Final = "\x1b[1m"
PLAIN: Final = "\x1b[0m"


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool) -> str:
    """The report, and a line that sums it up."""
    lines = [line for diagnostic in in_order(diagnostics) for line in _lines(diagnostic, color)]
    if summary:
        lines.append(summary)
    return "".join(f"{line}\n" for line in lines)


def _lines(diagnostic: Diagnostic, color: bool) -> Iterator[str]:
    severity = f"{diagnostic.severity}[{diagnostic.id}]"
    where = position(diagnostic.place)
    if color:
        severity, where = COLORS[diagnostic.severity] + severity + PLAIN, BOLD + where + PLAIN if where else ""
    yield f"{where}: {severity}: {escape(diagnostic.message)}" if where else f"{severity}: {escape(diagnostic.message)}"
    for related in diagnostic.related:
        yield f"  {position(related.place)}: {escape(related.message)}"
    if diagnostic.help:
        yield f"  help: {escape(diagnostic.help)}"


def position(place: object) -> str:
    """`file:line:column`, as editors and terminals make links of."""
    if not isinstance(place, Location):
        return ""
    file = escape("<stdin>" if place.file == "-" else place.file)
    return f"{file}:{place.line}:{place.column}" if place.line else file


def escape(text: str) -> str:
    """Text that a terminal cannot be taken over with: what does not print is shown as its code."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
