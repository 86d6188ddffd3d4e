"""GitLab Code Quality report, which a merge request shows beside its changes.

Reads    diagnostics.
Returns  a JSON list of `{"description", "check_name", "fingerprint", "severity", "location": {"path", "lines":
         {"begin"}}}`. Paths are relative to the repository's root. Unprintable characters are escaped and secrets are
         masked.
Source   GitLab: codeclimate.json (types and required fields), CodequalityReports (entries with the same fingerprint
         are merged, and parsing stops at the first invalid entry).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from trainc.base.texts import escape, escape_json
from trainc.diagnostics import Diagnostic, Location
from trainc.reports import Repository, in_order, message
from trainc.source import stream_origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.diagnostics import Checked

SEVERITIES: Final = {"error": "critical", "warning": "minor", "note": "info"}
WHOLE: Final = "."
"""The path of a diagnostic without a file."""


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the list, without the summary."""
    repository = Repository()
    ordered = in_order(diagnostics)
    names = repository.fingerprints(ordered)
    entries = [_entry(diagnostic, name, repository) for diagnostic, name in zip(ordered, names, strict=True)]
    return escape_json(json.dumps(entries, indent=2)) + "\n"


def _entry(diagnostic: Diagnostic, fingerprint: str, repository: Repository) -> dict[str, Any]:
    at = diagnostic.place
    # The report has no related places, but the origin replaces a path in the repository.
    more = [related.message for related in stream_origin.related_origin(at if isinstance(at, Location) else None)]
    details = "; ".join([*more, *([f"help: {diagnostic.help}"] if diagnostic.help else [])])
    return {
        "description": escape(message(diagnostic) + (f" ({details})" if details else "")),
        "check_name": diagnostic.id,
        "fingerprint": fingerprint,
        "severity": SEVERITIES[diagnostic.severity],
        "location": {
            "path": escape(repository.path(at.file)) if isinstance(at, Location) else WHOLE,
            "lines": {"begin": at.line or 1 if isinstance(at, Location) else 1},
        },
    }
