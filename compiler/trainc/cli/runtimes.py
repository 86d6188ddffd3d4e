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

    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.trees import Tree
    from trainc.library import Entry
    from trainc.objects import Runtime

EPILOG = """\b
Examples:
  trainc runtimes                         list the built-in runtimes
  trainc runtimes platform/runtimes       list these and the built-in ones
  trainc runtimes --wide                  list with the image and resources of a node
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
@click.option("--wide", is_flag=True, help="Also list a node's image and resource requests.")
@click.option(
    "--export",
    metavar="DIR",
    help="Write each built-in runtime to DIR/<name>.yaml; existing files are kept.",
    shell_complete=options.folder_names,
)
@options.follow_links
def command(
    arguments: tuple[str, ...], runtimes: tuple[str, ...], wide: bool, export: str | None, follow_links: bool
) -> int:
    """List the runtimes in PATH and the built-in ones, or print the runtime NAME."""
    paths = tuple(argument for argument in arguments if _is_path(argument))
    name, *more = [argument for argument in arguments if argument not in paths] or [""]
    if more:
        raise click.UsageError(f"Only one NAME is allowed: {', '.join((name, *more))}.")
    if name and export:
        raise click.UsageError("--export cannot be combined with NAME: it writes all built-in runtimes.")
    if wide and (name or export):
        raise click.UsageError("--wide cannot be combined with NAME or --export.")
    from trainc.compilation import Options, library
    from trainc.settings import DEFAULT

    settings = DEFAULT._replace(follow_links=follow_links)
    found, diagnostics = library(Options(runtimes=(*paths, *runtimes), settings=settings))
    entries = [entry for level in found.levels for key in level.known() if (entry := level.find(key))]
    if export:
        return _export(entries, export)
    if name:
        entries = [entry for entry in entries if entry.id.name == name]
    if name and not entries:
        return _report_errors([*diagnostics, _missing(name, {key[2] for key in found.known()})])
    known = [(entry, runtime) for entry in entries if (runtime := entry.conform()[0])]
    diagnostics += [diagnostic for entry in entries for diagnostic in entry.conform()[1]]
    if name:
        options.write(known[0][0].document.text if known else "")
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


def _node(runtime: Runtime) -> tuple[str, ...]:
    """Return the image and the resources of the container that trainer fields apply to; limits default requests."""
    from trainc.kubernetes.trees import get
    from trainc.objects import ancestor
    from trainc.plan import NODE, pod_spec
    from trainc.reports.text import escape

    trainers = [i for i, job in enumerate(runtime.spec.get("replicatedJobs") or []) if ancestor(job) == "trainer"]
    containers = [c for i in trainers for c in get(runtime.spec, (*pod_spec(i), "containers"), [])]
    node: Tree = next((container for container in containers if container.get("name") == NODE), {})
    resources: Tree = node.get("resources") or {}
    requests = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    amounts = ",".join(f"{name}={requests[name]}" for name in sorted(requests))
    return escape(node.get("image") or "-"), escape(amounts or "-")


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
