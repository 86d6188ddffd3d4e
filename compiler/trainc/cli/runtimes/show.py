"""`trainc runtimes show`: print a runtime as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.cli.common import options, printing
from trainc.cli.common.arguments import Argument, Command
from trainc.cli.runtimes.entries import names_or_files, report, search

if TYPE_CHECKING:
    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic, Document

EPILOG = """\b
Examples:
  trainc runtimes show torch-distributed
  trainc runtimes show team-torch platform/runtimes
"""


@options.with_reading
def show_runtime(name: str, paths: tuple[str, ...], run: Run) -> int:
    """Print the runtime NAME of PATH, or else the built-in one, as it is written."""
    found = search(run)
    entries = [entry for entry in found.entries if entry.id.name == name]
    if not entries:
        return report([*found.diagnostics, _missing_runtime(name, {entry.id.name for entry in found.entries})])
    valid = [entry for entry in entries if entry.conform()[0]]
    printing.write(_as_written(valid[0].document) if valid else "")
    return report([*found.diagnostics, *(diagnostic for entry in entries for diagnostic in entry.conform()[1])])


def _as_written(document: Document) -> str:
    """Return the text of a runtime; in a ConfigMap it is a part of a string."""
    return document.text if document.inside is None else document.inside.chunk.text


def _missing_runtime(name: str, names: set[str]) -> Diagnostic:
    from trainc.base.suggestions import nearest_name, use
    from trainc.diagnostics import Diagnostic
    from trainc.pipeline.passes import resolve

    near = nearest_name(name, sorted(names))
    help = f"did you mean {near}?" if near else use(sorted(names))
    return Diagnostic.declared(resolve.missing_runtime.declared, f'no runtime "{name}"', help, phase="read")


command = Command(
    show_runtime,
    (
        Argument("name", nargs=1, required=True, complete=names_or_files),
        options.PATHS,
        options.RUNTIMES,
        options.OF_RUNTIMES,
        *options.OF_READING,
    ),
    short_help="Print a runtime.",
    epilog=EPILOG,
)
