"""`trainc queues`: the Kueue queues in the given paths, with their maximum capacity and the TrainJobs that use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trainc.cli import options, printing
from trainc.cli.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc queues                           the queues and TrainJobs below the current folder
  trainc queues jobs/ platform/kueue/     TrainJobs and queues from two folders
  trainc queues --format json | jq '.[] | {queue, jobs}'
"""


@click.command(short_help="Show the capacity of Kueue's queues and their TrainJobs.", epilog=EPILOG)
@options.paths
@options.runtimes
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", help="Output format. Default: table."
)
@options.namespace
@options.environment
@options.settings
def command(
    paths: tuple[str, ...], runtimes: tuple[str, ...], form: str, namespace: str | None, settings: Settings
) -> int:
    """Show the ClusterQueues in PATH (files, folders or -; default: the project or the current folder).

    CAPACITY is the maximum of each flavor, borrowing included, in the order in which Kueue tries them. REQUESTED is the
    total of the queue's TrainJobs, and JOBS their number.
    """
    from trainc.compilation import compile

    result = compile(options.inputs(paths, settings), runtimes=runtimes, namespace=namespace, settings=settings)
    printing.report_diagnostics(result)
    if result.stopped:
        return WRONG_INPUT
    from trainc.kueue import summary

    found = summary.summaries((job.plan for job in result.jobs), result.others)
    if found or form == "json":
        printing.write(summary.as_json(found) if form == "json" else summary.rendered(found))
    else:
        printing.report("no ClusterQueue in the given paths\n")
    return WRONG_INPUT if result.failed else OK
