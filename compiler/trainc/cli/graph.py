"""`trainc graph`: each TrainJob's dependencies, as a tree or as a diagram for a review."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command

if TYPE_CHECKING:
    from trainc.compilation import Run

FORMATS = ("text", "mermaid")
EPILOG = """\b
Examples:
  trainc graph jobs/                      a tree for every TrainJob
  trainc graph jobs/ --only lattice       only TrainJobs with this name
  trainc graph job.yaml --format mermaid  a diagram for Markdown
"""


@options.with_run
def show(paths: tuple[str, ...], run: Run, form: str) -> int:
    """Show the runtime, jobs, gang, rendezvous endpoint and referenced objects of each TrainJob in PATH.

    PATH is files, folders or -; the default is the project or the current folder.
    """
    from trainc.compilation.run import GRAPH

    result = printing.compiled_jobs(run, GRAPH)
    if result.failed:
        return WRONG_INPUT
    printing.report_stand_ins(result, run)
    from trainc import budget
    from trainc.base import texts as columns
    from trainc.explain import graph

    graphs = [graph.graph_of(job, result.others) for job in result.shown]
    width = {"width": columns.terminal()} if form == "text" else {}
    printing.write(
        *budget.checked_output(result.budget, [import_module(f"trainc.explain.graph.{form}").render(graphs, **width)])
    )
    return OK


command = Command(
    show,
    (
        options.PATHS,
        options.RUNTIMES,
        options.format_option(
            "Output format; mermaid is Markdown with diagrams. Default: text, a tree for the terminal.", FORMATS
        ),
        options.ONLY._replace(help="Show only TrainJobs with this name."),
        options.NAMESPACE,
        options.ENVIRONMENT,
        *options.SETTINGS,
        *options.SUFFIX,
    ),
    short_help="Show the dependencies of TrainJobs.",
    epilog=EPILOG,
)
