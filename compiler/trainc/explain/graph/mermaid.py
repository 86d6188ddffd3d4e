"""Graphs as Mermaid diagrams in Markdown: a flowchart in a fenced block, as GitHub and GitLab render it.

Reads    graphs.
Returns  one block, or several if one would exceed Mermaid's limits; the line before each lists its TrainJobs.
         A runtime is one box with arrows to all its TrainJobs, each of which is a subgraph. The runtimes come first, so
         that an arrow crosses no TrainJob. Ids are numbered instead of derived from names. Text is truncated and
         wrapped, and every character except letters, digits, spaces and harmless punctuation becomes an entity code.
Source   Mermaid 11: the flowchart syntax; maxTextSize and maxEdges, with the defaults that GitHub uses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.base.texts import escape, plural
from trainc.explain.graph import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import ObjectId
    from trainc.explain.graph import Graph

MOST_CHARACTERS: Final = 50_000
MOST_EDGES: Final = 500
"""Mermaid draws nothing with this many edges, or with more than this many characters."""
MOST: Final = 10
"""The number of jobs, and of objects, that are drawn for a TrainJob; one box counts the others."""
LONGEST: Final = 72
"""The maximum length of a text in a box."""
WIDTH: Final = 24
"""The number of characters that fit into the 200 pixels at which Mermaid breaks a line itself."""
BEGIN: Final = "```mermaid\nflowchart LR\n"
END: Final = "  classDef expected stroke-dasharray: 4 3\n```\n"

Drawn = tuple[list[str], list[str]]
"""Boxes and edges."""

_SPECIAL: Final = re.compile(r"[^A-Za-z0-9 .,/=()-]|(?<=www)\.", re.IGNORECASE)
"""Characters that become entity codes. The dot of `www.` is one of them, because it would create a link."""


class Diagram(NamedTuple):
    """One TrainJob of a diagram."""

    graph: Graph
    id: str
    lines: tuple[str, ...]
    edges: int

    @property
    def size(self) -> int:
        """The number of characters, including the runtime's box and the edge to it."""
        box = () if self.graph.runtime is None else (runtime(self.graph, self.graph.runtime),)
        return sum(len(line) + 1 for line in (*self.lines, *box)) + 60


def render(graphs: Iterable[Graph]) -> str:
    """Return the diagrams in Markdown."""
    diagrams = list(split([part(number, graph) for number, graph in enumerate(graphs, 1)]))
    if len(diagrams) == 1:
        return diagram(diagrams[0])
    blocks = []
    for number, parts in enumerate(diagrams, 1):
        ends = dict.fromkeys((name(parts[0].graph), name(parts[-1].graph)))
        blocks.append(f"Diagram {number} of {len(diagrams)}: {' to '.join(ends)}\n\n{diagram(parts)}")
    return "\n".join(blocks)


def split(parts: Iterable[Diagram]) -> Iterator[list[Diagram]]:
    """Split the TrainJobs into diagrams that respect Mermaid's limits."""
    current: list[Diagram] = []
    size, edges = 0, 0
    for one in parts:
        if current and (size + one.size + len(BEGIN + END) > MOST_CHARACTERS or edges + one.edges >= MOST_EDGES):
            yield current
            current, size, edges = [], 0, 0
        current.append(one)
        size, edges = size + one.size, edges + one.edges
    yield current


def diagram(parts: list[Diagram]) -> str:
    """Return one block."""
    ids: dict[str, str] = {}
    edges = []
    for one in parts:
        if one.graph.runtime is not None:
            id = ids.setdefault(runtime(one.graph, one.graph.runtime), f"r{len(ids) + 1}")
            edges.append(f"{id} --> {one.id}")
    lines = [f"{id}{drawn}" for drawn, id in ids.items()] + [line for one in parts for line in one.lines] + edges
    return BEGIN + "".join(f"  {line}\n" for line in lines) + END


def part(number: int, graph: Graph) -> Diagram:
    """Return a TrainJob as a subgraph: boxes, then edges."""
    id = f"t{number}"
    boxes, edges = [f"{id}{trainjob(graph)}"], []
    for found in (jobs(id, graph), gangs_and_endpoint(id, graph), needs(id, graph)):
        boxes += found[0]
        edges += found[1]
    lines = (
        f'subgraph s{number}["{encoded(name(graph), LONGEST)}"]',
        *(f"  {line}" for line in (*boxes, *edges)),
        "end",
    )
    return Diagram(graph, id, lines, len(edges) + 1)


def runtime(graph: Graph, id: ObjectId) -> str:
    """Return the box of a runtime."""
    where = f"in {text.file(graph.runtime_file)}" if graph.runtime_file else "built-in"
    return box(f"{id.kind} {id.qualified_name}", f"{graph.framework}, {where}")


def trainjob(graph: Graph) -> str:
    """Return the box of a TrainJob: its size and its queue."""
    nodes = f" ({plural(graph.total.nodes, 'node')})" if graph.total.nodes else ""
    size = f"{text.pods(graph.total.pods)}{nodes}"
    queue = (f"queue {graph.queue}",) if graph.queue else ()
    return box(f"{graph.word} {graph.name}", size, text.amounts(graph.total.resources), *queue)


def jobs(id: str, graph: Graph) -> Drawn:
    """Return the replicated jobs, with edges in start order."""
    ids = drawn_jobs(id, graph)
    boxes, edges = [], []
    for step in graph.steps[:MOST]:
        own = ids[step.job.name]
        boxes.append(f"{own}{box(step.job.name, text.pods(step.job.pods), text.requests_of_each_pod(step))}")
        waits = [f"{ids[w.job]} -->|{quoted(w.status)}| {own}" for w in step.after if w.job in ids]
        edges += waits or [f"{id} --> {own}"]
    if more := len(graph.steps[MOST:]):
        boxes.append(f"{id}j0{box(f'and {more} more jobs')}")
        edges.append(f"{id} --> {id}j0")
    return boxes, edges


def gangs_and_endpoint(id: str, graph: Graph) -> Drawn:
    """Return the gangs and the rendezvous endpoint."""
    groups = (text.gang(gang, graph.total.pods).split(": ", 1) for gang in graph.gangs)
    boxes = [f"{id}g{n}{{{{{quoted(*words)}}}}}" for n, words in enumerate(groups, 1)]
    ids = [f"{id}g{n}" for n, _ in enumerate(boxes, 1)]
    if graph.endpoint:
        boxes.append(f"{id}m([{quoted('rendezvous', graph.endpoint)}])")
        ids.append(f"{id}m")
    return boxes, [f"{id} -.- {other}" for other in ids]


def needs(id: str, graph: Graph) -> Drawn:
    """Return the objects that pods refer to; those that must exist in the cluster are dashed."""
    ids = drawn_jobs(id, graph)
    boxes, edges = [], []
    for number, needed in enumerate(graph.needed[:MOST], 1):
        own = f"{id}n{number}"
        boxes.append(f"{own}[({quoted(f'{needed.kind} {needed.name}', text.origin(needed))})]")
        boxes += [f"class {own} expected"] if needed.origin == "expected" else []
        edges += [f"{ids[job]} --> {own}" for job in needed.jobs if job in ids] or [f"{id} --> {own}"]
    if more := len(graph.needed[MOST:]):
        boxes.append(f"{id}n0{box(f'and {more} more objects')}")
        edges.append(f"{id} --> {id}n0")
    return boxes, edges


def drawn_jobs(id: str, graph: Graph) -> dict[str, str]:
    """Return the ids of the drawn replicated jobs, by name."""
    return {step.job.name: f"{id}j{number}" for number, step in enumerate(graph.steps[:MOST], 1)}


def name(graph: Graph) -> str:
    """Return the TrainJob's name: `physics/lattice`."""
    return f"{graph.namespace}/{graph.name}" if graph.namespace else graph.name


def box(*lines: str) -> str:
    """Return the shape of a box with lines of text."""
    return f"[{quoted(*lines)}]"


def quoted(*lines: str) -> str:
    """Return lines of text as a label, with syntax, markup and links escaped.

    >>> quoted('a"]; click', "<b>")
    '"a#34;#93;#59; click<br/>#60;b#62;"'
    """
    return f'"{"<br/>".join(map(encoded, lines))}"'


def encoded(line: str, width: int = WIDTH) -> str:
    """Return a line of text, truncated and wrapped, with special characters as entity codes.

    It breaks after a space or a comma, or else inside a name.

    >>> encoded("PodGroup gpt-pretrain-with-a-long-name.v2")
    'PodGroup<br/>gpt-pretrain-with-a-<br/>long-name.v2'
    """
    rest, parts = escape(line), []
    if len(rest) > LONGEST:
        rest = f"{rest[: LONGEST - 1]}…"
    while len(rest) > width:
        ends = (max(rest.rfind(mark, 1, width) for mark in marks) + 1 for marks in (" ,", "-./"))
        end = next(filter(None, ends), width)
        parts.append(rest[:end].rstrip())
        rest = rest[end:]
    return "<br/>".join(_SPECIAL.sub(lambda match: f"#{ord(match[0])};", part) for part in (*parts, rest))
