"""`trainc validate`: report every error of the cluster for TrainJobs, JobSets and runtimes, and lint findings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from trainc.cli.common import options, printing
from trainc.cli.common.arguments import OF_REPORT, Command, Option
from trainc.cli.common.codes import DIFFERENT, OK, WRONG_INPUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.cli.common.applied_fixes import Applied
    from trainc.compilation import Compilation, Run
    from trainc.compilation.environment_runs import EnvironmentRun
    from trainc.diagnostics import Diagnostic
    from trainc.frontends.reading import Reader

EPILOG = """\b
Examples:
  trainc validate                     check all files of the project
  trainc validate job.yaml -r platform/runtimes
  trainc validate --format json | jq '.[] | select(.severity == "error")'
  trainc validate --report junit=reports/junit.xml --report sarif=trainc.sarif
  trainc validate --among . jobs/a.yaml   one file among the others
  trainc validate --fix --diff        show what --fix would change
  trainc validate --fix               apply the safe fixes
"""


@options.with_options
def validate(
    run: Run,
    form: str,
    reports: tuple[tuple[str, str], ...],
    among: str | None,
    **fixing: bool,
) -> int:
    """Check the TrainJobs, JobSets and runtimes in PATH.

    PATH is files, folders or -; the default is the project or the current folder.
    """
    paths = run.paths
    if any(fixing.values()):
        _check_fix_options(paths, **fixing)
    if among is not None and not paths:
        raise options.misuse("--among requires PATH: the files to check.")
    if reports:
        from trainc.cli.common import reporting

        reporting.check(reports, inputs=(*paths, *run.runtimes), stdout="the report of --format")
    from trainc.reports import load

    runs = options.projects_of(run if among is None else run._replace(paths=(among,)))
    if isinstance(runs, int):
        return runs
    check = _Check(paths, among, runs, written=tuple(file for _, file in reports))
    result = check.result(check.runs)
    if applied := _applied(result, check, fixing):
        result = applied.result._replace(diagnostics=_collapsed(applied.result.diagnostics))
    summary = check.summary(result)
    if result.diagnostics and not fixing["fix"]:
        summary = _with_fixable(result, summary)
    printing.report_skipped(result.skipped, run)
    if reports:
        reporting.write(reports, result, summary)
    if applied is not None and applied.options.shows_diff:
        return _show_diff(applied, summary, run)
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


def _check_fix_options(paths: tuple[str, ...], *, fix: bool, unsafe_fixes: bool, diff: bool, check: bool) -> None:
    """Raise UsageError for options of --fix without it, and for standard input, which cannot be fixed."""
    for name, given in (("--unsafe-fixes", unsafe_fixes), ("--diff", diff), ("--check", check)):
        if given and not fix:
            raise options.misuse(f"{name} requires --fix.")
    if diff and check:
        raise options.misuse("--diff and --check cannot be combined: --check shows the diff, too.")
    if fix and "-" in paths:
        raise options.misuse("--fix cannot be combined with -: standard input has no file to fix.")


class _Check:
    """The check of a command, which can be repeated with other contents of some files."""

    def __init__(
        self, paths: tuple[str, ...], among: str | None, runs: Sequence[Run], *, written: tuple[str, ...]
    ) -> None:
        self.paths = paths
        self.among = among
        self.written = written
        self.all_repeated = False
        """Whether to keep all repeated diagnostics, to fix each of them."""
        self.done: tuple[EnvironmentRun, ...] = ()
        """The runs of the last check, of several projects or environments."""
        self.runs = self._check_options(runs)
        """The options of each project."""

    def _check_options(self, runs: Sequence[Run]) -> tuple[Run, ...]:
        """Return the run of each project, as a check."""
        from trainc.compilation.run import FIX, VALIDATE

        purpose = FIX if self.all_repeated else VALIDATE
        return tuple(run._replace(purpose=purpose, written=self.written) for run in runs)

    def result(self, runs: Sequence[Run], files_of: Reader | None = None) -> Compilation:
        """Return the result of a check; with `among`, of the paths as a subset of that folder."""
        from trainc.compilation.all_projects import check

        result, self.done = check(runs, files_of, files=None if self.among is None else self.paths)
        return result

    def again(self, contents: Mapping[str, bytes]) -> Compilation:
        """Return the result of a check with the contents of some files."""
        from trainc.compilation.projects import projects_of
        from trainc.files.unsaved import laid_over

        paths = self.paths if self.among is None else (self.among,)
        return self.result(self._check_options(projects_of(self.runs[0], paths, contents)), laid_over(contents))

    def summary(self, result: Compilation) -> str:
        """Return the summary of a result."""
        if not self.done:
            return printing.verdict(result)
        from trainc.cli.common.reporting import verdict_of_environments

        return verdict_of_environments(result, self.done)


def _with_fixable(result: Compilation, summary: str) -> str:
    """Return the summary with the number of problems that --fix can fix."""
    if all(diagnostic.fix is None for diagnostic in result.diagnostics):
        return summary
    from trainc.cli.common.applied_fixes import count

    number = count(result)
    first, newline, rest = summary.partition("\n")
    return f"{first}; {number} can be fixed with --fix{newline}{rest}" if number else summary


def _applied(result: Compilation, check: _Check, fixing: dict[str, bool]) -> Applied | None:
    """Apply the fixes of a result, if they are requested."""
    if not fixing["fix"]:
        return None
    from trainc.cli.common.applied_fixes import FixOptions, apply
    from trainc.compilation import MANY

    options = FixOptions(unsafe=fixing["unsafe_fixes"], diff=fixing["diff"], check=fixing["check"])
    check.all_repeated = True
    complete = check.again({}) if len(result.diagnostics) >= MANY else result
    return apply(complete, check.again, options, check.runs[0])


def _collapsed(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return diagnostics with repeated ones collapsed, as a check without fixes has them."""
    from trainc.compilation import MANY

    if len(diagnostics) < MANY:
        return diagnostics
    from trainc.reports.repeated import collapsed

    return tuple(collapsed(diagnostics))


def _show_diff(applied: Applied, summary: str, run: Run) -> int:
    """Print the diff of the fixes, and what remains to standard error; return the exit code."""
    result = applied.result
    printing.report_text(printing.audible(result.diagnostics, run), "" if run.quiet else summary)
    printing.write(applied.diff)
    if result.failed:
        return WRONG_INPUT
    return DIFFERENT if applied.options.check and applied.diff else OK


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
            group=OF_REPORT,
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
        Option(("--fix",), "Apply the safe fixes to the files, and report what remains.", is_flag=True),
        Option(("--unsafe-fixes",), "With --fix: apply also the fixes that change or remove a value.", is_flag=True),
        Option(("--diff",), "With --fix: show the changes and write nothing.", is_flag=True),
        Option(("--check",), "With --fix: like --diff, and exit 3 if there are changes.", is_flag=True),
    ),
    short_help="Check TrainJobs, JobSets and runtimes as the cluster does.",
    epilog=EPILOG,
)
