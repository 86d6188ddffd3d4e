"""Namesakes: runtimes of one level with the same kind, namespace and name, as in `dev/` and `prod/`.

Reads    the runtimes of one name, and the file of a TrainJob.
Returns  the runtime that the TrainJob takes: the one in its own folder or in the nearest folder above; or, if several
         runtimes with different specs remain, a diagnostic at the TrainJob that names them. Imported only for such
         runtimes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.diagnostics import Diagnostic, Place, Related
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import listed
from trainc.pipeline.library import DUPLICATE_RUNTIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.pipeline.library import LibraryEntry
    from trainc.pipeline.plan import Plan


def choose(entry: LibraryEntry, plan: Plan) -> tuple[LibraryEntry | None, list[Diagnostic]]:
    """Return the TrainJob's runtime, an entry or one of its namesakes; None if nothing decides, with the error.

    The runtimes of several kustomizations are only a note if nothing is written.
    """
    first, *others = _nearest_entries([entry, *entry.namesakes], plan.job.document.file)
    differing = [first, *(each for each in others if _spec(each) != _spec(first))]
    if len(differing) == 1:
        return first, []
    overlays = entry.conflict and entry.conflict(differing[1].document, first.document)
    found = (overlays or _ambiguous(differing, plan.library.option_names.exclude))._replace(
        object=plan.job.id,
        field="spec.runtimeRef.name",
        place=plan.job.at("spec", "runtimeRef", "name"),
        related=tuple(Related("one of the runtimes", _name(each)) for each in differing),
    )
    return None if found.severity == "error" else first, [found]


def _nearest_entries(entries: Sequence[LibraryEntry], file: str) -> list[LibraryEntry]:
    """Return the entries in the folder of a file or in the nearest folder above that has one; else all.

    The folder above with the longest path is the nearest one.
    """
    below = _folder(file)
    lengths = [len(above) if below.startswith(above := _folder(each.document.file)) else -1 for each in entries]
    return [each for each, length in zip(entries, lengths, strict=True) if length == max(lengths)]


def _folder(file: str) -> str:
    return os.path.join(os.path.abspath(os.path.dirname(file)), "")


def _spec(entry: LibraryEntry) -> object:
    return get(entry.document.value, ("spec",))


def _name(entry: LibraryEntry) -> Place:
    return Place(entry.document, ("metadata", "name"))


def _ambiguous(entries: Sequence[LibraryEntry], exclude: str) -> Diagnostic:
    id = entries[0].id
    return Diagnostic.declared(
        DUPLICATE_RUNTIME,
        f'{len(entries)} {id.kind}s with different specs are named "{id.name}", and none is nearer to the TrainJob: '
        + listed(str(_name(each).locate()) for each in entries),
        f"rename one of them, or {exclude}",
    )
