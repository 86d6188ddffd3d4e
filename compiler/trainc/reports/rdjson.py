"""Reviewdog report (RDFormat), whose suggestions a reviewer applies to a pull request with a click.

Reads    diagnostics.
Returns  a JSON object with the diagnostics, of which one with a fix has a suggestion. Paths are relative to the
         repository's root, and columns count bytes of UTF-8. Unprintable characters are escaped and secrets are masked.
Source   reviewdog: the messages of proto/rdf and their JSON schemas. A suggestion has one range, so the edits of a fix
         become one. reviewdog applies it to the file of the location, so a fix of another file or of several has none.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.texts import escape, escape_json
from trainc.diagnostics import Diagnostic, Location
from trainc.reports import Repository, in_order, message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Checked, Document
    from trainc.source.fix_edits import ReportedFix

SOURCE: Final = {"name": "trainc"}
SEVERITIES: Final = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}
WHOLE: Final = "."
"""The path of a diagnostic without a file."""


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the report, without the summary."""
    repository = Repository()
    entries = [_entry(diagnostic, repository) for diagnostic in in_order(diagnostics)]
    return escape_json(json.dumps({"source": SOURCE, "diagnostics": entries}, indent=2)) + "\n"


def _entry(diagnostic: Diagnostic, repository: Repository) -> dict[str, Any]:
    help = f"\nhelp: {escape(diagnostic.help)}" if diagnostic.help else ""
    related = [
        {"message": escape(related.message), "location": _location(related.place, repository)}
        for related in diagnostic.related
    ]
    return {
        "message": escape(message(diagnostic)) + help,
        "location": _location(diagnostic.place, repository),
        "severity": SEVERITIES[diagnostic.severity],
        "code": {"value": diagnostic.id},
        **({"related_locations": related} if related else {}),
        **({"suggestions": suggestions} if (suggestions := list(_suggestions(diagnostic))) else {}),
    }


def _location(place: object, repository: Repository) -> dict[str, Any]:
    """Return a location; a whole file has no range."""
    if not isinstance(place, Location):
        return {"path": WHOLE}
    path = {"path": escape(repository.path(place.file))}
    if not place.line:
        return path
    start = {"line": place.line, "column": _bytes(place.source, place.line, place.column)}
    if not place.end_line:
        return path | {"range": {"start": start}}
    end = {"line": place.end_line, "column": _bytes(place.source, place.end_line, place.end_column)}
    return path | {"range": {"start": start, "end": end}}


def _bytes(source: Document | None, line: int, column: int) -> int:
    """Return the column in bytes of UTF-8, of a column in characters."""
    if source is None or not source.line <= line:
        return column
    lines = source.text.split("\n", line - source.line + 1)
    if len(lines) <= line - source.line:
        return column
    first = source.column - 1 if line == source.line else 0
    before = lines[line - source.line][: max(column - 1 - first, 0)]
    return column + len(before.encode("utf-8", "surrogatepass")) - len(before)


def _suggestions(diagnostic: Diagnostic) -> Iterator[dict[str, Any]]:
    """Yield the fix as one replacement, if its edits can be made and are in the file of the location."""
    if diagnostic.fix is None:
        return
    from trainc.source.fix_edits import reported_fix

    fix, place = reported_fix(diagnostic), diagnostic.place
    if fix is not None and isinstance(place, Location) and fix.is_in_one_document_of(place.file):
        yield _suggestion(fix)


def _suggestion(fix: ReportedFix) -> dict[str, Any]:
    from trainc.source.fix_edits import as_one

    edit = as_one(fix.edits)
    at = edit.at
    return {
        "range": {
            "start": {"line": at.line, "column": _bytes(at.source, at.line, at.column)},
            "end": {"line": at.end_line, "column": _bytes(at.source, at.end_line, at.end_column)},
        },
        "text": edit.text,
    }
