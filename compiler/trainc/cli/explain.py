"""`trainc explain`: for each field of the compiled objects, which stage set it, from which line, and what it was."""

from __future__ import annotations

import os
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from trainc.cli import options
from trainc.cli.codes import OK, WRONG_INPUT
from trainc.declarations import Declaration

if TYPE_CHECKING:
    from trainc.compilation import Compilation
    from trainc.delivery import Delivery
    from trainc.diagnostics import Diagnostic
    from trainc.explaining.selectors import Selector
    from trainc.settings import Settings

EPILOG = """\b
Examples:
  trainc explain job.yaml                               every field of every object
  trainc explain job.yaml '**.image'                    the images
  trainc explain job.yaml 'spec.replicatedJobs[node]'   all of one replicated job
  trainc explain job.yaml '**.env[NCCL_*].value'        some variables
  trainc explain job.yaml ConfigMap:data                of other objects than the JobSet
  trainc explain spec.suspend                           of the TrainJobs in the current folder
  trainc explain job.yaml --patches                     what each stage did, as JSON Patch
"""
FIELD_NOT_FOUND: Final = Declaration(
    "field-not-found", ("read",), "No compiled object has the field asked for", own=True
)

ABOVE: Final = (".", "..", f".{os.sep}", f"..{os.sep}", os.sep)
"""How a path begins, or all of it, that cannot be a field."""


def arguments(function: options.Decorated) -> options.Decorated:
    """[PATH] [FIELD], as the arguments `paths` and `selector`."""

    @wraps(function)
    def with_both(*, path: str | None, field: str | None, **others: Any) -> Any:
        from trainc.explaining.selectors import parse

        if path is not None and field is None and not _is_path(path):
            path, field = None, path
        selector = parse(field) if field is not None else None
        if field is not None and selector is None:
            raise click.UsageError(
                f"{field!r} is no FIELD: write one such as spec.replicatedJobs[0].replicas or **.image."
            )
        return function(paths=(path or ".",), selector=selector, **others)

    found: options.Decorated = click.argument("field", required=False, metavar="[FIELD]")(with_both)
    return click.argument("path", required=False, metavar="[PATH]", shell_complete=options.file_names)(found)


@click.command(short_help="Say where each field of the output comes from.", epilog=EPILOG)
@arguments
@options.runtimes
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), help="json: for a program; by default text for people."
)
@click.option("--patches", is_flag=True, help="Print what each stage did instead, as RFC 6902 patches in JSON.")
@click.option("--only", metavar="NAME", help="Explain only the TrainJobs of this name.")
@options.namespace
@options.settings
@options.delivery
def command(  # noqa: PLR0913, PLR0917 (an option each)
    paths: tuple[str, ...],
    selector: Selector | None,
    runtimes: tuple[str, ...],
    form: str | None,
    patches: bool,
    only: str | None,
    namespace: str | None,
    settings: Settings,
    delivery: Delivery,
) -> int:
    """Say of each field of the compiled objects which stage set it, from which line, and what it was before.

    PATH is a file, a folder, or -; by default the current folder. FIELD is spelt as diagnostics spell it; a mapping or
    list stands for all in it, * for one step, ** for any number. One argument that is no path is the FIELD.
    """
    if patches and (selector is not None or form == "text"):
        other = "--format text" if selector is None else "FIELD"
        raise click.UsageError(f"--patches prints whole stages as JSON: leave {other} out.")
    from trainc.compilation import compile

    result = compile(paths, runtimes=runtimes, only=only, namespace=namespace, settings=settings, delivery=delivery)
    if not result.failed and not result.jobs:
        from trainc.cli.build import nothing

        result = result.saying([nothing(result)])
    text = "" if result.failed else _rendered(result, selector, form, patches=patches)
    if not result.failed and not text:
        assert selector is not None
        result = result.saying([_no_such_field(result, selector)])
    _report(result)
    options.write(text)
    return WRONG_INPUT if result.failed else OK


def _is_path(argument: str) -> bool:
    """Whether the only argument is a PATH: it exists, or looks more like a file than like a field."""
    from trainc.explaining.selectors import OBJECT
    from trainc.inputs import STDIN, SUFFIXES

    if argument == STDIN or os.path.exists(argument) or argument.endswith(SUFFIXES) or argument in ABOVE[:2]:
        return True
    # Behind a dot, a slash belongs to a label: metadata.labels.acme.io/team
    return argument.startswith(ABOVE[2:]) or (not OBJECT.match(argument) and os.sep in argument.partition(".")[0])


def _rendered(result: Compilation, selector: Selector | None, form: str | None, *, patches: bool) -> str:
    """What is printed; empty where no object has the field."""
    if patches:
        from trainc.explaining import patches as of_stages

        return of_stages.render(result.jobs)
    from trainc.explaining import accounts

    found = accounts(result.jobs, selector)
    if not found:
        return ""
    if form == "json":
        from trainc.explaining import json

        return json.render(found)
    from trainc.explaining import text

    return text.render(found, color=options.colored(sys.stdout), asked=selector is not None)


def _no_such_field(result: Compilation, selector: Selector) -> Diagnostic:
    """What to say where no object has a field that is asked for."""
    from trainc.diagnostics import Diagnostic
    from trainc.explaining.selectors import meant
    from trainc.plural import plural

    one = result.jobs[0].name if len(result.jobs) == 1 else ""
    of = f'TrainJob "{one}"' if one else plural(len(result.jobs), "TrainJob")
    another = os.path.exists(selector.text)
    return Diagnostic.of(
        FIELD_NOT_FOUND,
        f'no field "{selector.text}" in what is compiled of {of}',
        "explain takes one PATH: a file or a folder" if another else meant(selector, result.objects),
    )


def _report(result: Compilation) -> None:
    if result.diagnostics:
        from trainc.reports import text

        options.complain(
            text.render(result.diagnostics, summary=options.summary(result), color=options.colored(sys.stderr))
        )
