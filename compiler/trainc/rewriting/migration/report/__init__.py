"""The report of a migration: one module for each format, with `render(report, *, color) -> str`.

Reads    a migration.
Returns  for each job its form, why it has no better one, its runtime, the review of its objects and its losses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from trainc.compilation.run import PLAIN
from trainc.explain.losses import LossesOfJob, losses
from trainc.review import compare_jobs, merged_reviews
from trainc.rewriting.migration.difference_texts import one_line
from trainc.rewriting.migration.host_files import named_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.review.reviewed import Review
    from trainc.rewriting.migration.migrated import Migrated, Migration


class JobReport(NamedTuple):
    """The report of one job."""

    migrated: Migrated
    review: Review
    losses: LossesOfJob

    @property
    def name(self) -> str:
        """The job's kind and name, with its namespace."""
        id = self.migrated.id
        return f"{self.migrated.word} {f'{id.namespace}/' if id.namespace else ''}{id.name}"

    @property
    def place(self) -> str:
        """The file and the line of the job."""
        document = self.migrated.document
        return f"{'<stdin>' if document.file == '-' else document.file}:{document.line}"

    @property
    def why(self) -> str:
        """Why the job has no better form; empty for the best one."""
        return "; ".join(f"no {each.form}: {one_line(each.reasons)}" for each in self.migrated.rejected)

    @property
    def mark(self) -> str:
        """The fields of the runtime that only trainc reads, and the ConfigMaps beside the job; empty without any."""
        candidate = self.migrated.candidate
        fields = f"only trainc reads {one_line(candidate.extensions)}" if candidate.extensions else ""
        files = f"with {named_files(candidate.files)}" if candidate.files else ""
        return "; ".join(filter(None, (fields, files)))


class MigrationReport(NamedTuple):
    """The report of all jobs."""

    jobs: tuple[JobReport, ...]
    migration: Migration


def load(name: str) -> Callable[..., str]:
    """Return the `render` function of a format."""
    render: Callable[..., str] = import_module(f"{__name__}.{name}").render
    return render


def report_of(migration: Migration) -> MigrationReport:
    """Return the report of a migration."""
    return MigrationReport(tuple(map(_job, migration.jobs)), migration)


def _job(migrated: Migrated) -> JobReport:
    found = [
        (run.environment, compare_jobs([run.before], [run.after], PLAIN, run.environment)) for run in migrated.runs
    ]
    is_one = len(found) == 1 and not found[0][0]
    review = found[0][1] if is_one else merged_reviews.merge_reviews(found)
    # The pods and their resources are the same; the number of nodes depends on the trainer's label, which may move.
    review = review._replace(pods=())
    return JobReport(migrated, review, next(losses([migrated.runs[0].before])))
