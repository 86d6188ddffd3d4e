"""Arguments and options that commands share, and the value with a run's options and settings that they fill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.option_rows import BY_NAME, ROWS
from trainc.cli.common.arguments import INPUT, OF_REPORT, OF_SETTINGS, Argument, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import click
    from click.shell_completion import CompletionItem

    from trainc.base.option_rows import Form
    from trainc.compilation import Run

    Decorated = Callable[..., Any]

REPORTS = ("text", "json", "junit", "sarif", "github", "gitlab", "rdjson")
"""The report formats, each a module of `reports`; listed here so that the package need not be imported."""

REVIEWS = ("text", "markdown", "json", "html")
"""The review formats, each a module of `review.formats`."""


def format_option(help: str, formats: tuple[str, ...]) -> Option:
    """Return the option `--format`, whose default is the first format."""
    return Option(("--format",), help, name="form", choices=formats, default=formats[0])


def file_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file or folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def folder_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def job_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a TrainJob."""
    from trainc.cli.common import click_classes

    return click_classes.job_names(ctx, param, incomplete)


def environment_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an environment."""
    from trainc.cli.common import click_classes

    return click_classes.environment_names(ctx, param, incomplete)


def data_names(folder: str, suffix: str, incomplete: str) -> list[str]:
    """Return the names, without suffix, of the files in a folder of trainc's data that start with `incomplete`."""
    from trainc.base.data import data_path

    names = (name.removesuffix(suffix) for name in sorted(os.listdir(data_path(folder))) if name.endswith(suffix))
    return [name for name in names if name.startswith(incomplete)]


def release(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Return the name of a release. Raise BadParameter for an unknown one."""
    fault = BY_NAME[str(param.name)].release_fault
    if given is not None and fault is not None and (wrong := fault(given)):
        import click

        raise click.BadParameter(f"{wrong[0]}: {wrong[1]}")
    return given


def releases(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a release."""
    return [name for name in BY_NAME[str(param.name)].releases if name.startswith(incomplete)]


def gang_scheduler(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Return the name of a gang scheduler. Raise BadParameter for a misspelt or invalid one."""
    if given is not None:
        import click

        from trainc.frontends.gangs import name_fault

        if fault := name_fault(given):
            raise click.BadParameter(f"{fault[0]}: {fault[1]}")
    return given


VALUES: Final[Mapping[Form, Mapping[str, Any]]] = {
    "budget": {"choices": ("ci", "default", "unlimited")},
    "file": {"metavar": "FILE", "complete": file_names},
    "folder": {"metavar": "DIR", "complete": folder_names},
    "gang": {"metavar": "NAME", "convert": gang_scheduler},
    "names": {"metavar": "NAME", "complete": environment_names, "multiple": True},
    "paths": {"metavar": "PATH", "complete": file_names, "multiple": True},
    "patterns": {"metavar": "PATTERN", "multiple": True},
    "release": {"metavar": "VERSION", "convert": release, "complete": releases},
    "switch": {"is_flag": True},
    "text": {"metavar": "NAME"},
    "validation": {"choices": ("strict", "warn", "ignore")},
}
"""How the command line reads and completes the values of each form."""


def option(name: str, group: str, short: str = "", flag: str = "", **more: Any) -> Option:
    """Return the option of a row of `base.option_rows`; by default, its flag is its name."""
    row = BY_NAME[name]
    flags = (short, flag or f"--{name.replace('_', '-')}")
    return Option(tuple(filter(None, flags)), row.help, name, group=group, **{**VALUES[row.form], **more})


PATHS: Final = Argument("paths", metavar="[PATH]...", complete=file_names)
"""PATH...: files, folders or `-`; the default is the project (`inputs`)."""
RUNTIMES: Final = option("runtimes", INPUT, "-r")
ENVIRONMENTS: Final = option("environments", INPUT, flag="--env")
"""The environments of a command that has a run for each."""
ENVIRONMENT: Final = ENVIRONMENTS._replace(
    help="Environment in trainc.yaml; required if there are several.", name="environment", multiple=False
)
"""The environment of a command that shows one."""
OF_RUNTIMES: Final = ENVIRONMENT._replace(help="Environment in trainc.yaml whose runtimes.paths are searched.")
ONLY: Final = option("only", INPUT, complete=job_names)
NAMESPACE: Final = option("namespace", OF_SETTINGS, "-n", metavar="NS")


def formats_and_files(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return each `FORMAT=FILE` as a pair."""
    import click

    pairs = []
    for value in given:
        form, _, file = value.partition("=")
        if form not in REPORTS:
            raise click.BadParameter(f'"{form}" is not a report format: use {", ".join(REPORTS)}, then = and a file.')
        if not file:
            raise click.BadParameter(f"the file is missing: use {form}=FILE.")
        pairs.append((form, file))
    return tuple(pairs)


def report_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a report format; after `FORMAT=`, let the shell complete the file name."""
    from click.shell_completion import CompletionItem

    if "=" in incomplete:
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(f"{form}=") for form in REPORTS if form.startswith(incomplete)]


REPORT: Final = Option(
    ("--report",),
    f"Also write a report to a file; repeatable. FORMAT is one of {', '.join(REPORTS)}.",
    name="reports",
    multiple=True,
    convert=formats_and_files,
    complete=report_names,
    metavar="FORMAT=FILE",
    group=OF_REPORT,
)
FOLLOW_LINKS: Final = option("follow_links", INPUT)
FIELD_VALIDATION: Final = option("field_validation", OF_SETTINGS)
EXCLUDE: Final = option("exclude", INPUT)
TRAINER_VERSION: Final = option("trainer_version", OF_SETTINGS)
VERBOSE: Final = Option(
    ("-v", "--verbose"),
    "List the skipped files, and why the admission by Kueue is unknown.",
    is_flag=True,
    group=OF_REPORT,
)
QUIET: Final = Option(("-q", "--quiet"), "Print errors only.", is_flag=True, group=OF_REPORT)
BUDGET: Final = option("budget", INPUT)
PLUGIN_BUDGET: Final = BUDGET._replace(
    default="ci", variable="TRAINC_BUDGET", help=f"{BUDGET.help} Default: the variable TRAINC_BUDGET, or ci."
)
PROJECT: Final = option("project", OF_SETTINGS)
READING: Final = (FOLLOW_LINKS, EXCLUDE, VERBOSE, QUIET)
OF_READING: Final = (TRAINER_VERSION, FIELD_VALIDATION, BUDGET, *READING)
"""The options of a command whose settings are only those about reading."""


LEGACY: Final = (option("legacy", OF_SETTINGS), option("gang", OF_SETTINGS))
"""The options for legacy jobs."""
CONFIG: Final = option("config", OF_SETTINGS)
NO_CONFIG: Final = option("no_config", OF_SETTINGS)
SETTINGS: Final = (
    option("strict", OF_REPORT),
    TRAINER_VERSION,
    option("kueue_version", OF_SETTINGS),
    FIELD_VALIDATION,
    *LEGACY,
    CONFIG,
    NO_CONFIG,
    PROJECT,
    BUDGET,
    *READING,
)
SUFFIX: Final = (option("name_suffix_hash", OF_SETTINGS),)
DELIVERY: Final = (*SUFFIX, option("argocd_replace", OF_SETTINGS), option("suspend", OF_SETTINGS))
PASSTHROUGH: Final = option("passthrough", OF_SETTINGS)


def with_options(function: Decorated) -> Decorated:
    """Return the function with one argument `run`: the `Run` of a command line, without settings."""

    def with_options(**values: Any) -> Any:
        run, others = run_of(values)
        return function(run=run, **others)

    return _with_metadata_of(with_options, function)


def projects_of(run: Run, *, one: bool = False) -> tuple[Run, ...] | int:
    """Return the run of each project of the paths; the exit code of an error if there is none, or not one."""
    from trainc.compilation import projects

    runs = projects.projects_of(run, run.paths)
    if not runs or (one and len(runs) > 1):
        from trainc.cli.common import printing

        return printing.report_error(projects.project_required(runs, run.options.project))
    return runs


def with_run(function: Decorated) -> Decorated:
    """Return the function with one argument `run`: the `Run` of a command line, with the settings of trainc.yaml.

    Several projects end the command with an error. With ENVIRONMENT, the settings are those of that environment, and
    an unknown one is an error, too.
    """

    def with_run(**values: Any) -> Any:
        selects_one = ENVIRONMENT.argument in values
        run, others = run_of(values)
        runs = projects_of(run, one=True)
        if isinstance(runs, int):
            return runs
        [run] = runs
        if selects_one and (run.options.environments or run.settings.environment_names):
            from trainc.compilation.environment_runs import OPTION, select_environment
            from trainc.diagnostics import Diagnostic

            selected = select_environment(run, OPTION)
            if isinstance(selected, Diagnostic):
                from trainc.cli.common import printing

                return printing.report_error(selected)
            run = selected
        return function(paths=run.paths, run=run, **others)

    return _with_metadata_of(with_run, function)


def with_reading(function: Decorated) -> Decorated:
    """Return the function with one argument `run`, for a command that reads files and does not compile for a project.

    Its settings are the default, except those of the nearest trainc.yaml that decide what is read. A trainc.yaml with
    errors is an error: its patterns are unknown.
    """

    def with_reading(**values: Any) -> Any:
        run, others = run_of(values)
        return function(paths=run.paths, run=run.with_project(run.paths).for_reading(), **others)

    return _with_metadata_of(with_reading, function)


def run_of(values: dict[str, Any]) -> tuple[Run, dict[str, Any]]:
    """Return the run of a command line, without settings, and its other values. Raise UsageError for invalid ones."""
    from trainc.compilation.run import Options, start

    if values.get("config") is not None and values["no_config"]:
        raise misuse("--config and --no-config cannot be combined.")
    if values.get("project") is not None and (values.get("config") is not None or values.get("no_config")):
        raise misuse("--project cannot be combined with --config or --no-config: they replace all projects.")
    if values.get("quiet") and values["verbose"]:
        raise misuse("--quiet and --verbose cannot be combined.")
    _check_patterns(values.get("exclude", ()))
    others = {**values}
    if ENVIRONMENT.argument in others:
        name = others.pop(ENVIRONMENT.argument)
        others[ENVIRONMENTS.argument] = () if name is None else (name,)
    if others.get("budget", "") is None:
        del others["budget"]
    given = {row.name: others.pop(row.name) for row in ROWS if row.name in others}
    paths, quiet, verbose = others.pop("paths", ()), others.pop("quiet", False), others.pop("verbose", False)
    run = start(Options(**given), paths=paths)
    return run._replace(quiet=quiet, verbose=verbose) if quiet or verbose else run, others


def _check_patterns(lines: tuple[str, ...]) -> None:
    """Raise UsageError if a pattern of `--exclude` is invalid."""
    if not lines:
        return
    from trainc.files.exclude import reason

    for line in lines:
        if why := reason(line):
            raise misuse(f'--exclude: the pattern "{line}" {why}.')


def _with_metadata_of(wrapper: Decorated, function: Decorated) -> Decorated:
    """Return the wrapper with the function's name, docstring and options, which click reads."""
    from functools import update_wrapper

    return update_wrapper(wrapper, function)


def misuse(message: str) -> click.UsageError:
    """Return the error for an invalid combination of arguments."""
    import click

    return click.UsageError(message)
