"""Repeated diagnostics: one cause can make five thousand fields of one mapping, or a hundred TrainJobs, invalid.

A value can also be invalid in several fields of a compiled object, with the same message for each, and a YAML alias
repeats it in several fields of its document.

Reads    the diagnostics of a run.
Returns  them with the first ones of each group, and one that counts the rest. The diagnostics of a group have the same
         id and object, and their places differ only in the last step and in list indices; or they have the same id and
         message, and each is about another TrainJob.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import TRAINJOB
from trainc.base.texts import and_others
from trainc.diagnostics import ObjectId, Place, Related
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from trainc.diagnostics import Diagnostic, Location, Path

SHOWN: Final = 99
"""The diagnostics of a group that are shown one by one; a text report shows them and the next one, with the count."""
NAMED: Final = 3
"""The further TrainJobs that a diagnostic names."""


def without_repeats(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics in their order, only the first of those that differ only in the field.

    Reports for people use it: `numNodes: -1` is one mistake, although the cluster rejects completions and parallelism.
    So is a value that YAML aliases repeat, although the messages may name each of its fields.
    """
    first: dict[Hashable, str] = {}
    written: dict[Hashable, Path] = {}
    return [
        one
        for one in diagnostics
        if first.setdefault(_without_field(one), one.field) == one.field and not _is_at_alias(one, written)
    ]


def _is_at_alias(diagnostic: Diagnostic, written: dict[Hashable, Path]) -> bool:
    """Return whether a diagnostic is about a value that another field of the document has by a YAML alias.

    written   the first path of each value with a diagnostic, to which the function adds that of a new one
    """
    place = diagnostic.place
    if not isinstance(place, Place):
        return False
    place = place.in_text()
    document, path = place.document, place.path
    if "&" not in document.text or "*" not in document.text:
        return False
    missing = path[-1:] if get(document.value, path) is None else ()
    key = (diagnostic.id, id(document.text), place.locate()[1:5], missing)
    at = (*document.within, *path)
    return written.setdefault(key, at) != at


def _without_field(diagnostic: Diagnostic) -> Hashable:
    related = tuple((found.message, _place_key(found.place)) for found in diagnostic.related)
    place = _place_key(diagnostic.place)
    return (diagnostic.id, diagnostic.severity, diagnostic.message, diagnostic.help, diagnostic.object, place, related)


def _place_key(place: Place | Location | None) -> Hashable:
    return (id(place.document), place.path, place.key) if isinstance(place, Place) else place and place[:5]


def collapsed(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics in their order, with large groups cut to the first `SHOWN` and a count of the rest."""
    counts = Counter(map(_group_of, diagnostics))
    shown: Counter[Hashable] = Counter()
    result = []
    for diagnostic in diagnostics:
        group = _group_of(diagnostic)
        shown[group] += 1
        if shown[group] <= SHOWN or counts[group] == SHOWN + 1:
            result.append(diagnostic)
        elif shown[group] == SHOWN + 1:
            more = counts[group] - shown[group]
            result.append(diagnostic._replace(message=f"{diagnostic.message} (and {more} more like this)"))
    return result


def _group_of(diagnostic: Diagnostic) -> Hashable:
    place = diagnostic.place
    if not isinstance(place, Place):
        return (diagnostic.id, place)
    around = tuple("" if isinstance(step, int) else step for step in place.path[:-1])
    return (diagnostic.id, diagnostic.object, id(place.document), around)


def once_per_message(diagnostics: Iterable[Diagnostic], ids: Collection[str]) -> list[Diagnostic]:
    """Return the diagnostics, with those of `ids` that have one message as one at the first TrainJob.

    It has the places of the next TrainJobs, and the number of all others.
    """
    groups: dict[Hashable, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        key = (diagnostic.id, diagnostic.message) if diagnostic.id in ids else id(diagnostic)
        groups.setdefault(key, []).append(diagnostic)
    return [_with_others(*group) for group in groups.values()]


def _with_others(first: Diagnostic, *others: Diagnostic) -> Diagnostic:
    named = tuple(
        Related(f'{_kind(other)} "{_name(other)}", too', place)
        for other in others[:NAMED]
        if (place := _own_place(first, other)) is not None
    )
    message = first.message + and_others(len(others), f"more {_kind(first)}")
    return first._replace(message=message, related=(*first.related, *named))


def _kind(diagnostic: Diagnostic) -> str:
    return diagnostic.object.kind or TRAINJOB.kind


def _name(diagnostic: Diagnostic) -> str:
    """Return the name of an object in its source file, which the environments share."""
    place, object = diagnostic.place, diagnostic.object
    source = ObjectId.from_manifest(place.document.unedited) if isinstance(place, Place) else object
    return source.name if source.kind == object.kind and source.name else object.name


def _own_place(first: Diagnostic, other: Diagnostic) -> Place | Location | None:
    """Return the place of a diagnostic; if it shares it with the first one, that of its related place."""
    if other.place == first.place and other.related:
        return other.related[0].place
    return other.place
