"""JSON report, for programs: a list of diagnostics, ordered by file and line.

Each is `{"id", "severity", "stage", "message", "help", "object": {"apiVersion", "kind", "namespace", "name"}, "field",
"file", "line", "column", "endLine", "endColumn", "related": [{"message", "file", "line", "column", "endLine",
"endColumn"}]}`. Lines and columns count from 1, and are 0 for a whole file. The end is exclusive, and 0 if only the
start is known. In a project with environments, `"environments"` lists the names of those that have the fault. A fault
in a runtime has `"users"`, the TrainJobs that have it. A diagnostic with a fix has `"fix": {"title", "applicability",
"edits": [{"file", "line", "column", "endLine", "endColumn", "text"}]}`. Secrets are masked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.base.texts import escape_json
from trainc.diagnostics import Diagnostic, Location
from trainc.reports import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.diagnostics import Checked


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the list, without the summary; a value that is invalid in several fields is an entry for each field."""
    return (
        escape_json(json.dumps([_entry(diagnostic) for diagnostic in in_order(diagnostics, by_field=True)], indent=2))
        + "\n"
    )


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
        **({"users": [*diagnostic.users.names]} if diagnostic.users else {}),
        **({"environments": [*diagnostic.environments]} if diagnostic.environments else {}),
        **({"errorIn": [*diagnostic.error_in]} if diagnostic.error_in else {}),
        **(_fix(diagnostic) if diagnostic.fix is not None else {}),
    }


def _fix(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return the fix with its edits, if they can be made."""
    from trainc.source.fix_edits import reported_fix

    fix = reported_fix(diagnostic)
    if fix is None:
        return {}
    edits = [{**position(edit.at), "text": edit.text} for edit in fix.edits]
    return {"fix": {"title": fix.title, "applicability": fix.applicability, "edits": edits}}


def position(place: object) -> dict[str, Any]:
    """Return a place as JSON fields; an unknown place has an empty file."""
    at = place if isinstance(place, Location) else Location(file="")
    return {
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
    }
