"""`trainc queues`: the Kueue queues in the given paths, with their maximum capacity and the TrainJobs that use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command

if TYPE_CHECKING:
    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic

EPILOG = """\b
Examples:
  trainc queues                           all queues and TrainJobs
  trainc queues jobs/ platform/kueue/     those of two folders
  trainc queues --format json | jq '.[] | {queue, jobs}'
"""


@options.with_run
def show(paths: tuple[str, ...], run: Run, form: str) -> int:
    """Show the ClusterQueues in PATH (files, folders or -; default: the project or the current folder).

    CAPACITY is the maximum of each flavor, borrowing included, in the order in which Kueue tries them. REQUESTED is the
    total of the queue's TrainJobs, and JOBS their number.
    """
    from trainc.compilation import compile_paths
    from trainc.compilation.run import QUEUES

    result = compile_paths(run.inputs, run._replace(purpose=QUEUES))
    printing.report_errors(result, run, _is_about_queues)
    if result.stopped:
        return WRONG_INPUT
    printing.report_stand_ins(result, run)
    from trainc.kueue import usage

    found = usage.summaries((job.plan for job in result.shown), result.others)
    if found or form == "json":
        printing.write(usage.as_json(found) if form == "json" else usage.rendered(found))
    else:
        printing.report("no ClusterQueue in the given paths\n")
    return WRONG_INPUT if result.failed else OK


command = Command(
    show,
    (
        options.PATHS,
        options.RUNTIMES,
        options.format_option("Output format. Default: table.", ("table", "json")),
        options.NAMESPACE,
        options.ENVIRONMENT,
        *options.SETTINGS,
    ),
    short_help="Show the capacity of Kueue's queues and their TrainJobs.",
    epilog=EPILOG,
)


def _is_about_queues(diagnostic: Diagnostic) -> bool:
    return diagnostic.stage == "queue" or diagnostic.object.apiVersion.startswith("kueue.x-k8s.io/")
