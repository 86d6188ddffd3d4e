"""`trainc runtimes`: list, print or export the runtimes that a TrainJob can refer to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from trainc.cli import options
from trainc.cli.codes import OK, WRONG_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

    from trainc.diagnostics import Diagnostic, Document
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import FieldValidation
    from trainc.library import Entry
    from trainc.objects import Runtime

EPILOG = """\b
Examples:
  trainc runtimes                         list the runtimes below the current folder and the built-in ones
  trainc runtimes platform/runtimes       list these and the built-in ones
  trainc runtimes --wide                  list with the image and resources of a node
  trainc runtimes --format json | jq -r '.[].name'
  trainc runtimes torch-distributed       print a runtime
  trainc runtimes --export runtimes/      write the built-in runtimes, to pin them in a repository
"""

COLUMNS = ("NAME", "KIND", "FRAMEWORK", "NODES", "JOBS", "FROM")
WIDE = ("IMAGE", "RESOURCES")


def names_or_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a built-in runtime, or a file if none matches."""
    from click.shell_completion import CompletionItem

    items = [CompletionItem(name) for name in options.data_names("runtimes", ".yaml", incomplete)]
    return items or options.file_names(ctx, param, incomplete)


@click.command(short_help="List, print or export runtimes.", epilog=EPILOG)
@click.argument("arguments", nargs=-1, metavar="[NAME] [PATH]...", shell_complete=names_or_files)
@options.runtimes
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    help="json: a list with all columns, for programs; the default is a table.",
)
@click.option("--wide", is_flag=True, help="Also list a node's image and resource requests.")
@click.option(
    "--export",
    metavar="DIR",
    help="Write each built-in runtime to DIR/<name>.yaml; existing files are kept.",
    shell_complete=options.folder_names,
)
@options.FIELD_VALIDATION.decorate
@options.FOLLOW_LINKS.decorate
@options.EXCLUDE.decorate
@options.VERBOSE.decorate
def command(  # noqa: PLR0913, PLR0917 (one argument per option)
    arguments: tuple[str, ...],
    runtimes: tuple[str, ...],
    form: str,
    wide: bool,
    export: str | None,
    field_validation: FieldValidation | None,
    follow_links: bool,
    exclude: tuple[str, ...],
    verbose: bool,
) -> int:
    """List the runtimes in PATH and the built-in ones, or print the runtime NAME.

    PATH is files, folders or -; the default is the current folder.
    """
    paths = tuple(argument for argument in arguments if _is_path(argument))
    name, *more = [argument for argument in arguments if argument not in paths] or [""]
    if more:
        raise click.UsageError(f"Only one NAME is allowed: {', '.join((name, *more))}.")
    if name and export:
        raise click.UsageError("--export cannot be combined with NAME: it writes all built-in runtimes.")
    if (wide or form == "json") and (name or export):
        option = "--wide" if wide else "--format json"
        raise click.UsageError(f"{option} cannot be combined with NAME or --export.")
    from trainc.compilation import Options, library

    if export:
        found, _ = library(Options())
        return _export([entry for key in found.known() if (entry := found.levels[-1].find(key))], export)
    paths = paths or (".",)
    settings = options.reading_settings(paths, field_validation, exclude, follow_links=follow_links, verbose=verbose)
    searched = Options(runtimes=(*paths, *runtimes), settings=settings, others="skip")
    found, diagnostics = library(searched)
    diagnostics = [*settings.diagnostics, *diagnostics]
    options.report_skipped(found.skipped, verbose=verbose)
    entries = _once(entry for level in found.levels for key in level.known() if (entry := level.find(key)))
    if name:
        entries = [entry for entry in entries if entry.id.name == name]
    if name and not entries:
        return _report_errors([*diagnostics, _missing(name, {key[2] for key in found.known()})])
    known = [(entry, runtime) for entry in entries if (runtime := entry.conform()[0])]
    diagnostics += [diagnostic for entry in entries for diagnostic in entry.conform()[1]]
    if name:
        options.write(_as_written(known[0][0].document) if known else "")
    elif form == "json":
        import json

        options.write(json.dumps([_entry(*one) for one in known], indent=2, ensure_ascii=False) + "\n")
    else:
        from trainc.columns import table

        header = (*COLUMNS, *WIDE) if wide else COLUMNS
        rows = ((*_row(*one), *(_node(one[1]) if wide else ())) for one in known)
        options.write("".join(f"{line}\n" for line in table([header, *rows])))
    return _report_errors(diagnostics)


def _is_path(argument: str) -> bool:
    """Return whether an argument is a PATH. A NAME has no slash and no file suffix, and wins over a folder's name."""
    import os

    from trainc.data import data_path
    from trainc.inputs import STDIN, SUFFIXES

    if argument == STDIN or os.sep in argument or argument.endswith(SUFFIXES):
        return True
    return os.path.exists(argument) and not os.path.exists(data_path("runtimes", f"{argument}.yaml"))


def _as_written(document: Document) -> str:
    """Return the text of a runtime; in a ConfigMap it is a part of a string."""
    return document.text if document.inside is None else document.inside.chunk.text


def _once(entries: Iterable[Entry]) -> list[Entry]:
    """Return each runtime once: a folder may be inside another one."""
    import os

    found: dict[object, Entry] = {}
    for entry in entries:
        document = entry.document
        place = os.path.realpath(document.file), document.line, document.column, document.within, entry.id
        found.setdefault(place, entry)
    return list(found.values())


def _report_errors(diagnostics: list[Diagnostic]) -> int:
    from trainc.diagnostics import failed
    from trainc.reports import text

    options.report(text.render(diagnostics, summary="", color=options.colored(sys.stderr)))
    return WRONG_INPUT if failed(diagnostics) else OK


def _row(entry: Entry, runtime: Runtime) -> tuple[str, ...]:
    from trainc.library import BUILT_IN
    from trainc.reports.text import escape

    id = runtime.id
    name = f"{id.namespace}/{id.name}" if id.namespace else id.name
    jobs = [str(job.get("name")) for job in runtime.spec.get("replicatedJobs") or []]
    nodes = str((runtime.policy or {}).get("numNodes", 1))
    where = "built-in" if entry.level == BUILT_IN else entry.document.file
    return tuple(map(escape, (name, id.kind, runtime.framework, nodes, ",".join(jobs), where)))


def _entry(entry: Entry, runtime: Runtime) -> Tree:
    """Return a runtime for `--format json`: the columns of the table, `--wide` included, and the line in its file."""
    from trainc.library import BUILT_IN

    id, document = runtime.id, entry.document
    image, requests = _container(runtime)
    return {
        "name": id.name,
        "namespace": id.namespace,
        "kind": id.kind,
        "framework": runtime.framework,
        "nodes": (runtime.policy or {}).get("numNodes", 1),
        "jobs": [str(job.get("name")) for job in runtime.spec.get("replicatedJobs") or []],
        "image": image,
        "requests": {name: str(requests[name]) for name in sorted(requests)},
        "builtIn": entry.level == BUILT_IN,
        "file": document.file,
        "line": document.line,
    }


def _node(runtime: Runtime) -> tuple[str, ...]:
    """Return the image and the requests of `_container` as two columns."""
    from trainc.reports.text import escape

    image, requests = _container(runtime)
    return escape(image or "-"), escape(",".join(f"{name}={requests[name]}" for name in sorted(requests)) or "-")


def _container(runtime: Runtime) -> tuple[str, Tree]:
    """Return image and requests of the container that trainer fields apply to; limits are the default requests."""
    from trainc.kubernetes.trees import get
    from trainc.objects import ancestor
    from trainc.plan import NODE, pod_spec

    trainers = [i for i, job in enumerate(runtime.spec.get("replicatedJobs") or []) if ancestor(job) == "trainer"]
    containers = [c for i in trainers for c in get(runtime.spec, (*pod_spec(i), "containers"), [])]
    node: Tree = next((container for container in containers if container.get("name") == NODE), {})
    resources: Tree = node.get("resources") or {}
    return str(node.get("image") or ""), {**(resources.get("limits") or {}), **(resources.get("requests") or {})}


def _missing(name: str, names: set[str]) -> Diagnostic:
    from trainc.diagnostics import Diagnostic
    from trainc.nearest import nearest, use
    from trainc.passes import resolve

    near = nearest(name, sorted(names))
    help = f"did you mean {near}?" if near else use(sorted(names))
    return Diagnostic.of(resolve.missing.declared, f'no runtime "{name}"', help, phase="read")


def _export(entries: Iterable[Entry], folder: str) -> int:
    """Write the built-in runtimes. An existing file belongs to the repository and is kept."""
    import os

    from trainc.confine import open_to_write
    from trainc.folders import create_at
    from trainc.library import BUILT_IN

    built_in = [entry for entry in entries if entry.level == BUILT_IN]
    try:
        at = open_to_write(folder, make=True)
        try:
            for entry in built_in:
                name = f"{entry.id.name}.yaml"
                created = create_at(at, name, entry.document.text.encode())
                options.report(f"{os.path.join(folder, name)}: {'written' if created else 'exists, kept'}\n")
        finally:
            os.close(at)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    return OK
