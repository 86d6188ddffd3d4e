"""SARIF 2.1.0 report, for GitHub code scanning, editors and other viewers of static analysis.

Reads    diagnostics, the checked objects, and the catalogue pages of the reported ids.
Returns  one run, with a rule per id and a result per diagnostic; the checked files are its artifacts. A diagnostic
         without a place is a notification of the invocation, because a result needs a location. Paths are relative to
         the repository's root; columns count code points and the end column is exclusive. Unprintable characters are
         escaped and secrets are masked.
Source   OASIS SARIF 2.1.0 errata 01; GitHub's documentation of SARIF support for code scanning.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from trainc.base.releases import __version__
from trainc.base.texts import escape, escape_json
from trainc.budget import most_severe
from trainc.diagnostics import Diagnostic, Location
from trainc.reports import Repository, in_order, message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.base.declarations import Declaration
    from trainc.diagnostics import Checked, ObjectId

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
PROBLEMS: Final = {"error": "error", "warning": "warning", "note": "recommendation"}
"""The values of GitHub's `problem.severity` property of a rule."""
FINGERPRINT: Final = "primaryLocationLineHash"
"""The only fingerprint that GitHub reads."""
MOST: Final = 25_000
"""GitHub rejects a run with more results. It shows 5,000, errors first."""
_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")
_LINK: Final = "]("


def render(diagnostics: Sequence[Diagnostic], *, summary: str, color: bool, checked: Sequence[Checked] = ()) -> str:
    """Return the log, without the summary."""
    repository = Repository()
    ordered = in_order(diagnostics)
    rules = {id: index for index, id in enumerate(sorted({diagnostic.id for diagnostic in ordered}))}
    placed = most_severe([diagnostic for diagnostic in ordered if diagnostic.place], MOST)
    results = [
        _result(diagnostic, rules, fingerprint, repository)
        for diagnostic, fingerprint in zip(placed, repository.fingerprints(placed), strict=True)
    ]
    notifications = [_notification(diagnostic, rules) for diagnostic in ordered if not diagnostic.place]
    omitted = len(ordered) - len(placed) - len(notifications)
    files = dict.fromkeys(_uri(one.file, repository) for one in checked)
    run = {
        "tool": {"driver": {"name": "trainc", "version": __version__, **_home(), "rules": _rules(rules)}},
        "invocations": [
            {
                "executionSuccessful": all(notification["level"] != "error" for notification in notifications),
                "toolConfigurationNotifications": notifications,
                **({"toolExecutionNotifications": [_omitted(omitted)]} if omitted else {}),
            }
        ],
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri}, "roles": ["analysisTarget"]} for uri in files],
        "results": results,
    }
    return escape_json(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)) + "\n"


def _home() -> dict[str, str]:
    """Return the address of trainc's site, if there is one."""
    from trainc.reports.catalogue import published

    home = published("Homepage")
    return {"informationUri": home} if home else {}


def _rules(ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return a rule with its page for each id."""
    if not ids:
        return []
    from trainc.reports import catalogue

    return [_rule(catalogue.entry(id), catalogue.page(id), catalogue.public_address(id)) for id in ids]


def _rule(declared: Declaration, page: str, address: str) -> dict[str, Any]:
    heading, _, rule, _ = page.split("\n\n", 3)
    return {
        "id": declared.id,
        "shortDescription": {"text": heading.partition(": ")[2]},
        "fullDescription": {"text": " ".join(rule.split())},
        "help": {"text": page, "markdown": page},
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": declared.severity},
        "properties": {"problem.severity": PROBLEMS[declared.severity], "tags": list(declared.phases)},
    }


def _result(diagnostic: Diagnostic, rules: dict[str, int], fingerprint: str, repository: Repository) -> dict[str, Any]:
    place = _physical_location(diagnostic.place, repository)
    logical = list(_logical_locations(diagnostic.object, diagnostic.field))
    related = [
        {"id": number, **_physical_location(related.place, repository), "message": {"text": _escaped(related.message)}}
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
        **(_fixes(diagnostic, repository) if diagnostic.fix is not None else {}),
        **_environments(diagnostic),
    }


def _fixes(diagnostic: Diagnostic, repository: Repository) -> dict[str, Any]:
    """Return the fix with its edits, if they can be made."""
    from trainc.source.fix_edits import reported_fix

    fix = reported_fix(diagnostic)
    if fix is None:
        return {}
    files: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        region = {"startLine": edit.at.line, "startColumn": edit.at.column}
        region |= {"endLine": edit.at.end_line, "endColumn": edit.at.end_column}
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        files.setdefault(_uri(edit.at.file, repository), []).append(replacement)
    changes = [{"artifactLocation": {"uri": uri}, "replacements": edits} for uri, edits in files.items()]
    description = {"text": _escaped(fix.title)}
    properties = {"applicability": fix.applicability}
    return {"fixes": [{"description": description, "artifactChanges": changes, "properties": properties}]}


def _omitted(count: int) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": f"{count} more omitted: a run holds at most {MOST} results"}}


def _notification(diagnostic: Diagnostic, rules: dict[str, int]) -> dict[str, Any]:
    return {
        "associatedRule": {"id": diagnostic.id, "index": rules[diagnostic.id]},
        "level": diagnostic.severity,
        "message": _message(diagnostic),
        **_environments(diagnostic),
    }


def _environments(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return the environments that have the fault, and those in which it is an error, as properties."""
    if not diagnostic.environments:
        return {}
    errors = {"errorIn": [*diagnostic.error_in]} if diagnostic.error_in else {}
    return {"properties": {"environments": [*diagnostic.environments], **errors}}


def _message(diagnostic: Diagnostic) -> dict[str, str]:
    """Return the message, with the help on a line of its own."""
    help = f"\nHelp: {_escaped(diagnostic.help)}" if diagnostic.help else ""
    return {"text": _escaped(message(diagnostic)) + help}


def _escaped(text: str) -> str:
    """Return input text with SARIF placeholders and links escaped."""
    return _PLACEHOLDER.sub(r"{{\1}}", escape(text)).replace(_LINK, f"\\{_LINK}")


def _physical_location(place: object, repository: Repository) -> dict[str, Any]:
    """Return the location. A whole file is its first line, because GitHub requires a line."""
    at = place if isinstance(place, Location) else Location(file="")
    region = {"startLine": at.line or 1}
    if at.line:
        region["startColumn"] = at.column
        if at.end_line:
            region |= {"endLine": at.end_line, "endColumn": at.end_column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(at.file, repository)}, "region": region}}


def _logical_locations(subject: ObjectId, field: str) -> Iterable[dict[str, str]]:
    """Yield the field, or the object if there is no field."""
    if not subject.kind:
        return
    name = "/".join(part for part in (subject.kind, subject.namespace, subject.name) if part)
    if field:
        yield {"name": escape(field), "fullyQualifiedName": escape(f"{name}/{field}"), "kind": "member"}
    else:
        yield {"name": escape(subject.name or subject.kind), "fullyQualifiedName": escape(name), "kind": "object"}


def _uri(file: str, repository: Repository) -> str:
    """Return a file's path as a URI: relative below the repository's root, otherwise `file://`."""
    path = quote(os.fsencode(repository.path(file)))
    return f"file://{path}" if path.startswith("/") else path
