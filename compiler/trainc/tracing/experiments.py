"""Experiments: find the input field that an output field depends on.

Reads    a plan's TrainJob, runtime and project. The stages run again with some of their fields changed or removed.
Returns  the field that affects the value that a stage wrote at a path. The module does not know which fields a stage or
         framework reads: it alters many fields at once, and all output fields share the runs. A field on which an
         output depends alone is found by its number: one run for each bit. Otherwise the fields that make a difference
         are found by bisection, first by shape (all items of a list together), then within a shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import Memory
from trainc.records import NamedTuple
from trainc.tracing.alterations import OWNERS, Group, InputField, Rank, altered, another, is_name, ranked
from trainc.tracing.correspondence import GONE, Containers, Counterparts, at, key_path
from trainc.tracing.history import fresh, making, objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.plan import Plan
    from trainc.tracing.alterations import Alteration, Owner

FEWEST: Final = 5
"""The size of a group up to which one run for each field takes fewer runs than bisection."""
FEW: Final = 8
"""The size of a group below which bisection takes fewer runs than two for each bit."""
_NONE: Final[frozenset[Any]] = frozenset()
_INERT: Final = Memory()
"""The ranks and alterations that made no difference to an output field of an earlier TrainJob."""
_FOUND: Final = Memory()
"""The paths of the fields of a rank that made a difference to an output field of an earlier TrainJob."""


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
    value: Any


class Found(NamedTuple):
    """A field of a group that makes a difference, and the output value with it altered."""

    number: int
    """Its index in the group."""
    outcome: Any


class Selection(NamedTuple):
    """Some fields of a group: a range, without some shapes, or those whose number in the range has a bit."""

    group: Group
    low: int
    high: int
    without: frozenset[int] = _NONE
    """The shapes that are left out."""
    bit: int = -1
    """The bit; -1 for all fields."""
    value: int = 0
    """The bit's value."""
    but: frozenset[int] = _NONE
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


class Experiments:
    """The experiments on one TrainJob; each runs once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ranked = sorted(
            (one for owner in OWNERS for one in ranked(owner, getattr(plan, owner).value)), key=lambda one: one.rank
        )
        self._runs: dict[Selection, Run | None] = {}
        """None for a selection without fields."""
        self._containers: dict[str, Containers] = {}
        """The containers of the objects after each stage."""
        self._names: dict[tuple[str, Path], tuple[Any, ...]] = {}
        self._together: dict[frozenset[tuple[Rank, Alteration]], list[tuple[Group, ...]]] = {}
        self._unions: dict[tuple[Group, ...], Run] = {}
        self._causes: dict[tuple[str, Path], Cause | None] = {}

    def cause(self, written: Written) -> Cause | None:
        """Return the first field that the value depends on, else the innermost one that its presence depends on."""
        key = written.stage, written.path
        if key not in self._causes:
            self._causes[key] = self._name(written) or self._first(written)
        return self._causes[key]

    def _name(self, written: Written) -> Cause | None:
        """Return the name that the name of a list item is copied from; most other alterations remove the item."""
        copied = (self._copied(written, one.changed) for one in self.ranked if one.rank.reference)
        return next(filter(None, copied), None) if is_name(written.path) else None

    def _first(self, written: Written) -> Cause | None:
        needed: list[InputField] = []
        inert = self._inert(written)
        for rank, changed, removed in self.ranked:
            if changed not in inert and (copied := self._copied(written, changed)):
                return copied
            found: list[InputField] = []
            for group in (changed, removed):
                for index, outcome in () if group in inert else self._in_order(written, rank, group):
                    if outcome is not GONE:
                        return Cause(group.fields[index], to_value=True)
                    found.append(group.fields[index])
            if not needed and (rank.reference or not rank.merged):
                needed = found
        return Cause(max(needed, key=lambda field: len(field.path)), to_value=False) if needed else None

    def _inert(self, written: Written) -> frozenset[Group]:
        """Return groups that make no difference: those of an earlier TrainJob, if the output stays with all altered."""
        name = self._name_of(written)
        known: frozenset[tuple[Rank, Alteration]] = _INERT.get(name, _NONE)
        if known not in self._together:
            groups = [one for rank, *both in self.ranked for one in both if one.fields and (rank, one.alter) in known]
            alterations = dict.fromkeys(one.alter for one in groups)
            self._together[known] = [tuple(one for one in groups if one.alter is alter) for alter in alterations]
        inert: list[Group] = []
        for together in self._together[known]:
            if together not in self._unions:
                self._unions[together] = Run(_stages(self.plan, together))
            if self._value(written, self._unions[together]) == written.value:
                inert += together
            else:
                _INERT.pop(name, None)
        return frozenset(inert)

    def _copied(self, written: Written, group: Group) -> Cause | None:
        """Return the only field with the same value, if the output follows when all fields of the group are changed.

        One experiment finds most causes this way. A value that several fields have, or a number, which can be equal by
        chance, needs a second one, in which each field gets another value. If other fields have the same value, a
        third one shows that the output does not depend on them too, as a maximum would.
        """
        value, everything = written.value, Selection(group, 0, len(group.fields))
        if not group.fields or not isinstance(value, str | int | float):
            return None
        index = group.sole.get(value) if isinstance(value, str) else None
        changed = self._outcome(written, everything)
        if index is None and changed not in (GONE, value):
            index = group.marks.index(self._outcome(written, everything._replace(marked=True)))
        if index is None:
            return None
        field = group.fields[index]
        copied = at(group.tree, field.path)
        follows = str(copied) == str(value) and str(another(field.path, copied)) == str(changed)
        if follows and group.sole.get(str(value)) is None and group.marks.equal[str(value)] > 1:
            follows = self._outcome(written, everything._replace(but=frozenset((index,)))) == value
        return Cause(field, to_value=True) if follows else None

    def _in_order(self, written: Written, rank: Rank, group: Group) -> list[Found]:
        """Return the fields of a group that make a difference, in the order of the document.

        The fields of a template that enclose the output are left out: without them there is no output.
        """
        enclosing = rank.merged and rank.whole and not rank.reference and written.path[0] == 0
        without = group.enclosing(written.path[1:]) if enclosing else _NONE
        everything = Selection(group, 0, len(group.fields), without)
        if not group.fields:
            return []
        name = self._name_of(written)
        if self._outcome(written, everything) == written.value:
            known = _INERT.get(name, _NONE)
            maskable = rank.merged or rank.reference  # other fields, such as a policy, can switch the effect of the rest
            if maskable and not enclosing and (rank, group.alter) not in known:
                _INERT.keep(name, known | {(rank, group.alter)})
            return []
        guess = name, rank, group.alter
        paths = _FOUND.get(guess, ())
        found = self._guessed(written, everything, paths)
        if not found:
            found = self._found(written, rank, everything)
            again = [group.fields[one.number].path for one in found]
            if paths is not None:
                _FOUND.keep(guess, again if again != paths else None)  # None for fields that act together
        return sorted(found, key=lambda one: group.order[one.number])

    def _found(self, written: Written, rank: Rank, everything: Selection) -> list[Found]:
        """Return the fields of a group that make a difference."""
        if not rank.whole and everything.high <= FEWEST:
            each = (Selection(everything.group, index, index + 1) for index in range(everything.high))
            found = [Found(one.low, self._outcome(written, one)) for one in each]
            return [one for one in found if one.outcome != written.value]
        sole = None if rank.whole or everything.high < FEW else self._sole(written, everything)
        if sole is not None:
            return [sole]
        return [one for outer in (0, *everything.without) for one in self._inside(written, everything, outer)]

    def _guessed(self, written: Written, everything: Selection, paths: Sequence[Path] | None) -> list[Found]:
        """Return the fields at the paths if they are those of the group that make a difference, else nothing."""
        group = everything.group
        if not paths or not all(path in group.numbers for path in paths):
            return []
        numbers = [group.numbers[path] for path in paths]
        if self._outcome(written, everything._replace(but=frozenset(numbers))) != written.value:
            return []
        found = [Found(one, self._outcome(written, Selection(group, one, one + 1))) for one in numbers]
        return [] if any(one.outcome == written.value for one in found) else found

    def _inside(self, written: Written, selection: Selection, outer: int) -> list[Found]:
        """Return the fields inside a shape that make a difference."""
        low, high = selection.group.inner[outer]
        return self._search(written, selection._replace(low=low, high=high)) if low < high else []

    def _search(self, written: Written, selection: Selection) -> list[Found]:
        """Return the fields of a selection, and those inside them, that make a difference."""
        outcome = self._outcome(written, selection)
        if outcome == written.value:
            return []
        low, high = selection.low, selection.high
        if not selection.alike:
            return [one for half in selection.halves() for one in self._search(written, half)]
        found = [Found(low, outcome)] if high - low == 1 else self._of_one_shape(written, selection)
        return found + self._inside(written, selection, selection.group.shape_of[low])

    def _of_one_shape(self, written: Written, selection: Selection) -> list[Found]:
        """Return the fields of a selection that make a difference; all fields have one shape."""
        outcome = self._outcome(written, selection)
        if outcome == written.value:
            return []
        if selection.high - selection.low == 1:
            return [Found(selection.low, outcome)]
        sole = self._sole(written, selection)
        if sole is not None:
            return [sole]
        return [one for half in selection.halves() for one in self._of_one_shape(written, half)]

    def _sole(self, written: Written, selection: Selection) -> Found | None:
        """Return the field of a selection on which the output depends alone; None if there is not exactly one.

        Its number has a bit if the output differs with the fields that have this bit, and not with the others.
        """
        group, low, high, without, *_ = selection
        number, outcome = 0, GONE
        for bit in range((high - low - 1).bit_length()):
            outcomes = [self._outcome(written, Selection(group, low, high, without, bit, given)) for given in (0, 1)]
            differ = [given for given in (0, 1) if outcomes[given] != written.value]
            if len(differ) != 1:
                return None
            number |= differ[0] << bit
            outcome = outcomes[differ[0]] if outcome is GONE else outcome
        index = low + number
        if outcome is GONE:
            outcome = self._outcome(written, Selection(group, index, index + 1, without))
        return Found(index, outcome)

    def _outcome(self, written: Written, selection: Selection) -> Any:
        """Return the output field's value with the selected fields altered; GONE if it has none."""
        if selection not in self._runs:
            paths = selection.paths()
            alter = selection.group.marks if selection.marked else selection.group.alter
            stages = _stages(self.plan, (selection.group,), alter, paths)
            self._runs[selection] = Run(stages) if paths else None
        run = self._runs[selection]
        return written.value if run is None else self._value(written, run)

    def _value(self, written: Written, run: Run) -> Any:
        if written.stage not in self._containers:
            self._containers[written.stage] = Containers(written.objects)
        return run.outcome(written, self._containers[written.stage])

    def _name_of(self, written: Written) -> tuple[Any, ...]:
        """Return the stage and the path with list items by merge key: the same in all TrainJobs of a runtime."""
        key = written.stage, written.path
        if key not in self._names:
            self._names[key] = written.stage, *key_path(written.objects, written.path)
        return self._names[key]


def _stages(
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
