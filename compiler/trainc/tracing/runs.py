"""Runs: the stages run again on a plan whose input fields are altered.

Reads    a plan, and a selection of the fields of a group (`alterations`).
Returns  the plan after each stage, and the outcome of a run for an output field: its value in the altered objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import Memory
from trainc.records import NamedTuple
from trainc.tracing.alterations import altered
from trainc.tracing.correspondence import Counterparts
from trainc.tracing.history import fresh, making, objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.plan import Plan
    from trainc.tracing.alterations import Alteration, Group, Owner
    from trainc.tracing.correspondence import Containers


class Written(NamedTuple):
    """An output field: its path in the objects after a stage."""

    stage: str
    path: Path
    objects: list[Tree]
    value: Any


class Selection(NamedTuple):
    """Some fields of a group: a range, without some shapes, or those whose number in the range has a bit."""

    group: Group
    low: int
    high: int
    without: frozenset[int] = frozenset()
    """The shapes that are left out."""
    bit: int = -1
    """The bit; -1 for all fields."""
    value: int = 0
    """The bit's value."""
    but: frozenset[int] = frozenset()
    """The fields that are left out."""
    alter: Alteration | None = None
    """The alteration; None for the group's."""

    def numbers(self) -> Iterator[int]:
        """Yield the indices of the fields."""
        shapes = self.group.shape_of
        for index in range(self.low, self.high):
            if (
                shapes[index] not in self.without
                and index not in self.but
                and (self.bit < 0 or (index - self.low) >> self.bit & 1 == self.value)
            ):
                yield index

    @property
    def empty(self) -> bool:
        """Whether there are no fields."""
        return next(self.numbers(), None) is None

    def halves(self) -> tuple[Selection, Selection]:
        """Return two parts of the range; fields of one shape stay together if there are others."""
        middle, shapes = (self.low + self.high) // 2, self.group.shape_of
        begin, end = middle, middle
        while begin > self.low and shapes[begin - 1] == shapes[middle]:
            begin -= 1
        while end < self.high and shapes[end] == shapes[middle]:
            end += 1
        if (begin, end) != (self.low, self.high):
            nearer = begin if end == self.high or (begin > self.low and middle - begin <= end - middle) else end
            middle = nearer
        return self._replace(high=middle), self._replace(low=middle)

    @property
    def alike(self) -> bool:
        """Whether all fields have one shape."""
        return self.group.shape_of[self.low] == self.group.shape_of[self.high - 1]


class Run:
    """A lazy run of the stages on altered input, which caches the objects after each stage."""

    def __init__(self, stages: Iterator[tuple[str, Plan]]) -> None:
        self._stages = stages
        self._plans: dict[str, Plan] = {}
        self._compared: dict[str, Counterparts | None] = {}

    def compared(self, stage: str, containers: Containers) -> Counterparts | None:
        """Return the objects after a stage, compared with others; None if the stage fails on the altered input."""
        if stage not in self._compared:
            plan = self._after(stage)
            self._compared[stage] = None if plan is None else Counterparts(containers.root, objects(plan))
        return self._compared[stage]

    def _after(self, stage: str) -> Plan | None:
        while stage not in self._plans:
            try:
                name, plan = next(self._stages)
            except Exception:  # a stage relies on checks, which do not run on altered input
                return None
            self._plans[name] = plan
        return self._plans[stage]


def altered_stages(plan: Plan, selections: Sequence[Selection]) -> Iterator[tuple[str, Plan]]:
    """Yield the plan after each stage, from input with the selected fields altered, all in the same way."""
    of_owners: dict[Owner, list[Selection]] = {}
    for selection in selections:
        of_owners.setdefault(selection.group.owner, []).append(selection)
    trees = {owner: _altered(owner, tuple(of_owner)) for owner, of_owner in of_owners.items()}
    yield from making(fresh(plan, **trees))


_ALTERED: Final = Memory()


def _altered(owner: Owner, selections: tuple[Selection, ...]) -> Tree:
    """Return a document with the selected fields altered. Jobs share runtimes, and so these experiments with them."""
    known: Tree | None = _ALTERED.get(selections)
    if known is None:
        group = selections[0].group
        paths = [one.group.fields[number].path for one in selections for number in one.numbers()]
        known = altered(group.tree, selections[0].alter or group.alter, paths)
        if owner != "job":
            _ALTERED.keep(selections, known)
    return known
