"""Diagnostics as the results of a ResourceList, and for a terminal.

Reads    diagnostics, and the ResourceList.
Returns  for each diagnostic an entry of `results` (message, severity, resourceRef, field, file, tags), and the
         diagnostic with the item's original file. A function receives re-serialized items, so their original lines are
         unknown and omitted; the lines of files that trainc reads itself are reported. Secrets are masked.
Source   KRM Functions Specification v1: Result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location, ObjectId, Place
from trainc.files.inputs import STDIN
from trainc.krm.resourcelist import file_of, location
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.masking.masked_values import masked_at
from trainc.reports import in_order, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Path
    from trainc.krm.resourcelist import ResourceList
    from trainc.kubernetes.trees import Tree

SEVERITIES: Final = {"error": "error", "warning": "warning", "note": "info"}
_LONGEST: Final = 200
"""The maximum length of a value in a result."""
_MISSING: Final[Any] = object()


class FunctionItem(NamedTuple):
    """A diagnostic in both forms."""

    entry: Tree
    shown: Diagnostic


class _Subject(NamedTuple):
    """The part of the ResourceList that contains a place."""

    value: object
    """The item, or the functionConfig."""
    path: Path
    """The field in the value."""


def reported(diagnostics: Iterable[Diagnostic], given: ResourceList) -> list[FunctionItem]:
    """Return each diagnostic in both forms, those of items first, then those of files."""
    pairs = sorted(((in_order([raw])[0], raw) for raw in diagnostics), key=lambda pair: sort_key(pair[0]))
    return [FunctionItem(_entry(located, raw, given), _shown(located, raw, given)) for located, raw in pairs]


def _entry(located: Diagnostic, raw: Diagnostic, given: ResourceList) -> Tree:
    subject = _subject(raw.place, given)
    entry: Tree = {
        "message": located.message + (f" ({located.help})" if located.help else ""),
        "severity": SEVERITIES[located.severity],
    }
    id = ObjectId.from_manifest(subject.value) if subject else located.object
    if id.apiVersion and id.kind and id.name:
        entry["resourceRef"] = {key: value for key, value in id._asdict().items() if value}
        if field := field_of(subject.path) if subject else located.field:
            entry["field"] = {"path": field, **_current_value(located, raw)}
    if file := _file(located, subject):
        entry["file"] = file
    return entry | {"tags": {"id": located.id, "stage": located.stage}}


def _subject(place: object, given: ResourceList) -> _Subject | None:
    """Return the item or functionConfig that contains a place; None for a file that trainc has read, or the list."""
    if isinstance(place, Place):
        place = place.in_text()
    if isinstance(place, Place) and place.document.inside is not None:
        place = Place(place.document.inside.document, ("data", place.document.inside.path[-1]))
    if not isinstance(place, Place) or not given.owns(place.document):
        return None
    path = (*place.document.within, *place.path)
    depth = 2 if path[0] == "items" else 1
    return _Subject(get(given.document.value, path[:depth]), path[depth:])


def _current_value(located: Diagnostic, raw: Diagnostic) -> Tree:
    """Return the field's current value, if it is short and not a secret."""
    where, at = raw.place, located.place
    if not isinstance(where, Place) or where.key or not isinstance(at, Location) or at.source is None or not at.line:
        return {}
    value = get(where.document.value, where.path, _MISSING)
    if not isinstance(value, str | int | float) or (isinstance(value, str) and len(value) > _LONGEST):
        return {}
    tree = where.document.value
    return {"currentValue": value} if masked_at(tree, where.path) == value else {}


def _file(located: Diagnostic, subject: _Subject | None) -> Tree:
    if subject is None:
        at = located.place
        return {"path": at.file} if isinstance(at, Location) and at.file != STDIN else {}
    origin = location(subject.value)
    if origin.path:
        return {"path": origin.path, "index": origin.number}
    path = file_of(subject.value)
    return {"path": path} if path else {}


def _shown(located: Diagnostic, raw: Diagnostic, given: ResourceList) -> Diagnostic:
    """Replace lines of the ResourceList with the item's file, and prefix the message with the object and field."""
    related = tuple(
        shown._replace(place=_source_place(shown.place, before.place, given))
        for shown, before in zip(located.related, raw.related, strict=True)
    )
    subject = _subject(raw.place, given)
    if subject is None:
        return located._replace(related=related)
    message = f"{_words(subject, given)}: {located.message}"
    file = file_of(subject.value)
    return located._replace(message=message, place=Location(file) if file else None, related=related)


def _source_place(shown: Place | Location, before: Place | Location, given: ResourceList) -> Place | Location:
    subject = _subject(before, given)
    return Location(file_of(subject.value) or _words(subject, given)) if subject else shown


def _words(subject: _Subject, given: ResourceList) -> str:
    """Return the object and its field in words."""
    if subject.value is given.config.value:
        name = "functionConfig"
    else:
        id = ObjectId.from_manifest(subject.value)
        name = f"{id.kind or 'item'} {'/'.join(part for part in (id.namespace, id.name) if part)}".rstrip()
    return f"{name}, {field_of(subject.path)}" if subject.path else name
