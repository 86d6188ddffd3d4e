"""SARIF 2.1.0, for GitHub code scanning, editors and other viewers of static analysis.

Reads    diagnostics, what was checked, and the catalogue's pages of the ids that occur.
Returns  one run: a rule an id, a result a diagnostic; the files that were checked are its artifacts. What speaks of no
         place is a notification of the invocation, for a result needs a location. Paths are from the repository's root;
         columns are code points and end behind the last character. What does not print is escaped, secrets are hidden.
Source   OASIS SARIF 2.1.0 errata 01; GitHub's documentation of what code scanning reads of it.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from trainc.diagnostics import Diagnostic, Location
from trainc.reports import in_order
from trainc.reports.repository import Repository
from trainc.source.printable import escape
from trainc.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.declarations import Declaration
    from trainc.diagnostics import Checked, ObjectId

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
PROBLEMS: Final = {"error": "error", "warning": "warning", "note": "recommendation"}
"""GitHub's own word for a rule's severity."""
FINGERPRINT: Final = "primaryLocationLineHash"
"""The one that GitHub looks at."""
MOST: Final = 25_000
"""A run with more results is refused by GitHub; it shows 5,000, the errors first."""
_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")
_LINK: Final = "]("


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """The log; the summary is for people."""
    repository = Repository()
    ordered = in_order(diagnostics)
    rules = {id: index for index, id in enumerate(sorted({diagnostic.id for diagnostic in ordered}))}
    placed = _most([diagnostic for diagnostic in ordered if diagnostic.place])
    results = [
        _result(diagnostic, rules, fingerprint, repository)
        for diagnostic, fingerprint in zip(placed, repository.fingerprints(placed), strict=True)
    ]
    notifications = [_notification(diagnostic, rules) for diagnostic in ordered if not diagnostic.place]
    left_out = len(ordered) - len(placed) - len(notifications)
    files = dict.fromkeys(_uri(one.file, repository) for one in checked)
    run = {
        "tool": {"driver": {"name": "trainc", "version": __version__, "rules": _rules(rules)}},
        "invocations": [
            {
                "executionSuccessful": all(notification["level"] != "error" for notification in notifications),
                "toolConfigurationNotifications": notifications,
                **({"toolExecutionNotifications": [_left_out(left_out)]} if left_out else {}),
            }
        ],
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri}, "roles": ["analysisTarget"]} for uri in files],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules(ids: Iterable[str]) -> list[dict[str, Any]]:
    """What the ids mean, with the page of each."""
    if not ids:
        return []
    from trainc import catalogue

    known = catalogue.entries()
    return [_rule(known[id], catalogue.page(id)) for id in ids]


def _rule(declared: Declaration, page: str) -> dict[str, Any]:
    return {
        "id": declared.id,
        "shortDescription": {"text": declared.title},
        "fullDescription": {"text": " ".join(page.partition("\n\n")[0].split())},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": declared.severity},
        "properties": {"problem.severity": PROBLEMS[declared.severity], "tags": list(declared.phases)},
    }


def _result(diagnostic: Diagnostic, rules: dict[str, int], fingerprint: str, repository: Repository) -> dict[str, Any]:
    place = _physical(diagnostic.place, repository)
    logical = list(_logical(diagnostic.object, diagnostic.field))
    related = [
        {"id": number, **_physical(related.place, repository), "message": {"text": _plain(related.message)}}
        for number, related in enumerate(diagnostic.related, 1)
    ]
    return {
        "ruleId": diagnostic.id,
        "ruleIndex": rules[diagnostic.id],
        "level": diagnostic.severity,
        "message": _message(diagnostic),
        "locations": [place | ({"logicalLocations": logical} if logical else {})],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {FINGERPRINT: fingerprint},
    }


def _most(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """As many as GitHub takes, of the severest."""
    if len(diagnostics) <= MOST:
        return diagnostics
    severest = sorted(range(len(diagnostics)), key=lambda number: list(PROBLEMS).index(diagnostics[number].severity))
    return [diagnostics[number] for number in sorted(severest[:MOST])]


def _left_out(count: int) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": f"{count} more are left out: a run holds at most {MOST} results"}}


def _notification(diagnostic: Diagnostic, rules: dict[str, int]) -> dict[str, Any]:
    return {
        "associatedRule": {"id": diagnostic.id, "index": rules[diagnostic.id]},
        "level": diagnostic.severity,
        "message": _message(diagnostic),
    }


def _message(diagnostic: Diagnostic) -> dict[str, str]:
    """A sentence, and in a line of its own the way out."""
    help = f"\nHelp: {_plain(diagnostic.help)}" if diagnostic.help else ""
    return {"text": _plain(diagnostic.message) + help}


def _plain(text: str) -> str:
    """Text of the input, without what a viewer would take for a placeholder or a link."""
    return _PLACEHOLDER.sub(r"{{\1}}", escape(text)).replace(_LINK, f"\\{_LINK}")


def _physical(place: object, repository: Repository) -> dict[str, Any]:
    """Where it is; a whole file is its first line, for GitHub wants one."""
    at = place if isinstance(place, Location) else Location(file="")
    region = {"startLine": at.line or 1}
    if at.line:
        region["startColumn"] = at.column
        if at.end_line:
            region |= {"endLine": at.end_line, "endColumn": at.end_column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(at.file, repository)}, "region": region}}


def _logical(about: ObjectId, field: str) -> Iterable[dict[str, str]]:
    """The field, or where none is meant the object."""
    if not about.kind:
        return
    name = "/".join(part for part in (about.kind, about.namespace, about.name) if part)
    if field:
        yield {"name": escape(field), "fullyQualifiedName": escape(f"{name}/{field}"), "kind": "member"}
    else:
        yield {"name": escape(about.name or about.kind), "fullyQualifiedName": escape(name), "kind": "object"}


def _uri(file: str, repository: Repository) -> str:
    """A file's path as a URI: relative below the repository's root, else `file://`."""
    path = quote(os.fsencode(repository.path(file)))
    return f"file://{path}" if path.startswith("/") else path
