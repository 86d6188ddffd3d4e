"""The changed runtimes that no TrainJob of either side uses, so that no object shows their change.

Reads    the runtimes and the compiled TrainJobs of both sides.
Returns  a note for each of these runtimes that is changed or removed.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, ObjectId, Place
from trainc.pipeline.library import key_of
from trainc.review.changes import changes

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from trainc.diagnostics import Document, Identity
    from trainc.review.sides import Side

UNUSED_RUNTIME: Final = Declaration(
    "unused-runtime", ("read",), "Change of a runtime that no TrainJob uses", "note", trainc_only=True
)


def notes(before: Side, after: Side) -> Iterator[Diagnostic]:
    """Yield a note for each changed or removed runtime that no TrainJob uses. A rendered side has no TrainJobs."""
    if "rendered" in {before.content, after.content}:
        return
    used = _used(before) | _used(after)
    new = _runtimes(after)
    for key, document in _runtimes(before).items():
        other = new.get(key)
        if document.identity in used or (other is not None and other.identity in used):
            continue
        if other is None:
            yield _note(document, "is removed", Place(document, ("metadata", "name")), "keep it until no team uses it")
        elif other.value != document.value:
            path = next(change.new_path for change in changes(document.value, other.value))
            file = shlex.quote(after.file(other.file))
            help = f"check their TrainJobs: trainc validate PATH --runtimes {file}"
            yield _note(other, "changes", Place(other, path), help)


def _runtimes(side: Side) -> dict[Hashable, Document]:
    """Return the runtimes of a side by kind, namespace and name, and by file if several have the same."""
    found: dict[Hashable, Document] = {}
    for document in side.runtimes:
        key = key_of(document)
        found[key if key not in found else (key, side.file(document.file))] = document
    return found


def _used(side: Side) -> set[Identity]:
    """Return the identities of the runtimes that the compiled TrainJobs of a side use."""
    return {item.job.plan.runtime.document.identity for item in side.items if item.job is not None}


def _note(document: Document, verb: str, place: Place, help: str) -> Diagnostic:
    id = ObjectId.from_source(document.value)
    return Diagnostic.declared(
        UNUSED_RUNTIME,
        f'{id.kind} "{id.name}" {verb}: no TrainJob here uses it; teams elsewhere may',
        help,
        object=id,
        field=place.field,
        place=place,
    )
