"""Experiments: find the input field that an output field depends on.

Reads    a plan's TrainJob, runtime and project. The stages run again with some of their fields changed or removed.
Returns  the field that affects the value that a stage wrote at a path. The module does not know which fields a stage or
         framework reads.

The fields are searched rank by rank. Within a rank, a field that the output is a copy of comes first. Otherwise all
fields of the rank are altered together; if the output differs, bisection finds the fields that make a difference. All
output fields share the runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.records import NamedTuple
from trainc.provenance.tracing.correspondence import GONE, Correspondence
from trainc.provenance.tracing.history import creating_stages, objects, resolved_plan
from trainc.provenance.tracing.input_fields import OWNERS, altered, by_rank, is_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing.input_fields import Group, InputField, RankedFields


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
