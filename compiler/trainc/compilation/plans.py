"""The plans of a run: its TrainJobs, each once, after all stages.

Reads    the documents of TrainJobs, and the runtimes.
Returns  a plan for each TrainJob in output order, and the diagnostics of the stages.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, Place, Related
from trainc.kubernetes.trees import get
from trainc.objects import TrainJob
from trainc.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.budget import Meter
    from trainc.compilation.results import Options
    from trainc.library import Apart, Library
    from trainc.patching import Patches


DUPLICATE_TRAINJOB: Final = Declaration("duplicate-trainjob", ("read",), "Duplicate TrainJob name", own=True)
ONLY_NOT_FOUND: Final = Declaration("only-not-found", ("read",), "No TrainJob has the requested name", own=True)


def plans_of(
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
