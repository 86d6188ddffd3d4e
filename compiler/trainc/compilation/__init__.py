"""The compiler as a function from paths to objects and diagnostics. The command line is a thin layer over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBSET, OPTIMIZATION_JOB
from trainc.base.records import NamedTuple
from trainc.budget import stopped
from trainc.compilation.plans import (
    DUPLICATE_TRAINJOB,
    ONLY_NOT_FOUND,
    compiler_of,
    diagnostics_of,
    plans_of,
    selected,
    unused_gang,
)
from trainc.compilation.results import Compilation, Compiled, duplicate_object, duplicates, fixed_names, wrong_namespace
from trainc.compilation.run import Run
from trainc.compilation.sources import at_setting, library, metered, overlay_conflict_in, read
from trainc.diagnostics import Checked, Diagnostic, Document, ObjectId, Place, failed
from trainc.emit import objects_of_a_job
from trainc.files import inputs
from trainc.frontends.reading import USED, Reading
from trainc.kubernetes.trees import forget, get
from trainc.pipeline.library import Library
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.passes.resolve import PER_RUNTIME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from trainc.base.kinds import Role
    from trainc.budget import Meter
    from trainc.compilation.foreign_references import GivenObjects
    from trainc.edits.patching import Patches
    from trainc.edits.transforming import Transformation
    from trainc.frontends.reading import Reader
    from trainc.pipeline.objects import TrainJob
    from trainc.pipeline.plan import Plan


__all__ = [
    "DUPLICATE_TRAINJOB",
    "NO_TRAINJOB",
    "ONLY_NOT_FOUND",
    "Compilation",
    "Compiled",
    "Run",
    "at_setting",
    "compile_documents",
    "compile_paths",
    "duplicate_object",
    "duplicates",
    "fixed_names",
    "library",
    "metered",
    "read",
    "wrong_namespace",
]

NO_TRAINJOB: Final = Declaration("no-trainjob", ("read",), trainc_only=True)

ONCE: Final = PER_RUNTIME | {"patch-failed", "kueue-version", "queue-never-starts", "unserved-kind"}
"""The faults that several objects share; they are reported once, with the number of the others."""
OF_OLDER: Final = frozenset({"older-dialect", "older-runtime"})
"""The notes on documents of an older release, which the release of the cluster refuses."""
QUEUE_LABEL: Final = ("metadata", "labels", QUEUE)
MANY: Final = 100
"""The number of diagnostics from which repeated ones are collapsed."""


def compile_paths(paths: Iterable[str], run: Run, files_of: Reader | None = None) -> Compilation:
    """Compile every TrainJob found in `paths`, with the settings of the run. Read nothing if they have errors."""
    paths = tuple(paths)
    if failed(run.settings.diagnostics):
        # Without `exclude` and `runtimes`, correct files would have errors too.
        return Compilation(diagnostics=run.settings.diagnostics, stopped=True)
    environment = run.settings.environment
    of_documents = environment is not None and (
        environment.images or environment.patches or environment.namespaces or environment.shared
    )
    if of_documents or run.settings.has_patterns:
        run = run._replace(complete=run.complete and run.settings.is_covered_by(paths))
    return compile_documents(read(paths, run, files_of or inputs.read, kinds=run.settings.kinds), run)


class Build(NamedTuple):
    """A run between two steps: its input, and the results of the steps so far."""

    reading: Reading
    run: Run
    documents: Mapping[Role, list[Document]]
    """The documents by role, with the changes that the settings make."""
    patches: Patches | None = None
    """The patches of the settings; None without any."""
    transformation: Transformation | None = None
    """The other changes of the settings; None without any."""
    library: Library = Library(())
    trainjobs: Sequence[TrainJob] = ()
    """The TrainJobs to compile, in output order."""
    plans: Sequence[Plan] = ()
    repaired: Mapping[int, Plan] = {}
    """The plans of TrainJobs whose errors are repaired, for the lint rules, by the identity of the faulty plan."""
    unchecked: Mapping[str, Sequence[str]] = {}
    """The names of the TrainJobs whose Jobs and pods were not checked, by the id of the error that prevents it."""
    jobs: tuple[Compiled, ...] = ()
    """The TrainJobs with objects."""
    jobsets: tuple[Compiled, ...] = ()
    """The JobSets of the paths without errors."""
    stand_ins: int = 0
    """The number of runtimes that stand-in TrainJobs check."""
    lint_of_built_in: Mapping[str, Set[str]] = {}
    """The ids of the lint findings in built-in runtimes, by the runtime's name."""
    diagnostics: tuple[Diagnostic, ...] = ()
    stopped: bool = False
    """Whether the run is beyond its budget, so that it has no objects."""

    @property
    def meter(self) -> Meter:
        """The work of the run."""
        return self.reading.meter

    @property
    def is_whole_project(self) -> bool:
        """Whether the run compiles all TrainJobs of the project: a setting may affect one that the run leaves out."""
        return self.run.complete and self.run.only is None

    def judged(self, unused: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield the reports of settings that affect nothing, without those that may affect others.

        Those of a file with several environments affect another environment, and those of an extended file another
        project.
        """
        from trainc.edits.environment import is_of_file

        settings = self.run.settings
        alone = self.run.all_environments or len(settings.environment_names) < 2
        shared = {file.document.file for file in settings.extended}
        for diagnostic in unused:
            place = diagnostic.place
            if isinstance(place, Place) and place.document.file in shared:
                continue
            if alone or not is_of_file(place):
                yield diagnostic

    def with_diagnostics(self, more: Iterable[Diagnostic]) -> Build:
        """Return a copy with more diagnostics."""
        return self._replace(diagnostics=(*self.diagnostics, *more))


def compile_documents(reading: Reading, run: Run) -> Compilation:
    """Compile the TrainJobs among documents that are already read; read the paths of `runtimes` in the same way."""
    forget()
    build = Build(reading, run, reading.documents)
    for step in STEPS:
        build = step(build)
        if build.stopped:
            files = tuple(reading.files)
            result = Compilation(files=len(files), checked_files=files, stopped=True)
            return result.with_diagnostics(build.diagnostics)
    return _compilation(build)


def edit_documents(build: Build) -> Build:
    """Apply the patches of trainc.yaml and its other changes to the TrainJobs and runtimes."""
    environment, documents = build.run.settings.environment, build.documents
    if environment is None:
        return build
    from trainc.compilation.multiplied import charge_settings
    from trainc.edits.transforming import Transformation

    patches, transformation = None, Transformation(environment)
    if not charge_settings(environment, len(documents["job"]), build.meter):
        return stop_beyond_budget(build)
    if environment.patches:
        from trainc.edits.patching import Patches

        patches = Patches(environment, build.reading.files_of, build.meter, follow_links=build.run.options.follow_links)
        documents = {**documents, **{role: patches.apply_all(documents[role]) for role in USED}}
        if build.meter.over is not None:
            return stop_beyond_budget(build)
    return build._replace(
        documents=transformation.transformed(documents), patches=patches, transformation=transformation
    )


def find_runtimes(build: Build) -> Build:
    """Read the runtimes of all levels: the given paths, the searched paths, the built-in ones."""
    edits = [
        *([build.patches.apply] if build.patches is not None else ()),
        *([build.transformation.runtime] if build.transformation is not None else ()),
    ]
    searched, diagnostics = library(
        build.run,
        given=build.documents["runtime"],
        files_of=build.reading.files_of,
        apart=overlay_conflict_in(build.reading.kustomizations, build.run),
        meter=build.meter,
        edits=edits,
    )
    before = [*build.run.settings.diagnostics, *build.reading.diagnostics, *diagnostics]
    if build.run.settings.release.source != "code":
        from trainc.compilation.built_in import announced

        before.append(announced(build.run.settings.release))
    given = _given_objects(build)
    searched = searched._replace(
        has_secret=lambda namespace, name: given().has_secret(namespace, name),
        claim_modes=(lambda namespace, name: given().claim_modes(namespace, name)) if _may_have_claims(build) else None,
    )
    return build._replace(library=searched).with_diagnostics(_excluded_once(before))


def _may_have_claims(build: Build) -> bool:
    """Return whether the paths may have a claim for one node, without a parse of the skipped files."""
    of_kind = (document.value.get("kind") == "PersistentVolumeClaim" for document in build.documents["other"])
    return any(of_kind) or any(b"ReadWriteOnce" in file.data for file in build.reading.skipped)


def _given_objects(build: Build) -> Callable[[], GivenObjects]:
    """Return a function that returns the Secrets and the claims of the paths; it parses them on its first call."""
    known: list[GivenObjects] = []

    def given() -> GivenObjects:
        if not known:
            from trainc.compilation.foreign_references import GivenObjects

            known.append(GivenObjects(build.reading, build.run.settings.environment))
        return known[0]

    return given


def check_given_runtimes(build: Build) -> Build:
    """Check the runtimes of the given paths, whether a TrainJob uses them or not."""
    diagnostics: list[Diagnostic] = []
    given = build.library.levels[0]
    for entry in (*given.all_entries(), *given.unnamed):
        of_entry = entry.conform_quietly()[1]
        diagnostics += of_entry
        if not build.meter.charge("errors and warnings", len(of_entry)):
            break
    return build.with_diagnostics(diagnostics)


def select_trainjobs(build: Build) -> Build:
    """Select the TrainJobs to compile: each name once, and only that of `--only`."""
    if build.meter.over is not None:
        return build
    apart = overlay_conflict_in(build.reading.kustomizations, build.run)
    documents, found = build.documents["job"], list[Diagnostic]()
    if optimization_jobs := [document for document in build.documents["other"] if _is_optimization_job(document)]:
        from trainc.frontends.trials import unserved

        documents = [*documents, *optimization_jobs]
        settings = build.run.settings
        found += unserved(optimization_jobs, settings.release, stated=settings.release_stated)
    trainjobs, diagnostics = selected(documents, build.run, apart)
    build = build.with_diagnostics(found)
    return build._replace(trainjobs=trainjobs).with_diagnostics(diagnostics)


def run_stages(build: Build) -> Build:
    """Run each TrainJob through the pipeline (`pipeline.stages`), and resolve the lines of its errors."""
    is_multiplied = len(build.trainjobs) > 1 or build.meter.all_runs is not None
    if is_multiplied and any(level.entries for level in build.library.levels[:-1]):
        from trainc.compilation.multiplied import charge_runtimes

        if not charge_runtimes(build.trainjobs, build.library, build.meter):
            return stop_beyond_budget(build)
    compiled = compiler_of(build.run, build.library, build.patches)
    plans = plans_of(build.trainjobs, compiled, build.meter)
    build = build._replace(plans=plans).with_diagnostics(unused_gang(plans, build.run))
    if not any(plan.diagnostics or plan.refused or plan.stopped for plan in plans):
        return build
    from trainc.provenance.placing.runtime_faults import merged

    if any(plan.failed or plan.stopped for plan in plans):
        from trainc.compilation import later_errors

        found = later_errors.diagnosed(plans, compiled, build.run.settings.environment)
        build = build._replace(repaired=found.repaired, unchecked=found.unchecked)
        diagnostics = found.diagnostics
    else:
        diagnostics = {id(plan): [*diagnostics_of(plan)] for plan in plans}
    return build.with_diagnostics(merged(plans, diagnostics))


def check_unused_runtimes(build: Build) -> Build:
    """Check the runtimes of the given paths that no TrainJob uses, with stand-in TrainJobs."""
    if not build.run.checks_unused_runtimes or build.meter.over is not None:
        return build
    if all(entry.requested for entry in build.library.levels[0].all_entries()):
        return build
    from trainc.compilation import unused_runtimes

    unused = unused_runtimes.unused_entries(build.library)
    found = unused_runtimes.check(unused, build.library, build.run, build.meter)
    return build._replace(stand_ins=len(unused)).with_diagnostics(found)


def report_patches(build: Build) -> Build:
    """Report the patches of trainc.yaml that cannot be applied, and those that match no object."""
    if build.patches is None:
        return build
    unused = build.judged(build.patches.unused_patches()) if build.is_whole_project else ()
    return build.with_diagnostics((*build.patches.diagnostics, *unused))


def stop_beyond_budget(build: Build) -> Build:
    """Stop the run if it is beyond its budget, also if some of its diagnostics are not charged."""
    over = build.meter.over or build.meter.budget.excess("errors and warnings", len(build.diagnostics))
    if over is None:
        return build
    return build._replace(diagnostics=tuple(stopped(build.diagnostics, over)), stopped=True)


def collect_objects(build: Build) -> Build:
    """Collect the objects of the TrainJobs and JobSets without errors."""
    if build.patches is not None and build.patches.failed:
        return build
    found = [
        Compiled(plan.job.namespace, plan.job.name, tuple(objects_of_a_job(plan.objects)), plan)
        for plan in build.plans
        if plan.objects and not plan.failed and (build.run.purpose.trials or not plan.job.is_trial)
    ]
    return build._replace(
        jobs=tuple(each for each in found if not each.plan.job.is_jobset),
        jobsets=tuple(each for each in found if each.plan.job.is_jobset),
    )


def show_stand_ins(build: Build) -> Build:
    """Compile stand-in TrainJobs for the runtimes of paths without TrainJobs."""
    run = build.run
    if run.purpose.stand_ins != "show" or run.only is not None or build.trainjobs:
        return build
    from trainc.compilation import unused_runtimes

    unused = unused_runtimes.unused_entries(build.library)
    plans, found = unused_runtimes.shown(unused, build.library, run, build.meter)
    jobs = (Compiled(plan.job.namespace, plan.job.name, tuple(objects_of_a_job(plan.objects)), plan) for plan in plans)
    return build._replace(jobs=tuple(jobs), stand_ins=len(unused)).with_diagnostics(found)


def check_used_runtimes(build: Build) -> Build:
    """Report the faults of the searched and built-in runtimes that a TrainJob uses."""
    entries = (entry for level in build.library.levels[1:] for entry in level.all_entries() if entry.requested)
    return build.with_diagnostics(diagnostic for entry in entries for diagnostic in entry.conform()[1])


def report_lint_findings(build: Build) -> Build:
    """Turn the lint findings of all TrainJobs into warnings. Findings with one cause are one: they are charged here."""
    plans = [build.repaired.get(id(plan), plan) for plan in build.plans]
    linted = [plan for plan in plans if plan.lint_findings]
    if not linted:
        return build
    from trainc.provenance.placing.lint_findings import warnings

    found, of_built_in = warnings(linted, plans)
    build.meter.charge("errors and warnings", len(found))
    return build._replace(lint_of_built_in=of_built_in).with_diagnostics(found)


def check_queues(build: Build) -> Build:
    """Check the admission of the JobSets by the Kueue queues among the documents."""
    others = build.documents["other"]
    found = [*_faults_of_kueue(build)]
    if build.run.has_all_documents and any(map(_is_of_queues, others)):
        from trainc.kueue import findings

        found += findings.check(build.plans, others, all_faults=build.run.purpose.all_queue_faults)
    build.meter.charge("errors and warnings", len(found))
    return build.with_diagnostics(found)


def _faults_of_kueue(build: Build) -> Iterator[Diagnostic]:
    """Yield what Kueue's release does not serve; in a run that judges the documents, also the jobs that it ignores."""
    run, settings, others = build.run, build.run.settings, build.documents["other"]
    if any(map(_is_of_queues, others)):
        from trainc.kueue.release_faults import unserved

        yield from unserved(others, settings.kueue)
    if not run.purpose.judges:
        return
    applied = others if settings.renders else [*others, *(plan.job.document for plan in build.plans)]
    if any(get(document.value, QUEUE_LABEL) for document in applied):
        from trainc.kueue.release_faults import never_started, unmanaged

        yield from unmanaged(applied, settings.kueue, run.purpose.option_names.legacy)
        if settings.kueue is not None and not settings.renders:
            yield from never_started(build.plans, settings.kueue, settings.release, run.refused_as)


def check_references(build: Build) -> Build:
    """Check the references of pods to the objects among the documents."""
    others = build.documents["other"]
    if not build.run.has_all_documents or not others:
        return build
    from trainc.files.foreign import REFERENCED

    # SealedSecrets and ExternalSecrets, which make a Secret, end with its kind.
    if not any(str(document.value.get("kind")).endswith(REFERENCED) for document in others):
        return build
    from trainc.compilation.foreign_references import warnings

    found = list(warnings(build.plans, others))
    build.meter.charge("errors and warnings", len(found))
    return build.with_diagnostics(found)


def report_patterns(build: Build) -> Build:
    """Report the patterns of the settings that match no file."""
    run, settings = build.run, build.run.settings
    if not settings.has_patterns or not build.is_whole_project:
        return build
    found: list[Diagnostic] = []
    if settings.lint_paths is not None:
        files = (document.file for role in USED for document in build.documents[role])
        found += settings.lint_paths.warnings(files)
    if (settings.exclude or settings.keep) and run.purpose.judges and not any(run.revision):
        from trainc.settings.paths import unused_patterns

        paths = (*run.inputs, *run.runtimes, *(path.path for path in settings.runtimes))
        found += unused_patterns(settings, paths, build.reading.names)
    return build.with_diagnostics(build.judged(found))


def report_attributes(build: Build) -> Build:
    """Report the attributes of git that change a file at the checkout. A review of a commit reports its own."""
    if any(build.run.revision):
        return build
    found = [document.file for documents in build.documents.values() for document in documents]
    found += (entry.document.file for entry in build.library.configured())
    files = dict.fromkeys((*found, *_files_of_settings(build)))
    attributes = inputs.attribute_files(files, build.run.root)
    if attributes is None:
        return build
    size = sum(map(len, attributes.contents.values()))
    factors = (size, f"bytes of {inputs.ATTRIBUTES}"), (len(files), "files")
    if not build.meter.charge_product("skipped bytes", *factors):
        return build
    from trainc.files.attributes import warnings

    return build.with_diagnostics(warnings(files, attributes))


def report_settings(build: Build) -> Build:
    """Report a fault of one setting once, and the settings that affect nothing."""
    if build.transformation is None:
        return build
    from trainc.edits.transforming.setting_faults import (
        merge_by_setting,
        unmatched_shared,
        unused_namespaces,
        without_namespace,
    )

    texts = build.patches.texts if build.patches is not None else frozenset[int]()
    found = merge_by_setting(build.diagnostics, build.transformation.environment, texts)
    environment = build.transformation.environment
    found += without_namespace(build.transformation.without_namespace, environment)
    if build.is_whole_project:
        found += build.judged(unused_namespaces(build.transformation.namespaces))
        found += build.judged(unmatched_shared(build.transformation.namespaces))
    # A built-in runtime is read when a TrainJob resolves it: only then its images are known.
    if build.is_whole_project and not any(plan.stopped for plan in build.plans):
        found += build.judged(build.transformation.unmatched_images())
    return build._replace(diagnostics=tuple(found))


def replace_errors_of_templates(build: Build) -> Build:
    """Replace the errors that a template's placeholders cause by one for each template."""
    documents = [*build.documents["job"], *build.documents["runtime"]]
    # The items of a list share its text, which is searched once.
    texts = {id(document.text): document.text for document in documents}
    if not failed(build.diagnostics) and not any("{{" in text for text in texts.values()):
        return build
    from trainc.frontends import templates

    found = templates.replaced(build.diagnostics, documents, build.reading.with_note)
    ids, unchecked = {each.id for each in found}, dict[str, list[str]]()
    for cause, names in build.unchecked.items():  # by an error of the report
        if (shown := cause if cause in ids else templates.TEMPLATE_NOT_RENDERED.id) in ids:
            unchecked.setdefault(shown, []).extend(names)
    return build._replace(diagnostics=tuple(found), unchecked=unchecked)


def collapse_repeated(build: Build) -> Build:
    """Collapse repeated diagnostics."""
    found: Sequence[Diagnostic] = build.diagnostics
    if not build.run.purpose.every_place and sum(diagnostic.id in ONCE for diagnostic in found) > 1:
        from trainc.reports.repeated import once_per_message

        found = once_per_message(found, ONCE)
    if len(found) >= MANY and not build.run.purpose.all_repeated:
        from trainc.reports.repeated import collapsed

        found = collapsed(found)
    return build._replace(diagnostics=tuple(found))


STEPS: Final[tuple[Callable[[Build], Build], ...]] = (
    edit_documents,  # trainc.yaml: patches, images, namespace, names, labels, annotations
    find_runtimes,  # the levels of runtimes
    check_given_runtimes,
    select_trainjobs,  # one for each name; --only
    run_stages,  # each TrainJob through the pipeline
    check_unused_runtimes,
    report_patches,
    stop_beyond_budget,
    collect_objects,
    show_stand_ins,
    check_used_runtimes,
    report_lint_findings,
    check_queues,  # admission by Kueue
    check_references,  # to the objects of other teams
    stop_beyond_budget,
    report_patterns,
    report_attributes,  # of git, in .gitattributes
    report_settings,
    stop_beyond_budget,
    replace_errors_of_templates,
    collapse_repeated,
)
"""The steps of a run, in order: each is a function from a `Build` to a new one."""


def _compilation(build: Build) -> Compilation:
    """Return the result of a run after its last step."""
    reading, run = build.reading, build.run
    skipped = tuple(dict.fromkeys((*reading.skipped_names(), *build.library.skipped)))
    others = tuple(build.documents["other"])
    if any(document.value.get("kind") == JOBSET.kind for document in build.documents["job"]):
        from trainc.compilation.copied_jobsets import with_jobsets

        plans = (job.plan for job in build.jobsets)
        others = with_jobsets(others, build.documents["job"], plans, reading.files)
    built_in = None
    if build.library.levels[-1].entries and not run.settings.built_in_allowed:
        from trainc.compilation.built_in import note

        built_in = note((job.plan for job in build.jobs), build.lint_of_built_in)
    return Compilation(
        jobs=build.jobs,
        jobsets=build.jobsets,
        documents={role: tuple(found) for role, found in reading.documents.items()},
        runtimes=tuple(entry.document for entry in build.library.configured()),
        others=others,
        copied=tuple(each for each in others if each.file in reading.copied),
        stand_ins=build.stand_ins,
        files=len(reading.files),
        checked_files=_checked_files(build, skipped),
        kustomizations=reading.kustomizations,
        skipped=skipped,
        checked=tuple(_checked(build.plans, build.documents["runtime"])),
        strict=run.settings.strict,
        built_in=built_in,
        unchecked=build.unchecked,
        lint_of_built_in=build.lint_of_built_in,
        namespaces=build.transformation.namespaces if build.transformation is not None else None,
        budget=build.meter.budget,
        legacy_option=run.purpose.option_names.legacy,
    ).with_diagnostics(_judged(build.diagnostics, run))


def _judged(diagnostics: Sequence[Diagnostic], run: Run) -> Iterable[Diagnostic]:
    """Return the diagnostics with the severity that documents have which the release refuses."""
    severity = run.refused_as
    if severity == "note" or not any(found.id in OF_OLDER for found in diagnostics):
        return diagnostics
    from trainc.pipeline.checks.dialect import as_refused

    own = run.settings
    return [
        as_refused(found, severity, own.field_validation, own.release) if found.id in OF_OLDER else found
        for found in diagnostics
    ]


def _checked_files(build: Build, skipped: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a run checks, each once."""
    runtimes = (entry for entry in build.library.configured() if entry.requested)
    found = dict.fromkeys((*build.reading.files, *(entry.document.file for entry in runtimes)))
    for name in skipped:
        found.pop(name, None)
    return (*dict.fromkeys((*found, *_files_of_settings(build))),)


def _files_of_settings(build: Build) -> Iterator[str]:
    """Yield the files with the settings and their patches."""
    yield from (file.document.file for file in build.run.settings.settings_files)
    yield from build.patches.files if build.patches is not None else ()


def _is_optimization_job(document: Document) -> bool:
    """Return whether a document is an OptimizationJob, whose first trial is compiled."""
    value = document.value
    return value.get("kind") == OPTIMIZATION_JOB.kind and value.get("apiVersion") in OPTIMIZATION_JOB.versions


def _is_of_queues(document: Document) -> bool:
    """Return whether the admission of JobSets by Kueue may depend on a document: an object of Kueue, or a priority."""
    kind, version = document.value.get("kind"), document.value.get("apiVersion")
    return kind == "PriorityClass" or str(version).startswith("kueue.x-k8s.io/")


def _excluded_once(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics, with that of a pattern once: it may leave no file in PATH and in `runtimes.paths`."""
    return [
        each for index, each in enumerate(diagnostics) if each.id != "all-excluded" or each not in diagnostics[:index]
    ]


def _checked(plans: Iterable[Plan], runtimes: Iterable[Document]) -> Iterator[Checked]:
    for plan in plans:
        document = plan.job.document
        generated = plan.job.name if plan.job.letters_at is not None else ""
        yield Checked(
            plan.job.id,
            document.file,
            plan.failed or not plan.objects,
            ObjectId.from_source(document.unedited),
            generated,
        )
    for document in runtimes:
        yield Checked(
            ObjectId.from_manifest(document.value), document.file, source=ObjectId.from_manifest(document.unedited)
        )
