"""Shared parts of the commands: arguments and options, output, and the summary line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, TextIO

from trainc.cli.arguments import Argument, Option
from trainc.cli.codes import WRONG_INPUT, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import click
    from click.shell_completion import CompletionItem

    from trainc.compilation import Compilation
    from trainc.diagnostics import Diagnostic
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
                return report_error(one_of_them)
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


def colored(stream: TextIO | None) -> bool:
    """Return whether to use color: on a terminal that supports it, or if FORCE_COLOR is set; never with NO_COLOR."""
    if os.environ.get("NO_COLOR") or stream is None:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def with_unknown(result: Compilation) -> Compilation:
    """Return the result with a note on the JobSets whose admission by Kueue the manifests do not decide."""
    from trainc.kueue import findings

    return result.saying(findings.unknown((job.plan for job in result.jobs), result.others))


def write(*texts: str) -> None:
    """Write texts to standard output as UTF-8, whatever the locale."""
    write_bytes(*(text.encode("utf-8", "surrogatepass") for text in texts))


def write_bytes(*parts: bytes) -> None:
    """Write bytes to standard output. Raise OutputError if that fails, or BrokenPipeError for a closed pipe."""
    if sys.stdout is None:
        raise OutputError("it is closed")
    try:
        sys.stdout.flush()
        for data in parts:
            sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None


def report_error(diagnostic: Diagnostic) -> int:
    """Write the error that prevents a run to standard error, and return the exit code."""
    from trainc.reports import text

    report(text.render([diagnostic], summary="", color=colored(sys.stderr)))
    return WRONG_INPUT


def report(text: str) -> None:
    """Write to standard error, if it is open; characters outside its encoding are escaped."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def report_skipped(files: Sequence[str], *, verbose: bool) -> None:
    """Write the number of skipped files to standard error; with `verbose`, also their paths."""
    if files:
        from trainc.plural import plural
        from trainc.source.printable import escape

        listed = "".join(f"{escape(file)}: skipped\n" for file in files) if verbose else ""
        verb = "was" if len(files) == 1 else "were"
        report(f"{listed}{plural(len(files), 'file')} without TrainJobs or runtimes {verb} skipped\n")


def report_built_in(compilation: Compilation, *, blank: bool = False) -> None:
    """Write the note about built-in runtimes to standard error, without its place: it is about the run.

    `blank` separates it from other lines on standard error.
    """
    if compilation.built_in is not None:
        from trainc.reports import text

        report("\n" * blank + text.brief(compilation.built_in, color=colored(sys.stderr)))


def summary(compilation: Compilation) -> str:
    """Return the number of errors, warnings and notes as text."""
    from trainc.plural import plural
    from trainc.repeated import once

    shown = once(compilation.diagnostics)
    counted = [(sum(d.severity == s for d in shown), s) for s in ("error", "warning", "note")]
    parts = [plural(count, word) for count, word in counted if count]
    if compilation.raised:
        raised = plural(compilation.raised, "warning")
        errors = "an error" if compilation.raised == 1 else "errors"
        parts[0] += f" (including {raised} turned into {errors} by {compilation.strict})"
    return ", ".join(parts)


def verdict(compilation: Compilation) -> str:
    """Return the summary with the number of files; without diagnostics, the number of checked objects."""
    from trainc.plural import plural

    others = not_compiled(compilation)
    if counted := summary(compilation):
        # A run that an invalid trainc.yaml or command line ends reads no file.
        files = f" in {plural(compilation.files, 'file')}" if compilation.files else ""
        return "\n".join(filter(None, (f"{counted}{files}", others)))
    jobs, runtimes = plural(len(compilation.jobs), "TrainJob"), plural(compilation.runtimes, "runtime")
    return "; ".join(filter(None, (f"no problems found: {jobs}, {runtimes}", others)))


def not_compiled(compilation: Compilation) -> str:
    """Return a sentence with the numbers of PyTorchJobs and other training jobs that are not compiled, if any."""
    if not compilation.others:
        return ""
    from trainc.frontends import kinds

    return kinds.not_compiled(compilation.others)


def left_out(result: Compilation, passthrough: bool) -> str:
    """Return lines about the documents that a build leaves out."""
    others = not_compiled(result)
    if passthrough or not result.others:
        return others
    from trainc.plural import plural

    omitted = f"omitted {plural(len(result.others), 'document')} of other kinds (--passthrough includes them)"
    return "\n".join(line for line in (omitted, others) if line)
