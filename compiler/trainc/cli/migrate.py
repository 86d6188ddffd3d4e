"""`trainc migrate`: write TrainJobs that run as legacy jobs did, and their runtimes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click

from trainc.cli.common import DIFFERENT, OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Command, Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainc.compilation import Run
    from trainc.diagnostics import Diagnostic
    from trainc.rewriting.migration.migrated import Form, Migration

EPILOG = """\b
Examples:
  trainc migrate job.yaml          print the new documents
  trainc migrate jobs/ --diff      show what would change
  trainc migrate jobs/ --diff --format markdown > comment.md
  trainc migrate jobs/ -o new/     write the new documents to a folder
  trainc migrate jobs/ --write     replace the jobs in their files
  trainc migrate jobs/ --check     exit 3 if a legacy job is left
"""
MODES: Final = ("write", "diff", "check")
"""The options that decide about the output, beside --output."""
FORMATS: Final = ("text", "markdown", "json")
"""The report formats, by which `migration.report` has its functions."""
LEGACY_LOSSES: Final = "legacy-losses"
"""The lint rule whose help names a command on the legacy job, which may be gone."""
RUNTIME_KINDS: Final = ("ClusterTrainingRuntime", "TrainingRuntime")
FORMS: Final = ("policy", "variables", "exact")
"""The forms (`migration.migrated`); listed here so that the package need not be imported."""


@options.with_run
def migrate(
    paths: tuple[str, ...],
    run: Run,
    folder: str | None,
    form: str,
    to_form: Form | None,
    runtime_kind: str,
    **flags: bool,
) -> int:
    """Convert the legacy jobs in PATH, such as PyTorchJobs and MPIJobs, to TrainJobs, and write their runtimes.

    trainc picks the simplest TrainJob that behaves the same (policy, then variables, then exact), and compares the
    compiled objects in each environment of trainc.yaml. Without an option, the new documents are printed.
    """
    folder = None if folder == "-" else folder
    _check_options(paths, folder, flags)
    from trainc.diagnostics import failed
    from trainc.rewriting.migration import migrate

    given = run.inputs
    if folder is not None:
        run = run._replace(written=(folder,))
    migration = migrate(given, run, form=to_form, extensions=not flags["no_extensions"], runtime_kind=runtime_kind)
    printing.report_skipped(migration.skipped, run)
    found, lines = list(migration.diagnostics), list[str]()
    check = flags["check"]
    if flags["diff"]:
        from trainc.rewriting.migration import report

        render, color = report.FORMATS[form], printing.colored(sys.stdout)
        printing.write(render(report.report_of(migration), color=color, verbose=run.verbose))
    elif not check and not (migration.strict and failed(found)):
        lines += _output(migration, given, found, folder=folder, write=flags["write"], force=flags["force"])
        lines += _notices(migration)
        found = [each for each in found if each.id != LEGACY_LOSSES]  # the notices have them
    if check:
        lines += (f"{_shown(document.file)}:{document.line}: a legacy job is left\n" for document in migration.legacy)
    printing.report_text(printing.audible(found, run))
    printing.report("" if run.quiet else "".join(lines))
    if not migration.legacy and not found and not run.quiet:
        printing.report("nothing to migrate\n")
    if failed(found):
        return WRONG_INPUT
    return DIFFERENT if check and migration.legacy else OK


def _check_options(paths: Sequence[str], folder: str | None, flags: Mapping[str, bool]) -> None:
    """Raise UsageError for options that contradict each other."""
    given = [*(["--output"] if folder is not None else []), *(f"--{key}" for key in MODES if flags[key])]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} cannot be combined with {given[1]}.")
    if flags["force"] and not (flags["write"] or folder is not None):
        raise click.UsageError("--force requires --write or --output.")
    if "-" in paths and (flags["write"] or len(paths) > 1):
        raise click.UsageError("- must be the only PATH and cannot be combined with --write.")


def _output(
    migration: Migration,
    paths: Sequence[str],
    diagnostics: list[Diagnostic],
    *,
    folder: str | None,
    write: bool,
    force: bool,
) -> Iterator[str]:
    """Print or write the new documents, add errors to `diagnostics`, and yield a line for each job and each file."""
    from trainc.diagnostics import Diagnostic
    from trainc.rewriting.migration import output_files

    new = output_files.documents(migration)
    if not write and folder is None:
        printing.write_documents((*(job.document for job in new.jobs), *new.runtimes.values()))
        yield from (f"{_shown(line)}\n" for job in new.jobs for line in output_files.dropped_comments(job))
        return
    if folder is not None:
        sources = [*output_files.in_folder(new, folder, paths)]
        runtimes = os.path.join(folder, output_files.RUNTIMES)
    else:
        changed = [*output_files.in_place(new, migration)]
        diagnostics += (each for each in changed if isinstance(each, Diagnostic))
        sources = [each for each in changed if not isinstance(each, Diagnostic)]
        runtimes = output_files.runtimes_folder(migration.settings)
    has_new = False
    for file in output_files.write_all(sources, [*output_files.runtime_files(new, runtimes)], force=force):
        if isinstance(file, Diagnostic):
            diagnostics.append(file)
        else:
            has_new = has_new or not file.lines
            yield from (f"{_shown(f'{file.path}: {line}')}\n" for line in file.lines or ("written",))
    if has_new and (line := output_files.next_step(runtimes, paths, migration.settings)):
        yield f"{_shown(line)}\n"


def _notices(migration: Migration) -> Iterator[str]:
    from trainc.rewriting.migration import report

    return (f"{_shown(line)}\n" for line in report.notices(migration))


def _shown(path: str) -> str:
    from trainc.base.texts import escape

    return escape(path)


command = Command(
    migrate,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(
            ("-o", "--output"),
            "Write the new documents to DIR, under the names of their sources, and the runtimes to DIR/runtimes.",
            name="folder",
            metavar="DIR",
            complete=options.folder_names,
        ),
        Option(
            ("--write",),
            "Put each TrainJob where its legacy job is, and the runtimes in the first folder of runtimes.paths.",
            is_flag=True,
        ),
        Option(("--force",), "Replace existing files.", is_flag=True),
        Option(("--diff",), "Report the forms and the differences of the objects, and write nothing.", is_flag=True),
        Option(("--format",), "Format of the report; default: text.", name="form", choices=FORMATS, default="text"),
        Option(("--check",), "Write nothing, and exit 3 if a legacy job is left.", is_flag=True),
        Option(
            ("--form",), "Form of all jobs; default: the simplest that behaves the same.", name="to_form", choices=FORMS
        ),
        Option(
            ("--runtime-kind",),
            "Kind of the new runtimes; default: ClusterTrainingRuntime. A TrainingRuntime is in its job's namespace.",
            choices=RUNTIME_KINDS,
            default=RUNTIME_KINDS[0],
        ),
        Option(("--no-extensions",), "Use no fields of runtimes that only trainc reads.", is_flag=True),
        options.NAMESPACE,
        *(option for option in options.SETTINGS if option not in options.LEGACY[:1]),
    ),
    short_help="Convert PyTorchJobs, MPIJobs and others to TrainJobs.",
    epilog=EPILOG,
)
