"""Graphs as trees, for a terminal.

Reads    graphs.
Returns  lines: a tree for each TrainJob. What does not print is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from trainc import columns
from trainc.plural import plural
from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import ObjectId
    from trainc.graph import Gang, Graph, Needed, Step
    from trainc.kubernetes.pods import Amounts

NOTHING: Final = "no requests"


class Branch(NamedTuple):
    """A line of a tree, and those below it."""

    words: str
    below: tuple[Branch, ...] = ()


def render(graphs: Iterable[Graph]) -> str:
    """The trees, with an empty line between two."""
    return "\n".join("".join(f"{line}\n" for line in tree(graph)) for graph in graphs)


def tree(graph: Graph) -> Iterator[str]:
    """The tree of one TrainJob."""
    yield escape(f"TrainJob {title(graph)} ({file(graph.file)})")
    rows = [("runtime", runtime(graph), ()), ("JobSet", jobset(graph), steps(graph.steps))]
    rows += [("gang", gang(one, graph.total.pods), ()) for one in graph.gangs]
    rows += [("queue", graph.queue, ())] if graph.queue else []
    rows += [("meets at", graph.endpoint, ())] if graph.endpoint else []
    rows += [("needs", "", needs(graph.needed))] if graph.needed else []
    labels = table((label, words) for label, words, _ in rows)
    yield from drawn([Branch(line, below) for line, (_, _, below) in zip(labels, rows, strict=True)])


def drawn(branches: Sequence[Branch]) -> Iterator[str]:
    """Branches with their lines in front."""
    for branch in branches:
        last = branch is branches[-1]
        yield f"{'└─' if last else '├─'} {escape(branch.words)}"
        yield from (f"{'  ' if last else '│ '} {line}" for line in drawn(branch.below))


def title(graph: Graph) -> str:
    """`lattice in namespace physics`."""
    return f"{graph.name} in namespace {graph.namespace}" if graph.namespace else graph.name


def runtime(graph: Graph) -> str:
    """A runtime by kind and name, its framework, and where it was found."""
    where = f"in {file(graph.runtime_file)}" if graph.runtime_file else "stock"
    return f"{graph.runtime.kind} {qualified(graph.runtime)}, {graph.framework}, {where}"


def qualified(id: ObjectId) -> str:
    """A runtime's name, with its namespace where it has one."""
    return f"{id.namespace}/{id.name}" if id.namespace else id.name


def jobset(graph: Graph) -> str:
    """A JobSet in numbers."""
    total = graph.total
    nodes = f" ({plural(total.nodes, 'node')})" if total.nodes else ""
    return f"{graph.jobset}: {pods(total.pods)}{nodes}, {amounts(total.resources)} in all"


def gang(gang: Gang, total: int) -> str:
    """A PodGroup, and how many of the pods have to be there at the start."""
    start = f"{gang.members} of {pods(total)}" if gang.members < total else f"all {pods(gang.members)}"
    return f"{gang.scheduler} PodGroup {gang.name}: starts with {start}"


def steps(steps: Iterable[Step]) -> tuple[Branch, ...]:
    """The replicated jobs as a table: name, pods, what each asks for, what it waits for."""
    rows = ((s.job.name, pods(s.job.pods), each(s), after(s)) for s in steps)
    return tuple(map(Branch, table(rows)))


def each(step: Step) -> str:
    """What each pod of a replicated job asks for."""
    return amounts(step.job.requests) + (" each" if step.job.pods > 1 and step.job.requests else "")


def after(step: Step) -> str:
    """What a replicated job waits for."""
    waits = [f"{wait.job} is {wait.status}" for wait in step.after]
    return f"after {' and '.join(waits)}" if waits else ""


def needs(needed: Iterable[Needed]) -> tuple[Branch, ...]:
    """The objects as a table: kind, name, where they come from, whose pods refer to them."""
    rows = ((one.kind, one.name, origin(one), f"for {', '.join(one.jobs)}") for one in needed)
    return tuple(map(Branch, table(rows)))


def origin(needed: Needed) -> str:
    """Where an object comes from."""
    words = {
        "compiled": "compiled",
        "claimed": "made by JobSet",
        "given": f"given in {file(needed.file)}",
        "expected": "may exist" if needed.optional else "must exist",
    }[needed.origin]
    return f"{words} (trainc secret)" if needed.makes else words


def amounts(resources: Amounts) -> str:
    """`cpu=4,memory=16Gi`."""
    return ",".join(f"{name}={resources[name]}" for name in sorted(resources)) or NOTHING


def pods(count: int) -> str:
    """`1 pod`, `2 pods`."""
    return plural(count, "pod")


def file(name: str) -> str:
    """A file as diagnostics name it."""
    return "<stdin>" if name == "-" else name


def table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Escaped cells in aligned columns."""
    return columns.table(tuple(map(escape, row)) for row in rows)
