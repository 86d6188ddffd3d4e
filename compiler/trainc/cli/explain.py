"""`trainc explain`: each compiled field's source: stage, line and previous values; or the page of a diagnostic."""

from __future__ import annotations

import gc
import os
import sys
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import click

from trainc.base.declarations import Declaration
from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Argument, Command, Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.shell_completion import CompletionItem

    from trainc.compilation import Compilation, Run
    from trainc.diagnostics import Diagnostic
    from trainc.explain import Account
    from trainc.explain.selectors import Selector

EPILOG = """\b
Examples:
  trainc explain job.yaml                              all fields
  trainc explain job.yaml '**.image'                   the images
  trainc explain job.yaml 'spec.replicatedJobs[node]'  of one replicated job
  trainc explain job.yaml '**.env[NCCL_*].value'       some variables
  trainc explain job.yaml ConfigMap:data               of its ConfigMaps
  trainc explain spec.suspend                          one of all TrainJobs
  trainc explain job.yaml spec.trainer.numNodes        what this sets
  trainc explain job.yaml --patches                    the effect of stages
  trainc explain --losses pytorchjob.yaml              what is lost
  trainc explain wrong-type                            an error or warning
"""
FIELD_NOT_FOUND: Final = Declaration("field-not-found", ("read",), trainc_only=True)

ABOVE: Final = (".", "..", f".{os.sep}", f"..{os.sep}", os.sep)
"""Paths, and prefixes of paths, that cannot be a FIELD."""


def with_selector(function: options.Decorated) -> options.Decorated:
    """Pass [PATH] and [FIELD] as the arguments `paths` and `selector`; print the page of an ID instead."""

    @wraps(function)
    def with_selector(*, path: str | None, field: str | None, **others: Any) -> Any:
        from trainc.explain.selectors import parse

        if path is not None and field is None and _is_id(path):
            if others["form"] or others["patches"] or others["losses"]:
                raise options.misuse("ID cannot be combined with --format, --patches or --losses: it prints a page.")
            return _page(path)
        if path is not None and not _is_path(path) and (field is None or _is_path(field)):
            path, field = field, path  # a FIELD alone, or the words in the other order
        selector = parse(field) if field is not None else None
        if field is not None and selector is None:
            raise click.UsageError(
                f"{field!r} is not a valid FIELD: use a path such as spec.replicatedJobs[0].replicas or **.image."
            )
        return function(paths=() if path is None else (path,), selector=selector, **others)

    return with_selector


@with_selector
@options.with_run
def explain(
    paths: tuple[str, ...], run: Run, selector: Selector | None, form: str | None, patches: bool, losses: bool
) -> int:
    """Show each field's source: the stage that set it, the line and the previous values.

    PATH is a file, a folder or -; the default is the project or the current folder. FIELD uses the field syntax of
    diagnostics; a mapping or list selects everything in it, * matches one path segment, ** any number. A field of the
    TrainJob selects the fields that it sets. A single argument that is not a path is the FIELD.

    With the ID of a diagnostic instead, print its page: its meaning and an example. Use ./ID for a path of that name.
    """
    if patches and (selector is not None or form == "text"):
        other = "--format text" if selector is None else "FIELD"
        raise click.UsageError(f"--patches cannot be combined with {other}: it prints whole stages as JSON.")
    if losses and (patches or selector is not None):
        raise click.UsageError(f"--losses cannot be combined with {'--patches' if patches else 'FIELD'}.")
    from trainc.compilation import compile_paths
    from trainc.compilation.run import EXPLAIN

    result = compile_paths(run.inputs, run._replace(purpose=EXPLAIN))
    printing.report_skipped(result.skipped, run)
    if losses:
        return _losses(result, run, form)
    if not result.failed and not result.shown:
        result = result.with_diagnostics([printing.no_trainjobs(result)])
    from trainc.budget import checked_output

    found = None if result.failed or patches else _accounts(result, selector)
    if found is None and not result.failed and selector is not None:
        result = result.with_diagnostics([_no_such_field(result, selector)])
    text = () if result.failed else checked_output(result.budget, _rendered(result, found, form, selector is not None))
    printing.report_errors(result, run)
    printing.report_stand_ins(result, run)
    printing.write(*text)
    return WRONG_INPUT if result.failed else OK


def _is_id(word: str) -> bool:
    """Return whether the only argument is the ID of a diagnostic, or a misspelt one: no field begins with such a word.

    A word in lower case with a hyphen is an ID unless it is a path. An ID is one even if a path has its name.
    """
    if not word.islower() or not word.replace("-", "").isalnum():
        return False
    from trainc.base.data import declared_in

    return word in declared_in() or ("-" in word and not _is_path(word))


def _page(id: str) -> int:
    """Print the page of a diagnostic."""
    from trainc.base.data import declared_in

    if id not in declared_in():
        from trainc.base.suggestions import nearest_name

        near = nearest_name(id, declared_in())
        hint = f' Did you mean "{near}"?' if near else " Reports show the ID in brackets: error[wrong-type]."
        raise options.misuse(f'Unknown diagnostic "{id}".{hint}')
    from trainc.reports.catalogue import page

    printing.write(page(id))
    return OK


def _losses(result: Compilation, run: Run, form: str | None) -> int:
    """Print the fields of legacy jobs that are lost or have another effect."""
    from trainc.budget import checked_output
    from trainc.explain import losses

    others = tuple(each for each in result.diagnostics if each.id != losses.RULE)
    result = result._replace(diagnostics=others)
    printing.report_errors(result, run)
    if result.failed:
        return WRONG_INPUT
    found = list(losses.losses(result.jobs))
    if not found:
        printing.report("no legacy job in the given paths\n")
    text = losses.render_json(found) if form == "json" else losses.render(found, color=printing.colored(sys.stdout))
    printing.write(*checked_output(result.budget, text))
    return OK


def paths_and_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the ID of a diagnostic; without one that begins so, let the shell complete a file or folder."""
    from click.shell_completion import CompletionItem

    ids = options.data_names("diagnostics", ".md", incomplete) if incomplete else []
    return [CompletionItem(id) for id in ids] or options.file_names(ctx, param, incomplete)


def _is_path(argument: str) -> bool:
    """Return whether the only argument is a PATH: it exists, or looks like a file rather than a field."""
    from trainc.explain.selectors import OBJECT
    from trainc.files.inputs import STDIN
    from trainc.files.selection import SUFFIXES

    if argument == STDIN or os.path.exists(argument) or argument.endswith(SUFFIXES) or argument in ABOVE[:2]:
        return True
    # After a dot, a slash is part of a label key: metadata.labels.acme.io/team
    return argument.startswith(ABOVE[2:]) or (not OBJECT.match(argument) and os.sep in argument.partition(".")[0])


def _accounts(result: Compilation, selector: Selector | None) -> Iterator[Account] | None:
    """Return the objects with a selected field; None if there is none."""
    from trainc.explain import accounts

    found = accounts(result.shown, selector)
    first = next(found, None)
    return None if first is None else chain((first,), found)


def _rendered(
    result: Compilation, shown: Iterator[Account] | None, form: str | None, is_selected: bool
) -> Iterator[str]:
    """Yield the output in parts: the accounts, or the effects of stages without them."""
    if (shown is None or form == "json") and not gc.isenabled():
        # Indented JSON leaves reference cycles, and a process of its own collects no garbage until here.
        gc.freeze()
        gc.enable()
    if shown is None:
        from trainc.explain.json import render_steps

        return render_steps(result.shown)
    if form == "json":
        from trainc.explain import json

        return json.render(shown)
    from trainc.base.texts import terminal
    from trainc.explain import text

    return text.render(shown, color=printing.colored(sys.stdout), selected=is_selected, width=terminal())


def _no_such_field(result: Compilation, selector: Selector) -> Diagnostic:
    """Return the diagnostic for a selector that matches no field."""
    from trainc.diagnostics import Diagnostic
    from trainc.explain import inputs_selected
    from trainc.explain.selectors import suggestion

    only_job = result.shown[0].plan.job.id.name if len(result.shown) == 1 else ""
    jobs = f'{result.shown[0].plan.job.word} "{only_job}"' if only_job else result.counted_jobs
    is_second_path = os.path.exists(selector.text)
    if any(inputs_selected(job, selector) for job in result.shown):
        return Diagnostic.declared(
            FIELD_NOT_FOUND,
            f'"{selector.text}" of {jobs} sets no field of the compiled objects',
            "omit FIELD to list every field with its source",
        )
    return Diagnostic.declared(
        FIELD_NOT_FOUND,
        f'no field "{selector.text}" in the compiled objects of {jobs}',
        "pass only one PATH, a file or a folder" if is_second_path else suggestion(selector, result.objects),
    )


command = Command(
    explain,
    (
        Argument("path", metavar="[PATH | ID]", complete=paths_and_ids, nargs=1),
        Argument("field", metavar="[FIELD]", nargs=1),
        options.RUNTIMES,
        Option(("--format",), "Output format; default: text.", name="form", choices=("text", "json")),
        Option(("--losses",), "Show the fields that a JobSet cannot keep of legacy jobs instead.", is_flag=True),
        Option(("--patches",), "Print the changes of each stage instead, as JSON Patch (RFC 6902).", is_flag=True),
        options.ONLY._replace(help="Explain only TrainJobs with this name."),
        options.NAMESPACE,
        options.ENVIRONMENT,
        *options.SETTINGS,
        *options.DELIVERY,
    ),
    short_help="Show each field's source, or the page of a diagnostic.",
    epilog=EPILOG,
)
