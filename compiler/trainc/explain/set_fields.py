"""The other direction of provenance: the fields of the compiled objects that a field of an input document sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.emit.order import in_order
from trainc.provenance.tracing.correspondence import leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.provenance.tracing import Origin, Trace


def fields_set_by(
    trace: Trace, objects: Sequence[Tree], document: Document, paths: Collection[Path]
) -> Iterator[tuple[int, Path, Origin]]:
    """Yield each field of the objects whose last write depends on an input field, with its origin.

    Args:
        trace: the provenance of the objects.
        objects: the objects of a TrainJob.
        document: the document of the input fields.
        paths: the paths of the input fields, as they are written; a mapping or a list has all fields in it.
    """
    for index, tree in enumerate(objects):
        for path in leaves(in_order(tree)):
            origin = trace.origin(index, path)
            if not origin.in_file:
                continue
            source = origin.place.in_text()
            if (source.document.file, source.document.line) != (document.file, document.line):
                continue
            if any(source.path[: len(wanted)] == wanted for wanted in paths):
                yield index, path, origin
