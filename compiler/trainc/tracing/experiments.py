"""Experiments: find the input field that an output field depends on.

Reads    a plan's TrainJob, runtime and project. The stages run again with some of their fields changed or removed.
Returns  the field that affects the value that a stage wrote at a path. The module does not know which fields a stage or
         framework reads: it alters many fields at once and bisects the set that makes a difference.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes.trees import Path, Tree, edit, put
from trainc.records import NamedTuple
from trainc.tracing.correspondence import GONE, at, corresponding_path
from trainc.tracing.history import fresh, making

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.plan import Plan

    Alteration = Callable[[Tree, Path], Tree]

Owner = Literal["job", "runtime", "project"]
"""A document with input fields, by its attribute of a plan."""
OWNERS: Final[tuple[Owner, ...]] = ("job", "runtime", "project")
"""The owners in search order."""
MERGED: Final = frozenset({("spec", "runtimePatches"), ("spec", "template")})
"""The fields that are merged into the JobSet: a TrainJob's patches, a runtime's template."""


class InputField(NamedTuple):
    """A field of the input."""

    owner: Owner
    path: Path
    whole: bool = False
    """Whether it contains other fields."""


class Cause(NamedTuple):
    """An input field that makes a difference."""

    field: InputField
    to_value: bool
    """Whether the value depends on it; if False, only the output field's presence does."""


class Written(NamedTuple):
    """An output field: its path in the objects after a stage."""

    stage: str
    path: Path
    objects: list[Tree]


class Run:
    """A lazy run of the stages on altered input, which caches the objects after each stage."""

    def __init__(self, stages: Iterator[tuple[str, list[Tree]]]) -> None:
        self._stages = stages
        self._results: dict[str, list[Tree]] = {}

    def after(self, stage: str) -> list[Tree] | None:
        """Return the objects after a stage; None if the stage fails on the altered input."""
        while stage not in self._results:
            try:
                name, objects = next(self._stages)
            except Exception:  # a stage relies on checks, which do not run on altered input
                return None
            self._results[name] = objects
        return self._results[stage]


class Experiments:
    """The experiments on one TrainJob; each runs once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.fields = sorted(fields(plan), key=_rank)
        self._by_value: dict[str, list[int]] = {}
        for index, field in enumerate(self.fields):
            value = at(getattr(plan, field.owner).value, field.path)
            if isinstance(value, str) and _LETTER.search(value):
                self._by_value.setdefault(value, []).append(index)
        self._runs: dict[tuple[Alteration, int, int], Run] = {}

    def cause(self, written: Written) -> Cause | None:
        """Return the first field that the value depends on, else the innermost one that its presence depends on."""
        needed: list[InputField] = []
        for rank, low, high in self._groups():
            found: list[InputField] = []
            copied = self._copied(written, low, high)
            if copied is not None:
                return Cause(self.fields[copied], to_value=True)
            for alter in (changed, removed):
                for index in self._search(written, alter, low, high):
                    if self._outcome(written, alter, index, index + 1) is not GONE:
                        return Cause(self.fields[index], to_value=True)
                    found.append(self.fields[index])
            if not needed and (rank.reference or not rank.merged):  # enclosing fields of a template are no cause
                needed = found
        return Cause(max(needed, key=lambda field: len(field.path)), to_value=False) if needed else None

    def _groups(self) -> Iterator[tuple[Rank, int, int]]:
        """Yield the ranges of fields that may be altered together."""
        low = 0
        for rank, group in groupby(self.fields, _rank):
            high = low + len(list(group))
            yield rank, low, high
            low = high

    def _copied(self, written: Written, low: int, high: int) -> int | None:
        """Return the only field from low to high with the same value, if the output follows when all are changed.

        One experiment finds most causes this way. Numbers are left out, because they can be equal by chance.
        """
        value = at(written.objects, written.path)
        same = (
            [index for index in self._by_value.get(value, ()) if low <= index < high] if isinstance(value, str) else []
        )
        if len(same) != 1:
            return None
        (index,) = same
        return index if self._outcome(written, changed, low, high) == another(self.fields[index].path, value) else None

    def _search(self, written: Written, alter: Alteration, low: int, high: int) -> list[int]:
        """Return the fields from low to high that make a difference, by bisection."""
        if self._outcome(written, alter, low, high) == at(written.objects, written.path):
            return []
        if high - low == 1:
            return [low]
        middle = (low + high) // 2
        return self._search(written, alter, low, middle) + self._search(written, alter, middle, high)

    def _outcome(self, written: Written, alter: Alteration, low: int, high: int) -> Any:
        """Return the output field's value with the fields from low to high altered; GONE if it has none."""
        key = (alter, low, high)
        if key not in self._runs:
            self._runs[key] = Run(self._stages(alter, self.fields[low:high]))
        result = self._runs[key].after(written.stage)
        there = None if result is None else corresponding_path(written.objects, written.path, result)
        return GONE if there is None else at(result, there)

    def _stages(self, alter: Alteration, altered: list[InputField]) -> Iterator[tuple[str, list[Tree]]]:
        """Yield each stage's objects from input with some fields altered."""
        values = {owner: getattr(self.plan, owner).value for owner in OWNERS}
        for field in altered:
            values[field.owner] = alter(values[field.owner], field.path)
        yield from making(fresh(self.plan, **values))


class Rank(NamedTuple):
    """The search order of a field, False before True. Fields of one rank may be altered together."""

    merged: bool
    """Whether it is merged into the JobSet: patches, the template."""
    reference: bool
    """Whether other fields refer to it, such as a name or a label; altering it moves their effects to other paths."""
    owner: int
    """Its owner's index in OWNERS."""
    whole: bool
    """Whether it contains other fields, which a removal would remove too."""


def _rank(field: InputField) -> Rank:
    return Rank(
        field.path[:2] in MERGED, _is_name(field.path) or "labels" in field.path, OWNERS.index(field.owner), field.whole
    )


def _is_name(path: Path) -> bool:
    """Return whether a path is the name of a list item."""
    return path[-1] == "name" and isinstance(path[-2], int)


def fields(plan: Plan) -> Iterator[InputField]:
    """Yield all input fields; nested fields come before the enclosing one."""
    for owner in OWNERS:
        yield from (InputField(owner, path, whole) for path, whole in _inside(getattr(plan, owner).value, ()))


def _inside(tree: Any, path: Path) -> Iterator[tuple[Path, bool]]:
    for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        whole = bool(value) and isinstance(value, dict | list)
        if whole:
            yield from _inside(value, (*path, step))
        if path:
            yield (*path, step), whole


def changed(tree: Tree, path: Path) -> Tree:
    """Return a copy of the tree with another value at the path."""
    value = at(tree, path)
    new = another(path, value)
    return tree if new is value else put(tree, path, new)


def another(path: Path, value: Any) -> Any:
    """Return a field's altered value. List item names stay distinct: changing a digit could make two equal."""
    return f"{value}x" if isinstance(value, str) and _is_name(path) else other(value)


def removed(tree: Tree, path: Path) -> Tree:
    """Return a copy of the tree without the field; a list keeps its items, because a removal would shift the rest."""

    def without(parent: Tree) -> Tree:
        return {key: value for key, value in parent.items() if key != path[-1]}

    return tree if isinstance(path[-1], int) else edit(tree, path[:-1], without)


_LETTER: Final = re.compile("[A-Za-z]")
_DIGIT: Final = re.compile(r"\d")


def other(value: Any) -> Any:
    """Return another value of the same type: a number, quantity or name. Return a mapping or a list unchanged.

    >>> [other(value) for value in (4, True, "900Gi", "torch", {})]
    [5, False, '800Gi', 'torchx', {}]
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return (
            _DIGIT.sub(lambda digit: "1234567898"[int(digit[0])], value, count=1)
            if _DIGIT.search(value)
            else f"{value}x"
        )
    return value
