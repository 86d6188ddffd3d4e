"""Arguments and options that commands share, and the value with a run's options and settings that they fill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.releases import DEFAULT_RELEASE, RELEASES, release_fault
from trainc.cli.common.arguments import INPUT, OF_REPORT, OF_SETTINGS, Argument, Option

if TYPE_CHECKING:
    from collections.abc import Callable

    import click
    from click.shell_completion import CompletionItem

    from trainc.compilation.results import Options

    Decorated = Callable[..., Any]

REPORTS = ("text", "json", "junit", "sarif", "github", "gitlab", "rdjson")
"""The report formats, each a module of `reports`; listed here so that the package need not be imported."""

REVIEWS = ("text", "markdown", "json", "html")
"""The review formats, each a module of `review.formats`."""


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
    from trainc.cli.common import completing

    return completing.job_names(ctx, param, incomplete)


def environment_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an environment."""
    from trainc.cli.common import completing

    return completing.environment_names(ctx, param, incomplete)


def data_names(folder: str, suffix: str, incomplete: str) -> list[str]:
    """Return the names, without suffix, of the files in a folder of trainc's data that start with `incomplete`."""
    from trainc.base.data import data_path

    names = (name.removesuffix(suffix) for name in sorted(os.listdir(data_path(folder))) if name.endswith(suffix))
    return [name for name in names if name.startswith(incomplete)]


def trainer_version(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Return the name of a release of Trainer. Raise BadParameter for an unknown one."""
    if given is not None and (fault := release_fault(given)):
        import click

        raise click.BadParameter(f"{fault[0]}: {fault[1]}")
    return given


def trainer_versions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a release of Trainer."""
    return [release.name for release in RELEASES if release.name.startswith(incomplete)]


PATHS: Final = Argument("paths", metavar="[PATH]...", complete=file_names)
"""PATH...: files, folders or `-`; the default is the project (`inputs`)."""
RUNTIMES: Final = Option(
    ("-r", "--runtimes"),
    "Also search for runtimes here, before the built-in ones; repeatable.",
    multiple=True,
    metavar="PATH",
    complete=file_names,
    group=INPUT,
)
ENVIRONMENTS: Final = Option(
    ("--env",),
    "Environment in trainc.yaml; repeatable; default: all.",
    name="environments",
    multiple=True,
    metavar="NAME",
    complete=environment_names,
    group=INPUT,
)
"""The environments of a command that has a run for each."""
ENVIRONMENT: Final = Option(
    ("--env",),
    "Environment in trainc.yaml; required if there are several.",
    name="environment",
    metavar="NAME",
    complete=environment_names,
    group=INPUT,
)
"""The environment of a command that shows one."""
OF_RUNTIMES: Final = ENVIRONMENT._replace(help="Environment in trainc.yaml whose runtimes.paths are searched.")
ONLY: Final = Option(
    ("--only",), "Compile only TrainJobs with this name.", metavar="NAME", complete=job_names, group=INPUT
)
NAMESPACE: Final = Option(
    ("-n", "--namespace"),
    "Namespace of TrainJobs and TrainingRuntimes that have none.",
    metavar="NS",
    group=OF_SETTINGS,
)


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
FOLLOW_LINKS: Final = Option(
    ("--follow-links",),
    "Read through links that lead out of the root (the git root, or else the current folder).",
    is_flag=True,
    group=INPUT,
)
FIELD_VALIDATION: Final = Option(
    ("--field-validation",),
    "Unknown fields: errors (strict, the default), dropped with a warning, or dropped.",
    choices=("strict", "warn", "ignore"),
    group=OF_SETTINGS,
)
EXCLUDE: Final = Option(
    ("--exclude",),
    "Leave out files and folders that match this .gitignore pattern; repeatable.",
    multiple=True,
    metavar="PATTERN",
    group=INPUT,
)
TRAINER_VERSION: Final = Option(
    ("--trainer-version",),
    f"Release of Trainer in the cluster; default: {DEFAULT_RELEASE.name}.",
    metavar="VERSION",
    convert=trainer_version,
    complete=trainer_versions,
    group=OF_SETTINGS,
)
VERBOSE: Final = Option(
    ("-v", "--verbose"),
    "List the skipped files, and why the admission by Kueue is unknown.",
    is_flag=True,
    group=OF_REPORT,
)
QUIET: Final = Option(("-q", "--quiet"), "Print errors only.", is_flag=True, group=OF_REPORT)
BUDGET: Final = Option(
    ("--budget",),
    "Most work of a run, which stops with an error beyond it: ci for the input of others, default, or unlimited.",
    choices=("ci", "default", "unlimited"),
    group=INPUT,
)
PLUGIN_BUDGET: Final = BUDGET._replace(
    default="ci", variable="TRAINC_BUDGET", help=f"{BUDGET.help} Default: the variable TRAINC_BUDGET, or ci."
)
PROJECT: Final = Option(
    ("--project",), "Only the project with this folder.", metavar="DIR", complete=folder_names, group=OF_SETTINGS
)
READING: Final = (FOLLOW_LINKS, EXCLUDE, VERBOSE, QUIET)
OF_READING: Final = (TRAINER_VERSION, FIELD_VALIDATION, BUDGET, *READING)
"""The options of a command whose settings are only those about reading."""


def gang_scheduler(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    """Return the name of a gang scheduler. Raise BadParameter for a misspelt or invalid one."""
    if given is not None:
        import click

        from trainc.frontends.gangs import name_fault

        if fault := name_fault(given):
            raise click.BadParameter(f"{fault[0]}: {fault[1]}")
    return given


LEGACY: Final = (
    Option(
        ("--legacy",), "Also compile jobs of the legacy kinds, such as PyTorchJob.", is_flag=True, group=OF_SETTINGS
    ),
    Option(
        ("--gang",),
        "The gang scheduler of legacy jobs: volcano, coscheduling, or a scheduler's name.",
        metavar="NAME",
        convert=gang_scheduler,
        group=OF_SETTINGS,
    ),
)
"""The options for legacy jobs."""
CONFIG: Final = Option(
    ("--config",),
    "Settings file for all files; default: for each file, the nearest trainc.yaml in its folder or above.",
    metavar="FILE",
    complete=file_names,
    group=OF_SETTINGS,
)
NO_CONFIG: Final = Option(("--no-config",), "Ignore every trainc.yaml.", is_flag=True, group=OF_SETTINGS)
SETTINGS: Final = (
    Option(("--strict",), "Turn every warning into an error.", is_flag=True, group=OF_REPORT),
    TRAINER_VERSION,
    FIELD_VALIDATION,
    *LEGACY,
    CONFIG,
    NO_CONFIG,
    PROJECT,
    BUDGET,
    *READING,
)
SUFFIX: Final = (
    Option(
        ("--name-suffix-hash",),
        "Append a hash of the immutable fields to JobSet names, so that changing them creates a new JobSet.",
        is_flag=True,
        group=OF_SETTINGS,
    ),
)
DELIVERY: Final = (
    *SUFFIX,
    Option(
        ("--argocd-replace",),
        "Let Argo CD delete and recreate a JobSet that it cannot update.",
        is_flag=True,
        group=OF_SETTINGS,
    ),
    Option(("--suspend",), "Create every JobSet suspended, to be resumed later.", is_flag=True, group=OF_SETTINGS),
)

PASSTHROUGH: Final = Option(
    ("--passthrough",), "Copy documents of other kinds to the output.", is_flag=True, group=OF_SETTINGS
)


def with_options(function: Decorated) -> Decorated:
    """Return the function with one argument `run`: the `Options` of a command line, without settings."""

    def with_options(**values: Any) -> Any:
        run, others = options_of(values)
        return function(run=run, **others)

    return _with_metadata_of(with_options, function)


def projects_of(run: Options, *, one: bool = False) -> tuple[Options, ...] | int:
    """Return the options of each project of the paths; the exit code of an error if there is none, or not one."""
    from trainc.compilation import projects

    runs = projects.projects_of(run, run.paths)
    if not runs or (one and len(runs) > 1):
        from trainc.cli.common import printing

        return printing.report_error(projects.project_required(runs, run.project))
    return runs


def with_run(function: Decorated) -> Decorated:
    """Return the function with one argument `run`: the `Options` of a command line, with the settings of trainc.yaml.

    Several projects end the command with an error. With ENVIRONMENT, the settings are those of that environment, and
    an unknown one is an error, too.
    """

    def with_run(**values: Any) -> Any:
        selects_one = ENVIRONMENT.argument in values
        run, others = options_of(values)
        runs = projects_of(run, one=True)
        if isinstance(runs, int):
            return runs
        [run] = runs
        if selects_one and (run.environments or run.settings.environment_names):
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
        run, others = options_of(values)
        return function(paths=run.paths, run=for_reading(run.with_project(run.paths)), **others)

    return _with_metadata_of(with_reading, function)


def for_reading(run: Options) -> Options:
    """Return the options of a run that does not compile for a project; with an environment, the first one given."""
    from trainc.settings import DEFAULT

    environment = run.environments[0] if run.environments else None
    found = run.with_settings(run.settings, environment).settings
    settings = DEFAULT._replace(
        field_validation=found.field_validation,
        release=found.release,
        exclude=found.exclude,
        diagnostics=tuple(diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"),
        runtimes=found.runtimes,
        built_in_forbidden=found.built_in_forbidden,
        sources=found.sources,
        output=found.output,
        base=found.base,
        document=found.document,
        settings_files=found.settings_files,
    )
    return run._replace(others="skip", settings=settings)


def options_of(values: dict[str, Any]) -> tuple[Options, dict[str, Any]]:
    """Return the options of a run that a command line has, and its other values. Raise UsageError for invalid ones."""
    from trainc.compilation.results import Options
    from trainc.pipeline.delivery import Delivery

    if values.get("config") is not None and values["no_config"]:
        raise misuse("--config and --no-config cannot be combined.")
    if values.get("project") is not None and (values.get("config") is not None or values.get("no_config")):
        raise misuse("--project cannot be combined with --config or --no-config: they replace all projects.")
    if values.get("quiet") and values["verbose"]:
        raise misuse("--quiet and --verbose cannot be combined.")
    _check_patterns(values.get("exclude", ()))
    given = {name: value for name, value in values.items() if name in Options._fields}
    others = {name: value for name, value in values.items() if name not in given}
    given["delivery"] = Delivery(*(others.pop(name, False) for name in Delivery._fields))
    if ENVIRONMENT.argument in others:
        name = others.pop(ENVIRONMENT.argument)
        given[ENVIRONMENTS.argument] = () if name is None else (name,)
    if given.pop("budget", None) is not None:
        from trainc.budget import BUDGETS

        given["budget"] = BUDGETS[values["budget"]]
    return Options(**given), others


def _check_patterns(lines: tuple[str, ...]) -> None:
    """Raise UsageError if a pattern of `--exclude` is invalid."""
    if not lines:
        return
    from trainc.files.gitignore import reason

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
