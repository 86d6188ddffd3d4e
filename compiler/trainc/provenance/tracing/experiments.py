"""Experiments: find the input field that an output field depends on.

Reads    a plan's TrainJob, runtime and project. The stages run again with some of their fields changed or removed.
Returns  the field that affects the value that a stage wrote at a path. The module does not know which fields a stage or
         framework reads.

The fields are searched rank by rank. Within a rank, a field that the output is a copy of comes first. Otherwise all
fields of the rank are altered together; if the output differs, bisection finds the fields that make a difference. All
output fields share the runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.records import NamedTuple
from trainc.provenance.tracing.correspondence import GONE, Correspondence
from trainc.provenance.tracing.history import creating_stages, objects, resolved_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Plan

Owner = Literal["job", "runtime", "project"]
"""A document with input fields, by its attribute of a plan."""
OWNERS: Final[tuple[Owner, ...]] = ("job", "runtime", "project")
"""The owners in search order."""
TEMPLATES: Final = (("spec", "runtimePatches", "*", "trainingRuntimeSpec", "template"), ("spec", "template"))
"""The shapes of the fields that are merged into the JobSet: a TrainJob's patches, a runtime's template."""
MERGED: Final = frozenset(template[:2] for template in TEMPLATES)
_FIRST_DIGITS_OR_END: Final = re.compile(r"\d+|$")


class OutputField(NamedTuple):
    """An output field: its path in the objects after a stage."""

    stage: str
    path: Path
    objects: list[Tree]
    value: Any


class FieldCause(NamedTuple):
    """An input field that makes a difference."""

    field: InputField
    to_value: bool
    """Whether the value depends on it; if False, only the output field's presence does."""


class Experiments:
    """The experiments on one TrainJob; each runs once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._ranks = by_rank({owner: getattr(plan, owner).value for owner in OWNERS})
        self._runs: dict[tuple[Group, bool], Rerun] = {}
        self._causes: dict[tuple[str, Path], FieldCause | None] = {}

    def cause(self, written: OutputField) -> FieldCause | None:
        """Return the first field that the value depends on, else the innermost one that its presence depends on."""
        key = written.stage, written.path
        if key not in self._causes:
            self._causes[key] = self._name(written) or self._first_cause(written)
        return self._causes[key]

    def _name(self, written: OutputField) -> FieldCause | None:
        """Return the name that the name of a list item is copied from; most other alterations remove the item."""
        references = [fields for fields in self._ranks if fields.rank.reference] if is_name(written.path) else []
        return next(filter(None, (self._copied(written, fields) for fields in references)), None)

    def _first_cause(self, written: OutputField) -> FieldCause | None:
        """Return the cause in the first rank that has one.

        The output also disappears without the containers of a template in which a stage writes. They are no cause.
        """
        needed: list[InputField] = []
        for fields in self._ranks:
            if copied := self._copied(written, fields):
                return copied
            found: list[InputField] = []
            for remove, group in ((False, fields.changeable), (True, fields.removable_fields(written.path))):
                for field, outcome in self._effective(written, group, remove=remove):
                    if outcome is not GONE:
                        return FieldCause(field, to_value=True)
                    found.append(field)
            if not needed and (fields.rank.reference or not fields.rank.merged):
                needed = found
        return FieldCause(max(needed, key=lambda field: len(field.path)), to_value=False) if needed else None

    def _copied(self, written: OutputField, fields: RankedFields) -> FieldCause | None:
        """Return the field with the same text as the output, if the output changes like the field.

        Changed strings differ, so one run with all fields changed shows of which string the output is a copy. Numbers
        can be equal by chance, and one field can hide the effect of another: bisection changes fewer fields together.
        """
        original = fields.originals.get(str(self._outcome(written, fields.changeable, remove=False)))
        if original is not None and str(original.value) == str(written.value):
            return FieldCause(original, to_value=True)
        for field, outcome in self._effective(written, fields.fields_with_value(written.value), remove=False):
            if str(outcome) == str(field.another):
                return FieldCause(field, to_value=True)
        return None

    def _effective(self, written: OutputField, group: Group, *, remove: bool) -> Iterator[tuple[InputField, Any]]:
        """Yield the fields of a group that make a difference, each with the output's value without it."""
        outcome = self._outcome(written, group, remove=remove)
        if outcome == written.value:
            return
        if len(group) == 1:
            yield group[0], outcome
            return
        middle = len(group) // 2
        yield from self._effective(written, group[:middle], remove=remove)
        yield from self._effective(written, group[middle:], remove=remove)

    def _outcome(self, written: OutputField, group: Group, *, remove: bool) -> Any:
        """Return the output field's value with the fields of a group altered; GONE if it has none."""
        if not group:
            return written.value
        run = self._runs.get((group, remove))
        if run is None:
            owner = group[0].owner
            tree = altered(getattr(self.plan, owner).value, group, remove=remove)
            run = self._runs[group, remove] = Rerun(resolved_plan(self.plan, **{owner: tree}))
        return run.value(written)


class Rerun:
    """A lazy run of the stages on altered input."""

    def __init__(self, plan: Plan) -> None:
        self._stages = creating_stages(plan)
        self._plans: dict[str, Plan] = {}
        self._compared: dict[str, Correspondence | None] = {}
        """The correspondence between the objects after a stage; None if they are equal."""

    def value(self, written: OutputField) -> Any:
        """Return the output field's value in this run; GONE if it has none or its stage fails."""
        stage = written.stage
        if stage not in self._compared:
            plan = self._plan_after(stage)
            if plan is None:
                return GONE
            after = objects(plan)
            self._compared[stage] = None if after == written.objects else Correspondence(written.objects, after)
        compared = self._compared[stage]
        return written.value if compared is None else compared.match(written.path).there

    def _plan_after(self, stage: str) -> Plan | None:
        while stage not in self._plans:
            try:
                name, plan = next(self._stages)
            except Exception:  # a stage relies on checks, which do not run on altered input
                return None
            self._plans[name] = plan
        return self._plans[stage]


class Rank(NamedTuple):
    """The search order of fields, False before True."""

    merged: bool
    """Whether they are merged into the JobSet: patches, the template."""
    reference: bool
    """Whether other fields refer to them, such as names and labels; altering one moves its effects to other paths."""
    owner: int
    """Their owner's index in OWNERS."""
    whole: bool
    """Whether they contain other fields, which a removal would remove too."""

    @classmethod
    def for_field(cls, owner: Owner, path: Path, value: Any) -> Rank:
        """Return the rank of a field."""
        whole = bool(value) and isinstance(value, (dict, list))
        return cls(path[:2] in MERGED, is_name(path) or "labels" in path, OWNERS.index(owner), whole)


class InputField:
    """A field of a document. It is created once and compared by identity, which makes groups of fields cheap keys."""

    __slots__ = ("another", "owner", "path", "value")

    def __init__(self, owner: Owner, path: Path, value: Any, another: Any) -> None:
        self.owner = owner
        self.path = path
        self.value = value
        self.another = another
        """The value that replaces its own in experiments."""


Group = tuple[InputField, ...]
"""Fields of one rank, nested ones before the enclosing one, which one experiment changes or removes."""


class RankedFields:
    """The fields of one rank, in document order."""

    def __init__(self, rank: Rank, fields: Sequence[tuple[Path, Any]]) -> None:
        self.rank = rank
        owner, width = OWNERS[rank.owner], len(str(len(fields)))
        # Marks have one length, so that no two strings become equal, and end in 1, so that quantities stay canonical.
        group = tuple(
            InputField(owner, path, value, substitute(value, f"{number:0{width}}1"))
            for number, (path, value) in enumerate(fields)
        )
        self.changeable = tuple(field for field in group if isinstance(field.value, (str, int, float)))
        """The fields that can have another value."""
        self.originals = {field.another: field for field in self.changeable if isinstance(field.value, str)}
        """The strings by their other values, which differ."""
        self._by_text: dict[str, list[InputField]] = {}
        for field in self.changeable:
            self._by_text.setdefault(str(field.value), []).append(field)
        self._removable = tuple(field for field in group if isinstance(field.path[-1], str))
        """All fields except for list items, whose removal would shift the rest."""
        self._shapes = frozenset(shape(one.path) for one in self._removable if rank.merged and rank.whole)
        """The shapes of the fields that can enclose an output field."""
        self._outside: dict[frozenset[Path], Group] = {}

    def fields_with_value(self, value: Any) -> Group:
        """Return the changeable fields with a value, compared as text."""
        return tuple(self._by_text.get(str(value), ()))

    def removable_fields(self, output: Path) -> Group:
        """Return the fields that can be removed, except for those that enclose an output field: it would go too."""
        enclosing = self._shapes and self._shapes.intersection(_enclosing_shapes(output))
        if not enclosing:
            return self._removable
        if enclosing not in self._outside:
            self._outside[enclosing] = tuple(one for one in self._removable if shape(one.path) not in enclosing)
        return self._outside[enclosing]


def by_rank(documents: Mapping[Owner, Tree]) -> list[RankedFields]:
    """Return the fields of the documents in search order."""
    found: dict[Rank, list[tuple[Path, Any]]] = {}
    for owner, tree in documents.items():
        for path, value in _fields(tree):
            found.setdefault(Rank.for_field(owner, path, value), []).append((path, value))
    return [RankedFields(rank, found[rank]) for rank in sorted(found)]


def _fields(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all fields below the top level with their values, nested ones before the enclosing one."""
    for step, value in enumerate(tree) if isinstance(tree, list) else tree.items():
        there = (*path, step)
        if isinstance(value, (dict, list)):
            yield from _fields(value, there)
        if path:
            yield there, value


def is_name(path: Path) -> bool:
    """Return whether a path is the name of a list item."""
    return path[-1] == "name" and isinstance(path[-2], int)


def shape(path: Path) -> Path:
    """Return a path with `*` for each index."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def _enclosing_shapes(output: Path) -> Iterator[Path]:
    """Yield the shapes of the fields in templates and patches that enclose an output field, if it is in the JobSet."""
    steps = shape(output[1:])
    for template in TEMPLATES if output[0] == 0 else ():
        whole = (*template, *steps)
        yield from (whole[:end] for end in range(1, len(whole) + 1))


def substitute(value: Any, mark: str) -> Any:
    """Return another value of the same type; a string gets the mark after its first digits or at its end.

    >>> [substitute(value, "171") for value in (4, True, "900Gi", "torch")]
    [5, False, '900171Gi', 'torch171']
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return _FIRST_DIGITS_OR_END.sub(lambda digits: digits[0] + mark, value, count=1)
    return value


def altered(tree: Tree, fields: Group, *, remove: bool) -> Tree:
    """Return a copy of a tree with some of its fields changed or removed; each container is copied once."""
    copies: dict[Path, Any] = {(): tree.copy()}

    def copy(path: Path) -> Any:
        if path not in copies:
            parent = copy(path[:-1])
            parent[path[-1]] = copies[path] = parent[path[-1]].copy()
        return copies[path]

    for field in fields:
        parent = copy(field.path[:-1])
        if remove:
            del parent[field.path[-1]]
        else:
            parent[field.path[-1]] = field.another
    result: Tree = copies[()]
    return result
