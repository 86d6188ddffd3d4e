"""Stand-in TrainJobs, with which runtimes that no TrainJob uses are checked.

Reads    runtimes, the settings of the run.
Returns  the compiled plan of a stand-in for each runtime; diagnostics about the runtime: an error if the cluster
         rejects every TrainJob that uses it, a warning for a value that a TrainJob must replace, and the warnings about
         fields that the runtime writes.

Three stand-ins are tried in order, until the cluster accepts one: a TrainJob that sets nothing, one that sets the
image, and one that sets all fields that a TrainJob can set. A fault of the first one in a field that the runtime leaves
to TrainJobs is no fault of the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import PHASES
from trainc.base.kinds import RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.compilation.plans import diagnostics_of
from trainc.diagnostics import Document, Place
from trainc.kubernetes.trees import Tree, get
from trainc.kubernetes.violations import field_of
from trainc.pipeline import frameworks, stages
from trainc.pipeline.library import Level, Library, LibraryEntry, key_of
from trainc.pipeline.lint.triggers import OVERCOMMITTED
from trainc.pipeline.objects import STEPS, TrainJob, ancestor
from trainc.pipeline.plan import NODE, Plan, pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.budget import Meter
    from trainc.compilation.results import Options
    from trainc.diagnostics import Diagnostic, LintFinding, Location, Related
    from trainc.pipeline.library import Conformed
    from trainc.pipeline.objects import Runtime

LONG_NAME: Final = "trainc-stand-in"
"""A name that no runtime contains, so that it can be found in messages."""
SHORT_NAMES: Final = ("a", "b")
"""The shortest names: a name that is too long for them is too long for every TrainJob. Messages differ in them."""
SHOWN_NAME: Final = "stand-in"
"""The name in the output of `explain` and `pods`."""
NO_NAME: Final = "NAME"
"""The text for the name of a TrainJob in messages."""
FILE: Final = "<stand-in>"
IMAGE: Final = "registry.acme.io/stand-in:1"
WITHOUT_RESOURCES: Final = ("gang-asks-for-nothing", "no-resources", "queue-no-requests")
"""The lint rules about pods without resources."""
AMOUNTS: Final = {"cpu": "1", "memory": "1Gi"}


class Attempt(NamedTuple):
    """The plans of the stand-ins with one name, in order: the last one is accepted, or none is."""

    plans: tuple[Plan, ...]

    @property
    def accepted(self) -> Plan | None:
        """The plan that the cluster accepts."""
        return None if self.plans[-1].failed else self.plans[-1]


class Fault(NamedTuple):
    """A diagnostic of a stand-in, and its place in the runtime."""

    diagnostic: Diagnostic
    place: Place | None
    """None if no place of the diagnostic is in the runtime."""

    @property
    def key(self) -> tuple[object, ...]:
        """The fault's identity, by which it is found in another stand-in."""
        path = None if self.place is None else self.place.path
        return self.diagnostic.id, self.diagnostic.field, path

    @property
    def phase(self) -> int:
        """The position of its admission phase."""
        return PHASES.index(self.diagnostic.stage)


def unused_runtimes(library: Library) -> list[LibraryEntry]:
    """Return the runtimes of the given paths that no TrainJob has requested, and that have no errors themselves."""
    entries = (entry for entry in library.levels[0].all_entries() if not entry.requested)
    return [entry for entry in entries if entry.conform_quietly()[0] is not None]


def check(entries: Iterable[LibraryEntry], library: Library, options: Options, meter: Meter) -> list[Diagnostic]:
    """Return the diagnostics about runtimes that no TrainJob uses. Stop when the meter is over its budget."""
    found: list[Diagnostic] = []
    for entry in entries:
        attempt = attempted(entry, library, options, LONG_NAME)
        found += _diagnostics(entry, attempt, library, options)
        if not meter.charge("replicated jobs", sum(max(1, len(plan.jobs)) for plan in attempt.plans)):
            break
        if not meter.charge("errors and warnings", len(found)):
            break
    return found


def shown(
    entries: Sequence[LibraryEntry], library: Library, options: Options, meter: Meter
) -> tuple[list[Plan], list[Diagnostic]]:
    """Return the accepted stand-ins of runtimes for the output of a command, and the diagnostics about the runtimes."""
    plans: list[Plan] = []
    for number, entry in enumerate(entries, 1):
        # A replicated job with a long name may leave only one character to the name of the TrainJob.
        several = (f"{SHOWN_NAME}-{entry.id.name}", f"{SHOWN_NAME}-{number}")
        names = (*((SHOWN_NAME,) if len(entries) == 1 else several), SHORT_NAMES[0])
        attempts = (attempted(entry, library, options, name, shown=True) for name in names)
        plan = next((attempt.accepted for attempt in attempts if attempt.accepted is not None), None)
        if plan is not None:
            plans.append(plan)
        if not meter.charge("replicated jobs", 1 if plan is None else max(1, len(plan.jobs))):
            break
    return plans, check(entries, library, options, meter)


def attempted(entry: LibraryEntry, library: Library, options: Options, name: str, *, shown: bool = False) -> Attempt:
    """Return the plans of the stand-ins for a runtime, up to the first one that the cluster accepts.

    With `shown`, they have a text, to which the output of a command refers.
    """
    runtime, _ = entry.conform_quietly()
    assert runtime is not None, "a runtime with errors has no stand-in"

    def conform(_document: Document, _level: str) -> Conformed:
        return entry.conform_quietly()

    level = Level(entry.level, conform)
    level.entries = {key_of(entry.document): LibraryEntry(entry.document, entry.level, conform)}
    plans: list[Plan] = []
    for spec in specs(runtime):
        job = stand_in(runtime, name, spec, shown=shown)
        settings = options.settings
        plan = stages.run(
            Plan(
                job=job,
                library=Library((level,), library.option_names),
                release=settings.release,
                project=settings.project,
                field_validation=settings.field_validation,
                quiet=options.quiet_rules,
                quiet_in=settings.lint_paths,
            )
        )
        plans.append(plan)
        if not plan.failed:
            break
    return Attempt(tuple(plans))


def stand_in(runtime: Runtime, name: str, spec: Tree, *, shown: bool) -> TrainJob:
    """Return a TrainJob for a runtime. Only one that is shown has a text."""
    id = runtime.id
    metadata: Tree = {"name": name}
    if id.kind == RUNTIME.kind and id.namespace:
        metadata["namespace"] = id.namespace
    value = {
        "apiVersion": VERSION,
        "kind": TRAINJOB.kind,
        "metadata": metadata,
        "spec": {"runtimeRef": {"name": id.name, "kind": id.kind}} | spec,
    }
    if shown:
        from trainc.emit.yaml import Writer

        return TrainJob(Document(FILE, 1, Writer().document(value), value), value)
    # The text only identifies the document; the file decides which lint rules are disabled.
    return TrainJob(Document(runtime.document.file, 1, f"{name} of {id.kind} {id.name}", value), value)


def specs(runtime: Runtime) -> Iterator[Tree]:
    """Yield what the stand-ins set in their spec: nothing, the image, and all fields that the runtime has a use for."""
    yield {}
    yield {"trainer": {"image": IMAGE}}
    jobs = runtime.spec.get("replicatedJobs") or ()
    steps = {ancestor(job) for job in jobs}
    initializer = {key: {"storageUri": "hf://acme/stand-in"} for key, step in STEPS.items() if step in steps}
    trainer: Tree = {"image": IMAGE, "resourcesPerNode": _resources(runtime)}
    if "elasticPolicy" not in runtime.settings:
        trainer["numNodes"] = (runtime.policy or {}).get("numNodes", 1)
    if not _is_torchtune(runtime):
        trainer["command"] = ["stand-in"]
    yield {"trainer": trainer} | ({"initializer": initializer} if initializer else {})


def _main_containers(runtime: Runtime) -> Iterator[Tree]:
    """Yield the containers to which the fields of spec.trainer apply."""
    name = frameworks.traits(runtime).container
    for index, job in enumerate(runtime.spec.get("replicatedJobs") or ()):
        if ancestor(job) == "trainer":
            containers = get(runtime.spec, (*pod_spec(index), "containers"), [])
            yield from (container for container in containers if container.get("name") == name)


def _resources(runtime: Runtime) -> Tree:
    """Return resources that replace all amounts of the runtime. A name that is no resource stays in the merge."""
    names = {
        name
        for container in _main_containers(runtime)
        for amounts in (container.get("resources") or {}).values()
        if isinstance(amounts, dict)
        for name in amounts
        if "/" in name or name in OVERCOMMITTED
    }
    amounts = dict.fromkeys(sorted(names), "1") | AMOUNTS
    return {"limits": amounts, "requests": amounts}


def _is_torchtune(runtime: Runtime) -> bool:
    """Return whether a runtime starts torchtune, with the command of its container."""
    return any((container.get("command") or [""])[0] == "tune" for container in _main_containers(runtime))


def _diagnostics(entry: LibraryEntry, attempt: Attempt, library: Library, options: Options) -> Iterator[Diagnostic]:
    """Yield the diagnostics about one runtime."""
    accepted = attempt.accepted
    if len(attempt.plans) > 1 or accepted is None:
        of_names = [attempted(entry, library, options, name) for name in SHORT_NAMES]
        yield from _faults(entry, of_names)
        if of_names[0].accepted is not None and accepted is None:
            accepted = of_names[0].accepted
    if accepted is not None:
        yield from _warnings(entry, accepted)


def _faults(entry: LibraryEntry, of_names: list[Attempt]) -> Iterator[Diagnostic]:
    """Yield an error for each fault that all stand-ins have, and a warning for another value that is wrong."""
    attempt, other = of_names
    faults = [_located(entry, plan, again) for plan, again in zip(attempt.plans, other.plans, strict=True)]
    nothing, last = faults[0], faults[-1] if attempt.accepted is None else []
    known = {fault.key for fault in nothing}
    latest = max((fault.phase for fault in nothing), default=0)
    errors = [fault for fault in last if fault.key in known or (fault.place is not None and fault.phase > latest)]
    for fault in errors:
        yield _about(entry, fault, "error", f"no TrainJob can use this runtime: {fault.diagnostic.message}")
    reported = {fault.key for fault in errors}
    for fault in nothing:
        if fault.key not in reported and fault.place is not None and _is_written(fault.place):
            message = f"{fault.diagnostic.message}; a TrainJob that does not replace it is rejected"
            yield _about(entry, fault, "warning", message)


def _located(entry: LibraryEntry, plan: Plan, again: Plan) -> list[Fault]:
    """Return the errors of a plan; `again` has the same ones for a TrainJob with another name."""
    if not plan.failed:
        return []
    found = []
    for diagnostic, other in zip(diagnostics_of([plan]), diagnostics_of([again]), strict=True):
        if diagnostic.severity == "error":
            texts = (_without_name(diagnostic.message, other.message), _without_name(diagnostic.help, other.help))
            changed = diagnostic._replace(message=texts[0], help=texts[1])
            found.append(Fault(changed, _place(entry, changed)))
    return found


def _without_name(text: str, other: str) -> str:
    """Return a text of the stand-in with the first short name, which differs from the text of the second in it.

    >>> _without_name("a-node is a name", "b-node is a name")
    'NAME-node is a name'
    """
    return "".join(NO_NAME if one != two else one for one, two in zip(text, other, strict=True))


def _place(entry: LibraryEntry, diagnostic: Diagnostic) -> Place | None:
    """Return the first place of a diagnostic that is in the runtime."""
    places = (diagnostic.place, *(related.place for related in diagnostic.related))
    return next((place for place in places if _is_in(entry, place)), None)  # type: ignore[return-value]


def _is_in(entry: LibraryEntry, place: Place | Location | None) -> bool:
    return isinstance(place, Place) and place.document.identity == entry.document.identity


def _is_written(place: Place) -> bool:
    """Return whether the runtime writes a value at a place, instead of a mapping or a list that lacks something."""
    value: Any = get(place.document.value, place.path)
    return place.key or not isinstance(value, (dict, list)) or not value


def _about(entry: LibraryEntry, fault: Fault, severity: Any, message: str) -> Diagnostic:
    """Return the diagnostic of a stand-in as one about the runtime."""
    place = fault.place or Place(entry.document, ("metadata", "name"))
    related: list[Related] = [
        each for each in fault.diagnostic.related if _is_in(entry, each.place) and each.place != place
    ]
    return fault.diagnostic._replace(
        severity=severity,
        message=message,
        object=entry.id,
        field=field_of(place.path),
        place=place,
        related=tuple(related),
    )


def _is_left_to_trainjobs(plan: Plan, finding: LintFinding) -> bool:
    """Return whether a finding is about resources that the runtime leaves to spec.trainer.resourcesPerNode."""
    if finding.rule not in WITHOUT_RESOURCES:
        return False
    job = int(finding.path[1])
    return ancestor(plan.jobs[job]) == "trainer" or plan.jobs[job].get("name") == NODE


def _warnings(entry: LibraryEntry, plan: Plan) -> Iterator[Diagnostic]:
    """Yield the warnings of an accepted stand-in that are about fields of the runtime."""
    found = [diagnostic for diagnostic in diagnostics_of([plan]) if diagnostic.severity == "warning"]
    kept = tuple(finding for finding in plan.lint_findings if not _is_left_to_trainjobs(plan, finding))
    if kept:
        from trainc.provenance.placing import lint_findings

        found += lint_findings.warnings([plan._replace(lint_findings=kept)])[0]
    for diagnostic in found:
        if (place := _place(entry, diagnostic)) is not None:
            message = diagnostic.message.replace(LONG_NAME, NO_NAME)
            yield _about(entry, Fault(diagnostic, place), "warning", message)
