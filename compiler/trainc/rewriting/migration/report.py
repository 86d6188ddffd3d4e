"""The report of a migration: as text, Markdown or JSON.

Reads    a migration.
Returns  for each job its form, and why it has no better one; what its TrainJob and its runtime have; how its pods
         differ; and what cannot be kept. The details are for a verbose report. A Markdown report folds each job; those
         that do not fit a comment are omitted, and named in the last line. docs/migration.md documents the fields of
         the JSON report, of which losses are those of `trainc explain --losses`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.kinds import JOBS_OF_RUNTIME, POD
from trainc.base.texts import escape, escape_json, plural
from trainc.explain import losses as explained_losses
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of, listed
from trainc.reports.text import BOLD, painter
from trainc.review.formats.markdown import LONGEST, RESERVED_FOR_NOTICE, code, in_html, prose
from trainc.rewriting.migration.accepted_differences import one_line
from trainc.rewriting.migration.host_files import named_files
from trainc.rewriting.migration.migrated import FORMS
from trainc.rewriting.migration.output_files import documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.explain.losses import LossesOfJob
    from trainc.kubernetes.trees import Tree
    from trainc.rewriting.migration.accepted_differences import Row
    from trainc.rewriting.migration.migrated import DroppedComment, Migrated, Migration
    from trainc.rewriting.migration.output_files import NewJob

TIME_TO_LIVE: Final = "time-to-live"
SPACE: Final = LONGEST - RESERVED_FOR_NOTICE


class JobReport(NamedTuple):
    """The report of one job."""

    migrated: Migrated
    losses: LossesOfJob
    origin: str
    """Where its runtime comes from: `new`, `built-in`, or `existing`."""
    dropped: tuple[DroppedComment, ...]
    """The comments that the new documents do not have."""

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
    def runtime(self) -> str:
        """The runtime in words."""
        candidate = self.migrated.candidate
        return f"{self.origin} {candidate.runtime['kind']} {candidate.runtime_name}"

    @property
    def why(self) -> str:
        """Why the job has no better form; empty for the best one."""
        better = FORMS[: FORMS.index(self.migrated.candidate.form)]
        rejected = (each for each in self.migrated.rejected if each.form in better)
        return "; ".join(f"no {each.form}: {one_line(each.reasons)}" for each in rejected)

    @property
    def parts(self) -> Iterator[tuple[str, str]]:
        """The lines about the form and the documents, each with its first words."""
        candidate = self.migrated.candidate
        yield "form", f"{candidate.form} ({self.why})" if self.why else candidate.form
        yield "TrainJob", listed(_parts_of_job(candidate.job)) or "only the name of the runtime"
        yield "runtime", listed(_parts_of_runtime(candidate.runtime)) if self.origin == "new" else self.origin
        if candidate.extensions:
            yield "only trainc reads", f"{one_line(candidate.extensions)}: Trainer's API server refuses or drops it"
        if candidate.files:
            yield "beside it", named_files(candidate.files)

    def details(self, row: Row) -> Iterator[str]:
        """Yield the differences of a row one by one."""
        return (text for id, text in self.migrated.details if id == row.id)


def _parts_of_job(job: Tree) -> Iterator[str]:
    """Yield the fields of a TrainJob, and its variables by name."""
    spec: Tree = job["spec"]
    for key, field in spec.get("trainer", {}).items():
        yield f"env {' '.join(each['name'] for each in field)}" if key == "env" else key
    yield from (key for key in spec if key not in ("runtimeRef", "trainer"))


def _parts_of_runtime(runtime: Tree) -> Iterator[str]:
    """Yield the parts of a runtime: its policies, the fields of its JobSet, and its Jobs."""
    spec: Tree = runtime["spec"]
    yield from (f"mlPolicy.{key}" for key in spec.get("mlPolicy", {}) if key != "numNodes")
    yield from (f"podGroupPolicy.{key}" for key in spec.get("podGroupPolicy", {}))
    yield from (key for key in spec["template"]["spec"] if key != "replicatedJobs")
    for job in get(runtime, JOBS_OF_RUNTIME, []):
        fields = [key for key in job["template"]["spec"] if key != "template"]
        fields += (key for key in get(job, POD) if key != "containers")
        yield f"Job {job['name']} ({', '.join((*fields, 'containers'))})"


class MigrationReport(NamedTuple):
    """The report of all jobs."""

    jobs: tuple[JobReport, ...]
    migration: Migration


def report_of(migration: Migration) -> MigrationReport:
    """Return the report of a migration."""
    new = migration.runtimes
    return MigrationReport(tuple(_job(job, new) for job in documents(migration).jobs), migration)


def _job(job: NewJob, new: dict[str, Tree]) -> JobReport:
    migrated, candidate = job.migrated, job.migrated.candidate
    origin = "built-in" if candidate.is_built_in else "new" if candidate.runtime_name in new else "existing"
    losses = next(explained_losses.losses([migrated.runs[0].before]))
    return JobReport(migrated, losses, origin, job.texts.dropped)


def notices(migration: Migration) -> Iterator[str]:
    """Yield a line for what the owner of a job must know without a report: what only trainc reads, and what is lost."""
    for job in report_of(migration).jobs:
        if extensions := job.migrated.candidate.extensions:
            reads = f"only trainc reads {one_line(extensions)}, which Trainer refuses or drops"
            yield f"{job.place}: {job.name}: {reads}: --no-extensions uses another form"
        for row in job.migrated.rows:
            if row.id == TIME_TO_LIVE:
                yield f"{job.place}: {job.name}: {row.difference}: {row.reason}"
        if job.losses.losses:
            yield f"{job.place}: {job.name}: cannot be kept:"
            _, *lines = explained_losses.render([job.losses], color=False)
            yield from "".join(lines).splitlines()


def as_text(report: MigrationReport, *, color: bool = False, verbose: bool = False) -> str:
    """Return the report for a terminal."""
    return "\n".join("".join(_text_of_job(job, color=color, verbose=verbose)) for job in report.jobs)


def _text_of_job(job: JobReport, *, color: bool, verbose: bool) -> Iterator[str]:
    heading = painter(color)(BOLD, escape(f"{job.name} ({job.place})"))
    yield f"{heading}{escape(f' becomes a TrainJob with the {job.runtime}')}\n"
    for first, text in job.parts:
        yield f"  {first}: {escape(text)}\n"
    for row in job.migrated.rows:
        yield f"  - {row.difference}: {row.reason}\n"
        if verbose:
            yield from (f"      {escape(text)}\n" for text in job.details(row))
    for line, _, comment in job.dropped:
        yield f"  - the comment in line {line} is dropped: {escape(comment)}\n"
    if job.losses.losses:
        yield "  cannot be kept:\n"
        _, *lines = explained_losses.render([job.losses], color=color)
        yield from (f"  {line}\n" for line in "".join(lines).splitlines())


def as_markdown(report: MigrationReport, *, color: bool = False, verbose: bool = False) -> str:
    """Return the report for a pull request."""
    parts = ["\n".join(_table(report))]
    space = SPACE - len(parts[0].encode())
    omitted = []
    for job in report.jobs:
        text = "\n\n".join(_markdown_of_job(job, verbose=verbose))
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
    yield "| job | form | runtime |"
    yield "|---|---|---|"
    for job in report.jobs:
        mark = "<br>Trainer refuses it: only trainc reads it" if job.migrated.candidate.extensions else ""
        yield f"| {code(job.name)} | {job.migrated.candidate.form} | {prose(job.runtime)}{mark} |"


def _markdown_of_job(job: JobReport, *, verbose: bool) -> Iterator[str]:
    yield f"<details><summary>{in_html(job.name)} in {in_html(job.place)}</summary>"
    yield "\n".join(f"- **{first}**: {prose(text)}" for first, text in job.parts)
    lines = []
    for row in job.migrated.rows:
        lines.append(f"- {row.difference}: {row.reason}")
        lines += (f"  - {prose(text)}" for text in (job.details(row) if verbose else ()))
    lines += (f"- the comment in line {each.line} is dropped: {code(each.text)}" for each in job.dropped)
    yield "\n".join(lines)
    if found := [*_rows_of_losses(job)]:
        yield "\n".join(
            ("Cannot be kept:", "", "| field | effect | reason | what to do |", "|---|---|---|---|", *found)
        )
    yield "</details>"


def _rows_of_losses(job: JobReport) -> Iterator[str]:
    for each in job.losses.losses:
        rule = each.loss.rule
        cells = (code(field_of(each.loss.path)), prose(rule.effect), prose(each.loss.reason), prose(rule.action))
        yield f"| {' | '.join(cells)} |"


def as_json(report: MigrationReport, *, color: bool = False, verbose: bool = False) -> str:
    """Return the report for programs."""
    content = {
        "jobs": [_json_of_job(job) for job in report.jobs],
        "runtimes": [*report.migration.runtimes],
        "left": len(report.migration.legacy) - len(report.jobs),
    }
    return escape_json(json.dumps(content, indent=2, ensure_ascii=False)) + "\n"


def _json_of_job(job: JobReport) -> Tree:
    migrated, candidate = job.migrated, job.migrated.candidate
    return {
        "job": migrated.id._asdict(),
        "file": migrated.document.file,
        "line": migrated.document.line,
        "form": candidate.form,
        "rejected": [{"form": each.form, "reasons": [*each.reasons]} for each in migrated.rejected],
        "runtime": {"kind": candidate.runtime["kind"], "name": candidate.runtime_name, "origin": job.origin},
        "extensions": [*candidate.extensions],
        "files": [file["metadata"]["name"] for file in candidate.files],
        "ofTrainJob": [*_parts_of_job(candidate.job)],
        "ofRuntime": [*_parts_of_runtime(candidate.runtime)],
        "differences": [
            {"id": row.id, "difference": row.difference, "reason": row.reason, "changes": [*job.details(row)]}
            for row in migrated.rows
        ],
        "droppedComments": [each._asdict() for each in job.dropped],
        "losses": json.loads("".join(explained_losses.render_json([job.losses]))),
    }


FORMATS: Final[dict[str, Callable[..., str]]] = {"text": as_text, "markdown": as_markdown, "json": as_json}
