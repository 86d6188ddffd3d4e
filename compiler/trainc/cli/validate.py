"""`trainc validate`: everything that the cluster would say of the given TrainJobs and runtimes, without output."""

from __future__ import annotations

import sys

import click

from trainc.cli import OK, WRONG_INPUT, options

EPILOG = """\b
Examples:
  trainc validate                     check every TrainJob and runtime below the current folder
  trainc validate job.yaml -r platform/runtimes
  trainc validate --format json | jq '.[] | select(.severity == "error")'
"""


@click.command(epilog=EPILOG)
@options.paths
@options.runtimes
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="json: a list, for programs."
)
@options.namespace
def command(paths: tuple[str, ...], runtimes: tuple[str, ...], form: str, namespace: str | None) -> int:
    """Check the TrainJobs and runtimes found in PATH (files, folders, or -; by default the current folder)."""
    from trainc import reports
    from trainc.compilation import compile

    result = compile(paths or (".",), runtimes=runtimes, namespace=namespace)
    seen = f"{options.plural(len(result.jobs), 'TrainJob')}, {options.plural(result.runtimes, 'runtime')}"
    counted = options.summary(result)
    report = reports.load(form).render(
        result.diagnostics,
        summary=f"{counted} in {options.plural(result.files, 'file')}" if counted else f"no faults found: {seen}",
        color=form == "text" and options.colored(sys.stdout),
    )
    options.write(report)
    return WRONG_INPUT if result.failed else OK
