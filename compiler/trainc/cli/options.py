"""Arguments and options that commands share, and the settings that they make with trainc.yaml."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.cli.arguments import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import click
    from click.shell_completion import CompletionItem

    from trainc.exclude import Patterns
    from trainc.kubernetes.violations import FieldValidation
    from trainc.settings import Settings

    Decorated = Callable[..., Any]

REPORTS = ("text", "json", "junit", "sarif", "github", "gitlab")
"""The report formats, listed here so that they need not be imported."""

REVIEWS = ("text", "markdown", "json", "html")
"""The review formats, likewise."""


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
    from trainc.cli import completing

    return completing.job_names(ctx, param, incomplete)


def environment_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an environment."""
    from trainc.cli import completing

    return completing.environment_names(ctx, param, incomplete)


def data_names(folder: str, suffix: str, incomplete: str) -> list[str]:
    """Return the names, without suffix, of the files in a folder of trainc's data that start with `incomplete`."""
    from trainc.data import data_path

    names = (name.removesuffix(suffix) for name in sorted(os.listdir(data_path(folder))) if name.endswith(suffix))
    return [name for name in names if name.startswith(incomplete)]


PATHS: Final = Argument("paths", metavar="[PATH]...", complete=file_names)
"""PATH...: files, folders or `-`; the default is the project (`inputs`)."""
RUNTIMES: Final = Option(
    ("-r", "--runtimes"),
    "Also search for runtimes here, before the built-in ones; repeatable.",
    multiple=True,
    metavar="PATH",
    complete=file_names,
)
ENVIRONMENTS: Final = Option(
    ("--env",),
    "Environment in trainc.yaml; repeatable; default: all.",
    name="environments",
    multiple=True,
    metavar="NAME",
    complete=environment_names,
)
"""The environments of a command that has a run for each."""
ENVIRONMENT: Final = Option(
    ("--env",),
    "Environment in trainc.yaml; required if there are several.",
    name="environment",
    metavar="NAME",
    complete=environment_names,
)
"""The environment of a command that shows one."""
OF_RUNTIMES: Final = ENVIRONMENT._replace(help="Environment in trainc.yaml whose runtimes.paths are searched.")
NAMESPACE: Final = Option(
    ("-n", "--namespace"), "Namespace of TrainJobs and TrainingRuntimes that have none.", metavar="NS"
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
)
FOLLOW_LINKS: Final = Option(
    ("--follow-links",),
    "Read through links that lead out of the root (the git root, or else the current folder).",
    is_flag=True,
)
FIELD_VALIDATION: Final = Option(
    ("--field-validation",),
    "Unknown fields: errors (strict, the default), dropped with a warning, or dropped.",
    choices=("strict", "warn", "ignore"),
)
EXCLUDE: Final = Option(
    ("--exclude",),
    "Leave out files and folders that match this .gitignore pattern; repeatable.",
    multiple=True,
    metavar="PATTERN",
)
VERBOSE: Final = Option(
    ("-v", "--verbose"), "List the skipped files, and why the admission by Kueue is unknown.", is_flag=True
)
BUDGET: Final = Option(
    ("--budget",),
    "Most work of a run, which stops with an error beyond it: ci for the input of others, default, or unlimited.",
    choices=("ci", "default", "unlimited"),
)
PLUGIN_BUDGET: Final = BUDGET._replace(
    default="ci", variable="TRAINC_BUDGET", help=f"{BUDGET.help} Default: the variable TRAINC_BUDGET, or ci."
)
READING: Final = (FOLLOW_LINKS, EXCLUDE, VERBOSE)
SETTINGS: Final = (
    Option(("--strict",), "Turn every warning into an error.", is_flag=True),
    FIELD_VALIDATION,
    Option(
        ("--config",),
        "Settings file; default: the nearest trainc.yaml in the first PATH's folder or above.",
        metavar="FILE",
        complete=file_names,
    ),
    Option(("--no-config",), "Ignore every trainc.yaml.", is_flag=True),
    BUDGET,
    *READING,
)
SUFFIX: Final = (
    Option(
        ("--name-suffix-hash",),
        "Append a hash of the immutable fields to JobSet names, so that changing them creates a new JobSet.",
        is_flag=True,
    ),
)
DELIVERY: Final = (
    *SUFFIX,
    Option(("--argocd-replace",), "Let Argo CD delete and recreate a JobSet that it cannot update.", is_flag=True),
    Option(("--suspend",), "Create every JobSet suspended, to be resumed later.", is_flag=True),
)

OF_DELIVERY: Final = frozenset(row.argument for row in DELIVERY)

paths: Final = PATHS.decorate
runtimes: Final = RUNTIMES.decorate
environment: Final = ENVIRONMENT.decorate
namespace: Final = NAMESPACE.decorate
plugin_budget: Final = PLUGIN_BUDGET.decorate


def settings(function: Decorated) -> Decorated:
    """Add SETTINGS, and pass their values merged with trainc.yaml as the argument `settings`."""
    return _with_rows(SETTINGS, with_settings(function))


def delivery(function: Decorated) -> Decorated:
    """Add DELIVERY, which are a part of `settings`."""
    return _with_rows(DELIVERY, function)


def suffix(function: Decorated) -> Decorated:
    """Add SUFFIX, which is a part of `settings`, for a command that depends only on the names."""
    return _with_rows(SUFFIX, function)


def _with_rows(rows: tuple[Option, ...], function: Decorated) -> Decorated:
    for row in reversed(rows):
        function = row.decorate(function)
    return function


def with_settings(function: Decorated) -> Decorated:
    """Return the function with one argument for SETTINGS, DELIVERY and the trainc.yaml that they select.

    With ENVIRONMENT, they are the settings of that environment. An unknown one ends the command with an error.
    """

    def with_settings(  # noqa: PLR0913 (one argument per option)
        *,
        paths: tuple[str, ...],
        strict: bool,
        field_validation: FieldValidation | None,
        config: str | None,
        no_config: bool,
        budget: str | None,
        follow_links: bool,
        exclude: tuple[str, ...],
        verbose: bool,
        **others: Any,
    ) -> Any:
        from trainc.settings import DEFAULT, of, with_flags

        if config is not None and no_config:
            raise misuse("--config and --no-config cannot be combined.")
        # Files that are checked as a subset of a folder use that folder's settings.
        among = others.get("among")
        limits = DEFAULT.budget
        if budget is not None:
            from trainc.budget import BUDGETS

            limits = BUDGETS[budget]
        found = of(
            paths if among is None else (among,),
            file=config,
            search=not no_config,
            follow_links=follow_links,
            limits=limits,
        )
        if verbose:
            found = found._replace(verbose=verbose)
        found = with_flags(found, _flags(others, strict, field_validation, exclude))
        rest = {name: value for name, value in others.items() if name not in OF_DELIVERY}
        if ENVIRONMENT.argument not in rest:
            return function(paths=paths, settings=found, **rest)
        name = rest.pop(ENVIRONMENT.argument)
        if name is not None or len(found.environment_names) > 0:
            from trainc.diagnostics import Diagnostic
            from trainc.projects import OPTION, one

            one_of_them = one(found, name, OPTION)
            if isinstance(one_of_them, Diagnostic):
                from trainc.cli import printing

                return printing.report_error(one_of_them)
            found = one_of_them
        return function(paths=paths, settings=found, **rest)

    return _instead(with_settings, function)


def inputs(paths: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Return PATH; without one, the project's sources, which are by default the folder of the trainc.yaml.

    A `--config` from another folder does not make that folder the project.
    """
    if paths or settings.base is None:
        return paths or (os.curdir,)
    if settings.sources:
        return tuple(source.path for source in settings.sources)
    from trainc.confine import within

    return (settings.folder if within(os.getcwd(), settings.base.folder) else os.curdir,)


def _flags(
    others: Mapping[str, Any], strict: bool, field_validation: FieldValidation | None, exclude: tuple[str, ...]
) -> dict[tuple[str, ...], Any]:
    """Return the given options by the path of the key in trainc.yaml that each one overrides."""
    patterns(exclude)
    values = {
        ("exclude",): exclude,
        ("runtimes", "paths"): others.get("runtimes"),
        ("fieldValidation",): field_validation,
        ("lint", "strict"): strict,
        ("delivery", "nameSuffixHash"): others.get("name_suffix_hash"),
        ("delivery", "argocdReplace"): others.get("argocd_replace"),
        ("delivery", "suspend"): others.get("suspend"),
    }
    return {path: value for path, value in values.items() if value}


def reading(function: Decorated) -> Decorated:
    """Add FIELD_VALIDATION, BUDGET and READING as the argument `settings`, for a command without other settings."""

    def with_reading(
        *,
        paths: tuple[str, ...],
        field_validation: FieldValidation | None,
        budget: str | None,
        follow_links: bool,
        exclude: tuple[str, ...],
        verbose: bool,
        environment: str | None = None,
        **others: Any,
    ) -> Any:
        found = reading_settings(
            paths, field_validation, exclude, budget, environment, follow_links=follow_links, verbose=verbose
        )
        return function(paths=paths, settings=found, **others)

    return _with_rows((FIELD_VALIDATION, BUDGET, *READING), _instead(with_reading, function))


def reading_settings(
    paths: tuple[str, ...],
    field_validation: FieldValidation | None,
    exclude: tuple[str, ...],
    budget: str | None,
    environment: str | None = None,
    *,
    follow_links: bool,
    verbose: bool,
) -> Settings:
    """Return the default settings with these values and, from the trainc.yaml of some paths, those that READING has.

    A trainc.yaml with errors is an error: its patterns are unknown.
    """
    from trainc.budget import BUDGETS
    from trainc.settings import DEFAULT, in_environment, of, with_flags

    found = of(paths, follow_links=follow_links)
    if environment is not None:
        found = in_environment(found, environment)
    found = with_flags(found, _flags({}, strict=False, field_validation=field_validation, exclude=exclude))
    return DEFAULT._replace(
        field_validation=found.field_validation,
        exclude=found.exclude,
        diagnostics=tuple(diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"),
        follow_links=follow_links,
        verbose=verbose,
        runtimes=found.runtimes,
        built_in_forbidden=found.built_in_forbidden,
        budget=DEFAULT.budget if budget is None else BUDGETS[budget],
        sources=found.sources,
        base=found.base,
        document=found.document,
    )


def patterns(lines: tuple[str, ...]) -> tuple[Patterns, ...]:
    """Return the patterns of `--exclude`, relative to the current folder. Raise UsageError if one is invalid."""
    if not lines:
        return ()
    from trainc.exclude import Patterns
    from trainc.gitignore import reason

    for line in lines:
        if why := reason(line):
            raise misuse(f'--exclude: the pattern "{line}" {why}.')
    return (Patterns(os.getcwd(), lines),)


def _instead(wrapper: Decorated, function: Decorated) -> Decorated:
    """Return the wrapper with the function's name, docstring and options, which click reads."""
    from functools import update_wrapper

    return update_wrapper(wrapper, function)


def misuse(message: str) -> click.UsageError:
    """Return the error for an invalid combination of arguments."""
    import click

    return click.UsageError(message)
