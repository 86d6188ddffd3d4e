"""Graphs as trees, for a terminal.

Reads    graphs.
Returns  lines: a tree for each TrainJob, at most as wide as the terminal if words allow it. Unprintable characters are
         escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base import texts as columns
from trainc.base.texts import plural
from trainc.compilation.results import counted_words
from trainc.kubernetes.pod_resources import shown_amounts as shown
from trainc.pods.footprint import NOTHING as NO_PODS
from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import ObjectId
    from trainc.explain.graph import Graph, GraphStep, Needed, PodGroupNode
    from trainc.kubernetes.pod_resources import Amounts
    from trainc.pods.footprint import Footprint

NOTHING: Final = "no requests"
NARROWEST: Final = 20
"""The minimum width of a line's text; a narrower terminal breaks the line itself."""
STEM: Final = 3
"""The width of the tree lines before a branch."""


class TreeLine(NamedTuple):
    """A line of a tree, and the lines below it."""

    text: str
    below: tuple[TreeLine, ...] = ()


def render(graphs: Sequence[Graph], width: int = columns.UNLIMITED) -> str:
    """Return the trees, separated by empty lines; of several, first the total."""
    parts = ["".join(f"{line}\n" for line in tree(graph, width)) for graph in graphs]
    if len(graphs) > 1:
        total = sum((graph.total for graph in graphs), NO_PODS)
        parts.insert(0, f"total: {counted_words([graph.word for graph in graphs])}, {size(total)}\n")
    return "\n".join(parts)


def tree(graph: Graph, width: int = columns.UNLIMITED) -> Iterator[str]:
    """Yield the tree of one TrainJob."""
    yield escape(f"{graph.word} {title(graph)} ({file(graph.file)})")
    label, text = (
        ("framework", graph.framework) if graph.runtime is None else ("runtime", runtime(graph, graph.runtime))
    )
    rows: list[tuple[str, str, tuple[TreeLine, ...]]] = [(label, text, ())] if text else []
    rows += [("JobSet", jobset(graph), steps(graph.steps))]
    rows += [("gang", gang(one, graph.total.pods), ()) for one in graph.gangs]
    rows += [("queue", graph.queue, ())] if graph.queue else []
    rows += [("rendezvous", graph.endpoint, ())] if graph.endpoint else []
    rows += [("needs", "", needs(graph.needed))] if graph.needed else []
    labels = table((label, text) for label, text, _ in rows)
    yield from tree_lines([TreeLine(line, below) for line, (_, _, below) in zip(labels, rows, strict=True)], width)


def tree_lines(branches: Sequence[TreeLine], width: int) -> Iterator[str]:
    """Yield the branches, prefixed with tree lines; a line that is too wide continues on the next one, indented."""
    for branch in branches:
        last = branch is branches[-1]
        stem = "  " if last else "│ "
        first, *more = wrapped_line(escape(branch.text), width - STEM)
        yield f"{'└─' if last else '├─'} {first}"
        below = "│ " if branch.below else "  "
        yield from (f"{stem} {below}{line}" for line in more)
        yield from (f"{stem} {line}" for line in tree_lines(branch.below, width - STEM))


def wrapped_line(text: str, width: int) -> Iterator[str]:
    """Yield a line in parts that fit into a width if they can; it breaks after a space or a comma."""
    while len(text) > max(width, NARROWEST):
        end = max(text.rfind(mark, 1, max(width, NARROWEST)) for mark in " ,") + 1
        if not end or not text[:end].strip():
            break
        yield text[:end].rstrip()
        text = text[end:].lstrip()
        width = width - len(columns.GAP) if width else width
    yield text


def title(graph: Graph) -> str:
    """Return the TrainJob's name: `lattice in namespace physics`."""
    return f"{graph.name} in namespace {graph.namespace}" if graph.namespace else graph.name


def runtime(graph: Graph, id: ObjectId) -> str:
    """Return a runtime's kind, name, framework and location."""
    where = f"in {file(graph.runtime_file)}" if graph.runtime_file else "built-in"
    return f"{id.kind} {id.qualified_name}, {graph.framework}, {where}"


def jobset(graph: Graph) -> str:
    """Return a JobSet's name, pods, nodes and total requests."""
    total = graph.total
    return f"{graph.jobset}: {size(total)}, {amounts(total.resources)} total"


def size(total: Footprint) -> str:
    """Return the number of pods, nodes and, if there are any, GPUs."""
    nodes = f" ({plural(total.nodes, 'node')})" if total.nodes else ""
    return pods(total.pods) + nodes + (f", {plural(total.gpus, 'GPU')}" if total.gpus else "")


def gang(gang: PodGroupNode, total: int) -> str:
    """Return a PodGroup and the number of pods with which it starts."""
    start = f"{gang.members} of {pods(total)}" if gang.members < total else f"all {pods(gang.members)}"
    return f"{gang.scheduler} PodGroup {gang.name}: starts with {start}"


def steps(steps: Iterable[GraphStep]) -> tuple[TreeLine, ...]:
    """Return the replicated jobs as a table: name, pods, requests of each, dependencies."""
    rows = ((s.job.name, pods(s.job.pods), requests_of_each_pod(s), waits_for(s)) for s in steps)
    return tuple(map(TreeLine, table(rows)))


def requests_of_each_pod(step: GraphStep) -> str:
    """Return the requests of each pod of a replicated job."""
    return amounts(step.job.requests) + (" each" if step.job.pods > 1 and step.job.requests else "")


def waits_for(step: GraphStep) -> str:
    """Return the conditions that a replicated job waits for."""
    waits = [f"{wait.job} is {wait.status}" for wait in step.after]
    return f"after {' and '.join(waits)}" if waits else ""


def needs(needed: Iterable[Needed]) -> tuple[TreeLine, ...]:
    """Return the objects as a table: kind, name, origin, and the jobs whose pods refer to them."""
    rows = ((one.kind, one.name, origin(one), f"for {', '.join(one.jobs)}") for one in needed)
    return tuple(map(TreeLine, table(rows)))


def origin(needed: Needed) -> str:
    """Return an object's origin in words."""
    words = {
        "compiled": "compiled",
        "claimed": "created by JobSet",
        "given": f"{f'from {needed.maker}' if needed.maker else 'found'} in {file(needed.file)}",
        "expected": "may be missing" if needed.optional else "must exist",
    }[needed.origin]
    return f"{words} (trainc secret)" if needed.generated else words


def amounts(resources: Amounts) -> str:
    """Return quantities as text: `nvidia.com/gpu=8,cpu=4,memory=16Gi`."""
    return ",".join(shown(resources)) or NOTHING


def pods(count: int) -> str:
    """Return a number of pods: `1 pod`, `2 pods`."""
    return plural(count, "pod")


def file(name: str) -> str:
    """Return a file's name as diagnostics print it."""
    return "<stdin>" if name == "-" else name


def table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return escaped cells in aligned columns."""
    return columns.table(tuple(map(escape, row)) for row in rows)
