"""Shared parts of `pull` and `import`: their options, and writing or comparing the folder."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import click

from trainc.cli.common import DIFFERENT, OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Option
from trainc.cli.runtimes.entries import FOLDER, report

if TYPE_CHECKING:
    from trainc.pinning.answers import PulledRuntimes

OUTPUT: Final = Option(
    ("-o", "--output"),
    "Folder to write to; the default is the first folder in runtimes.paths of trainc.yaml, or else runtimes.",
    name="folder",
    metavar="DIR",
    complete=options.folder_names,
)
CHECK: Final = Option(("--check",), "Write nothing and exit 3 with a diff if DIR is out of date.", is_flag=True)
FORCE: Final = Option(
    ("--force",), "Replace files that were edited by hand or that trainc did not write.", is_flag=True
)


def refuse(*, check: bool, force: bool) -> None:
    """Raise UsageError for options that contradict each other."""
    if check and force:
        raise click.UsageError("--check cannot be combined with --force: it writes nothing.")


def target(folder: str | None) -> str:
    """Return the folder to write to. Raise UsageError if it is in settings that have errors."""
    if folder is not None:
        return folder
    from trainc.diagnostics import failed
    from trainc.files.selection import SUFFIXES
    from trainc.settings import load

    settings = load((".",))
    if failed(settings.diagnostics):
        raise click.UsageError("trainc.yaml has errors, which `trainc validate` shows: fix them, or use --output DIR.")
    return next((path.path for path in settings.runtimes if not path.path.endswith(SUFFIXES)), FOLDER)


def write(answer: PulledRuntimes, folder: str, *, check: bool, force: bool, tag: str = "") -> int:
    """Write the runtimes of an answer to a folder, or compare them with it; nothing is written after an error.

    tag   the release of Trainer in the cluster, if known
    """
    from trainc.base.texts import escape
    from trainc.diagnostics import failed
    from trainc.files import outputs
    from trainc.pinning import manifests
    from trainc.pinning import pinned_folder as pinning
    from trainc.source.file_diffs import unified_diff

    if failed(answer.diagnostics):
        return report(answer.diagnostics)
    files = manifests.files_of(answer.runtimes, tag)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(outputs.opened(folder, make=not check, notify=printing.report))
        except OSError as error:
            return report([*answer.diagnostics, outputs.write_fault(folder, "", error)])
        changes = pinning.plan(opened, files, force=force or check)
        found = [*answer.diagnostics, *changes.diagnostics]
        if failed(found):
            return report(found)
        if check:
            difference = "".join(line for each in outputs.diff(opened, changes) for line in unified_diff(*each))
            report(found, f"{escape(folder)} is out of date: run the command without --check" if difference else "")
            printing.write(difference)
            return DIFFERENT if difference else OK
        if refused := outputs.apply(opened, changes):
            report([*found, *refused])
            return WRONG_INPUT
    written = sum(path != pinning.NAME for path in changes.write)
    kept = [path for path in changes.kept if path in files]
    unchanged = len(files) - written - len(kept)
    counts = f"{written} written, {len(changes.remove)} removed, {unchanged} unchanged"
    summary = f"{escape(folder)}: {counts}" + (f", {len(changes.kept)} kept" if changes.kept else "")
    return report(found, "\n".join(filter(None, (summary, next_step(folder)))))


def next_step(folder: str) -> str:
    """Return the line that says how to use a folder of runtimes which the project does not read; else empty."""
    from trainc.base.texts import escape
    from trainc.rewriting.migration import output_files
    from trainc.settings import load

    settings = load((".",))
    return escape(output_files.next_step(folder, [path.path for path in settings.sources] or ["."], settings))
