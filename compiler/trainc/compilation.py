"""The compiler as a function: paths in, objects and diagnostics out. The command line is a thin layer over it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from trainc import inputs
from trainc.declarations import Declaration
from trainc.delivery import PLAIN, Delivery
from trainc.diagnostics import Checked, Diagnostic, Document, ObjectId, Place, Related, failed, strictly
from trainc.emit.order import objects_of_a_job
from trainc.library import BuiltIn, Level, Library
from trainc.objects import TrainJob
from trainc.plan import Plan
from trainc.reading import Reading
from trainc.records import NamedTuple
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.reading import Reader
    from trainc.tracing import Trace


DUPLICATE_TRAINJOB: Final = Declaration("duplicate-trainjob", ("read",), "Two TrainJobs have the same name", own=True)
ONLY_NOT_FOUND: Final = Declaration(
    "only-not-found", ("read",), "The TrainJob asked for by name is not there", own=True
)
NO_TRAINJOB: Final = Declaration("no-trainjob", ("read",), "There is nothing to compile", own=True)

MANY: Final = 100
"""With fewer diagnostics there is no crowd among them."""


class Options(NamedTuple):
    """The options of a run."""

    runtimes: Sequence[str] = ()
    """Further paths to look for runtimes in, after the given paths and before the stock ones."""
    only: str | None = None
    """Compile only the TrainJobs of this name."""
    namespace: str | None = None
    """The namespace of TrainJobs and TrainingRuntimes that have none."""
    skip: Sequence[str] = ()
    """Folders and files left out where they lie below one of the paths: outputs."""
    settings: Settings = DEFAULT
    """The project's settings (`trainc.settings.of` reads `trainc.yaml`)."""
    delivery: Delivery = PLAIN
    """How the objects reach a cluster that may hold older ones."""
    root: str | None = None
    """The folder that no link may lead out of; by default the git root of each path, else its folder."""


class Compiled(NamedTuple):
    """What one TrainJob became."""

    namespace: str
    name: str
    objects: tuple[Tree, ...]
    """The JobSet first, then the rest by apiVersion, kind and name."""
    plan: Plan
    """The TrainJob, its runtime, and what the stages made of them."""

    def trace(self) -> Trace:
        """Where the fields of the objects come from: the TrainJob's stages run again, read backwards."""
        from trainc.tracing import Trace

        return Trace(self.plan)


class Compilation(NamedTuple):
    """What a run made, and what it has to say. With an error among the diagnostics, nothing is meant to be applied."""

    jobs: tuple[Compiled, ...] = ()
    """In the order of (namespace, name)."""
    others: tuple[Document, ...] = ()
    """Documents of other kinds, in file order."""
    runtimes: int = 0
    """How many runtimes the given paths hold."""
    files: int = 0
    """How many files were read."""
    diagnostics: tuple[Diagnostic, ...] = ()
    checked: tuple[Checked, ...] = ()
    """The TrainJobs in the order of (namespace, name), then the runtimes of the given paths in file order."""
    strict: str = ""
    """Who makes warnings errors, in words; empty where nobody does."""
    raised: int = 0
    """How many of the errors were warnings."""

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All objects, in the order in which they are written."""
        return tuple(obj for job in self.jobs for obj in job.objects)

    def manifests(self) -> list[tuple[str, str, str]]:
        """Namespace, name and YAML of each TrainJob, in the order of the output."""
        from trainc.emit.yaml import Writer

        # One writer for all: it remembers what the jobs of one runtime share.
        write = Writer().document
        return [(job.namespace, job.name, "---\n".join(map(write, job.objects))) for job in self.jobs]

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)

    def saying(self, more: Iterable[Diagnostic]) -> Compilation:
        """The same with more diagnostics, warnings as errors where somebody has asked for that."""
        more = tuple(more)
        if not self.strict:
            return self._replace(diagnostics=self.diagnostics + more)
        raised = self.raised + sum(diagnostic.severity == "warning" for diagnostic in more)
        return self._replace(diagnostics=self.diagnostics + strictly(more), raised=raised)


def compile(
    paths: Sequence[str] = (".",),
    *,
    runtimes: Sequence[str] = (),
    only: str | None = None,
    namespace: str | None = None,
    skip: Sequence[str] = (),
    settings: Settings = DEFAULT,
    delivery: Delivery = PLAIN,
    root: str | None = None,
) -> Compilation:
    """Compile every TrainJob found in `paths`.

    Args:
        paths: files, folders (read recursively), or `-` for standard input.
        runtimes, only, namespace, skip, settings, delivery, root: the fields of `Options`.

    Returns:
        The objects, and the diagnostics of all stages. User faults are diagnostics, never exceptions.
    """
    return compile_paths(paths, Options(runtimes, only, namespace, skip, settings, delivery, root))


def compile_paths(paths: Iterable[str], options: Options) -> Compilation:
    """Compile every TrainJob found in `paths`."""
    return compile_documents(read(paths, options), options)


def read(paths: Iterable[str], options: Options, files_of: Reader = inputs.read) -> Reading:
    """Read and sort the documents of some paths."""
    reading = Reading(files_of, namespace=options.namespace)
    reading.gather(paths, skip=options.skip, settings=options.settings.file, root=options.root)
    return reading


def compile_documents(reading: Reading, options: Options) -> Compilation:
    """Compile every TrainJob among documents that have been read; those of `runtimes` are read in the same way."""
    searched, of_runtimes = library(options, given=reading.documents["runtime"], files_of=reading.files_of)
    found = [*options.settings.diagnostics, *reading.diagnostics, *of_runtimes]
    for entry in searched.levels[0].entries.values():
        found += entry.conform()[1]

    plans = _plans(reading.documents["job"], searched, options, found)
    jobs = tuple(
        Compiled(
            namespace=plan.job.namespace,
            name=plan.job.name,
            objects=tuple(objects_of_a_job(plan.objects)),
            plan=plan,
        )
        for plan in plans
        if plan.objects and not plan.failed
    )
    used = (entry for level in searched.levels[1:] for entry in level.entries.values() if entry.asked)
    found += [diagnostic for entry in used for diagnostic in entry.conform()[1]]
    if linted := [plan for plan in plans if plan.lint_findings]:
        from trainc.placing.lint import warnings

        found += warnings(linted)
    return Compilation(
        jobs=jobs,
        others=tuple(reading.documents["other"]),
        runtimes=len(reading.documents["runtime"]),
        files=reading.files,
        checked=tuple(_checked(plans, reading.documents["runtime"])),
        strict=options.settings.strict,
    ).saying(_collapsed(found))


def _collapsed(found: list[Diagnostic]) -> list[Diagnostic]:
    """What a run has to say, without the mass of what is said over and over."""
    if len(found) < MANY:
        return found
    from trainc.repeated import collapsed

    return collapsed(found)


def _checked(plans: Iterable[Plan], runtimes: Iterable[Document]) -> Iterator[Checked]:
    for plan in plans:
        yield Checked(plan.job.id, plan.job.document.file, skipped=not plan.objects)
    for document in runtimes:
        yield Checked(ObjectId.of(document.value), document.file)


def library(
    options: Options, *, given: Sequence[Document] | None = None, files_of: Reader = inputs.read
) -> tuple[Library, list[Diagnostic]]:
    """The runtimes by level, in the order in which they are searched: the given ones, each path, the stock ones."""
    from trainc.passes.conform import conform_runtime

    spelled = options.settings.option_names
    conform = partial(
        conform_runtime, field_validation=options.settings.field_validation, option=spelled.field_validation
    )
    levels: list[Level] = []
    found: list[Diagnostic] = []
    if given is not None:
        level, twice = Level.of("the given paths", given, conform)
        found += twice
        levels.append(level)
    for path in options.runtimes:
        more = read([path], options._replace(settings=DEFAULT), files_of)
        level, twice = Level.of(spelled.runtimes.format(path), more.documents["runtime"], conform)
        found += [*more.diagnostics, *twice]
        levels.append(level)
    return Library((*levels, BuiltIn(conform)), spelled), found


def _plans(jobs: list[Document], library: Library, options: Options, found: list[Diagnostic]) -> list[Plan]:
    """Every TrainJob through the pipeline, in the order of the output; what is wrong with it joins `found`."""
    if options.delivery.name_suffix_hash:
        from trainc.suffix import run
    else:
        from trainc.pipeline import run

    settings = options.settings
    plans = [
        run(
            Plan(
                job=job,
                library=library,
                project=settings.project,
                delivery=options.delivery,
                field_validation=settings.field_validation,
                quiet=settings.quiet,
            )
        )
        for job in _chosen(jobs, options.only, found)
    ]
    for plan in plans:
        found += plan.diagnostics
        if plan.refused:
            from trainc.placing.refused import diagnose

            found += diagnose(plan)
    return plans


def _chosen(documents: Iterable[Document], only: str | None, found: list[Diagnostic]) -> list[TrainJob]:
    """The TrainJobs that are compiled, in the order of the output: of two with one name the first."""
    first: dict[tuple[str, str], TrainJob] = {}
    for document in documents:
        job = TrainJob(document=document, value=document.value)
        key = job.namespace, job.name or f"\0{len(first)}"
        if key in first:
            found.append(_twice(job, first[key]))
        else:
            first[key] = job
    chosen = [job for _, job in sorted(first.items()) if only is None or job.name == only]
    if only is not None and not chosen:
        found.append(_none_of_that_name(only, [job.name for job in first.values()]))
    return chosen


def _twice(job: TrainJob, first: TrainJob) -> Diagnostic:
    return Diagnostic.of(
        DUPLICATE_TRAINJOB,
        f'a second TrainJob "{job.name}"' + (f' in namespace "{job.namespace}"' if job.namespace else ""),
        "keep one of them, or give it another name",
        object=job.id,
        field="metadata.name",
        place=job.at("metadata", "name"),
        related=(Related(message="the first one", place=Place(document=first.document, path=("metadata", "name"))),),
    )


def _none_of_that_name(only: str, names: list[str]) -> Diagnostic:
    from trainc.nearest import nearest

    near = nearest(only, names)
    return Diagnostic.of(
        ONLY_NOT_FOUND,
        f'no TrainJob "{only}" in the given paths',
        f"did you mean {near}?" if near else f"there are {', '.join(sorted(names)) or 'none'}",
    )
