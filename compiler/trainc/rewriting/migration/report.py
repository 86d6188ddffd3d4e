"""The report of a migration, as text for a terminal, Markdown for a pull request, or JSON for programs.

Reads    a migration.
Returns  for each job its form, why it has no better one, its runtime, the review of its objects and its losses. A
         Markdown report folds the details of each job; those that do not fit a comment are omitted, and named in the
         last line. docs/migration.md documents the fields of the JSON report, of which a review is that of `trainc diff
         --format json`, and losses are those of `trainc explain --losses`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.texts import escape, escape_json, plural, table
from trainc.compilation.run import PLAIN
from trainc.explain import losses as explained_losses
from trainc.kubernetes.violations import field_of
from trainc.reports.text import BOLD, painter
from trainc.review import compare_jobs, merged_reviews
from trainc.review.formats import json as review_json
from trainc.review.formats import markdown as review_markdown
from trainc.review.formats import text as review_text
from trainc.review.formats.markdown import code, in_html, prose
from trainc.rewriting.migration.accepted_differences import one_line
from trainc.rewriting.migration.host_files import named_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.explain.losses import LossesOfJob
    from trainc.kubernetes.trees import Tree
    from trainc.review.reviewed import Review
    from trainc.rewriting.migration.migrated import Migrated, Migration

LONGEST: Final = review_markdown.LONGEST - review_markdown.RESERVED_FOR_NOTICE


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
    return JobReport(migrated, review, next(explained_losses.losses([migrated.runs[0].before])))


def as_text(report: MigrationReport, *, color: bool = False) -> str:
    """Return the report for a terminal."""
    return "\n".join((_summary(report), *(_text_of_job(job, color=color) for job in report.jobs)))


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


def _text_of_job(job: JobReport, *, color: bool) -> str:
    paint = painter(color)
    return "".join((f"{paint(BOLD, escape(f'{job.name} ({job.place})'))}\n", *_text_parts(job, color=color)))


def _text_parts(job: JobReport, *, color: bool) -> Iterator[str]:
    for row in job.migrated.rows:
        yield f"  {row.difference}: {row.reason}\n"
    yield f"\n{review_text.render(job.review, color=color)}"
    if job.losses.losses:
        yield "\n"
        yield from explained_losses.render([job.losses], color=color)


def as_markdown(report: MigrationReport, *, color: bool = False) -> str:
    """Return the report for a pull request."""
    parts = ["\n".join(_table(report))]
    space = LONGEST - len(parts[0].encode())
    omitted = []
    for job in report.jobs:
        text = "\n\n".join(_markdown_of_job(job))
        space -= len(text.encode()) + 2
        if space < 0:
            omitted.append(code(job.name))
        else:
            parts.append(text)
    if omitted:
        parts.append(f"_The details of {', '.join(omitted[:10])} do not fit; `trainc migrate --diff` shows everything_")
    return "\n\n".join(parts) + "\n"


def _table(report: MigrationReport) -> Iterator[str]:
    jobs, runtimes = plural(len(report.jobs), "job"), plural(len(report.migration.runtimes), "new runtime")
    yield f"**{jobs} migrated, {runtimes}**"
    yield ""
    yield "| job | form | why no better one | runtime |"
    yield "|---|---|---|---|"
    for job in report.jobs:
        candidate = job.migrated.candidate
        runtime = code(candidate.runtime_name) + (f"<br>{prose(job.mark)}" if job.mark else "")
        yield f"| {code(job.name)} | {candidate.form} | {prose(job.why)} | {runtime} |"


def _markdown_of_job(job: JobReport) -> Iterator[str]:
    yield f"<details><summary>{in_html(job.name)} in {in_html(job.place)}</summary>"
    yield "\n".join(f"- {row.difference}: {row.reason}" for row in job.migrated.rows)
    yield review_markdown.render(job.review).rstrip("\n")
    if lines := [*_rows_of_losses(job)]:
        yield "\n".join(("| field | effect | reason | what to do |", "|---|---|---|---|", *lines))
    yield "</details>"


def _rows_of_losses(job: JobReport) -> Iterator[str]:
    for each in job.losses.losses:
        rule = each.loss.rule
        cells = (code(field_of(each.loss.path)), prose(rule.effect), prose(each.loss.reason), prose(rule.action))
        yield f"| {' | '.join(cells)} |"


def as_json(report: MigrationReport, *, color: bool = False) -> str:
    """Return the report for programs."""
    content = {
        "jobs": [_json_of_job(job) for job in report.jobs],
        "runtimes": [*report.migration.runtimes],
        "left": len(report.migration.legacy) - len(report.jobs),
    }
    return escape_json(json.dumps(content, indent=2, ensure_ascii=False)) + "\n"


def _json_of_job(job: JobReport) -> Tree:
    migrated = job.migrated
    return {
        "job": migrated.id._asdict(),
        "file": migrated.document.file,
        "line": migrated.document.line,
        "form": migrated.candidate.form,
        "rejected": [{"form": each.form, "reasons": [*each.reasons]} for each in migrated.rejected],
        "runtime": migrated.candidate.runtime_name,
        "extensions": [*migrated.candidate.extensions],
        "files": [file["metadata"]["name"] for file in migrated.candidate.files],
        "differences": [{"id": row.id, "difference": row.difference, "reason": row.reason} for row in migrated.rows],
        "review": json.loads(review_json.render(job.review)),
        "losses": json.loads("".join(explained_losses.render_json([job.losses]))),
    }


FORMATS: Final[dict[str, Callable[..., str]]] = {"text": as_text, "markdown": as_markdown, "json": as_json}
