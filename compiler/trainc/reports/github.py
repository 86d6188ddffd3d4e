"""GitHub workflow commands, which the runner turns into annotations of the changed files.

Reads    diagnostics.
Returns  a line `::error file=,line=,endLine=,col=,endColumn=,title=::message` for each, then the summary. Paths are
         relative to the repository's root. Unprintable characters are escaped and secrets are masked.
Source   actions/runner: ActionCommand (the syntax of a line), ValidateLinesAndColumns (columns need a single line).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Diagnostic, Location
from trainc.files.inputs import STDIN
from trainc.reports import Repository, in_order, message
from trainc.reports.text import escape, position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Checked

COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the commands, and the summary as a plain log line."""
    repository = Repository()
    lines = [_command(diagnostic, repository) for diagnostic in in_order(diagnostics)]
    return "".join(f"{line}\n" for line in [*lines, *map(escape, filter(None, [summary]))])


def _command(diagnostic: Diagnostic, repository: Repository) -> str:
    properties = ",".join(f"{key}={_property(value)}" for key, value in _properties(diagnostic, repository))
    return f"::{COMMANDS[diagnostic.severity]} {properties}::{_data(_message(diagnostic))}"


def _properties(diagnostic: Diagnostic, repository: Repository) -> Iterator[tuple[str, str]]:
    """Yield the location, then the title. The title is last because the runner strips spaces off the last value."""
    at = diagnostic.place
    if isinstance(at, Location) and at.file != STDIN:
        yield "file", escape(repository.path(at.file))
        if at.line:
            yield "line", str(at.line)
            if at.end_line:
                yield "endLine", str(at.end_line)
            if at.end_line in (0, at.line):
                yield "col", str(at.column)
                if at.end_line:
                    yield "endColumn", str(at.end_column)
    yield "title", f"trainc ({diagnostic.id})"


def _message(diagnostic: Diagnostic) -> str:
    """Return the message, without the place that the annotation has: standard input has none."""
    at = diagnostic.place
    where = [position(at)] if isinstance(at, Location) and at.file == STDIN else []
    lines = [": ".join([*where, escape(message(diagnostic))])]
    lines += [f"{position(related.place)}: {escape(related.message)}" for related in diagnostic.related]
    if diagnostic.help:
        lines.append(f"help: {escape(diagnostic.help)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
