"""The errors of a TrainJob in the phases that its first errors prevent.

Reads    the plans of a run, and the function that compiles a TrainJob.
Returns  the diagnostics of the plans, with the errors that would remain if the first ones were repaired, and the plans
         of the repaired TrainJobs for the lint rules.

A faulty value is repaired by its fix, by leaving it out, or by a valid value of the schema, and the TrainJob is
compiled with two of these repairs. An error that only one of the two has depends on the repair, as does an error at
the repaired field: neither is reported.
Imported only for plans with errors.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Relocation, as_parsed, at_path
from trainc.base.kinds import find
from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import TrainJobForm
from trainc.compilation.plans import diagnostics_of, trainjob
from trainc.diagnostics import Place
from trainc.frontends.templates import is_of_template
from trainc.kubernetes.fixed_values import changed
from trainc.kubernetes.structural import read
from trainc.kubernetes.structural.homes import schema_at
from trainc.kubernetes.structural.nodes import resolved
from trainc.kubernetes.trees import get, put
from trainc.kubernetes.violations import UNKNOWN_FIELD
from trainc.pipeline.library import Level, LibraryEntry, key_of
from trainc.pipeline.objects import NO_RUNTIME
from trainc.pipeline.passes.conform import drop_field
from trainc.pipeline.passes.resolve import requested

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from trainc.base.fixes import Change, Fix
    from trainc.compilation.plans import Compiler
    from trainc.diagnostics import Diagnostic, Document, Identity, Path
    from trainc.edits.environment import Environment
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.library import Library
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing import Trace

    Repair = Callable[[Tree], Tree | None]
    """Return the value of a document without one fault; None if the repair is not possible there."""

ROUNDS: Final = 8
"""The most times that a TrainJob is repaired: each round can find errors of later phases."""
MOST_JOBS: Final = 5_000
"""The most replicated jobs that are compiled again in a run."""
MISSING: Final = frozenset({"block-device", "env-file", "resource-claim-missing", "volume-missing"})
"""The rules that require another field, which a repair may have left out."""
HOLDERS: Final = frozenset({"resourceClaims", "volumes"})
"""The lists that have it."""
MOST_FAULTS: Final = 50
"""The most errors of a TrainJob that are repaired."""


class Later(NamedTuple):
    """What the first errors of a TrainJob prevent."""

    diagnostics: tuple[Diagnostic, ...] = ()
    repaired: Plan | None = None
    """The plan of the repaired TrainJob, with the lint findings that do not depend on a repair; None without one."""
    preventing: tuple[str, ...] = ()
    """The id of an error that could not be repaired, so that there are no Jobs and pods to check."""


class _Fault:
    """An error, and the repairs of its document that have not failed yet: the first two are used."""

    def __init__(self, error: Diagnostic, place: Place, repairs: list[Repair], *, is_collection: bool) -> None:
        self.id = error.id
        self.place = place
        self.repairs = repairs
        value = get(place.document.value, place.path)
        self.name = value if isinstance(value, str) and place.path[-1] == "name" else ""
        """The name that is wrong, to which other fields may refer."""
        has_parts = is_collection or isinstance(value, (dict, list))
        self.is_holder = has_parts and not HOLDERS.isdisjoint(place.path)
        """Whether it may have had a part to which another field refers."""

    def repair(self, number: int) -> Repair:
        return self.repairs[min(number, len(self.repairs) - 1)]

    def is_at(self, place: Place) -> bool:
        """Return whether a place is the repaired field, a part of it, or one that contains it.

        An error at the key of a field that contains it is about that field, whatever is in it. With only one repair,
        nothing shows whether an error depends on it: so may one of the fields beside it.
        """
        alone = len(self.repairs) == 1 and self.id != UNKNOWN_FIELD.id  # which the cluster leaves out, too
        path = self.place.path[:-1] if alone else self.place.path
        if place.key and len(place.path) < len(self.place.path):
            return False
        same = min(len(place.path), len(path))
        return place.document.identity == self.place.document.identity and place.path[:same] == path[:same]


class Found(NamedTuple):
    """The diagnostics of all TrainJobs of a run."""

    diagnostics: dict[int, list[Diagnostic]]
    """Those of each TrainJob, by the identity of its plan."""
    repaired: dict[int, Plan]
    """The plans of repaired TrainJobs, for the lint rules."""
    unchecked: dict[str, list[str]]
    """The names of the TrainJobs whose Jobs and pods were not checked, by the id of the error that prevents it."""


def diagnosed(plans: Iterable[Plan], compiled: Compiler, environment: Environment | None) -> Found:
    """Return the diagnostics of plans, and the errors that their first errors prevent."""
    result, allowed = Found({}, {}, {}), MOST_JOBS
    for plan in plans:
        found = result.diagnostics[id(plan)] = list(diagnostics_of(plan))
        if not (plan.stopped or plan.failed):
            continue
        repairs = _Repairs(plan, compiled, environment)
        later = repairs.run([each for each in found if each.severity == "error"], allowed)
        allowed -= repairs.jobs
        found += later.diagnostics
        if later.repaired is not None and not any(map(is_of_template, found)):
            result.repaired[id(plan)] = later.repaired
        for reason in later.preventing:
            result.unchecked.setdefault(reason, []).append(plan.job.source_name or f"a {plan.job.word} without a name")
    return result


class _Repairs:
    """The repairs of one TrainJob and its runtime."""

    def __init__(self, plan: Plan, compiled: Compiler, environment: Environment | None) -> None:
        self.plan = plan
        self.environment = environment
        self.compiled = compiled
        self.jobs = 0
        """The number of replicated jobs that were compiled again."""
        self.entry = requested(plan)
        self.documents = {plan.job.document.identity: plan.job.document}
        if self.entry is not None:
            self.documents[self.entry.document.identity] = self.entry.document
        self.faults: list[_Fault] = []
        self.unrepaired: list[str] = []
        self.spots: set[Hashable] = set()
        """The lines of the known errors: a line that an alias or two roles use is repaired once, and reported once."""

    def run(self, errors: list[Diagnostic], allowed: int) -> Later:
        """Repair the errors in rounds, until no new ones are found; compile `allowed` replicated jobs at most."""
        reported: list[Diagnostic] = []
        pending = [*errors, *self._errors_of_runtime(self.plan)]
        known = set(map(_key, pending))
        ids = [each.id for each in pending]  # of the report
        plans = [self.plan]
        for _ in range(ROUNDS):
            if len(self.faults) + len(pending) > MOST_FAULTS or self.jobs > allowed:
                return Later(tuple(reported), preventing=self._preventing(ids))
            self.spots.update(*map(_spots, pending))
            for each in {_key(each): each for each in pending}.values():
                self._add(each)
            if not self.faults:
                break
            is_checked = bool(plans[0].objects)  # in all phases: another error depends on a repair
            plans, (first, second) = self._runs()
            both = {*map(_key, first)} & {*map(_key, second)}
            new = [each for each in first if _key(each) in both - known and self._is_independent(each)]
            restored = [] if is_checked else map(self._restored, new)
            reported += [each for each in restored if _spots(each).isdisjoint(self.spots)]
            pending = [each for each in (*first, *second) if _key(each) not in known]
            known |= set(map(_key, pending))
            if not pending:
                break
        repaired, *others = plans
        if not others or not repaired.objects:
            return Later(tuple(reported), preventing=self._preventing(ids))
        return self._result(reported, repaired, others[0])

    def _preventing(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Return the id of the error that prevents the check of Jobs and pods: one that could not be repaired."""
        return () if self.plan.objects else tuple([each for each in ids if each in self.unrepaired] or ids)[:1]

    def _result(self, reported: list[Diagnostic], repaired: Plan, other: Plan) -> Later:
        lint = [each for each in repaired.lint_findings if each in other.lint_findings]
        named = put(repaired.job.value, ("metadata", "name"), self.plan.job.source_name)  # for the messages
        found = self._independent_findings(repaired, lint)
        return Later(tuple(reported), repaired._replace(job=repaired.job._replace(value=named), lint_findings=found))

    def _independent_findings(self, plan: Plan, lint: Iterable[Any]) -> tuple[Any, ...]:
        """Return the lint findings that are not at a repaired field."""
        from trainc.provenance.placing.lint_findings import placed

        traces: dict[int, Trace] = {}
        return tuple(each for each in lint if not self._is_at_repair(placed(plan, each.path, traces)[0]))

    def _runs(self) -> tuple[list[Plan], list[list[Diagnostic]]]:
        """Return the plans of the two repairs and their errors, after repairs that fail have been left out."""
        plans, errors = [], []
        for number in (0, 1):
            while True:
                plan = self._compiled(number)
                found = self._errors(plan)
                if not self._drop_failing(found, number):
                    break
            plans.append(plan)
            errors.append(found)
        return plans, errors

    def _drop_failing(self, errors: Iterable[Diagnostic], number: int) -> bool:
        """Leave out the repairs that have an error at their own field; return whether another one can be tried."""
        dropped = False
        for fault in self.faults:
            if len(fault.repairs) > number and any(self._is_of(fault, each) for each in errors):
                if len(fault.repairs) > 1:
                    del fault.repairs[number]
                    dropped = True
                elif fault.id not in self.unrepaired:
                    self.unrepaired.append(fault.id)
        return dropped

    def _is_of(self, fault: _Fault, error: Diagnostic) -> bool:
        place = self._in_document(error.place)
        return place is not None and fault.is_at(place)

    def _is_independent(self, error: Diagnostic) -> bool:
        """Return whether an error would stay if the repaired fields had other valid values."""
        if error.id in MISSING and any(fault.is_holder for fault in self.faults):
            return False
        if any(fault.name and f'"{fault.name}"' in error.message for fault in self.faults):
            return False  # about a reference to the faulty name
        return not self._is_at_repair(error.place)

    def _restored(self, error: Diagnostic) -> Diagnostic:
        """Return an error of the repaired documents as one of the documents as they are."""
        changes = None if error.fix is None else self._changes(error, error.fix)
        fix = None if error.fix is None or changes is None else error.fix._replace(changes=tuple(changes))
        related = tuple(each._replace(place=self._in_document(each.place) or each.place) for each in error.related)
        place = self._in_document(error.place) or error.place
        return error._replace(place=place, related=related, fix=fix, fixed_in=None)

    def _is_at_repair(self, place: object) -> bool:
        own = self._in_document(place)
        return own is not None and any(fault.is_at(own) for fault in self.faults)

    def _in_document(self, place: object) -> Place | None:
        """Return a place in the document from which the TrainJob or the runtime is compiled; None for another one."""
        if not isinstance(place, Place) or place.document.identity not in self.documents:
            return None
        document, path = self.documents[place.document.identity], place.path
        for edit in reversed(place.document.edits[len(document.edits) :]):
            source = edit.source(path)
            if isinstance(source, Place):
                return None
            path = source
        return Place(document, path, place.key)

    def _add(self, error: Diagnostic) -> None:
        """Add the repairs of an error, the likeliest first."""
        place = self._in_document(error.place)
        if place is None or len(place.path) < 2:  # the kind, its version, metadata and spec stay
            self.unrepaired.append(error.id)
            return
        repairs: list[Repair] = []
        if error.fix is not None:
            fix = error.fix.mapped(lambda _, value: as_parsed(value))
            if changes := self._changes(error, fix):
                repairs.append(lambda value: _with_changes(value, changes))
        repairs.append(lambda value: drop_field(value, place.path))
        root = self._root(place.document)
        schema = schema_at(root, place.path)
        if not place.key and place.path[:2] != TrainJobForm.RUNTIME:  # another runtime has other faults
            repairs += [_with(place.path, sample) for sample in _samples_for(place, root, schema)]
        is_collection = schema.get("type") in ("array", "object")
        self.faults.append(_Fault(error, place, repairs, is_collection=is_collection))

    def _changes(self, error: Diagnostic, fix: Fix) -> list[Change] | None:
        """Return the changes of a fix with the paths of the document; None if they are in another one."""
        assert isinstance(error.place, Place)
        document = error.fixed_in or error.place.document
        if document.identity != error.place.document.identity:
            return None
        found: list[Change] = []
        for change in fix.changes:
            place = self._in_document(Place(document, change.path))
            target = self._in_document(Place(document, change.target)) if isinstance(change, Relocation) else place
            if place is None or target is None:
                return None
            found.append(at_path(change, place.path, target.path))
        return found

    def _root(self, document: Document) -> Tree:
        """Return the schema of a document's kind, empty without one."""
        version, kind = document.value.get("apiVersion"), document.value.get("kind")
        row = find(version, kind)
        release = self.plan.release
        folder = release.crds
        if row is not None and row.framework:
            folder = row.schema_folder(version) or release.jobset
        return _schema(str(kind), folder)

    def _compiled(self, number: int) -> Plan:
        """Return the plan of the TrainJob with one of the two repairs of each fault."""
        values: dict[Identity, Tree] = {identity: each.value for identity, each in self.documents.items()}
        for fault in self.faults:
            identity = fault.place.document.identity
            repaired = fault.repair(number)(values[identity])
            values[identity] = values[identity] if repaired is None else repaired
        job = self.plan.job.document
        document = job._replace(value=values[job.identity])
        plan = self.compiled(trainjob(document, self.environment), self._library(values))
        self.jobs += max(1, len(plan.jobs))
        return plan

    def _library(self, values: Mapping[Identity, Tree]) -> Library:
        """Return the library with the repaired runtime in front."""
        library, entry = self.plan.library, self.entry
        if entry is None or values[entry.document.identity] is entry.document.value:
            return library
        repaired = entry.document._replace(value=values[entry.document.identity])
        level = Level(entry.level, entry.conform_document)  # its key stays, also if a repair changes the name
        level.entries[key_of(entry.document)] = LibraryEntry(repaired, entry.level, entry.conform_document)
        return library._replace(levels=(level, *library.levels))

    def _errors(self, plan: Plan) -> list[Diagnostic]:
        found = (*diagnostics_of(plan), *self._errors_of_runtime(plan))
        return [each for each in found if each.severity == "error"]

    def _errors_of_runtime(self, plan: Plan) -> list[Diagnostic]:
        """Return the errors of the runtime itself, which no plan has."""
        entry = requested(plan) if plan.runtime is NO_RUNTIME else None
        if entry is None:
            return []
        _, found = entry.conform_quietly() if entry.namesakes else entry.conform()
        return [each for each in found if each.severity == "error"]


@cache  # one value for each schema
def _schema(kind: str, folder: str) -> Tree:
    try:
        return read(kind, folder)
    except OSError:
        return {}


def _key(error: Diagnostic) -> Hashable:
    place = error.place
    at = (place.document.identity, place.path, place.key) if isinstance(place, Place) else place
    return error.id, error.message, error.field, at


def _spots(error: Diagnostic) -> set[Hashable]:
    """Return the id of an error with the line of each of its places."""
    places = (error.place, *(related.place for related in error.related))
    found = (place.locate() if isinstance(place, Place) else place for place in places)
    return {(error.id, at.file, at.line, at.column) for at in found if at is not None}


def _with(path: Path, value: Any) -> Repair:
    """Return the repair that writes a value, if no other one has removed the field around it."""

    def repair(tree: Tree) -> Tree | None:
        around, step = get(tree, path[:-1]), path[-1]
        has_place = isinstance(around, dict) or (
            isinstance(around, list) and isinstance(step, int) and step < len(around)
        )
        return put(tree, path, value) if has_place else None

    return repair


def _with_changes(tree: Tree, changes: Iterable[Change]) -> Tree | None:
    """Return a tree with the changes of a fix; None if another repair has removed a field that they change."""
    try:
        for change in changes:
            if get(tree, change.path[:-1]) is None:
                return None
            tree = changed(tree, change)
    except (LookupError, TypeError, ValueError):
        return None
    return tree


def _samples_for(place: Place, root: Tree, schema: Tree) -> list[Any]:
    """Return valid values for a field by its schema; without one, such as for a name, by the type of its value."""
    value = get(place.document.value, place.path)
    if not schema:
        schema = {"type": "string"} if isinstance(value, str) else {"type": "integer"} if type(value) is int else {}
    return [sample for sample in _samples(root, schema) if sample != value]


def _samples(root: Tree, schema: Tree) -> Iterator[Any]:
    """Yield two different valid values of a schema, if it allows them."""
    kind = schema.get("type")
    if values := schema.get("enum"):
        yield from values[:2]
    elif schema.get("x-kubernetes-int-or-string"):
        yield from (2, 1)
    elif kind in ("integer", "number"):
        least = max(1, int(schema.get("minimum", 1)))
        yield from (least + 1, least)  # without the field, it is often the least
    elif kind == "string":
        yield from ("a", "b", "example.com/a", "example.com/b")
    elif kind == "boolean":
        yield from (True, False)
    elif kind == "object":
        fields = schema.get("properties", {})
        required = [(name, resolved(root, fields[name])) for name in schema.get("required", ()) if name in fields]
        yield {name: next(_samples(root, field), None) for name, field in required}
    elif kind == "array":
        yield []
