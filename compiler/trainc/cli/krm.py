"""`trainc krm`: a function of kustomize or kpt, which reads a ResourceList and writes one."""

from __future__ import annotations

import os
import sys

import click

from trainc.cli import options
from trainc.cli.codes import OK, WRONG_INPUT

EPILOG = """\b
Examples:
  kustomize build --enable-alpha-plugins --enable-exec overlays/team
  kpt fn eval jobs/ --exec "trainc krm" -- namespace=team strict=true
  trainc krm < resourcelist.yaml
"""


@click.command(short_help="Be a function of kustomize or kpt.", epilog=EPILOG)
def command() -> int:
    """Read a ResourceList on standard input, and write it with JobSets in the place of its TrainJobs."""
    from trainc import inputs, krm

    answer = krm.run(next(inputs.read([inputs.STDIN])), root=os.curdir)
    done = answer.compilation
    if done.diagnostics:
        from trainc.reports import text

        options.report(text.render(done.diagnostics, summary=options.summary(done), color=options.colored(sys.stderr)))
    options.write(answer.text)
    return WRONG_INPUT if done.failed else OK
