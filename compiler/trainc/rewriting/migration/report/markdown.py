"""Markdown, for a pull request: a table of the jobs, and folded details.

Reads    a report.
Returns  the table, then for each job its accepted differences, its review and its losses, folded. Details that do not
         fit a comment are omitted, and named in the last line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.base.texts import plural
from trainc.kubernetes.violations import field_of
from trainc.review.formats import markdown as review_markdown
from trainc.review.formats.markdown import code, in_html, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.rewriting.migration.report import JobReport, MigrationReport

LONGEST = review_markdown.LONGEST - review_markdown.RESERVED_FOR_NOTICE


def render(report: MigrationReport, *, color: bool = False) -> str:
    """Return the report."""
    parts = ["\n".join(_table(report))]
    space = LONGEST - len(parts[0].encode())
    omitted = []
    for job in report.jobs:
        text = "\n\n".join(_details(job))
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


def _details(job: JobReport) -> Iterator[str]:
    yield f"<details><summary>{in_html(job.name)} in {in_html(job.place)}</summary>"
    yield "\n".join(f"- {row.difference}: {row.reason}" for row in job.migrated.rows)
    yield review_markdown.render(job.review).rstrip("\n")
    if lines := [*_losses(job)]:
        yield "\n".join(("| field | effect | reason | what to do |", "|---|---|---|---|", *lines))
    yield "</details>"


def _losses(job: JobReport) -> Iterator[str]:
    for each in job.losses.losses:
        if each.is_written:
            rule = each.loss.rule
            cells = (code(field_of(each.loss.path)), prose(rule.effect), prose(each.loss.reason), prose(rule.action))
            yield f"| {' | '.join(cells)} |"
