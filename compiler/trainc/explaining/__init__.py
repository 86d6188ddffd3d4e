"""Explaining: for each field of the compiled objects, which stage set it, from which line, and what it was before.

Reads    compiled TrainJobs, and which of their fields are asked for.
Returns  accounts: an object, and its fields with every writing of each, the last one first. `trace()` has found them;
         values are shown as a report may show them, without secrets. Loaded by `trainc explain` alone.
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
    """One stage that has set a field."""

    stage: str
    """By its name in `trainc.pipeline.STAGES`."""
    by: str
    """Who it was, in words."""
    value: Any
    """What it wrote, secrets hidden."""
    at: Location | None
    """Where it stands in the input; None for what an option of the command line says."""


class Explained(NamedTuple):
    """One field of an object."""

    path: Path
    writings: tuple[Writing, ...]
    """The last one first: it says what the field is."""


class Account(NamedTuple):
    """One object of a TrainJob, and those of its fields that are asked for."""

    job: TrainJob
    tree: Tree
    fields: tuple[Explained, ...]


def accounts(jobs: Iterable[Compiled], selector: Selector | None = None) -> list[Account]:
    """The objects that have a field that is asked for; all objects and fields where nothing is."""
    found = []
    for compiled in jobs:
        trace = None
        for index, tree in enumerate(compiled.objects):
            paths = list(asked(tree, selector))
            if paths:
                trace = trace or compiled.trace()
                fields = tuple(Explained(path, tuple(writings(trace, index, tree, path))) for path in paths)
                found.append(Account(compiled.plan.job, tree, fields))
    return found


def asked(tree: Tree, selector: Selector | None) -> Iterator[Path]:
    """The fields of an object that are asked for, in the order in which they are written; of a mapping all in it."""
    ordered = in_order(tree)
    if selector is None:
        yield from leaves(ordered)
        return
    wanted = selector.find(ordered)
    for path in leaves(ordered) if wanted else ():
        if any(path[:length] in wanted for length in range(len(path) + 1)):
            yield path


def writings(trace: Trace, index: int, tree: Tree, path: Path) -> Iterator[Writing]:
    """Who has written a field, the last one first."""
    secret = is_secret_at(tree, path)
    for origin in trace.origins(index, path):
        at = None if origin.by == OPTION else origin.place.locate()
        yield Writing(origin.stage, origin.by, masked(origin.value, secret=secret), at)
