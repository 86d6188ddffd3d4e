"""`trainc cmp`: the commands of the Argo CD plugin, which its plugin server runs in the application's folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from trainc.cli import options
from trainc.cli.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    from trainc.argocd.manifests import Answer

EPILOG = """\b
Examples:
  trainc cmp generate
  ARGOCD_APP_PARAMETERS='[{"name":"only","string":"finetune"}]' trainc cmp generate
"""


@click.group(short_help="The commands of the Argo CD plugin.", epilog=EPILOG)
def command() -> None:
    """Answer Argo CD's plugin server (integrations/argocd, docs/gitops.md)."""


@command.command(short_help="Print the manifests of the current folder.")
def generate() -> int:
    """Print the objects of every TrainJob in the current folder, and the documents of other kinds; nothing else."""
    from trainc.argocd import environment, manifests, parameters

    answer = manifests.generate(environment.read(os.environ, parameters.NAMES))
    _report_errors(answer)
    if answer.result.failed:
        return WRONG_INPUT
    options.write(answer.text)
    return OK


@command.command(short_help="Say whether there is a TrainJob below the current folder.")
def discover() -> int:
    """Print the path of a file that has a TrainJob; nothing where there is none, which is no error."""
    from trainc.argocd import discovery, environment

    found = discovery.find(environment.root(os.environ), named=environment.PARAMETERS in os.environ)
    if found is not None:
        from trainc.source.printable import escape

        options.write(f"{escape(found)}\n")
    return OK


@command.command("parameters", short_help="Announce the parameters.")
def announce() -> int:
    """Print the parameters of the plugin, as JSON, for Argo CD's forms."""
    import json

    from trainc.argocd import discovery, environment, parameters

    jobs = discovery.names(environment.root(os.environ))
    options.write(json.dumps(parameters.announcement(jobs), indent=1) + "\n")
    return OK


def _report_errors(answer: Answer) -> None:
    """Say on standard error what there is to say: Argo CD shows it with an exit code other than 0, and else logs it."""
    from trainc.reports import text

    if answer.result.diagnostics or answer.notes:
        summary = "\n".join(line for line in (options.summary(answer.result), *answer.notes) if line)
        options.report(text.render(answer.result.diagnostics, summary=summary, color=False))
