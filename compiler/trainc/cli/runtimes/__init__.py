"""`trainc runtimes`: list, print, export, pull or import the runtimes that a TrainJob can refer to.

Each subcommand is a module of this package. Without one, the command lists, or prints the runtime NAME.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from trainc.cli import options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from trainc.kubernetes.violations import FieldValidation

SUBCOMMANDS: Final = {"list": "list", "show": "show", "export": "export", "pull": "pull", "import": "import_"}
"""The subcommands in help order, each with its module."""

EPILOG = """\b
Subcommands ('trainc runtimes pull --help' prints its options and examples):
  list [PATH]...        list the runtimes; the default
  show NAME [PATH]...   print a runtime
  export [NAME]...      write built-in runtimes, to edit them in a repository
  pull                  pin the runtimes of a cluster, read with kubectl
  import FILE           pin the runtimes of a saved answer of kubectl, or of a rendered chart

\b
Examples:
  trainc runtimes                         list the runtimes below the current folder and the built-in ones
  trainc runtimes platform/runtimes       list these and the built-in ones
  trainc runtimes --wide                  list with the image and resources of a node
  trainc runtimes --format json | jq -r '.[].name'
  trainc runtimes torch-distributed       print a runtime
  trainc runtimes --export runtimes/      write the built-in runtimes, to pin them in a repository
  trainc runtimes pull                    write the runtimes of the current cluster to runtimes/
  trainc runtimes pull --check            exit 3 with a diff if they have changed
"""


class Runtimes(click.Command):
    """A command whose first word may be a subcommand, which then takes its place."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the subcommand if the first word is one."""
        if args and args[0] in SUBCOMMANDS:
            found: click.Command = import_module(f"{__name__}.{SUBCOMMANDS[args[0]]}").command
            return found.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a subcommand as the first word, the name of a runtime, or a file if none matches."""
    from click.shell_completion import CompletionItem

    from trainc.cli.runtimes.names import names_or_files

    first = [] if ctx.params.get("arguments") else [name for name in SUBCOMMANDS if name.startswith(incomplete)]
    found = names_or_files(ctx, param, incomplete)
    return [*map(CompletionItem, first), *(item for item in found if not first or item.type == "plain")]


@click.command(cls=Runtimes, short_help="List, print, export, pull or import runtimes.", epilog=EPILOG)
@click.argument("arguments", nargs=-1, metavar="[NAME] [PATH]...", shell_complete=words)
@options.runtimes
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    help="json: a list with all columns, for programs; the default is a table.",
)
@click.option("--wide", is_flag=True, help="Also list a node's image and resource requests.")
@click.option(
    "--export",
    metavar="DIR",
    help="Write each built-in runtime to DIR/<name>.yaml; existing files are kept.",
    shell_complete=options.folder_names,
)
@options.FIELD_VALIDATION.decorate
@options.BUDGET.decorate
@options.FOLLOW_LINKS.decorate
@options.EXCLUDE.decorate
@options.VERBOSE.decorate
def command(  # noqa: PLR0913, PLR0917 (one argument per option)
    arguments: tuple[str, ...],
    runtimes: tuple[str, ...],
    form: str,
    wide: bool,
    export: str | None,
    field_validation: FieldValidation | None,
    budget: str | None,
    follow_links: bool,
    exclude: tuple[str, ...],
    verbose: bool,
) -> int:
    """List the runtimes in PATH and the built-in ones, or print the runtime NAME.

    PATH is files, folders or -; the default is the current folder.
    """
    paths = tuple(argument for argument in arguments if _is_path(argument))
    name, *more = [argument for argument in arguments if argument not in paths] or [""]
    if more:
        raise click.UsageError(f"Only one NAME is allowed: {', '.join((name, *more))}.")
    if name and export:
        raise click.UsageError("--export cannot be combined with NAME: it writes all built-in runtimes.")
    if (wide or form == "json") and (name or export):
        option = "--wide" if wide else "--format json"
        raise click.UsageError(f"{option} cannot be combined with NAME or --export.")
    if export:
        from trainc.cli.runtimes.export import write

        return write((), export)
    from trainc.cli.runtimes.entries import search

    settings = options.reading_settings(
        paths, field_validation, exclude, budget, follow_links=follow_links, verbose=verbose
    )
    found = search(paths, runtimes, settings)
    if name:
        from trainc.cli.runtimes.show import show

        return show(name, found)
    from trainc.cli.runtimes.list import listed

    return listed(found, form, wide=wide)


def _is_path(argument: str) -> bool:
    """Return whether an argument is a PATH. A NAME has no slash and no file suffix, and wins over a folder's name."""
    from trainc.data import data_path
    from trainc.inputs import STDIN, SUFFIXES

    if argument == STDIN or os.sep in argument or argument.endswith(SUFFIXES):
        return True
    return os.path.exists(argument) and not os.path.exists(data_path("runtimes", f"{argument}.yaml"))
