"""`trainc runtimes`: list, print, export, pull or import the runtimes that a TrainJob can refer to.

Each subcommand is a module of this package.
"""

from __future__ import annotations

from typing import Final

import click

from trainc.cli.common.group import LazyGroup

SUBCOMMANDS: Final = ("list", "show", "export", "pull", "import")
"""The subcommands in help order; each is a module of this package."""

EPILOG = """\b
Examples:
  trainc runtimes list                    list all runtimes
  trainc runtimes show torch-distributed  print a runtime
  trainc runtimes export -o runtimes/     copy the built-in runtimes
  trainc runtimes pull                    pin those of the cluster
  trainc runtimes pull --check            exit 3 if they have changed
"""


@click.group(
    cls=LazyGroup,
    package=__name__,
    names=SUBCOMMANDS,
    habits={},
    short_help="List, print, export, pull or import runtimes.",
    epilog=EPILOG,
)
def command() -> None:
    """List, print, export, pull or import the runtimes that a TrainJob can refer to."""
