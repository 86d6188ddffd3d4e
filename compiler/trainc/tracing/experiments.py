"""Experiments: find the input field that an output field depends on.

Reads    a plan's TrainJob, runtime and project. The stages run again with some of their fields changed or removed.
Returns  the field that affects the value that a stage wrote at a path. The module does not know which fields a stage or
         framework reads: it alters many fields at once, and all output fields share the runs.

Most TrainJobs have the same causes as earlier ones with the same framework. Their causes are suspects: each is altered
alone, and the others together. If the others make no difference, the outcome is known; otherwise `search` finds the
fields that do. Groups that made no difference, except for suspects, are altered together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import Memory
from trainc.records import NamedTuple
from trainc.tracing.alterations import OWNERS, Group, InputField, Rank, another, is_name, ranked, shape
from trainc.tracing.correspondence import GONE, Containers, key_path
from trainc.tracing.runs import Run, Selection, altered_stages
from trainc.tracing.search import Found, Search

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path
    from trainc.plan import Plan
    from trainc.tracing.alterations import Alteration
    from trainc.tracing.runs import Written

MOST: Final = 16
"""The maximum number of suspects in a group."""
_NONE: Final[frozenset[Any]] = frozenset()
_INERT: Final = Memory()
"""The ranks and alterations that made no difference to an output field of an earlier TrainJob, except for suspects."""
_KNOWN: Final = Memory()
"""Each value of `_INERT`, which many fields share."""
_SUSPECTS: Final = Memory()
"""The fields of a rank that made a difference to an output of earlier TrainJobs with the same framework."""


class Cause(NamedTuple):
    """An input field that makes a difference."""

    field: InputField
    to_value: bool
    """Whether the value depends on it; if False, only the output field's presence does."""


class Trial(NamedTuple):
    """The first experiments with a group, on the outputs of one stage."""

    everything: Selection
    """The fields of the group, without those that enclose the output."""
    others: Selection
    """All of them, except for suspects."""
    suspects: list[Selection]
    """Each suspect alone."""


class Inert(NamedTuple):
    """Groups that make no difference, except for suspects."""

    groups: frozenset[Group] = _NONE
    idle: frozenset[Group] = _NONE
    """The groups without suspects."""
    others: tuple[Selection, ...] = ()
    """All their fields, except for suspects."""


class Experiments:
    """The experiments on one TrainJob; each runs once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ranked = sorted(
            (one for owner in OWNERS for one in ranked(owner, getattr(plan, owner).value)), key=lambda one: one.rank
        )
        self._runs: dict[tuple[Selection, ...], Run | None] = {}
        """None for selections without fields."""
        self._containers: dict[str, Containers] = {}
        """The containers of the objects after each stage."""
        self._templates = [
            group for rank, *both in self.ranked for group in both if rank.merged and rank.whole and not rank.reference
        ]
        """The groups of the fields that can enclose outputs."""
        self._enclosing: dict[Path, dict[Group, frozenset[int]]] = {}
        self._trials: dict[tuple[str, Group, frozenset[int]], Trial] = {}
        self._unions: dict[tuple[Any, ...], list[Inert]] = {}
        self._inert: dict[tuple[str, Path], Inert] = {}
        self._names: dict[tuple[str | int, ...], tuple[Any, ...]] = {}
        self._causes: dict[tuple[str, Path], Cause | None] = {}

    def cause(self, written: Written) -> Cause | None:
        """Return the first field that the value depends on, else the innermost one that its presence depends on."""
        key = written.stage, written.path
        if key not in self._causes:
            self._causes[key] = self._name(written) or self._first(written)
        return self._causes[key]

    def _name(self, written: Written) -> Cause | None:
        """Return the name that the name of a list item is copied from; most other alterations remove the item."""
        if not is_name(written.path):
            return None
        text = str(written.value)
        groups = (one.changed for one in self.ranked if one.rank.reference and text in one.changed.texts)
        return next(filter(None, (self._copied(written, group) for group in groups)), None)

    def _first(self, written: Written) -> Cause | None:
        needed: list[InputField] = []
        idle = self._inert_of(written).idle
        text = str(written.value)
        for rank, changed, removed in self.ranked:
            if changed in idle and removed in idle:
                continue
            if text in changed.texts and changed not in idle and (copied := self._copied(written, changed)):
                return copied
            found: list[InputField] = []
            for group in (changed, removed):
                for index, outcome in () if group in idle else self._in_order(written, rank, group):
                    if outcome is not GONE:
                        return Cause(group.fields[index], to_value=True)
                    found.append(group.fields[index])
            if not needed and (rank.reference or not rank.merged):
                needed = found
        return Cause(max(needed, key=lambda field: len(field.path)), to_value=False) if needed else None

    def _copied(self, written: Written, group: Group) -> Cause | None:
        """Return the only field with the same value, if the output follows when all fields of the group are changed.

        One experiment finds most causes this way. A value that several fields have, or a number, which can be equal by
        chance, needs a second one, in which each field gets another value. If other fields have the same value, a
        third one, with these values in reverse order, shows that the output is no maximum or minimum of them.
        """
        value = written.value
        equal = group.texts[str(value)]
        if not equal or not isinstance(value, (str, int, float)):
            return None
        everything = Selection(group, 0, len(group.fields))
        index = group.sole.get(value) if isinstance(value, str) else None
        follower = self._outcome(written, everything)
        if index is None and follower not in (GONE, value):
            marked = Selection(group, 0, len(group.fields), alter=group.marks)
            index = group.marks.index(self._outcome(written, marked))
        if index is None:
            return None
        field = group.fields[index]
        copied = group.values[index]
        follows = str(copied) == str(value) and str(another(field.path, copied)) == str(follower)
        if follows and group.sole.get(str(value)) is None and equal > 1:
            marks = group.reverse_marks
            follows = marks.index(self._outcome(written, everything._replace(alter=marks))) == index
        return Cause(field, to_value=True) if follows else None

    def _in_order(self, written: Written, rank: Rank, group: Group) -> list[Found]:
        """Return the fields of a group that make a difference, in the order of the document."""
        if not group.fields:
            return []
        trial = self._trial(written, rank, group)
        inert = group in self._inert_of(written).groups
        if inert or self._outcome(written, trial.others) == written.value:
            # Other fields, such as a policy, can switch the effect of the rest.
            if not inert and (rank.merged or rank.reference):
                name = self._name_of(written)
                known = _INERT.get(name, _NONE) | {(rank, group.alter)}
                _INERT.keep(name, _KNOWN.get(known) or _KNOWN.keep(known, known))
            if not trial.suspects:
                return []
            each = [Found(one.low, self._outcome(written, one)) for one in trial.suspects]
            found = [one for one in each if one.outcome != written.value]
        elif trial.suspects and self._outcome(written, trial.everything) == written.value:
            return []
        else:
            search = Search(lambda selection: self._outcome(written, selection), written.value)
            found = search.all(trial.everything, whole=rank.whole)
            self._suspect(written.stage, rank, group, found)
        return sorted(found, key=lambda one: group.order[one.number])

    def _trial(self, written: Written, rank: Rank, group: Group) -> Trial:
        without = self._enclosing_of(written).get(group, _NONE)
        key = written.stage, group, without
        if key not in self._trials:
            known = _SUSPECTS.get((written.stage, self.plan.runtime.framework, rank, group.alter), ())
            numbers = [group.numbers[path] for path in known if path in group.numbers]
            suspects = [number for number in numbers if group.shape_of[number] not in without]
            everything = Selection(group, 0, len(group.fields), without)
            others = (
                Selection(group, 0, len(group.fields), without, but=frozenset(suspects)) if suspects else everything
            )
            self._trials[key] = Trial(everything, others, [Selection(group, one, one + 1) for one in suspects])
        return self._trials[key]

    def _enclosing_of(self, written: Written) -> dict[Group, frozenset[int]]:
        """Return the shapes of the fields of templates that enclose the output: without them there is no output."""
        path = written.path
        if path not in self._enclosing:
            inside = shape(path[1:])
            self._enclosing[path] = {one: one.enclosing(inside) for one in self._templates} if path[0] == 0 else {}
        return self._enclosing[path]

    def _inert_of(self, written: Written) -> Inert:
        """Return groups that make no difference, except for suspects.

        They made none to the same field of an earlier TrainJob, and the output stays with all of them altered.
        """
        key = written.stage, written.path
        if key not in self._inert:
            name = self._name_of(written)
            unions = self._unions_of(written, _INERT.get(name, _NONE))
            found = [one for one in unions if self._outcome(written, *one.others) == written.value]
            self._inert[key] = Inert(
                _NONE.union(*(one.groups for one in found)), _NONE.union(*(one.idle for one in found))
            )
            if len(found) < len(unions):
                _INERT.pop(name, None)
        return self._inert[key]

    def _unions_of(self, written: Written, known: frozenset[tuple[Rank, Alteration]]) -> list[Inert]:
        """Return known groups that probably make no difference, those with the same alteration together."""
        key = written.stage, known, *self._enclosing_of(written).values()
        if key not in self._unions:
            trials: dict[Alteration, list[Trial]] = {}
            for rank, *both in self.ranked:
                for group in both:
                    if (rank, group.alter) in known:
                        trials.setdefault(group.alter, []).append(self._trial(written, rank, group))
            self._unions[key] = [
                Inert(
                    groups=frozenset(one.others.group for one in together),
                    idle=frozenset(one.others.group for one in together if not one.suspects),
                    others=tuple(one.others for one in together),
                )
                for together in trials.values()
            ]
        return self._unions[key]

    def _name_of(self, written: Written) -> tuple[Any, ...]:
        """Return the stage and the path with list items by merge key: the same in all TrainJobs of a runtime."""
        *outer, step = written.path
        key = written.stage, *outer
        if key not in self._names:
            self._names[key] = written.stage, *key_path(written.objects, tuple(outer))
        return *self._names[key], step

    def _suspect(self, stage: str, rank: Rank, group: Group, found: list[Found]) -> None:
        """Remember the fields that made a difference, for later TrainJobs; more than MOST are too many to try."""
        key = stage, self.plan.runtime.framework, rank, group.alter
        paths = dict.fromkeys((*_SUSPECTS.get(key, ()), *(group.fields[one.number].path for one in found)))
        _SUSPECTS.keep(key, tuple(paths) if len(paths) <= MOST else ())

    def _outcome(self, written: Written, *selections: Selection) -> Any:
        """Return the output field's value with the selected fields altered; GONE if it has none."""
        if selections not in self._runs:
            empty = all(selection.empty for selection in selections)
            self._runs[selections] = None if empty else Run(altered_stages(self.plan, selections))
        run = self._runs[selections]
        if run is None:
            return written.value
        compared = run.compared(written.stage, self._containers_of(written))
        if compared is None:
            return GONE
        if compared.same:
            return written.value
        return compared.value(self._containers_of(written).at(written.path[:-1]), written.path[-1])

    def _containers_of(self, written: Written) -> Containers:
        if written.stage not in self._containers:
            self._containers[written.stage] = Containers(written.objects)
        return self._containers[written.stage]
