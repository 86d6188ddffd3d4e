"""`trainc upgrade`: rewrite TrainJobs and runtimes of older Trainer versions for that of the cluster."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from trainc.cli.common import DIFFERENT, OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command, Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic
    from trainc.rewriting.upgrade import Upgraded

EPILOG = """\b
Examples:
  trainc upgrade job.yaml                 print the rewritten text
  trainc upgrade jobs/ --diff             show the changes
  trainc upgrade jobs/ --write            rewrite the files
  trainc upgrade jobs/ --check            exit 3 if there are changes
"""


@options.with_options
def rewrite(run: Run, write: bool, diff: bool, check: bool) -> int:
    """Rewrite the TrainJobs and runtimes in PATH in the dialect of the release, and print the result.

    Comments, order and quoting are kept. Each upgrade is verified: the new document compiles to the same bytes.
    """
    paths = run.paths
    if write and (check or diff):
        raise click.UsageError("--write cannot be combined with --check or --diff.")
    if "-" in paths and (write or len(paths) > 1):
        raise click.UsageError("- must be the only PATH and cannot be combined with --write.")
    from trainc.diagnostics import Diagnostic, failed
    from trainc.files import inputs
    from trainc.rewriting.upgrade import Upgraded, upgrade

    stdin = b""
    if "-" in paths:
        read = next(inputs.read(["-"]))
        if not isinstance(read, inputs.File):
            return printing.report_error(read)
        stdin = read.data
    runs = options.projects_of(run._replace(paths=paths or (".",)))
    if isinstance(runs, int):
        return runs
    report_skipped = partial(printing.report_skipped, run=run)
    upgraded, diagnostics, targets = list[Upgraded](), list[Diagnostic](), dict[str, str]()
    for each in (run.for_reading() for run in runs):
        files, found = upgrade(each.paths, stdin=stdin, run=each, report_skipped=report_skipped)
        upgraded += files
        targets |= {file.path: each.settings.release.dialect for file in files}
        diagnostics += found
    if write:
        refused = {file.path: fault for file in upgraded if (fault := _replace(file)) is not None}
        upgraded = [file for file in upgraded if file.path not in refused]
        diagnostics += refused.values()
    changes = "".join(line for file in upgraded for line in _changes(file, targets[file.path], done=write))
    printing.report_text(printing.audible(diagnostics, run))
    printing.report("" if run.quiet else changes)
    if check or diff:
        printing.write("".join(line for file in upgraded for line in _diff(file)))
    elif not write and (upgraded or not failed(diagnostics)):
        _print(upgraded, paths, stdin, follow_links=run.options.follow_links)
    if not changes and not diagnostics and not run.quiet:
        printing.report("nothing to upgrade\n")
    if failed(diagnostics):
        return WRONG_INPUT
    return DIFFERENT if check and upgraded else OK


def _print(upgraded: list[Upgraded], paths: tuple[str, ...], stdin: bytes, *, follow_links: bool) -> None:
    """Print the new texts as one stream. A single file or `-` is printed even if it is unchanged."""
    if upgraded:
        printing.write_documents(file.new for file in upgraded)
    elif paths == ("-",):
        printing.write_bytes(stdin)
    elif len(paths) == 1 and os.path.isfile(paths[0]):
        from trainc.files import inputs

        files = inputs.read(paths, follow_links=follow_links)
        printing.write_bytes(*(file.data for file in files if isinstance(file, inputs.File)))


def _changes(file: Upgraded, target: str, *, done: bool) -> Iterator[str]:
    """Yield the changes of a file, line by line. `target` is the key of the new dialect."""
    from trainc.reports.text import escape

    for changed in file.changed:
        id = changed.object
        name = id.qualified_name
        yield escape(f"{_shown(file.path)}: {id.kind} {name}: {changed.dialect} -> {target}") + "\n"
        yield from (f"  {escape(move)}\n" for move in changed.moves)
    same = "the same bytes, except for the trainer's name and label" if file.renamed else "the same bytes"
    yield f"{escape(_shown(file.path))}: {'rewritten' if done else 'can be rewritten'}; it compiles to {same}\n"


def _shown(path: str) -> str:
    return "<stdin>" if path == "-" else path


def _diff(file: Upgraded) -> Iterator[str]:
    from trainc.source.file_diffs import unified_diff

    return unified_diff(file.old, file.new, file.path, file.path)


def _replace(file: Upgraded) -> Diagnostic | None:
    """Replace a file; return the error if it cannot be written, such as through a link."""
    from trainc.files.atomic import replace_file
    from trainc.files.outputs import write_fault

    try:
        replace_file(file.path, file.new.encode(file.encoding, "surrogateescape"))
    except OSError as error:
        return write_fault(file.path, "", error)
    return None


command = Command(
    rewrite,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(("--write",), "Rewrite the files in place.", is_flag=True),
        Option(("--diff",), "Show the changes and write nothing.", is_flag=True),
        Option(("--check",), "Like --diff, and exit 3 if there are changes.", is_flag=True),
        options.PROJECT,
        *options.OF_READING,
    ),
    short_help="Rewrite TrainJobs of older Trainer versions.",
    epilog=EPILOG,
)
