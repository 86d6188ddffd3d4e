"""The compiler as a function from paths to objects and diagnostics. The command line is a thin layer over it."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from trainc import inputs
from trainc.budget import DEFAULT as DEFAULT_BUDGET
from trainc.budget import Budget, Meter, size_of, stopped
from trainc.declarations import Declaration
from trainc.diagnostics import Checked, Diagnostic, Document, Location, ObjectId, Place, Related, failed, strictly
from trainc.emit.order import objects_of_a_job
from trainc.kubernetes.trees import get
from trainc.library import BuiltIn, Level, Library
from trainc.objects import TrainJob
from trainc.passes.resolve import PER_RUNTIME
from trainc.plan import Plan
from trainc.reading import COMPILED, Reading
from trainc.records import NamedTuple
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from trainc.delivery import Delivery
    from trainc.frontends import Role
    from trainc.kubernetes.trees import Tree
    from trainc.kustomizations import Kustomizations
    from trainc.library import Apart
    from trainc.patching import Patches
    from trainc.reading import Others, Reader
    from trainc.settings import ProjectPath
    from trainc.tracing import Trace
    from trainc.transforming import Transformation


DUPLICATE_TRAINJOB: Final = Declaration("duplicate-trainjob", ("read",), "Duplicate TrainJob name", own=True)
ONLY_NOT_FOUND: Final = Declaration("only-not-found", ("read",), "No TrainJob has the requested name", own=True)
DUPLICATE_OBJECT: Final = Declaration(
    "duplicate-object", ("read",), "Duplicate object in an output or in one side of a review", own=True
)
NO_TRAINJOB: Final = Declaration("no-trainjob", ("read",), "No TrainJob to compile", own=True)

OF_QUEUES: Final = frozenset(
    {"ClusterQueue", "Cohort", "LocalQueue", "PriorityClass", "ResourceFlavor", "WorkloadPriorityClass"}
)
"""The kinds of documents with which the admission of JobSets by Kueue is checked."""
ONCE: Final = PER_RUNTIME | {"patch-failed"}
"""The errors that several TrainJobs share; they are reported once, with the number of the others."""
MANY: Final = 100
"""The number of diagnostics from which repeated ones are collapsed."""


class Options(NamedTuple):
    """The options of a run."""

    runtimes: Sequence[str] = ()
    """Paths to search for runtimes, after the given paths and before the built-in ones, instead of the settings'."""
    only: str | None = None
    """Compile only the TrainJobs with this name."""
    namespace: str | None = None
    """The namespace of TrainJobs and TrainingRuntimes that set none."""
    skip: Sequence[str] = ()
    """Output folders and files to leave out where they are below one of the paths."""
    settings: Settings = DEFAULT
    """The project's settings (`trainc.settings.of` reads `trainc.yaml`)."""
    delivery: Delivery | None = None
    """How the objects are applied to a cluster that may hold older ones; None for the settings' delivery."""
    root: str | None = None
    """The folder that no link may lead out of; by default each path's git root, or its folder outside of git."""
    others: Others = "read"
    """How to treat files in folders that contain no TrainJob and no runtime."""
    check_only: bool = False
    """Whether nothing is written, so that the TrainJobs of several kustomizations may have the same name."""
    queues: bool = True
    """Whether the paths contain all queues of the repository, so that admission by Kueue can be checked."""
    complete: bool = True
    """Whether the paths contain all TrainJobs of the project, so that a setting that affects none is reported."""


class Compiled(NamedTuple):
    """The result of one TrainJob."""

    namespace: str
    name: str
    objects: tuple[Tree, ...]
    """The JobSet, then the other objects by apiVersion, kind and name."""
    plan: Plan
    """The TrainJob, its runtime, and the results of the stages."""

    def trace(self) -> Trace:
        """Return the provenance of the objects' fields, which runs the TrainJob's stages again."""
        from trainc.tracing import Trace

        return Trace(self.plan)


class Compilation(NamedTuple):
    """The objects and diagnostics of a run. Do not apply the objects if a diagnostic is an error."""

    jobs: tuple[Compiled, ...] = ()
    """In the order of (namespace, name)."""
    others: tuple[Document, ...] = ()
    """Documents of other kinds, in file order."""
    runtimes: int = 0
    """The number of runtimes in the given paths."""
    files: int = 0
    """The number of files read."""
    kustomizations: Kustomizations | None = None
    """The kustomizations among the files; None if there are none."""
    skipped: tuple[str, ...] = ()
    """The files in folders that were skipped, because they contain no TrainJob and no runtime."""
    diagnostics: tuple[Diagnostic, ...] = ()
    checked: tuple[Checked, ...] = ()
    """The TrainJobs in the order of (namespace, name), then the runtimes of the given paths in file order."""
    strict: str = ""
    """The option or setting that turns warnings into errors, for messages; empty without one."""
    raised: int = 0
    """The number of errors that were warnings."""
    built_in: Diagnostic | None = None
    """The note about the built-in runtimes that the TrainJobs use; it is not one of the diagnostics."""
    budget: Budget = DEFAULT_BUDGET
    """The budget for the output."""
    stopped: bool = False
    """Whether the run stopped, beyond its budget or without valid settings; there are no objects then."""

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All objects, in output order."""
        return tuple(obj for job in self.jobs for obj in job.objects)

    def manifests(self) -> list[tuple[str, str, str]]:
        """Return each TrainJob's namespace, name and YAML, in output order. Raise OverBudgetError beyond the budget."""
        from trainc.emit.yaml import Writer

        # One writer for all jobs: it caches the text that the jobs of one runtime share.
        write = Writer().document
        found: list[tuple[str, str, str]] = []
        meter = Meter(self.budget)
        for job in self.jobs:
            found.append((job.namespace, job.name, "---\n".join(map(write, job.objects))))
            meter.spend("output bytes", size_of(found[-1][-1]))
        return found

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)

    def reported(self, form: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a report: all formats for programs include the note about built-in runtimes."""
        return self.diagnostics if self.built_in is None or form == "text" else (*self.diagnostics, self.built_in)

    def saying(self, more: Iterable[Diagnostic]) -> Compilation:
        """Return a copy with more diagnostics; with `strict`, their warnings become errors."""
        more = tuple(more)
        if not self.strict:
            return self._replace(diagnostics=self.diagnostics + more)
        raised = self.raised + sum(diagnostic.severity == "warning" for diagnostic in more)
        return self._replace(diagnostics=self.diagnostics + strictly(more), raised=raised)


def compile(  # noqa: PLR0913 (one argument per option)
    paths: Sequence[str] = (".",),
    *,
    runtimes: Sequence[str] = (),
    only: str | None = None,
    namespace: str | None = None,
    skip: Sequence[str] = (),
    settings: Settings = DEFAULT,
    delivery: Delivery | None = None,
    root: str | None = None,
    others: Others = "read",
    files_of: Reader | None = None,
) -> Compilation:
    """Compile every TrainJob found in `paths`.

    Args:
        paths: files, folders (read recursively), or `-` for standard input.
        runtimes, only, namespace, skip, settings, delivery, root, others: the fields of `Options`.
        files_of: the function that reads the paths, by default from the disk.

    Returns:
        The objects, and the diagnostics of all stages. Errors in the input are diagnostics, never exceptions.
    """
    options = Options(runtimes, only, namespace, skip, settings, delivery, root, others)
    return compile_paths(paths, options, files_of)


def compile_paths(paths: Iterable[str], options: Options, files_of: Reader | None = None) -> Compilation:
    """Compile every TrainJob found in `paths`. Read nothing if the settings have errors."""
    paths = tuple(paths)
    if failed(options.settings.diagnostics):
        # Without `exclude` and `runtimes`, correct files would have errors too.
        return Compilation(diagnostics=options.settings.diagnostics, stopped=True)
    environment = options.settings.environment
    if environment is not None and (environment.images or environment.patches):
        options = options._replace(complete=options.complete and options.settings.is_covered_by(paths))
    return compile_documents(read(paths, options, files_of or inputs.read), options)


def metered(settings: Settings) -> Meter:
    """Return the meter of a run, with the settings file charged."""
    meter = Meter(settings.budget)
    if settings.document is not None:
        meter.charge("input bytes", size_of(settings.document.text))
    return meter


def read(
    paths: Iterable[str],
    options: Options,
    files_of: Reader = inputs.read,
    *,
    compiled: Sequence[Role] = COMPILED,
    meter: Meter | None = None,
) -> Reading:
    """Read the documents of some paths and sort them by role."""
    meter = meter or metered(options.settings)
    reading = Reading(files_of, namespace=options.namespace, others=options.others, compiled=compiled, meter=meter)
    environment = options.settings.environment
    reading.gather(
        paths,
        skip=options.skip if environment is None else (*options.skip, *environment.files),
        settings=options.settings.file,
        root=options.root,
        follow_links=options.settings.follow_links,
        exclude=options.settings.exclude,
    )
    for source in options.settings.sources:
        reading.diagnostics = at_setting(reading.diagnostics, source)
    return reading


def compile_documents(reading: Reading, options: Options) -> Compilation:
    """Compile the TrainJobs among documents that are already read; read the paths of `runtimes` in the same way."""
    apart, meter = _apart(reading.kustomizations, options), reading.meter
    patches, transformation = _patches(reading, options), _transformation(options)
    documents: Mapping[Role, list[Document]] = reading.documents
    if patches is not None:
        documents = reading.documents | {role: patches.apply(reading.documents[role]) for role in COMPILED}
    if transformation is not None:
        documents = transformation.transformed(documents)
    edits = [edit for edit in (patches and patches.one, transformation and transformation.runtime) if edit]
    searched, of_runtimes = library(
        options, given=documents["runtime"], files_of=reading.files_of, apart=apart, meter=meter, edits=edits
    )
    found = _excluded_once([*options.settings.diagnostics, *reading.diagnostics, *of_runtimes])
    for entry in searched.levels[0].entries.values():
        diagnostics = entry.conform()[1]
        found += diagnostics
        if not meter.charge("errors and warnings", len(diagnostics)):
            break

    plans = _plans(documents["job"], searched, options, found, apart, meter, patches)
    if patches is not None:
        found += patches.diagnostics
        # The target of a patch may be in a file that is not among the paths.
        found += patches.unused() if options.complete and options.only is None else ()
    if meter.over is not None:
        return Compilation(files=reading.files, stopped=True).saying(stopped(found, meter.over))
    jobs = tuple(
        Compiled(
            namespace=plan.job.namespace,
            name=plan.job.name,
            objects=tuple(objects_of_a_job(plan.objects)),
            plan=plan,
        )
        for plan in plans
        if plan.objects and not plan.failed and not (patches and patches.failed)
    )
    used = (entry for level in searched.levels[1:] for entry in level.entries.values() if entry.requested)
    found += [diagnostic for entry in used for diagnostic in entry.conform()[1]]
    of_built_in: dict[str, set[str]] = {}
    errors = len(found)
    if linted := [plan for plan in plans if plan.lint_findings]:
        from trainc.placing.lint import warnings

        found += warnings(linted, of_built_in)
    if options.queues and any(_is_of_queues(document) for document in documents["other"]):
        from trainc.kueue import findings

        found += findings.check(plans, documents["other"])
    # Findings with one cause are one warning, so they are charged last.
    if not meter.charge("errors and warnings", len(found) - errors) and meter.over is not None:
        return Compilation(files=reading.files, stopped=True).saying(stopped(found, meter.over))
    if transformation is not None:
        found = _with_settings(found, transformation, plans, options)
    found = _without_consequences_of_templates(found, [*documents["job"], *documents["runtime"]])
    return Compilation(
        jobs=jobs,
        others=tuple(documents["other"]),
        runtimes=len(reading.documents["runtime"]),
        files=reading.files,
        kustomizations=reading.kustomizations,
        skipped=tuple(dict.fromkeys((*(file.path for file in reading.skipped), *searched.skipped))),
        checked=tuple(_checked(plans, documents["runtime"])),
        strict=options.settings.strict,
        built_in=_built_in(searched, jobs, of_built_in),
        budget=meter.budget,
    ).saying(_collapsed(found))


def _excluded_once(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics, with that of a pattern once: it may leave no file in PATH and in `runtimes.paths`."""
    return [each for index, each in enumerate(found) if each.id != "all-excluded" or each not in found[:index]]


def _transformation(options: Options) -> Transformation | None:
    """Return the transformations of the documents by the settings; None without any."""
    if options.settings.environment is None:
        return None
    from trainc.transforming import Transformation

    return Transformation(options.settings.environment)


def _with_settings(
    found: Iterable[Diagnostic], transformation: Transformation, plans: Iterable[Plan], options: Options
) -> list[Diagnostic]:
    """Return the diagnostics of a run with those of the settings that transform the documents."""
    from trainc.transforming.faults import of_settings

    found = of_settings(found, transformation.environment)
    # A built-in runtime is read when a TrainJob resolves it: only then its images are known.
    if options.complete and options.only is None and not any(plan.stopped for plan in plans):
        found += transformation.unmatched()
    return found


def _patches(reading: Reading, options: Options) -> Patches | None:
    """Return the patches of the settings; None without any."""
    environment = options.settings.environment
    if environment is None or not environment.patches:
        return None
    from trainc.patching import Patches

    return Patches(environment, reading.files_of, reading.meter, follow_links=options.settings.follow_links)


def _built_in(library: Library, jobs: Iterable[Compiled], lint: Mapping[str, Set[str]]) -> Diagnostic | None:
    """Return the note about the built-in runtimes that some TrainJobs use."""
    if not library.levels[-1].entries:
        return None
    from trainc.built_in import note

    return note((job.plan for job in jobs), lint)


def duplicates(result: Compilation, others: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield an error for each compiled object or other document that has the identity of an earlier one.

    An identity is the API group, kind, namespace and name. Versions of a group share it.
    """
    first: dict[tuple[str, str, str, str], Place] = {}
    for job in result.jobs:
        place = Place(document=job.plan.job.document, path=("metadata", "name"))
        for tree in job.objects:
            key = _identity(tree)
            if key in first:
                yield _duplicate_object(tree, place, first[key])
            first.setdefault(key, place)
    for document in others:
        key = _identity(document.value)
        if not (key[1] and key[3]):
            continue
        place = Place(document=document, path=("metadata", "name"))
        if key in first:
            yield _duplicate_object(document.value, place, first[key])
        first.setdefault(key, place)


def elsewhere(others: Iterable[Document], settings: Settings) -> Iterator[Diagnostic]:
    """Yield a warning for each document that is copied to the output with another namespace than the settings'."""
    if settings.environment is None:
        return
    setting = settings.environment.namespace
    if setting is not None and setting.value:
        from trainc.transforming.faults import namespaces

        yield from namespaces(others, setting)


def _identity(tree: Tree) -> tuple[str, str, str, str]:
    id = ObjectId.of(tree)
    group, slash, _ = id.apiVersion.partition("/")
    return group if slash else "", id.kind, id.namespace, id.name


def _duplicate_object(tree: Tree, place: Place, first: Place) -> Diagnostic:
    id = ObjectId.of(tree)
    return Diagnostic.of(
        DUPLICATE_OBJECT,
        f'duplicate {id.kind} "{id.name}"' + (f' in namespace "{id.namespace}"' if id.namespace else ""),
        "remove one of them: the cluster would keep the one that is applied last",
        object=id,
        field="metadata.name",
        place=place,
        related=(Related(message="the first one", place=first),),
    )


def _without_consequences_of_templates(found: list[Diagnostic], documents: list[Document]) -> list[Diagnostic]:
    """Return the diagnostics of a run with one in place of those that a template's placeholders cause."""
    if not failed(found) and not any("{{" in document.text for document in documents):
        return found
    from trainc.frontends import templates

    return templates.replaced(found, documents)


def _is_of_queues(document: Document) -> bool:
    kind = document.value.get("kind")
    return isinstance(kind, str) and kind in OF_QUEUES


def _collapsed(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics of a run with repeated ones collapsed."""
    if sum(diagnostic.id in ONCE for diagnostic in found) > 1:
        from trainc.repeated import once_per_message

        found = once_per_message(found, ONCE)
    if len(found) < MANY:
        return found
    from trainc.repeated import collapsed

    return collapsed(found)


def _checked(plans: Iterable[Plan], runtimes: Iterable[Document]) -> Iterator[Checked]:
    for plan in plans:
        document = plan.job.document
        yield Checked(plan.job.id, document.file, not plan.objects, ObjectId.of(document.unedited))
    for document in runtimes:
        yield Checked(ObjectId.of(document.value), document.file, source=ObjectId.of(document.unedited))


def library(
    options: Options,
    *,
    given: Sequence[Document] | None = None,
    files_of: Reader = inputs.read,
    apart: Apart | None = None,
    meter: Meter | None = None,
    edits: Sequence[Callable[[Document], Document]] = (),
) -> tuple[Library, list[Diagnostic]]:
    """Return the runtimes by level in search order: the given ones, those of each path, the built-in ones.

    `edits` change the runtimes of the paths and the built-in ones, in order; the given ones are already changed.
    """
    from functools import reduce

    from trainc.passes.conform import conform_runtime

    def edit(document: Document) -> Document:
        return reduce(lambda changed, change: change(changed), edits, document)

    names = options.settings.option_names
    conform = partial(
        conform_runtime, field_validation=options.settings.field_validation, option=names.field_validation
    )
    levels: list[Level] = []
    found: list[Diagnostic] = []
    skipped: list[str] = []
    if given is not None:
        level, duplicate_runtimes = Level.of("the given paths", given, conform, apart)
        found += duplicate_runtimes
        levels.append(level)
    plain = options._replace(
        settings=DEFAULT._replace(follow_links=options.settings.follow_links, exclude=options.settings.exclude)
    )
    searched = [
        (names.runtimes.format(path), read([path], plain, files_of, compiled=("runtime",), meter=meter))
        for path in options.runtimes
    ]
    if not searched:
        searched = [_of_settings(path, plain, files_of, meter) for path in options.settings.runtimes]
    for name, more in searched:
        runtimes = [*map(edit, more.documents["runtime"])] if edits else more.documents["runtime"]
        level, duplicate_runtimes = Level.of(name, runtimes, conform, _apart(more.kustomizations, options))
        found += [*more.diagnostics, *duplicate_runtimes]
        levels.append(level)
        skipped += (file.path for file in more.skipped)
    levels.append(BuiltIn(conform, edit if edits else None))
    return Library(tuple(levels), names, tuple(skipped), options.settings.built_in_forbidden), found


def _of_settings(setting: ProjectPath, options: Options, files_of: Reader, meter: Meter | None) -> tuple[str, Reading]:
    """Return the level's name and the documents of a path in trainc.yaml; if it cannot be read, its line there."""
    root = options.root or setting.root
    reading = read([setting.path], options._replace(root=root), files_of, compiled=("runtime",), meter=meter)
    reading.diagnostics = at_setting(reading.diagnostics, setting)
    return f"runtimes.paths {setting.written}", reading


def at_setting(diagnostics: Iterable[Diagnostic], setting: ProjectPath) -> list[Diagnostic]:
    """Return the diagnostics; one for a path of trainc.yaml that cannot be read is at its line there."""
    return [
        diagnostic._replace(message=f"{setting.path} {diagnostic.message}", place=setting.place)
        if diagnostic.place == Location(file=setting.path)
        else diagnostic
        for diagnostic in diagnostics
    ]


def _plans(
    jobs: list[Document],
    library: Library,
    options: Options,
    found: list[Diagnostic],
    apart: Apart,
    meter: Meter,
    patches: Patches | None,
) -> list[Plan]:
    """Run every TrainJob through the pipeline, in output order; append its diagnostics to `found`.

    Stop when the meter is over its budget.
    """
    if meter.over is not None:
        return []
    delivery = options.settings.delivery if options.delivery is None else options.delivery
    if delivery.name_suffix_hash:
        from trainc.suffix import run
    else:
        from trainc.pipeline import run

    settings = options.settings
    plans: list[Plan] = []
    for job in _chosen(jobs, options, found, apart):
        plan = run(
            Plan(
                job=job,
                library=library,
                project=settings.project,
                delivery=delivery,
                field_validation=settings.field_validation,
                patches=None if patches is None else patches.of_jobset(job.document),
                quiet=settings.quiet,
            )
        )
        plans.append(plan)
        within = meter.charge("replicated jobs", max(1, len(plan.jobs)))
        if not (within and meter.charge("errors and warnings", len(plan.diagnostics) + len(plan.refused))):
            break
    for plan in plans:
        found += plan.diagnostics
        if plan.refused:
            from trainc.placing.refused import diagnose

            found += diagnose(plan)
        elif plan.failed:
            from trainc.placing.beside import beside

            found += beside(plan)
    return plans


def _chosen(documents: Iterable[Document], options: Options, found: list[Diagnostic], apart: Apart) -> list[TrainJob]:
    """Return the TrainJobs to compile, in output order; of two with the same name, the first.

    With `check_only`, the TrainJobs of different kustomizations may have the same name. `only` is a name in the source
    files, without the prefix and suffix of the settings.
    """
    only = options.only
    first: dict[tuple[str, str], TrainJob] = {}
    more: list[tuple[tuple[str, str], TrainJob]] = []
    for document in documents:
        job = TrainJob(document=document, value=document.value)
        key = job.namespace, job.name or f"\0{len(first)}"
        if key in first:
            in_overlay = apart(document, first[key].document)
            found.append(in_overlay or _duplicate(job, first[key]))
            if in_overlay and options.check_only:
                more.append((key, job))
        else:
            first[key] = job
    ordered = sorted([*first.items(), *more], key=itemgetter(0))
    chosen = [job for _, job in ordered if only is None or _source_name(job) == only]
    if only is not None and not chosen:
        found.append(_not_found(only, [*map(_source_name, first.values())]))
    return chosen


def _source_name(job: TrainJob) -> str:
    return str(get(job.document.unedited, ("metadata", "name"), ""))


def _apart(kustomizations: Kustomizations | None, options: Options) -> Apart:
    """Return the function that returns the diagnostic for a name that two kustomizations use, or None."""

    def apart(document: Document, first: Document) -> Diagnostic | None:
        if kustomizations is None:
            return None
        from trainc.kustomizations import several

        return several(document, first, kustomizations, allowed=options.check_only)

    return apart


def _duplicate(job: TrainJob, first: TrainJob) -> Diagnostic:
    within = f' in namespace "{job.namespace}"' if job.namespace else ""
    found = Diagnostic.of(
        DUPLICATE_TRAINJOB,
        f'two TrainJobs{within} are named "{job.name}"',
        "rename or remove one of them",
        object=job.id,
        field="metadata.name",
        place=job.at("metadata", "name"),
        related=(Related(message="the first one", place=Place(document=first.document, path=("metadata", "name"))),),
    )
    if not job.document.edits:
        return found
    from trainc.transforming.faults import of_two

    return of_two(found, job.document, first.document)


def _not_found(only: str, names: list[str]) -> Diagnostic:
    from trainc.nearest import nearest, use

    if near := nearest(only, names):
        help = f"did you mean {near}?"
    else:
        help = use(sorted(names)) if names else "add the file that has it to the paths"
    return Diagnostic.of(
        ONLY_NOT_FOUND,
        f'no TrainJob "{only}" in the given paths',
        help,
    )
