"""`trainc pods`: the pods of the compiled JobSets, with the environment of each container at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trainc.cli.common import options, printing
from trainc.cli.common.arguments import Command, Option
from trainc.cli.common.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.compilation import Compilation, Run
    from trainc.pods import Job

MOST_NAMES = 1000
"""The maximum number of Jobs among which a misspelt name is searched."""
EPILOG = """\b
Examples:
  trainc pods job.yaml                    the pods, and one of each kind
  trainc pods job.yaml --index 3          only pods with completion index 3
  trainc pods job.yaml --job launcher     only pods of this job
  trainc pods job.yaml --format json | jq '.[0].containers[0].env'
"""


@options.with_run
def show(paths: tuple[str, ...], run: Run, form: str, job: str | None, index: int | None) -> int:
    """Show the pods of the TrainJobs in PATH (files, folders or -; default: the project or the current folder)."""
    from trainc.compilation import compile_paths
    from trainc.compilation.run import PODS

    result = compile_paths(run.inputs, run._replace(purpose=PODS))
    printing.report_skipped(result.skipped, run)
    if not result.failed and not result.shown:
        from trainc.cli.build import no_trainjobs

        result = result.with_diagnostics([no_trainjobs(result)])
    printing.report_errors(result, run)
    if result.failed:
        return WRONG_INPUT
    printing.report_stand_ins(result, run)
    from trainc import budget, pods

    listed = sum(pods.count(compiled.objects[0], job, index, each=form == "json") for compiled in result.shown)
    budget.check(result.budget, "pods", listed)
    for part in budget.checked_output(result.budget, _rendered(_chosen(result, job, index), index, form)):
        printing.write(part)
    return OK


def _chosen(result: Compilation, name: str | None, index: int | None) -> list[Job]:
    """Return the selected Jobs. Raise UsageError if a selector matches nothing."""
    from trainc.api.views import jobs_of

    chosen = list(jobs_of(result, name))
    if name is not None and not chosen:
        from itertools import islice

        from trainc.base.suggestions import nearest_name

        jobs = list(islice(jobs_of(result), MOST_NAMES))
        names = sorted({word for job in jobs for word in (job.replicated["name"], job.name)})
        near = nearest_name(name, names)
        known = sorted({job.replicated["name"] for job in jobs})
        hint = f"did you mean {near}?" if near else f"the replicated jobs are {', '.join(known)}."
        if not known:
            hint = "there are none."
        raise click.UsageError(f'Unknown job "{name}": {hint}')
    if index is not None and not any(job.indexed and index < job.size for job in chosen):
        last = max((job.size for job in chosen if job.indexed), default=0) - 1
        hint = f"the indexes are 0 to {last}." if last >= 0 else "these pods have no index."
        raise click.UsageError(f"No pod has completion index {index}: {hint}")
    return [job for job in chosen if index is None or (job.indexed and index < job.size)]


def _rendered(jobs: list[Job], index: int | None, form: str) -> Iterable[str]:
    if form == "json":
        from trainc.pods import json

        return json.render(pod for job in jobs for pod in job.pods(index))
    from trainc.base.texts import terminal
    from trainc.pods import table

    return (table.render(jobs, index, terminal()),)


command = Command(
    show,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(
            ("--format",),
            "Output format; json has every field. Default: table, folded to the terminal's width.",
            name="form",
            choices=("table", "json"),
            default="table",
        ),
        options.ONLY._replace(help="Show only pods of TrainJobs with this name."),
        Option(("--job",), "Show only pods of this replicated job or Job.", metavar="JOB"),
        Option(("--index",), "Show only pods with this completion index.", metavar="I", type=click.IntRange(min=0)),
        options.NAMESPACE,
        options.ENVIRONMENT,
        *options.SETTINGS,
        *options.SUFFIX,
    ),
    short_help="Show the pods of TrainJobs.",
    epilog=EPILOG,
)
