"""`trainc lsp`: the language server for editors, on standard input and output."""

from __future__ import annotations

from typing import Final

import click

from trainc.cli.common import OK, printing
from trainc.cli.common.arguments import Command, Option

INSTALL: Final = "the language server requires the package {}: in the clone of trainc, run pip install '.[lsp]'."
EPILOG: Final = """\b
Examples:
  trainc lsp --check    whether everything that the server needs is installed
  trainc lsp            as an editor starts it (docs/editors.md)
"""


def lsp(check: bool, verbose: bool) -> int:
    """Serve the Language Server Protocol on standard input and output, for the folder that the editor opens."""
    try:
        from trainc.lsp import server
    except ImportError as error:
        raise click.UsageError(INSTALL.format(error.name)) from None
    if check:
        from importlib.metadata import version

        from trainc.base.releases import __version__

        printing.write(f"the language server can start: trainc {__version__}, pygls {version('pygls')}\n")
        return OK
    import gc

    gc.enable()  # other commands are short-lived
    server.serve(verbose=verbose)
    return OK


command = Command(
    lsp,
    (
        Option(("--check",), "Print whether everything that the server needs is installed, and exit.", is_flag=True),
        Option(("-v", "--verbose"), "Log on standard error.", is_flag=True),
    ),
    short_help="Check manifests in an editor, with the Language Server Protocol.",
    epilog=EPILOG,
)
