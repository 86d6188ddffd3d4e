"""Experiments: the field of the input without which a field of the output would be another.

Reads    a plan's TrainJob, runtime and project. Some of their fields are changed, or removed, and the stages run
         again on that.
Returns  the field that makes a difference to what a stage has written at a path. Nothing is known here of what any
         stage or framework reads: many fields are altered at once, and halved as long as they make a difference.
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
"""What has fields: a plan knows each by this name."""
OWNERS: Final[tuple[Owner, ...]] = ("job", "runtime", "project")
"""In this order they are looked at."""
MERGED: Final = frozenset({("spec", "runtimePatches"), ("spec", "template")})
"""What becomes the JobSet: the patches of a TrainJob, the template of a runtime."""


class InputField(NamedTuple):
    """A field of the input."""

    owner: Owner
    """Whose it is."""
    path: Path
    whole: bool = False
    """Whether it has other fields in it."""


class Cause(NamedTuple):
    """A field that makes a difference."""

    field: InputField
    to_value: bool
    """Whether the value hangs on it, and not only that there is one."""


class Written(NamedTuple):
    """A field of the output: its path in the objects as they were after a stage."""

    stage: str
    path: Path
    objects: list[Tree]


class Run:
    """The stages on altered input: carried on as far as somebody asks, and never twice."""

    def __init__(self, stages: Iterator[tuple[str, list[Tree]]]) -> None:
        self._stages = stages
        self._results: dict[str, list[Tree]] = {}

    def after(self, stage: str) -> list[Tree] | None:
        """The objects after a stage; None where it could not make any."""
        while stage not in self._results:
            try:
                name, objects = next(self._stages)
            except Exception:  # a stage relies on checks, which have not seen this input: it makes nothing of it
                return None
            self._results[name] = objects
        return self._results[stage]


class Experiments:
    """What would have become of one TrainJob; every experiment is made once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.fields = sorted(fields(plan), key=_rank)
        self._said: dict[str, list[int]] = {}
        for index, field in enumerate(self.fields):
            value = at(getattr(plan, field.owner).value, field.path)
            if isinstance(value, str) and _LETTER.search(value):
                self._said.setdefault(value, []).append(index)
        self._runs: dict[tuple[Alteration, int, int], Run] = {}

    def cause(self, written: Written) -> Cause | None:
        """The first field that the value hangs on; else the innermost of those for which it is there at all."""
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
            if not needed and (rank.finding or not rank.merged):  # what is around it in a template says nothing
                needed = found
        return Cause(max(needed, key=lambda field: len(field.path)), to_value=False) if needed else None

    def _groups(self) -> Iterator[tuple[Rank, int, int]]:
        """The ranges of fields that may be altered together."""
        low = 0
        for rank, group in groupby(self.fields, _rank):
            high = low + len(list(group))
            yield rank, low, high
            low = high

    def _copied(self, written: Written, low: int, high: int) -> int | None:
        """The only one of the fields from low to high that says the same, if it still does when all are changed.

        That is most of what there is to find, with one experiment for all of it. Numbers may be the same by chance.
        """
        value = at(written.objects, written.path)
        same = [index for index in self._said.get(value, ()) if low <= index < high] if isinstance(value, str) else []
        if len(same) != 1:
            return None
        (index,) = same
        return index if self._outcome(written, changed, low, high) == another(self.fields[index].path, value) else None

    def _search(self, written: Written, alter: Alteration, low: int, high: int) -> list[int]:
        """Which of the fields from low to high make a difference, found in halves."""
        if self._outcome(written, alter, low, high) == at(written.objects, written.path):
            return []
        if high - low == 1:
            return [low]
        middle = (low + high) // 2
        return self._search(written, alter, low, middle) + self._search(written, alter, middle, high)

    def _outcome(self, written: Written, alter: Alteration, low: int, high: int) -> Any:
        """What would have been written had the fields from low to high been altered; GONE if nothing."""
        key = (alter, low, high)
        if key not in self._runs:
            self._runs[key] = Run(self._stages(alter, self.fields[low:high]))
        result = self._runs[key].after(written.stage)
        there = None if result is None else corresponding_path(written.objects, written.path, result)
        return GONE if there is None else at(result, there)

    def _stages(self, alter: Alteration, altered: list[InputField]) -> Iterator[tuple[str, list[Tree]]]:
        """The stages on input of which some fields are altered."""
        values = {owner: getattr(self.plan, owner).value for owner in OWNERS}
        for field in altered:
            values[field.owner] = alter(values[field.owner], field.path)
        yield from making(fresh(self.plan, **values))


class Rank(NamedTuple):
    """In which order fields are looked at, false before true. Those of one rank may be altered together."""

    merged: bool
    """Whether it becomes a part of the JobSet: patches, the template."""
    finding: bool
    """Whether parts find one another by it: altered with others, it would let them change where nobody looks."""
    owner: int
    """Its place among OWNERS."""
    whole: bool
    """Whether it has other fields in it: gone, it would take them with it."""


def _rank(field: InputField) -> Rank:
    return Rank(
        field.path[:2] in MERGED, _is_name(field.path) or "labels" in field.path, OWNERS.index(field.owner), field.whole
    )


def _is_name(path: Path) -> bool:
    """Whether it is the name of an item of a list."""
    return path[-1] == "name" and isinstance(path[-2], int)


def fields(plan: Plan) -> Iterator[InputField]:
    """All fields of the input; what is in a field comes before it."""
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
    """A copy of the tree with another value at the path."""
    value = at(tree, path)
    new = another(path, value)
    return tree if new is value else put(tree, path, new)


def another(path: Path, value: Any) -> Any:
    """What a field is changed to. The names of a list's items stay as many: with another digit two may be the same."""
    return f"{value}x" if isinstance(value, str) and _is_name(path) else other(value)


def removed(tree: Tree, path: Path) -> Tree:
    """A copy of the tree without the field; a list keeps its items, as those behind one that goes would move."""

    def without(parent: Tree) -> Tree:
        return {key: value for key, value in parent.items() if key != path[-1]}

    return tree if isinstance(path[-1], int) else edit(tree, path[:-1], without)


_LETTER: Final = re.compile("[A-Za-z]")
_DIGIT: Final = re.compile(r"\d")


def other(value: Any) -> Any:
    """Another value of the same kind: another number or quantity, another name. A mapping or a list is what it is.

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
