"""The OptimizationJobs of a run: each is checked and shown by its first trial, which only the controller creates.

Reads    the documents of other kinds, and the settings of the run.
Returns  diagnostics about releases that do not serve the kind; and a sentence with the number of trials for commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import OPTIMIZATION_JOB
from trainc.base.releases import RELEASES
from trainc.base.texts import plural
from trainc.diagnostics import Diagnostic, ObjectId, Place
from trainc.frontends.trials import trials_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.compilation.results import Compiled
    from trainc.diagnostics import Document
    from trainc.settings import Settings

UNSERVED_KIND: Final = Declaration("unserved-kind", ("schema",), severity="warning")


def unserved(documents: Iterable[Document], settings: Settings) -> Iterator[Diagnostic]:
    """Yield an error for each OptimizationJob that the release does not serve; a warning without trainerVersion."""
    release = settings.release
    if release.optimization_jobs == "served":
        return
    first = next(each for each in RELEASES if each.optimization_jobs == "served")
    help = f'set trainerVersion: "{first.name}" if the cluster runs {first.title}'
    for document in documents:
        found = Diagnostic.declared(
            UNSERVED_KIND,
            f"{release.title} does not serve {OPTIMIZATION_JOB.kind}",
            f"upgrade the cluster to {first.title}" if settings.release_stated else help,
            object=ObjectId.from_manifest(document.value),
            field="kind",
            place=Place(document, ("kind",)),
        )
        yield found._replace(severity="error") if settings.release_stated else found


def sentences(jobs: Iterable[Compiled]) -> list[str]:
    """Return a sentence about each OptimizationJob, of which the jobs have the first trial."""
    found = []
    for job in jobs:
        if job.plan.job.is_trial:
            total, parallel = trials_of(job.plan.job.document.value)
            at_once = f", {'one' if parallel == 1 else f'up to {parallel}'} at once" if total > 1 else ""
            name, trials = job.plan.job.source_name, plural(total, "trial")
            found.append(f'OptimizationJob "{name}" has {trials}{at_once}: trainc compiles the first one')
    return found
