"""The projects and environments of a run: the settings of each one, and the results of all of them together.

Reads    the settings of the projects, the requested environments, and the result of a run for each one.
Returns  one result, with each fault once and the environments that have it; the names of its objects are those of the
         source files. Imported only for several projects, or for a project with environments.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import role_of
from trainc.base.records import NamedTuple
from trainc.base.texts import first_of, plural
from trainc.budget import Meter
from trainc.compilation import ONLY_NOT_FOUND, Compilation, Run
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related, Users, failed
from trainc.edits.environment import is_of_file
from trainc.files import inputs
from trainc.frontends.reading import ParsedFiles
from trainc.reports import is_about_compiled_object
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from trainc.base.declarations import Severity
    from trainc.diagnostics import Checked, Document, Location
    from trainc.files.selection import Selection
    from trainc.settings import Settings

ENVIRONMENT_REQUIRED: Final = Declaration("environment-required", ("read",), trainc_only=True)

LISTED: Final = 20
"""The most environments that a message names."""
OF_SETTINGS: Final = frozenset({"unmatched-image", "unmatched-shared", "unused-patch", "unused-setting"})
"""The reports of settings that affect nothing; one of the file affects nothing if every environment reports it."""
SEVERITIES: Final = ("error", "warning", "note")


class SelectHelp(NamedTuple):
    """How to request an environment, for the help."""

    help: str
    """`{}` is the names of all environments."""
    name: str = "{}"
    """The form of each name."""


OPTION: Final = SelectHelp("use {}", "--env {}")


class EnvironmentRun(NamedTuple):
    """One environment's run. Its warnings are still warnings, whatever the settings: `merge_runs` makes them errors."""

    settings: Settings
    result: Compilation
    project: int = 0
    """The number of its project."""

    @property
    def name(self) -> str:
        """The environment; empty for a project without environments."""
        return self.settings.environment_name


def selected(run: Run) -> tuple[Run, ...] | Diagnostic:
    """Return a run for each of `environments`, by default for all; the run if there are none.

    Return an error for an unknown environment. A settings file with errors has no environments.
    """
    settings = run.settings
    wanted = tuple(dict.fromkeys(run.options.environments)) or settings.environment_names
    if not wanted or failed(settings.diagnostics):
        return (run,)
    run = run._replace(all_environments={*wanted} >= {*settings.environment_names})
    runs = tuple(run.with_settings(settings, name) for name in wanted)
    unknown = (
        run.settings.diagnostics[-1]
        for name, run in zip(wanted, runs, strict=True)
        if run.settings.environment_name != name
    )
    return next(unknown, None) or runs


def select_environment(run: Run, fix: SelectHelp, *, always: bool = False) -> Run | Diagnostic:
    """Return the run in its only environment.

    Return an error if the environment is unknown, or if none is requested and the project has several.

    Args:
        run: the run, with the project's settings.
        fix: how to request an environment, for the help.
        always: whether to require a request also if the project has only one environment.
    """
    names = run.settings.environment_names
    if not run.options.environments and (len(names) > 1 or (always and names)):
        return environment_required(run.settings, fix)
    runs = selected(run)
    return runs if isinstance(runs, Diagnostic) else runs[0]


def environment_required(settings: Settings, fix: SelectHelp) -> Diagnostic:
    """Return the error for a run that needs one environment and has none."""
    names = settings.environment_names
    base = settings.base
    place = None if base is None else Place(base.document_with(ENVIRONMENTS), (ENVIRONMENTS,), key=True)
    message = f"no environment is selected; the project has {plural(len(names), 'environment')}: {listed(names)}"
    help = fix.help.format(" or ".join(fix.name.format(name) for name in names[:LISTED]))
    return Diagnostic.declared(ENVIRONMENT_REQUIRED, message, help, field=ENVIRONMENTS, place=place)


def listed(names: Sequence[str]) -> str:
    """Return the names of environments, only the first ones if there are many."""
    return first_of(names, LISTED)


class CachedStreams:
    """A reader for several runs: a stream can be read only once, so its bytes are kept."""

    def __init__(self) -> None:
        self._streams: dict[str, list[inputs.File | Diagnostic]] = {}

    def __call__(
        self, paths: Iterable[str], selection: Selection = inputs.ALL, **options: Any
    ) -> Iterator[inputs.File | Diagnostic]:
        """Yield the files of the paths, as `inputs.read` does."""
        paths = list(paths)
        streams = [path for path in paths if inputs.is_stream(path)]
        yield from inputs.read([path for path in paths if path not in streams], selection, **options)
        for path in dict.fromkeys(streams):
            if path not in self._streams:
                self._streams[path] = list(inputs.read([path]))
            yield from self._streams[path]


def runs(projects: Sequence[Sequence[Run]], compiled: Callable[[Run], Compilation]) -> tuple[EnvironmentRun, ...]:
    """Return a run for each environment of each project; `compiled` compiles with the options of one.

    The budget is that of all runs together. Each file is parsed once.
    """
    meter, found = Meter(projects[0][0].budget), list[EnvironmentRun]()
    several = sum(map(len, projects)) > 1
    for number, environments in enumerate(projects):
        parsed = environments[0].parsed or (ParsedFiles() if several else None)
        for index, run in enumerate(environments):
            lenient = run._replace(settings=run.settings._replace(strict=""))
            result = compiled(lenient._replace(all_runs=meter, parsed=parsed) if several else lenient)
            if not index and parsed is not None:
                factors = (parsed.size, "bytes of files"), (len(environments), "environments")
                meter.charge_product("bytes of environments", *factors)
            meter.charge("replicated jobs", sum(max(1, len(job.plan.jobs)) for job in result.shown))
            meter.charge("errors and warnings", len(result.diagnostics))
            if meter.over is not None and all(known.id != meter.over.id for known in result.diagnostics):
                result = result._replace(jobs=(), jobsets=(), diagnostics=(*result.diagnostics, meter.over))
            found.append(EnvironmentRun(run.settings, result, number))
            if meter.over is not None:
                return tuple(found)
    if any(run.result.shown for run in found):
        # A TrainJob that only some environments exclude is found.
        return tuple(
            run if run.result.shown else run._replace(result=_without_id(run.result, ONLY_NOT_FOUND.id))
            for run in found
        )
    return tuple(found)


def _without_id(result: Compilation, id: str) -> Compilation:
    return result._replace(diagnostics=tuple(each for each in result.diagnostics if each.id != id))


def merge_runs(runs: Sequence[EnvironmentRun]) -> Compilation:
    """Return the results of several projects and environments as one: each fault once, with its environments."""
    merged = [_merge_environments([*group]) for _, group in groupby(runs, key=lambda run: run.project)]
    if len(merged) == 1:
        return merged[0]
    return merged[0]._replace(
        jobs=tuple(job for each in merged for job in each.jobs),
        jobsets=tuple(job for each in merged for job in each.jobsets),
        documents={
            role: tuple(document for each in merged for document in each.documents.get(role, ()))
            for role in merged[0].documents
        },
        runtimes=tuple(document for each in merged for document in each.runtimes),
        others=tuple(document for each in merged for document in each.others),
        copied=tuple(document for each in merged for document in each.copied),
        stand_ins=sum(each.stand_ins for each in merged),
        files=sum(each.files for each in merged),
        checked_files=tuple(dict.fromkeys(file for each in merged for file in each.checked_files)),
        kustomizations=next((each.kustomizations for each in merged if each.kustomizations is not None), None),
        skipped=tuple(dict.fromkeys(path for each in merged for path in each.skipped)),
        diagnostics=merge_projects(each.diagnostics for each in merged),
        checked=tuple(dict.fromkeys(checked for each in merged for checked in each.checked)),
        strict=next((each.strict for each in merged if each.strict), ""),
        raised=sum(each.raised for each in merged),
        unchecked=_unchecked(merged),
        built_in=_built_in(merged),
        stopped=any(each.stopped for each in merged),
        parts=tuple(part for each in merged for part in each.parts or (each,)),
    )


def merge_projects(diagnostics: Iterable[Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of several projects; one of a file that they share is one."""
    merged: dict[Hashable, Diagnostic] = {}
    for diagnostic in chain.from_iterable(diagnostics):
        known = merged.setdefault((_key(diagnostic), diagnostic.severity), diagnostic)
        names = tuple(dict.fromkeys((*known.environments, *diagnostic.environments)))
        merged[_key(diagnostic), diagnostic.severity] = known._replace(environments=names)
    return tuple(merged.values())


def _built_in(merged: Sequence[Compilation]) -> Diagnostic | None:
    """Return the note about the built-in runtimes of several projects; None without any."""
    found = [each for each in merged if each.built_in is not None]
    if len(found) < 2:
        return found[0].built_in if found else None
    from trainc.compilation.built_in import note

    lint: dict[str, set[str]] = {}
    for each in found:
        for name, ids in each.lint_of_built_in.items():
            lint.setdefault(name, set()).update(ids)
    return note((job.plan for each in found for job in each.jobs), lint)


def _merge_environments(runs: Sequence[EnvironmentRun]) -> Compilation:
    """Return the results of the environments of a project as one."""
    if len(runs) == 1 and not runs[0].name:
        [run] = runs
        return run.result._replace(diagnostics=(), strict=run.settings.strict).with_diagnostics(run.result.diagnostics)
    first = runs[0].result
    diagnostics, raised = _merged(runs)
    notes = [(run.name, note) for run in runs if (note := run.result.built_in) is not None]
    return first._replace(
        jobs=tuple(job for run in runs for job in run.result.jobs),
        jobsets=tuple(job for run in runs for job in run.result.jobsets),
        others=_longest_group(run.result.others for run in runs),
        files=max(run.result.files for run in runs),
        checked_files=tuple(dict.fromkeys(file for run in runs for file in run.result.checked_files)),
        skipped=tuple(dict.fromkeys(path for run in runs for path in run.result.skipped)),
        diagnostics=diagnostics,
        checked=tuple(dict.fromkeys(_at_source(each) for run in runs for each in run.result.checked)),
        strict=next((run.settings.strict for run in runs if run.settings.strict), "") if raised else "",
        raised=raised,
        unchecked=_unchecked(run.result for run in runs),
        built_in=notes[0][1]._replace(environments=tuple(name for name, _ in notes if name)) if notes else None,
        parts=tuple(run.result._replace(environment=run.name) for run in runs),
    )


def _unchecked(results: Iterable[Compilation]) -> dict[str, list[str]]:
    """Return the names of the TrainJobs whose Jobs and pods were not checked in some environment, by the cause."""
    names: dict[str, dict[str, None]] = {}
    for result in results:
        for id, jobs in result.unchecked.items():
            names.setdefault(id, {}).update(dict.fromkeys(jobs))
    return {id: [*jobs] for id, jobs in names.items()}


def _longest_group(groups: Iterable[tuple[Document, ...]]) -> tuple[Document, ...]:
    return max(groups, key=len)


def _at_source(checked: Checked) -> Checked:
    return checked if checked.source is None else checked._replace(object=checked.source, source=None, generated="")


def merge_diagnostics(reported: Iterable[tuple[str, Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of several environments, each once, with the names of those that have it."""
    merged: dict[Hashable, Diagnostic] = {}
    for name, diagnostic in reported:
        key = (_key(diagnostic), diagnostic.severity)
        known = merged.setdefault(key, diagnostic)
        if name and name not in known.environments:
            merged[key] = known._replace(environments=(*known.environments, name))
    return tuple(merged.values())


class _Report(NamedTuple):
    """A diagnostic of one environment."""

    environment: str
    diagnostic: Diagnostic
    raised: bool
    """Whether it is a warning that is an error there."""

    @property
    def severity(self) -> Severity:
        """The severity there."""
        return "error" if self.raised else self.diagnostic.severity


def _merged(runs: Sequence[EnvironmentRun]) -> tuple[tuple[Diagnostic, ...], int]:
    """Return the diagnostics of all runs, each once, with the most severe severity; and the number of raised ones."""
    groups: dict[Hashable, list[_Report]] = {}
    for run in runs:
        for shown in with_source_names(run.result):
            raised = bool(run.settings.strict) and shown.severity == "warning"
            groups.setdefault(_key(shown), []).append(_Report(run.name, shown, raised))
    from trainc.settings.effective import has_setting, places_in_effect

    @cache  # one value for each run, until the merge ends
    def places(index: int) -> list[Place]:
        return places_in_effect(runs[index].settings)

    merged, count = [], 0
    for group in _with_variants(groups.values()):
        reports = [report for variant in group for report in variant]
        names = tuple(dict.fromkeys(report.environment for report in reports if report.environment))
        first = reports[0].diagnostic
        if first.id in OF_SETTINGS and isinstance(first.place, Place) and is_of_file(first.place):
            having = sum(has_setting(places(index), first.place) for index in range(len(runs)))
            if max(1, len(names)) < having:
                continue  # another environment uses the setting
        severity = min((report.severity for report in reports), key=SEVERITIES.index)
        count += severity == "error" and all(report.diagnostic.severity != "error" for report in reports)
        errors = tuple(dict.fromkeys(report.environment for report in reports if report.severity == "error"))
        merged.append(
            first._replace(
                severity=severity,
                environments=names,
                error_in=errors if len(errors) < len(names) else (),
                users=_united([report.diagnostic.users for report in reports]),
                related=(*first.related, *(each for variant in group[1:] for each in _as_related(variant))),
            )
        )
    return tuple(merged), count


def _united(users: Iterable[Users | None]) -> Users | None:
    """Return the TrainJobs of all environments."""
    known = [each for each in users if each is not None]
    names = dict.fromkeys(chain.from_iterable(each.names for each in known))
    return Users(tuple(names), all(each.all for each in known)) if known else None


def _with_variants(groups: Iterable[list[_Report]]) -> Iterator[list[list[_Report]]]:
    """Yield the reports of each fault; a fault at one place may have another text in another environment."""
    known: dict[Hashable, list[list[list[_Report]]]] = {}
    for group in groups:
        diagnostic, names = group[0].diagnostic, {report.environment for report in group}
        if diagnostic.place is None:
            known[id(group)] = [[group]]
            continue
        key = (diagnostic.id, diagnostic.stage, diagnostic.object, diagnostic.field, _place_key(diagnostic.place))
        candidates = known.setdefault(key, [])
        for variants in candidates:
            if names.isdisjoint(report.environment for variant in variants for report in variant):
                variants.append(group)
                break
        else:
            candidates.append([group])
    for candidates in known.values():
        yield from candidates


def _as_related(variant: list[_Report]) -> Iterator[Related]:
    """Yield the text of a fault in other environments than its first one, at the first of its related places."""
    names = listed([*dict.fromkeys(report.environment for report in variant)])
    diagnostic = variant[0].diagnostic
    if not diagnostic.related:
        assert diagnostic.place is not None
        yield Related(f"in {names}: {diagnostic.message}", diagnostic.place)
        return
    yield Related(f"in {names}: {diagnostic.message}", diagnostic.related[0].place)
    yield from diagnostic.related[1:]


def with_source_names(result: Compilation) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a run; their objects have the namespaces and names of the source files."""
    sources = {_named(each.object): each.source for each in result.checked}
    generated = (each for each in result.checked if each.generated)
    sources |= {_named(each.object._replace(name=each.generated)): each.source for each in generated}
    return tuple(each._replace(object=_in_source(each, sources)) for each in result.diagnostics)


def _named(id: ObjectId) -> tuple[bool, str, str]:
    return role_of(id.apiVersion, id.kind) == "runtime", id.namespace, id.name


def _in_source(diagnostic: Diagnostic, sources: dict[tuple[bool, str, str], ObjectId | None]) -> ObjectId:
    """Return the identity of a diagnostic's object with the namespace and the name of its source file.

    The name of an object that the cluster creates for a TrainJob, such as a Job, begins with the TrainJob's name; the
    name of a claim ends with it.
    """
    of_runtime, namespace, name = _named(diagnostic.object)
    parts = [(0, len(name))]
    if is_about_compiled_object(diagnostic):
        dashes = [at for at, letter in enumerate(name) if letter == "-"]
        parts += [*((0, at) for at in reversed(dashes)), *((at + 1, len(name)) for at in dashes)]
    for begin, end in parts:
        source = sources.get((of_runtime, namespace, name[begin:end]))
        if source is not None:
            return diagnostic.object._replace(
                namespace=source.namespace, name=f"{name[:begin]}{source.name}{name[end:]}"
            )
    return diagnostic.object


def _key(diagnostic: Diagnostic) -> Hashable:
    """Return the key of a fault, which it has in every environment; its severity may differ."""
    related = tuple((each.message, _place_key(each.place)) for each in diagnostic.related)
    return (
        diagnostic.id,
        diagnostic.stage,
        diagnostic.message,
        diagnostic.help,
        diagnostic.object,
        diagnostic.field,
        _place_key(diagnostic.place),
        related,
    )


def _place_key(place: Place | Location | None) -> Hashable:
    """Return the key of a place: each run reads the documents again."""
    if not isinstance(place, Place):
        return place and place[:5]
    written = place.in_text()
    document = written.document
    at = (document.file, document.line, document.column, document.within)
    return (*at, written.path, written.key, written.part, document.inside and document.inside.path)
