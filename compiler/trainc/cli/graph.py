"""`trainc graph`: each TrainJob's dependencies, as a tree or as a diagram for a review."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from trainc.cli import options, printing
from trainc.cli.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    from trainc.settings import Settings

FORMATS = ("text", "mermaid")
EPILOG = """\b
Examples:
  trainc graph jobs/                      a tree for every TrainJob below jobs/
  trainc graph jobs/ --only lattice       only TrainJobs with this name
  trainc graph job.yaml --format mermaid  a diagram for a comment or page on GitHub or GitLab
"""


@click.command(short_help="Show the dependencies of TrainJobs.", epilog=EPILOG)
@options.paths
@options.runtimes
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    help="Output format; mermaid is Markdown with diagrams. Default: text, a tree for the terminal.",
)
@click.option("--only", metavar="NAME", shell_complete=options.job_names, help="Show only TrainJobs with this name.")
@options.namespace
@options.environment
@options.settings
@options.suffix
def command(
    paths: tuple[str, ...],
    runtimes: tuple[str, ...],
    form: str,
    only: str | None,
    namespace: str | None,
    settings: Settings,
) -> int:
    """Show the runtime, jobs, gang, rendezvous endpoint and referenced objects of each TrainJob in PATH.

    PATH is files, folders or -; the default is the project or the current folder.
    """
    from trainc.compilation import compile

    result = compile(
        options.inputs(paths, settings), runtimes=runtimes, only=only, namespace=namespace, settings=settings
    )
    printing.report_skipped(result.skipped, verbose=settings.verbose)
    if not result.failed and not result.jobs:
        from trainc.cli.build import nothing

        result = result.saying([nothing(result)])
    printing.report_diagnostics(result)
    if result.failed:
        return WRONG_INPUT
    from trainc import budget, columns, graph

    graphs = [graph.of(job, result.others) for job in result.jobs]
    width = {"width": columns.terminal()} if form == "text" else {}
    printing.write(*budget.within(result.budget, [import_module(f"trainc.graph.{form}").render(graphs, **width)]))
    return OK
