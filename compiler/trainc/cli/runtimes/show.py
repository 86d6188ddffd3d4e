"""`trainc runtimes show`: print a runtime as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trainc.cli import options, printing
from trainc.cli.runtimes.entries import Found, report, search
from trainc.cli.runtimes.names import names_or_files

if TYPE_CHECKING:
    from trainc.diagnostics import Diagnostic, Document
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc runtimes show torch-distributed
  trainc runtimes show team-torch platform/runtimes
"""


@click.command("show", short_help="Print a runtime.", epilog=EPILOG)
@click.argument("name", shell_complete=names_or_files)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=options.file_names)
@options.runtimes
@options.OF_RUNTIMES.decorate
@options.reading
def command(name: str, paths: tuple[str, ...], runtimes: tuple[str, ...], settings: Settings) -> int:
    """Print the runtime NAME of PATH, or else the built-in one, as it is written."""
    return show(name, search(paths, runtimes, settings))


def show(name: str, found: Found) -> int:
    """Print the first runtime of that name."""
    entries = [entry for entry in found.entries if entry.id.name == name]
    if not entries:
        return report([*found.diagnostics, _missing(name, {entry.id.name for entry in found.entries})])
    valid = [entry for entry in entries if entry.conform()[0]]
    printing.write(_as_written(valid[0].document) if valid else "")
    return report([*found.diagnostics, *(diagnostic for entry in entries for diagnostic in entry.conform()[1])])


def _as_written(document: Document) -> str:
    """Return the text of a runtime; in a ConfigMap it is a part of a string."""
    return document.text if document.inside is None else document.inside.chunk.text


def _missing(name: str, names: set[str]) -> Diagnostic:
    from trainc.diagnostics import Diagnostic
    from trainc.nearest import nearest, use
    from trainc.passes import resolve

    near = nearest(name, sorted(names))
    help = f"did you mean {near}?" if near else use(sorted(names))
    return Diagnostic.of(resolve.missing.declared, f'no runtime "{name}"', help, phase="read")
