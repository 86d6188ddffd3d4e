"""`trainc cmp`: the commands of the Argo CD plugin. Argo CD's plugin server runs them in the application's folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.argocd.discovery import Search
    from trainc.argocd.generate import GeneratedManifests
    from trainc.settings.nested_projects import RunProject

EPILOG = """\b
Examples:
  trainc cmp generate
  export ARGOCD_APP_PARAMETERS='[{"name":"only","string":"finetune"}]'
  trainc cmp generate
"""


@click.group(short_help="Run as an Argo CD plugin.", epilog=EPILOG)
def command() -> None:
    """Run the commands of the Argo CD plugin (integrations/argocd, docs/argo-cd.md)."""


def generate(budget: str) -> int:
    """Print only the objects of every TrainJob in the current folder and the documents of other kinds."""
    from trainc.argocd import generate as manifests
    from trainc.argocd import parameters, plugin_environment
    from trainc.budget import BUDGETS

    answer = manifests.generate(plugin_environment.read(os.environ, parameters.PARAMETERS), BUDGETS[budget])
    _report_errors(answer)
    if answer.result.failed:
        return WRONG_INPUT
    printing.write(answer.text)
    return OK


def discover() -> int:
    """Print the path of a file that has a TrainJob, or nothing if there is none; both are a success."""
    from trainc.argocd import discovery, plugin_environment

    root = plugin_environment.root(os.environ)
    found = discovery.find(root, _searched(_projects(root)), named=plugin_environment.PARAMETERS in os.environ)
    if found is not None:
        from trainc.base.texts import escape

        printing.write(f"{escape(found)}\n")
    return OK


def announce() -> int:
    """Print the plugin's parameters as JSON, for Argo CD's forms."""
    import json

    from trainc.argocd import discovery, parameters, plugin_environment
    from trainc.base.texts import escape_json

    root = plugin_environment.root(os.environ)
    projects = _projects(root)
    names = dict.fromkeys(name for each in projects for name in each.settings.environment_names)
    announced = parameters.announcement(discovery.names(root, _searched(projects)), tuple(names))
    printing.write(escape_json(json.dumps(announced, indent=1)) + "\n")
    return OK


def _projects(root: str) -> list[RunProject]:
    """Return the projects of an application."""
    from functools import partial

    from trainc.budget import UNLIMITED, Meter
    from trainc.files import inputs
    from trainc.files.selection import Selection
    from trainc.settings import DEFAULT, nearest_settings, read
    from trainc.settings.nested_projects import Files, find

    files = Files(
        nearest=partial(nearest_settings, root=root),
        load=lambda file: DEFAULT if file is None else read(file, root=root),
        selection=lambda own: Selection(settings=own.files, patches=own.patch_files, exclude=own.exclude),
        read=partial(inputs.read, root=root),
    )
    return find((os.curdir,), files, Meter(UNLIMITED))


def _searched(projects: Sequence[RunProject]) -> list[Search]:
    """Return how to search each project, with the kinds that it compiles in any of its environments."""
    from trainc.argocd import parameters, plugin_environment
    from trainc.argocd.discovery import Search
    from trainc.base.kinds import COMPILED, LEGACY
    from trainc.settings import in_environment

    given, _ = parameters.read_options(plugin_environment.read(os.environ, parameters.PARAMETERS))
    folders = [project.folder for project in projects if project.file]
    searched = []
    for project in projects:
        settings = project.settings
        each = [settings, *(in_environment(settings, name) for name in settings.environment_names)]
        enabled = {row for one in each for row in one.kinds}
        kinds = (*COMPILED, *(row for row in LEGACY if given.legacy or row in enabled))
        searched.append(Search(project.paths, kinds, settings.exclude, folders))
    return searched


def _report_errors(answer: GeneratedManifests) -> None:
    """Write the diagnostics to standard error. Argo CD shows them if the exit code is not 0, otherwise it logs them."""
    from trainc.reports import text

    notes = [line for line in (*answer.notes, printing.unsupported_note(answer.result)) if line]
    if answer.result.diagnostics or notes:
        summary = "\n".join(line for line in (printing.summary(answer.result), *notes) if line)
        printing.report(text.render(answer.result.diagnostics, summary=summary, color=False))


for name, subcommand in {
    "generate": Command(generate, (options.PLUGIN_BUDGET,), short_help="Print the manifests of the current folder."),
    "discover": Command(discover, (), short_help="Find a TrainJob below the current folder."),
    "parameters": Command(announce, (), short_help="Print the parameter announcement."),
}.items():
    command.add_command(subcommand.click_command(name))
