"""The compiler as a function from paths to objects and diagnostics. The command line is a thin layer over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import inputs
from trainc.budget import stopped
from trainc.compilation.identities import duplicate_object, duplicates, elsewhere
from trainc.compilation.plans import DUPLICATE_TRAINJOB, ONLY_NOT_FOUND, plans_of
from trainc.compilation.results import Compilation, Compiled, Options
from trainc.compilation.sources import apart_of, at_setting, library, metered, read
from trainc.declarations import Declaration
from trainc.diagnostics import Checked, Diagnostic, Document, ObjectId, failed
from trainc.emit.order import objects_of_a_job
from trainc.passes.resolve import PER_RUNTIME
from trainc.reading import COMPILED, Reading
from trainc.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from trainc.delivery import Delivery
    from trainc.frontends import Role
    from trainc.library import Library
    from trainc.patching import Patches
    from trainc.plan import Plan
    from trainc.reading import Others, Reader
    from trainc.transforming import Transformation


__all__ = [
    "DUPLICATE_TRAINJOB",
    "NO_TRAINJOB",
    "ONLY_NOT_FOUND",
    "Compilation",
    "Compiled",
    "Options",
    "at_setting",
    "compile",
    "compile_documents",
    "compile_paths",
    "duplicate_object",
    "duplicates",
    "elsewhere",
    "library",
    "metered",
    "read",
]

NO_TRAINJOB: Final = Declaration("no-trainjob", ("read",), "No TrainJob to compile", own=True)

OF_QUEUES: Final = frozenset(
    {"ClusterQueue", "Cohort", "LocalQueue", "PriorityClass", "ResourceFlavor", "WorkloadPriorityClass"}
)
"""The kinds of documents with which the admission of JobSets by Kueue is checked."""
ONCE: Final = PER_RUNTIME | {"patch-failed"}
"""The errors that several TrainJobs share; they are reported once, with the number of the others."""
MANY: Final = 100
"""The number of diagnostics from which repeated ones are collapsed."""


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


def compile_documents(reading: Reading, options: Options) -> Compilation:
    """Compile the TrainJobs among documents that are already read; read the paths of `runtimes` in the same way."""
    apart, meter = apart_of(reading.kustomizations, options), reading.meter
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

    plans = plans_of(documents["job"], searched, options, found, apart, meter, patches)
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
        found = _with_settings(found, transformation, plans, options, patches)
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
    found: Iterable[Diagnostic],
    transformation: Transformation,
    plans: Iterable[Plan],
    options: Options,
    patches: Patches | None,
) -> list[Diagnostic]:
    """Return the diagnostics of a run with those of the settings that transform the documents."""
    from trainc.transforming.faults import of_settings

    found = of_settings(found, transformation.environment, patches.texts if patches is not None else frozenset())
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
