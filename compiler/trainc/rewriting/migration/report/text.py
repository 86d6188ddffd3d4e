"""Text, for a terminal.

Reads    a report.
Returns  a table of the jobs, then for each job its review and the losses of the fields that its author wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.texts import table
from trainc.explain import losses
from trainc.reports.text import BOLD, painter
from trainc.review.formats import text as review_text
from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.rewriting.migration.report import JobReport, MigrationReport


def render(report: MigrationReport, *, color: bool = False) -> str:
    """Return the report."""
    return "\n".join((_summary(report), *(_details(job, color=color) for job in report.jobs)))


def _summary(report: MigrationReport) -> str:
    rows = [
        ("JOB", "FORM", "RUNTIME"),
        *((job.name, job.migrated.candidate.form, _runtime(job)) for job in report.jobs),
    ]
    lines = table([tuple(map(escape, row)) for row in rows])
    notes = [f"{job.name}: {job.why}" for job in report.jobs if job.why]
    return "".join(f"{line}\n" for line in (*lines, *([""] if notes else []), *map(escape, notes)))


def _runtime(job: JobReport) -> str:
    name = job.migrated.candidate.runtime_name
    return f"{name} ({job.mark})" if job.mark else name


def _details(job: JobReport, *, color: bool) -> str:
    paint = painter(color)
    return "".join((f"{paint(BOLD, escape(f'{job.name} ({job.place})'))}\n", *_parts(job, color=color)))


def _parts(job: JobReport, *, color: bool) -> Iterator[str]:
    for row in job.migrated.rows:
        yield f"  {row.difference}: {row.reason}\n"
    yield f"\n{review_text.render(job.review, color=color)}"
    written = job.losses._replace(losses=tuple(each for each in job.losses.losses if each.is_written))
    if written.losses:
        yield "\n"
        yield from losses.render([written], color=color)
