"""What several commands have in common: their arguments, how they write, what they say in the end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, TextIO

from trainc.cli.arguments import Argument, Option
from trainc.cli.codes import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import click
    from click.shell_completion import CompletionItem

    from trainc.compilation import Compilation
    from trainc.kubernetes.violations import FieldValidation
    from trainc.settings import Settings

    Decorated = Callable[..., Any]

REPORTS = ("text", "json", "junit", "sarif", "github", "gitlab")
"""The formats of a report, without loading them."""

REVIEWS = ("text", "markdown", "json", "html")
"""The formats of a review, likewise."""


def file_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave it to the shell to complete the name of a file or folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def folder_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave it to the shell to complete the name of a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def data_names(folder: str, suffix: str, incomplete: str) -> list[str]:
    """The files of a folder of trainc's own data, without their suffix, that begin like this."""
    from trainc.data import data_path

    names = (name.removesuffix(suffix) for name in sorted(os.listdir(data_path(folder))) if name.endswith(suffix))
    return [name for name in names if name.startswith(incomplete)]


PATHS: Final = Argument("paths", metavar="[PATH]...", complete=file_names)
"""PATH...: files, folders or `-`; the current folder where none is given."""
RUNTIMES: Final = Option(
    ("-r", "--runtimes"),
    "Look for runtimes here, too, before the stock ones; repeatable.",
    multiple=True,
    metavar="PATH",
    complete=file_names,
)
NAMESPACE: Final = Option(
    ("-n", "--namespace"), "The namespace of TrainJobs and TrainingRuntimes that name none.", metavar="NS"
)


def formats_and_files(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Each `FORMAT=FILE` as a pair."""
    import click

    pairs = []
    for value in given:
        form, _, file = value.partition("=")
        if form not in REPORTS:
            raise click.BadParameter(f'"{form}" is no format: give one of {", ".join(REPORTS)}, then = and a file.')
        if not file:
            raise click.BadParameter(f"there is no file: {form}=FILE.")
        pairs.append((form, file))
    return tuple(pairs)


def report_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The formats of reports; behind one, leave it to the shell to complete the name of a file."""
    from click.shell_completion import CompletionItem

    if "=" in incomplete:
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(f"{form}=") for form in REPORTS if form.startswith(incomplete)]


REPORT: Final = Option(
    ("--report",),
    f"Write a report to a file, too: {', '.join(REPORTS)}; repeatable.",
    name="reports",
    multiple=True,
    convert=formats_and_files,
    complete=report_names,
    metavar="FORMAT=FILE",
)
FIELD_VALIDATION: Final = Option(
    ("--field-validation",),
    "Unknown fields: errors (strict, the default), dropped with a warning, or dropped.",
    choices=("strict", "warn", "ignore"),
)
SETTINGS: Final = (
    Option(("--strict",), "Make every warning an error.", is_flag=True),
    FIELD_VALIDATION,
    Option(
        ("--config",),
        "The settings; by default the nearest trainc.yaml of the first PATH's folder and those above it.",
        metavar="FILE",
        complete=file_names,
    ),
    Option(("--no-config",), "Read no trainc.yaml.", is_flag=True),
)
SUFFIX: Final = (
    Option(
        ("--name-suffix-hash",),
        "End the names in a hash of what cannot change in place: a change makes a new JobSet.",
        is_flag=True,
    ),
)
DELIVERY: Final = (
    *SUFFIX,
    Option(("--argocd-replace",), "Let Argo CD delete and make anew what it cannot change.", is_flag=True),
    Option(("--suspend",), "Make every JobSet suspended, for somebody else to start.", is_flag=True),
)

paths: Final = PATHS.decorate
runtimes: Final = RUNTIMES.decorate
namespace: Final = NAMESPACE.decorate


def settings(function: Decorated) -> Decorated:
    """SETTINGS; what they and trainc.yaml say becomes the argument `settings`."""
    return _with_rows(SETTINGS, with_settings(function))


def delivery(function: Decorated) -> Decorated:
    """DELIVERY as the argument `delivery`."""
    return _with_rows(DELIVERY, with_delivery(function))


def suffix(function: Decorated) -> Decorated:
    """SUFFIX as the argument `delivery`, for a command to which only the names matter."""
    return _with_rows(SUFFIX, with_delivery(function))


def _with_rows(rows: tuple[Option, ...], function: Decorated) -> Decorated:
    for row in reversed(rows):
        function = row.decorate(function)
    return function


def with_settings(function: Decorated) -> Decorated:
    """The function with one argument for SETTINGS and the trainc.yaml that they mean."""

    def with_settings(
        *,
        paths: tuple[str, ...],
        strict: bool,
        field_validation: FieldValidation | None,
        config: str | None,
        no_config: bool,
        **others: Any,
    ) -> Any:
        from trainc.settings import of

        if config is not None and no_config:
            raise misuse("--config reads a file and --no-config reads none: give one of them.")
        # Files that are checked as a part of a folder have that folder's.
        among = others.get("among")
        found = of(paths if among is None else (among,), file=config, search=not no_config)
        if strict:
            found = found._replace(strict="--strict")
        if field_validation is not None:
            found = found._replace(field_validation=field_validation)
        return function(paths=paths, settings=found, **others)

    return _instead(with_settings, function)


def field_validation(function: Decorated) -> Decorated:
    """FIELD_VALIDATION as the argument `settings`, for a command that needs no other setting of trainc.yaml."""

    def with_field_validation(
        *, paths: tuple[str, ...], field_validation: FieldValidation | None, **others: Any
    ) -> Any:
        return function(paths=paths, settings=validating(field_validation, paths), **others)

    return FIELD_VALIDATION.decorate(_instead(with_field_validation, function))


def validating(given: FieldValidation | None, paths: tuple[str, ...]) -> Settings:
    """Return the default settings with the given field validation, or the one in the trainc.yaml of some paths."""
    from trainc.settings import DEFAULT, of

    return DEFAULT._replace(field_validation=given or of(paths).field_validation)


def with_delivery(function: Decorated) -> Decorated:
    """The function with one argument for DELIVERY, or as many of its options as a command has."""

    def with_delivery(
        *, name_suffix_hash: bool, argocd_replace: bool = False, suspend: bool = False, **others: Any
    ) -> Any:
        from trainc.delivery import Delivery

        return function(delivery=Delivery(name_suffix_hash, argocd_replace, suspend), **others)

    return _instead(with_delivery, function)


def _instead(wrapper: Decorated, function: Decorated) -> Decorated:
    """A function that is called in place of another one, for click, which reads names, docstrings and options."""
    from functools import update_wrapper

    return update_wrapper(wrapper, function)


def misuse(message: str) -> click.UsageError:
    """What is wrong with a command line as a whole."""
    import click

    return click.UsageError(message)


def colored(stream: TextIO | None) -> bool:
    """Whether colours are wanted: on a terminal that has some, unless NO_COLOR is set; anywhere, if FORCE_COLOR is."""
    if os.environ.get("NO_COLOR") or stream is None:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def write(*texts: str) -> None:
    """Write to standard output as UTF-8, whatever the locale says, one text behind the other."""
    write_bytes(*(text.encode("utf-8", "surrogatepass") for text in texts))


def write_bytes(*parts: bytes) -> None:
    """Write to standard output, byte for byte. Raises OutputError where that cannot be done, but for a closed pipe."""
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


def report(text: str) -> None:
    """Write to standard error, if there is one, with what its encoding cannot say escaped."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def summary(compilation: Compilation) -> str:
    """How many errors and warnings there are."""
    from trainc.plural import plural

    counted = [(sum(d.severity == s for d in compilation.diagnostics), s) for s in ("error", "warning", "note")]
    said = [plural(count, word) for count, word in counted if count]
    if compilation.raised:
        raised = plural(compilation.raised, "warning")
        said[0] += f" ({raised} among them: {compilation.strict} makes errors of warnings)"
    return ", ".join(said)


def verdict(compilation: Compilation) -> str:
    """The same with the number of files; where there is nothing to count, what was looked at."""
    from trainc.plural import plural

    if counted := summary(compilation):
        return f"{counted} in {plural(compilation.files, 'file')}"
    jobs, runtimes = plural(len(compilation.jobs), "TrainJob"), plural(compilation.runtimes, "runtime")
    return f"no faults found: {jobs}, {runtimes}"
