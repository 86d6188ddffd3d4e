"""`trainc graph`: each TrainJob's dependencies, as a tree or as a diagram for a review."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from trainc.cli.common import options, printing
from trainc.cli.common.arguments import Command, Option
from trainc.cli.common.codes import OK, WRONG_INPUT

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
    from trainc.compilation import compile_paths
    from trainc.compilation.run import GRAPH

    result = compile_paths(run.inputs, run._replace(purpose=GRAPH))
    printing.report_skipped(result.skipped, run)
    if not result.failed and not result.shown:
        from trainc.cli.build import no_trainjobs

        result = result.with_diagnostics([no_trainjobs(result)])
    printing.report_errors(result, run)
    if result.failed:
        return WRONG_INPUT
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
        Option(
            ("--format",),
            "Output format; mermaid is Markdown with diagrams. Default: text, a tree for the terminal.",
            name="form",
            choices=FORMATS,
            default="text",
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
