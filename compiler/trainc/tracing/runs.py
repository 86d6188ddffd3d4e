"""Runs: the stages run again on a plan whose input fields are altered.

Reads    a plan, and a selection of the fields of a group (`alterations`).
Returns  the plan after each stage, and the outcome of a run for an output field: its value in the altered objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.records import NamedTuple
from trainc.tracing.alterations import altered
from trainc.tracing.correspondence import GONE, Counterparts
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
    marked: bool = False
    """Whether each field gets its mark, instead of the group's alteration."""

    def paths(self) -> tuple[Path, ...]:
        """Return the paths of the fields."""
        fields, shapes = self.group.fields, self.group.shape_of
        return tuple(
            fields[index].path
            for index in range(self.low, self.high)
            if shapes[index] not in self.without
            and index not in self.but
            and (self.bit < 0 or (index - self.low) >> self.bit & 1 == self.value)
        )

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

    def outcome(self, written: Written, containers: Containers) -> Any:
        """Return the output field's value; GONE if it has none, or if the stage fails on the altered input."""
        if written.stage not in self._compared:
            plan = self._after(written.stage)
            self._compared[written.stage] = None if plan is None else Counterparts(containers.root, objects(plan))
        compared = self._compared[written.stage]
        return GONE if compared is None else compared.value(containers.at(written.path[:-1]), written.path[-1])

    def _after(self, stage: str) -> Plan | None:
        while stage not in self._plans:
            try:
                name, plan = next(self._stages)
            except Exception:  # a stage relies on checks, which do not run on altered input
                return None
            self._plans[name] = plan
        return self._plans[stage]


def altered_stages(
    plan: Plan, groups: Sequence[Group], alter: Alteration | None = None, paths: tuple[Path, ...] = ()
) -> Iterator[tuple[str, Plan]]:
    """Yield the plan after each stage, from input with the fields at the paths altered; by default, all fields."""
    selected: dict[Owner, tuple[Tree, tuple[Path, ...]]] = {}
    for group in groups:
        owner = group.fields[0].owner
        _, others = selected.get(owner, (group.tree, ()))
        selected[owner] = group.tree, others + (paths or tuple(field.path for field in group.fields))
    alter = alter or groups[0].alter
    yield from making(fresh(plan, **{owner: altered(tree, alter, all) for owner, (tree, all) in selected.items()}))
