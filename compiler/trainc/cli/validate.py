"""`trainc validate`: report every error that the cluster would return for TrainJobs and runtimes, and lint findings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from trainc.cli import options, printing
from trainc.cli.arguments import Command, Option
from trainc.cli.codes import OK, WRONG_INPUT
from trainc.records import NamedTuple

if TYPE_CHECKING:
    import click

    from trainc.compilation import Compilation
    from trainc.reading import Reader
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc validate                     check every TrainJob and runtime below the current folder
  trainc validate job.yaml -r platform/runtimes
  trainc validate --format json | jq '.[] | select(.severity == "error")'
  trainc validate --report junit=reports/junit.xml --report sarif=trainc.sarif
  trainc validate --among . jobs/a.yaml   check one file, with runtimes from anywhere in the folder
  trainc validate --explain wrong-type
"""


def ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the id of a diagnostic."""
    return options.data_names("diagnostics", ".md", incomplete)


@options.with_settings
def validate(  # noqa: PLR0913, PLR0917 (one argument per option)
    paths: tuple[str, ...],
    runtimes: tuple[str, ...],
    form: str,
    reports: tuple[tuple[str, str], ...],
    namespace: str | None,
    environments: tuple[str, ...],
    settings: Settings,
    among: str | None,
    explain: str | None,
) -> int:
    """Check the TrainJobs and runtimes in PATH (files, folders or -; default: the project or the current folder)."""
    if explain is not None:
        if paths or reports:
            raise options.misuse("--explain cannot be combined with PATH or --report: it checks nothing.")
        return _explain(explain)
    if among is not None and not paths:
        raise options.misuse("--among requires PATH: the files to check.")
    if reports:
        from trainc.cli import reporting

        reporting.check(reports, inputs=(*paths, *runtimes), stdout="the report of --format")
    from trainc.reports import load

    settings = settings._replace(all_rules=True)
    run = Run(options.inputs(paths, settings), runtimes, namespace, tuple(file for _, file in reports), among)
    if environments or settings.environment_names:
        from trainc.cli.environments import compiled, verdict

        result, found = compiled(settings, environments, run.compiled)
        summary = verdict(result, found)
    else:
        result = run.compiled(settings)
        summary = printing.verdict(result)
    printing.report_skipped(result.skipped, verbose=settings.verbose)
    if reports:
        reporting.write(reports, result, summary)
    report = load(form).render(
        result.reported(form),
        summary=summary,
        color=form == "text" and printing.colored(sys.stdout),
        checked=result.checked,
    )
    printing.write(report)
    if form == "text":
        printing.report_built_in(result)
    return WRONG_INPUT if result.failed else OK


class Run(NamedTuple):
    """The input of a check, for each of its environments."""

    paths: tuple[str, ...]
    runtimes: tuple[str, ...]
    namespace: str | None
    skip: tuple[str, ...]
    among: str | None

    def compiled(self, settings: Settings, files_of: Reader | None = None) -> Compilation:
        """Return the result with some settings."""
        from trainc.compilation import Options, compile_paths

        run = Options(
            runtimes=self.runtimes,
            namespace=self.namespace,
            skip=self.skip,
            settings=settings,
            others="skip",
            check_only=True,
        )
        if self.among is None:
            result = compile_paths(self.paths, run, files_of)
        else:
            from trainc.subset import compile_subset

            result = compile_subset(self.paths, self.among, run)
        return printing.with_unknown(result) if settings.verbose else result


command = Command(
    validate,
    (
        options.PATHS,
        options.RUNTIMES,
        Option(
            ("--format",),
            "Format of the report on standard output; default: text.",
            name="form",
            choices=options.REPORTS,
            default="text",
        ),
        options.REPORT,
        options.NAMESPACE,
        options.ENVIRONMENTS,
        *options.SETTINGS,
        *options.SUFFIX,
        Option(
            ("--among",),
            "Check PATH as a subset of DIR, with DIR's runtimes; a runtime in PATH checks every TrainJob in DIR.",
            metavar="DIR",
            complete=options.folder_names,
        ),
        Option(
            ("--explain",),
            "Print the page of a diagnostic, with its meaning and an example, and exit.",
            metavar="ID",
            complete=ids,
        ),
    ),
    short_help="Check TrainJobs and runtimes as the cluster does.",
    epilog=EPILOG,
)


def _explain(id: str) -> int:
    """Print the page of a diagnostic id."""
    from trainc import catalogue

    known = catalogue.entries()
    if id not in known:
        from trainc.nearest import nearest

        near = nearest(id, known)
        hint = f' Did you mean "{near}"?' if near else " Reports show the id in brackets: error[wrong-type]."
        raise options.misuse(f'Unknown diagnostic "{id}".{hint}')
    printing.write(catalogue.explained(known[id]))
    return OK
