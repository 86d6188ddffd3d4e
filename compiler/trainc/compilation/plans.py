"""The plans of a run: its TrainJobs, each once, after all stages.

Reads    the documents of TrainJobs, and the runtimes.
Returns  the TrainJobs to compile in output order, a plan for each of them, and the diagnostics of the plans.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import JOBSET, TRAINJOB
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place, Related
from trainc.pipeline.objects import NO_PROJECT, PLAIN, TRIAL_SUFFIX, TrainJob
from trainc.pipeline.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from trainc.budget import Meter
    from trainc.compilation.run import Run
    from trainc.edits.environment import Environment
    from trainc.edits.patching import Patches
    from trainc.kubernetes.violations import FieldValidation
    from trainc.pipeline.library import Library, OverlayConflict
    from trainc.settings import Settings

    Compiler = Callable[..., Plan]
    """The stages as a function from a TrainJob, and a library that replaces that of the run, to a plan."""


DUPLICATE_TRAINJOB: Final = Declaration("duplicate-trainjob", ("read",), trainc_only=True)
ONLY_NOT_FOUND: Final = Declaration("only-not-found", ("read",), trainc_only=True)
GANG_UNUSED: Final = Declaration("gang-unused", ("read",), "note", trainc_only=True)


def plans_of(trainjobs: Iterable[TrainJob], compiled: Compiler, meter: Meter) -> list[Plan]:
    """Return a plan after all stages for each TrainJob. Stop when the meter is over its budget."""
    plans: list[Plan] = []
    for job in trainjobs:
        plan = compiled(job)
        plans.append(plan)
        within = meter.charge("replicated jobs", max(1, len(plan.jobs)))
        if not (within and meter.charge("errors and warnings", len(plan.diagnostics) + len(plan.refused))):
            break
    return plans if all(plan.job.letters_at is None for plan in plans) else sorted(plans, key=_by_name)


def compiler_of(run: Run, library: Library, patches: Patches | None) -> Compiler:
    """Return the function that runs all stages on a TrainJob, with the settings of a run; with another library."""
    settings = run.settings
    from trainc.pipeline import stages

    staged = stages.run
    if settings.delivery.name_suffix_hash:
        from trainc.pipeline.generated_names import run_with_suffix

        staged = run_with_suffix

    def compiled(job: TrainJob, library: Library = library) -> Plan:
        plan = Plan(
            job=job,
            library=library,
            release=settings.release,
            project=settings.project,
            delivery=settings.delivery,
            gang_scheduler=settings.legacy_gang,
            field_validation=_field_validation(job, settings),
            renders=settings.renders,
            patches=None if patches is None else patches.jobset_patches(job.document),
            quiet=run.quiet_rules,
            quiet_in=settings.lint_paths,
        )
        if job.is_trial:  # the settings do not change what the controller creates
            plan = plan._replace(project=NO_PROJECT, delivery=PLAIN, renders=False)
        if job.is_jobset and job.letters_at is None:
            return stages.run(plan)
        if job.letters_at is None:
            return staged(plan)
        from trainc.pipeline import generated_names

        return generated_names.run_with_generated_name(plan)

    return compiled


def trainjob(document: Document, environment: Environment | None) -> TrainJob:
    """Return the TrainJob of a document before its first stage; without a name, it has a generated one."""
    job = TrainJob(document=document, value=document.value)
    if job.name:
        return job
    from trainc.pipeline.generated_names import with_generated_name

    return with_generated_name(job, environment)


def _by_name(plan: Plan) -> tuple[str, str]:
    return plan.job.namespace, plan.job.name


def _field_validation(job: TrainJob, settings: Settings) -> FieldValidation:
    is_of_trainer = job.is_trial or job.value.get("kind") in (TRAINJOB.kind, JOBSET.kind)
    return settings.field_validation if is_of_trainer else settings.legacy_field_validation


def diagnostics_of(plan: Plan) -> Iterator[Diagnostic]:
    """Yield the diagnostics of the stages, and the violations in the JobSet at their source lines."""
    found = plan.diagnostics
    if plan.refused:
        from trainc.provenance.placing.refused import diagnose

        found += tuple(map(plan.in_own_names, diagnose(plan)))
    for diagnostic in found:
        yield _with_repeated_places(diagnostic, plan.job) if plan.job.repeated else diagnostic


def unused_gang(plans: Iterable[Plan], run: Run) -> Iterator[Diagnostic]:
    """Yield a note for the option of a gang scheduler in a run without legacy jobs."""
    if run.options.gang is not None and all(plan.job.own_runtime is None for plan in plans):
        yield Diagnostic.declared(
            GANG_UNUSED,
            f"{run.purpose.option_names.gang} has no effect: the paths have no legacy job to compile",
            "set the gang of a TrainJob in podGroupPolicy of its runtime",
        )


def _with_repeated_places(diagnostic: Diagnostic, job: TrainJob) -> Diagnostic:
    """Return a diagnostic with the other places of its field, unless an anchor or a merge key makes them one."""
    if not isinstance(diagnostic.place, Place):
        return diagnostic
    place = diagnostic.place.in_text()
    if place.document.text is not job.document.text:
        return diagnostic
    related = [
        Related(f"the same in {other[-2]}", same)
        for first, other in job.repeated
        if place.path[: len(first)] == first
        for same in (place._replace(path=(*other, *place.path[len(first) :])),)
        if same.locate() != place.locate()
    ]
    return diagnostic._replace(related=(*diagnostic.related, *related))


def selected(
    documents: Iterable[Document], run: Run, apart: OverlayConflict
) -> tuple[list[TrainJob], list[Diagnostic]]:
    """Return the TrainJobs to compile, in output order, and an error for each later one with the same name.

    A JobSet with the name of a TrainJob is an output of it. With `check_only`, the TrainJobs of different
    kustomizations may have the same name, and those of different files outside of a project, with a warning. TrainJobs
    with another name than `only` are ignored. It is a name in the source files, without the prefix and suffix of the
    settings.
    """
    only, several = run.only, run.purpose.check_only and not run.settings.in_project
    first: dict[tuple[str, str], TrainJob] = {}
    files: dict[tuple[str, str], set[str]] = {}
    more: list[tuple[tuple[str, str], TrainJob]] = []
    diagnostics: list[Diagnostic] = []
    others: list[TrainJob] = []
    for document in _without_outputs([*documents]):
        written = ObjectId.from_manifest(document.value)
        job = trainjob(document, run.settings.environment)
        name = f"{written.name}{TRIAL_SUFFIX}" if written.name and job.is_trial else written.name
        key = written.namespace, name or f"\0{len(first)}"
        if only is not None and job.source_name != only:
            others.append(job)
        elif key in first:
            found = apart(document, first[key].document) or _duplicate(
                job, first[key], run.purpose.option_names.exclude
            )
            known = files.setdefault(key, {first[key].document.file})
            if several and found.id == DUPLICATE_TRAINJOB.id and document.file not in known:
                found = found._replace(severity="warning")
            known.add(document.file)
            if run.purpose.check_only and found.severity != "error":
                more.append((key, job))
            diagnostics.append(found)
        else:
            first[key] = job
    chosen = [job for _, job in sorted([*first.items(), *more], key=itemgetter(0))]
    if only is not None and not chosen:
        diagnostics.append(_not_found(only, others))
    return chosen, diagnostics


def _without_outputs(documents: list[Document]) -> Iterable[Document]:
    """Return the documents without the JobSets that have the name of a TrainJob."""
    if all(each.value.get("kind") != JOBSET.kind for each in documents):
        return documents
    compiled = {_name_of(each) for each in documents if each.value.get("kind") != JOBSET.kind}
    return (each for each in documents if each.value.get("kind") != JOBSET.kind or _name_of(each) not in compiled)


def _name_of(document: Document) -> tuple[str, str]:
    id = ObjectId.from_manifest(document.value)
    return id.namespace, id.name


def _duplicate(job: TrainJob, first: TrainJob, exclude: str) -> Diagnostic:
    """Return the error for a second TrainJob of one name; files can be left out or be those of an environment."""
    within = f' in namespace "{job.namespace}"' if job.namespace else ""
    help = "rename or remove one of them"
    if job.document.file != first.document.file:
        help = f"rename one of them, {exclude}, or use environments in trainc.yaml"
    two = f"two {job.word}s"
    if job.word != first.word:
        from trainc.base.texts import with_article

        two = f"{with_article(first.word)} and {with_article(job.word)}"
    found = Diagnostic.declared(
        DUPLICATE_TRAINJOB,
        f'{two}{within} are named "{job.name}"',
        help,
        object=job.id,
        field="metadata.name",
        place=job.at("metadata", "name"),
        related=(Related(message="the first one", place=Place(document=first.document, path=("metadata", "name"))),),
    )
    if not job.document.edits:
        return found
    from trainc.edits.transforming.setting_faults import duplicate_sources

    return duplicate_sources(found, job.document, first.document)


def _not_found(only: str, jobs: Collection[TrainJob]) -> Diagnostic:
    from trainc.base.suggestions import nearest_name, use

    names, words = [job.source_name for job in jobs], sorted({job.word for job in jobs} or {TRAINJOB.word})

    if near := nearest_name(only, names):
        help = f"did you mean {near}?"
    else:
        help = use(sorted(names)) if names else "add the file that has it to the paths"
    return Diagnostic.declared(
        ONLY_NOT_FOUND,
        f'no {" or ".join(words)} "{only}" in the given paths',
        help,
    )
