"""`trainc runtimes list`: the runtimes that a TrainJob can refer to, as a table or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.cli.common import options, printing
from trainc.cli.common.arguments import Command, Option
from trainc.cli.runtimes.entries import report, search

if TYPE_CHECKING:
    from trainc.compilation import Run
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.library import LibraryEntry
    from trainc.pipeline.objects import Runtime

EPILOG = """\b
Examples:
  trainc runtimes list
  trainc runtimes list platform/runtimes --wide
  trainc runtimes list --format json | jq -r '.[].file'
"""
COLUMNS: Final = ("NAME", "KIND", "FRAMEWORK", "NODES", "JOBS", "USERS", "ORIGIN")
WIDE: Final = ("IMAGE", "RESOURCES")


@options.with_reading
def show(paths: tuple[str, ...], run: Run, form: str, wide: bool) -> int:
    """List the runtimes in PATH and the built-in ones, with the number of TrainJobs in PATH that use each.

    PATH is files, folders or -; the default is the project or the current folder.
    """
    from trainc.compilation import metered
    from trainc.compilation.unused_runtimes import users

    found, meter = search(run), metered(run)
    counts = users(run.inputs, found.library, run, meter)
    meter.check()
    known = [
        (entry, runtime, counts[entry.document.identity])
        for entry in found.usable_entries
        if (runtime := entry.conform()[0])
    ]
    if form == "json":
        import json

        from trainc.base.texts import escape_json

        printing.write(escape_json(json.dumps([_entry(*one) for one in known], indent=2, ensure_ascii=False)) + "\n")
    else:
        from trainc.base.texts import folded, terminal

        header = (*COLUMNS, *WIDE) if wide else COLUMNS
        rows = ((*_row(*one), *(_node(one[1]) if wide else ())) for one in known)
        printing.write("".join(f"{line}\n" for row in folded([header, *rows], terminal()) for line in row))
    faults = [diagnostic for entry in found.usable_entries for diagnostic in entry.conform()[1]]
    if faults:
        from trainc.frontends import templates

        faults = templates.replaced(faults, [entry.document for entry in found.usable_entries])
    return report([*found.diagnostics, *faults])


def _row(entry: LibraryEntry, runtime: Runtime, users: int) -> tuple[str, ...]:
    from trainc.reports.text import escape

    id = runtime.id
    name = id.qualified_name
    jobs = [str(job.get("name")) for job in runtime.spec.get("replicatedJobs") or []]
    nodes = str((runtime.policy or {}).get("numNodes", 1))
    cells = (name, id.kind, runtime.framework, nodes, ",".join(jobs), str(users), _origin(entry, runtime))
    return tuple(map(escape, cells))


def _origin(entry: LibraryEntry, runtime: Runtime) -> str:
    """Return where a runtime is from: the owner and release of a built-in one, the file of any other."""
    from trainc.pipeline.library import BUILT_IN

    if entry.level != BUILT_IN:
        return entry.document.file
    from trainc.pipeline.runtime_owners import origin

    return str(origin(entry.id.name, runtime.release))


def _entry(entry: LibraryEntry, runtime: Runtime, users: int) -> Tree:
    """Return a runtime for `--format json`: the columns of the table, `--wide` included, and the line in its file."""
    from trainc.pipeline.library import BUILT_IN
    from trainc.pipeline.runtime_owners import origin

    id, document, built_in = runtime.id, entry.document, entry.level == BUILT_IN
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
        "users": users,
        "builtIn": built_in,
        "origin": origin(id.name, runtime.release)._asdict() if built_in else None,
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
    from trainc.pipeline.objects import ancestor
    from trainc.pipeline.plan import NODE, pod_spec

    trainers = [i for i, job in enumerate(runtime.spec.get("replicatedJobs") or []) if ancestor(job) == "trainer"]
    containers = [c for i in trainers for c in get(runtime.spec, (*pod_spec(i), "containers"), [])]
    node: Tree = next((container for container in containers if container.get("name") == NODE), {})
    resources: Tree = node.get("resources") or {}
    return str(node.get("image") or ""), {**(resources.get("limits") or {}), **(resources.get("requests") or {})}


command = Command(
    show,
    (
        options.PATHS,
        options.RUNTIMES,
        options.format_option(
            "json: a list with all columns, for programs; the default is a table.", ("table", "json")
        ),
        Option(("--wide",), "Also list a node's image and resource requests.", is_flag=True),
        options.OF_RUNTIMES,
        *options.OF_READING,
    ),
    short_help="List the runtimes that a TrainJob can refer to.",
    epilog=EPILOG,
)
