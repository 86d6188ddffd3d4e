"""`trainc krm`: the KRM function for kustomize and kpt."""

from __future__ import annotations

import os

import click

from trainc.cli import options, printing
from trainc.cli.codes import OK, WRONG_INPUT

EPILOG = """\b
Examples:
  kustomize build --enable-alpha-plugins --enable-exec overlays/team
  kpt fn eval jobs/ --exec "trainc krm" -- namespace=team strict=true
  trainc krm < resourcelist.yaml
"""


@click.command(short_help="Run as a KRM function for kustomize and kpt.", epilog=EPILOG)
@options.plugin_budget
def command(budget: str) -> int:
    """Read a ResourceList on standard input and write it with each TrainJob replaced by its compiled objects."""
    from trainc import inputs, krm
    from trainc.budget import BUDGETS

    answer = krm.run(next(inputs.read([inputs.STDIN])), root=os.curdir, budget=BUDGETS[budget])
    result = answer.compilation
    printing.report_diagnostics(result)
    printing.write(answer.text)
    return WRONG_INPUT if result.failed else OK
