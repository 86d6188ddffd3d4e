"""`trainc krm`: the KRM function for kustomize and kpt."""

from __future__ import annotations

import os

from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command

EPILOG = """\b
Examples:
  kustomize build --enable-alpha-plugins --enable-exec overlays/team
  kpt fn eval jobs/ --exec "trainc krm" -- namespace=team strict=true
  trainc krm < resourcelist.yaml
"""


def function(budget: str) -> int:
    """Read a ResourceList on standard input and write it with each TrainJob replaced by its compiled objects."""
    from trainc import krm
    from trainc.budget import BUDGETS
    from trainc.files import inputs

    answer = krm.run(next(inputs.read([inputs.STDIN])), root=os.curdir, budget=BUDGETS[budget])
    result = answer.compilation
    printing.report_diagnostics(result)
    printing.write(answer.text)
    return WRONG_INPUT if result.failed else OK


command = Command(
    function,
    (options.PLUGIN_BUDGET,),
    short_help="Run as a KRM function for kustomize and kpt.",
    epilog=EPILOG,
)
