"""Field provenance: for each field of the compiled objects, the stage that set it, its line and the previous values.

Reads    compiled TrainJobs, and an optional selector of their fields.
Returns  accounts: an object and its fields, each with all its writings from `trace()`, the latest first. Secret values
         are masked. Only `trainc explain` imports this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.emit import in_order
from trainc.kubernetes.trees import Memory
from trainc.masking.masked_values import masked_at
from trainc.provenance.tracing.correspondence import leaves
from trainc.provenance.tracing.recompiling import Decisions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from trainc.compilation import Compiled
    from trainc.diagnostics import Document, Location, Path, Place
    from trainc.explain.selectors import Selector
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.objects import TrainJob
    from trainc.provenance.tracing import Origin, Trace


class Writing(NamedTuple):
    """One assignment of a field."""

    stage: str
    """The stage's name in `trainc.pipeline.stages.STAGES`."""
    by: str
    """The author, in words."""
    value: Any
    """The value, with secrets masked."""
    at: Location | None
    """The source location; None for a command line option."""


class Explained(NamedTuple):
    """One field of an object."""

    path: Path
    writings: tuple[Writing, ...]
    """The latest first, which is the field's final value."""
    release: str = ""
    """The release of Trainer, if its value depends on a behaviour in which releases differ."""


class Account(NamedTuple):
    """One object of a TrainJob, and its selected fields."""

    job: TrainJob
    tree: Tree
    fields: tuple[Explained, ...]


def accounts(jobs: Iterable[Compiled], selector: Selector | None = None) -> Iterator[Account]:
    """Yield the objects that have a selected field; without a selector, all objects and fields.

    A selector that matches no field of a TrainJob's objects, but a field of the TrainJob, selects what that field sets.
    """
    for compiled in jobs:
        trace, decisions = None, None
        chosen = [list(selected(tree, selector)) for tree in compiled.objects]
        if selector is not None and not any(chosen) and (inputs := inputs_selected(compiled, selector)):
            trace = compiled.trace()
            for index, path, _ in fields_set_by(trace, compiled.objects, compiled.plan.job.document, inputs):
                chosen[index].append(path)
        for index, (tree, found) in enumerate(zip(compiled.objects, chosen, strict=True)):
            if found:
                trace = trace or compiled.trace()
                fields = [Explained(path, tuple(writings(trace, index, path))) for path in found]
                if selector is not None:
                    # Thirty more compilations of the TrainJob: only for the fields that the user selects.
                    decisions = decisions or Decisions(compiled.plan)
                    by_release = [decisions.is_by_release(index, each.path) for each in fields]
                    title = compiled.plan.release.title
                    fields = [
                        each._replace(release=title if by else "") for each, by in zip(fields, by_release, strict=True)
                    ]
                yield Account(compiled.plan.job, tree, tuple(fields))


def inputs_selected(compiled: Compiled, selector: Selector) -> set[Path]:
    """Return the selected fields of the TrainJob, as it is written."""
    return selector.find_in(compiled.plan.job.document.unedited)


def selected(tree: Tree, selector: Selector | None) -> Iterator[Path]:
    """Yield the paths of an object's selected leaf fields, in output order.

    A selected mapping or list selects all its leaves.
    """
    ordered = in_order(tree)
    if selector is None:
        yield from leaves(ordered)
        return
    matches = selector.find(ordered)
    for path in leaves(ordered) if matches else ():
        if any(path[:length] in matches for length in range(len(path) + 1)):
            yield path


def writings(trace: Trace, index: int, path: Path) -> Iterator[Writing]:
    """Yield the writings of a field, the latest first, each with the value as it is shown in its object."""
    for origin in trace.history(index, path):
        at = _located(origin.place) if origin.in_file else None
        objects, there = origin.at
        yield Writing(origin.stage, origin.by, masked_at(objects, there), at)


_LOCATED: Final = Memory()


def _located(place: Place) -> Location:
    """Return the location of a place; jobs share the places in their runtime."""
    key = id(place.document), *place[1:]
    known: tuple[Place, Location] | None = _LOCATED.get(key)
    if known is None:
        known = _LOCATED.keep(key, (place, place.locate()))
    return known[1]


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
