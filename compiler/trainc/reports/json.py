"""JSON, for programs: a list of diagnostics, ordered by file and line.

Each is `{"id", "severity", "stage", "message", "help", "object": {"apiVersion", "kind", "namespace", "name"}, "field",
"file", "line", "column", "endLine", "endColumn", "related": [{"message", "file", "line", "column", "endLine",
"endColumn"}]}`; lines and columns count from 1, and are 0 where the whole file is meant. The end is behind the last
character, and 0 where only the beginning is known. Secrets are hidden.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.diagnostics import Diagnostic, Location
from trainc.reports import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.diagnostics import Checked


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """The list; the summary is for people."""
    return json.dumps([_entry(diagnostic) for diagnostic in in_order(diagnostics)], indent=2) + "\n"


def _entry(diagnostic: Diagnostic) -> dict[str, Any]:
    subject = diagnostic.object
    return {
        "id": diagnostic.id,
        "severity": diagnostic.severity,
        "stage": diagnostic.stage,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "object": {
            "apiVersion": subject.apiVersion,
            "kind": subject.kind,
            "namespace": subject.namespace,
            "name": subject.name,
        },
        "field": diagnostic.field,
        **position(diagnostic.place),
        "related": [{"message": related.message, **position(related.place)} for related in diagnostic.related],
    }


def position(place: object) -> dict[str, Any]:
    """Where something is; without a file where nobody knows."""
    at = place if isinstance(place, Location) else Location(file="")
    return {
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
    }
