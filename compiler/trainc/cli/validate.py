"""`trainc validate`: report every error that the cluster would return for TrainJobs and runtimes, and lint findings."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from trainc.cli.common import options, printing
from trainc.cli.common.arguments import Command, Option
from trainc.cli.common.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    import click

    from trainc.compilation import Compilation, Options
    from trainc.frontends.reading import Reader

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


@options.with_run
def validate(
    paths: tuple[str, ...],
    run: Options,
    form: str,
    reports: tuple[tuple[str, str], ...],
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
        from trainc.cli.common import reporting

        reporting.check(reports, inputs=(*paths, *run.runtimes), stdout="the report of --format")
    from trainc.reports import load

    run = run._replace(
        all_rules=True,
        written=tuple(file for _, file in reports),
        others="skip",
        check_only=True,
        stand_ins="check",
    )
    compile = partial(_compiled, run.settings.inputs(paths), among)
    if run.environments or run.settings.environment_names:
        from trainc.cli.common.environments import compiled, verdict

        result, found = compiled(run, compile)
        summary = verdict(result, found)
    else:
        result = compile(run)
        summary = printing.verdict(result)
    printing.report_skipped(result.skipped, run)
    if reports:
        reporting.write(reports, result, summary)
    report = load(form).render(
        printing.audible(result.reported(form), run),
        summary="" if run.quiet else summary,
        color=form == "text" and printing.colored(sys.stdout),
        checked=result.checked,
    )
    printing.write(report)
    if form == "text" and not run.quiet:
        printing.report_built_in(result)
    return WRONG_INPUT if result.failed else OK


def _compiled(paths: tuple[str, ...], among: str | None, run: Options, files_of: Reader | None = None) -> Compilation:
    """Return the result of a run; with `among`, of the paths as a subset of that folder."""
    if among is None:
        from trainc.compilation import compile_paths

        result = compile_paths(paths, run, files_of)
    else:
        from trainc.compilation.subset import compile_subset

        result = compile_subset(paths, among, run)
    return printing.with_unknown(result) if run.verbose else result


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
    from trainc.base.ids import DECLARED_IN

    if id not in DECLARED_IN:
        from trainc.base.suggestions import nearest_name

        near = nearest_name(id, DECLARED_IN)
        hint = f' Did you mean "{near}"?' if near else " Reports show the id in brackets: error[wrong-type]."
        raise options.misuse(f'Unknown diagnostic "{id}".{hint}')
    from trainc.reports import catalogue

    printing.write(catalogue.explained(catalogue.entry(id)))
    return OK
