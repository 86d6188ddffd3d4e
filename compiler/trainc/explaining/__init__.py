"""Field provenance: for each field of the compiled objects, the stage that set it, its line and the previous values.

Reads    compiled TrainJobs, and an optional selector of their fields.
Returns  accounts: an object and its fields, each with all its writings from `trace()`, the latest first. Secret values
         are masked. Only `trainc explain` imports this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.emit.order import in_order
from trainc.source.masking import is_secret_at, masked
from trainc.tracing import OPTION
from trainc.tracing.correspondence import leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation import Compiled
    from trainc.diagnostics import Location, Path
    from trainc.explaining.selectors import Selector
    from trainc.kubernetes.trees import Tree
    from trainc.objects import TrainJob
    from trainc.tracing import Trace


class Writing(NamedTuple):
    """One assignment of a field."""

    stage: str
    """The stage's name in `trainc.pipeline.STAGES`."""
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


class Account(NamedTuple):
    """One object of a TrainJob, and its selected fields."""

    job: TrainJob
    tree: Tree
    fields: tuple[Explained, ...]


def accounts(jobs: Iterable[Compiled], selector: Selector | None = None) -> Iterator[Account]:
    """Yield the objects that have a selected field; without a selector, all objects and fields."""
    for compiled in jobs:
        trace = None
        for index, tree in enumerate(compiled.objects):
            paths = list(selected(tree, selector))
            if paths:
                trace = trace or compiled.trace()
                fields = tuple(Explained(path, tuple(writings(trace, index, tree, path))) for path in paths)
                yield Account(compiled.plan.job, tree, fields)


def selected(tree: Tree, selector: Selector | None) -> Iterator[Path]:
    """Yield an object's selected leaf fields, in output order; a selected mapping or list selects all its leaves."""
    ordered = in_order(tree)
    if selector is None:
        yield from leaves(ordered)
        return
    matches = selector.find(ordered)
    for path in leaves(ordered) if matches else ():
        if any(path[:length] in matches for length in range(len(path) + 1)):
            yield path


def writings(trace: Trace, index: int, tree: Tree, path: Path) -> Iterator[Writing]:
    """Yield the writings of a field, the latest first."""
    secret = is_secret_at(tree, path)
    for origin in trace.origins(index, path):
        at = None if origin.by == OPTION else origin.place.locate()
        yield Writing(origin.stage, origin.by, masked(origin.value, secret=secret), at)
