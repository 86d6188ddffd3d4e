"""Lineages: the steps that wrote each value of a TrainJob's objects.

Reads    the objects before and after a step, and the lineages before it.
Returns  the lineages after it. Each step is walked once, where it changed the objects: an unchanged value keeps its
         lineage, and a step that creates a whole mapping or list has one lineage for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple
from trainc.provenance.tracing.correspondence import GONE, same_step, value_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path


class Lineage(NamedTuple):
    """The last step that wrote a value or a part of it."""

    step: int
    """The number of the step."""
    path: Path
    """The value's path after the step."""
    earlier: Lineage | None = None
    """The lineage before the step; None if the step created the value."""
    parts: dict[str | int, Lineage] | None = None
    """The lineages of the fields or items; None if the step created them all."""

    def writes(self, path: Path) -> Iterator[tuple[int, Path]]:
        """Yield the steps that wrote the value at a path, the last one first, each with the value's path after it."""
        found: Lineage | None = self.descendant(path)
        while found is not None:
            yield found.step, found.path
            found = found.earlier

    def descendant(self, path: Path) -> Lineage:
        """Return the lineage of the value at a path."""
        found = self
        for end, step in enumerate(path):
            if found.parts is None:
                return Lineage(found.step, (*found.path, *path[end:]))
            found = found.parts[step]
        return found


def lineage_after(number: int, path: Path, before: Lineage, there: Any, here: Any) -> Lineage:
    """Return the lineage of the value `here`, which was `there` before a step."""
    if here is there or here == there:
        return before
    parts: dict[str | int, Lineage] = {}
    for step, value in enumerate(here) if isinstance(here, list) else here.items() if isinstance(here, dict) else ():
        whole = (*path, step)
        same = same_step(here, step, there)
        if same is None or (old := value_in(there, same)) is GONE:
            parts[step] = Lineage(number, whole)
        else:
            parts[step] = lineage_after(number, whole, before.descendant((same,)), old, value)
    return Lineage(number, path, before, parts)
