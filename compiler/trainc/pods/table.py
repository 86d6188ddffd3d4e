"""Pods as a table, for a terminal: a row for each pod, then the containers of each replicated job's first pod.

Reads    Jobs, an optional completion index, and the width of the terminal.
Returns  lines that are at most that wide, with the number of pods and GPUs first. Columns that do not fit are folded.
         Of a replicated job, the first pods are listed and the others counted. Likely secrets are masked. A value that
         is only known at run time is a question mark with the reason.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, groupby, islice
from shlex import quote
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

from trainc.base.texts import escape, folded, plural
from trainc.kubernetes.container_environment import Unknown
from trainc.kubernetes.pod_resources import shown_amounts
from trainc.kubernetes.quantity import Quantity
from trainc.masking.masked_values import MASK, masked
from trainc.pipeline import plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.container_environment import Value
    from trainc.kubernetes.trees import Tree
    from trainc.pods import Container, Job, Pod

HEADER: Final = ("POD", "INDEX", "ADDRESS", "RESOURCES")
MOST: Final = 4
"""The number of listed pods per replicated job. If there is only one more, it replaces the line with the count."""
LABEL: Final = 13
"""The width of the label column in a container's lines."""


def render(jobs: Iterable[Job], index: int | None, width: int) -> str:
    """Return the Jobs' pods, grouped by JobSet."""
    shown = [job._replace(masks=True) for job in jobs]
    jobsets = [list(alike) for _, alike in groupby(shown, key=lambda job: id(job.jobset))]
    names = Counter(_name(own[0].jobset) for own in jobsets)
    files = (own[0].file if names[_name(own[0].jobset)] > 1 else "" for own in jobsets)
    blocks = [list(jobset_lines(own, index, width, file)) for own, file in zip(jobsets, files, strict=True)]
    if len(jobsets) > 1:
        numbers = [numbers_of(own, index) for own in jobsets]
        blocks.insert(0, [f"total: {len(jobsets)} JobSets, {size(*map(sum, zip(*numbers, strict=True)))}"])
    lines = chain.from_iterable((*block, "") for block in blocks)
    return "".join(f"{cut(line, width)}\n" for line in list(lines)[:-1])


def numbers_of(jobs: list[Job], index: int | None) -> tuple[int, int]:
    """Return the number of pods and of their GPUs."""
    pods = gpus = 0
    for _, alike in groupby(jobs, key=lambda job: id(job.replicated)):
        group = list(alike)
        count = sum(job.size if index is None else index < job.size for job in group)
        pods += count
        gpus += count * sum(plan.gpus({"requests": pod.requests}) for pod in islice(group[0].pods(index), 1))
    return pods, gpus


def size(pods: int, gpus: int) -> str:
    """Return the number of pods and, if there are any, of GPUs."""
    return plural(pods, "pod") + (f", {plural(gpus, 'GPU')}" if gpus else "")


def _name(jobset: Tree) -> str:
    """Return the namespace and the name of a JobSet as its heading has them."""
    name, namespace = jobset["metadata"]["name"], jobset["metadata"].get("namespace")
    return f"{name} in namespace {namespace}" if namespace else str(name)


def jobset_lines(jobs: list[Job], index: int | None, width: int, file: str) -> Iterator[str]:
    """Yield one JobSet: the number of pods and GPUs, the table, and the containers; with the file, if it is given."""
    listed: list[tuple[list[Pod], int]] = []
    for _, alike in groupby(jobs, key=lambda job: id(job.replicated)):
        group = list(alike)
        count = sum(job.size if index is None else index < job.size for job in group)
        found = islice(chain.from_iterable(job.pods(index) for job in group), count if count == MOST + 1 else MOST)
        listed.append((list(found), count))
    where = f" ({escape(file)})" if file else ""
    yield f"{_name(jobs[0].jobset)}{where}: {size(*numbers_of(jobs, index))}"
    rows = iter(folded(with_flavors([pod for pods, _ in listed for pod in pods]), width))
    yield ""
    yield from next(rows)
    for pods, count in listed:
        yield from chain.from_iterable(islice(rows, len(pods)))
        if count > len(pods):
            yield f"... and {count - len(pods)} more"
    for pods, _ in listed:
        for pod in pods[:1]:
            for container in pod.containers:
                yield ""
                yield from container_lines(pod, container)


def with_flavors(pods: list[Pod]) -> list[tuple[str, ...]]:
    """Return the header and a row per pod, with a column for Kueue's flavors if any are known."""
    rows = [HEADER, *map(row, pods)]
    if not any(pod.job.flavors for pod in pods):
        return rows
    flavors = ["FLAVOR", *(",".join(dict.fromkeys(pod.job.flavors.values())) or "-" for pod in pods)]
    return [(*cells[:-1], flavor, cells[-1]) for cells, flavor in zip(rows, flavors, strict=True)]


def row(pod: Pod) -> tuple[str, ...]:
    """Return a pod's cells."""
    index = "-" if pod.completion is None else str(pod.completion)
    return pod.name, index, pod.address or "-", ",".join(shown_amounts(parsed(pod.requests)))


def parsed(requests: Tree) -> dict[str, Quantity]:
    """Return requests as quantities."""
    return {name: Quantity.from_json(text) for name, text in requests.items()}


def container_lines(pod: Pod, container: Container) -> Iterator[str]:
    """Yield a container's image, command, arguments, resources and environment."""
    kind = "init container" if container.init else "container"
    yield f"{pod.name}, {kind} {container.tree['name']}"
    parts: list[tuple[str, list[str]]] = [
        ("image", [container.tree.get("image", "")]),
        ("command", [words(container.command or [])]),
        ("args", [words(container.args or [])]),
        ("resources", [requests_and_limits(container.tree.get("resources") or {})]),
        ("env", [variable(name, value) for name, value in container.env.items()]),
        ("env from", [f"? {reason}" for (reason,) in container.missing.values()]),
    ]
    for label, lines in parts:
        for number, line in enumerate(filter(None, lines)):
            yield f"  {'' if number else label:<{LABEL - 2}}{escape(line)}"


def variable(name: str, value: Value) -> str:
    """Return a variable."""
    return f"{name}=? {value.reason}" if isinstance(value, Unknown) else f"{name}={value}"


def words(texts: list[Value]) -> str:
    """Return a command or arguments in shell syntax; unknown words are question marks.

    The values of references are masked by the option that has them.
    """
    return " ".join("?" if isinstance(text, Unknown) else word(text) for text in masked(texts, secret="words"))


def word(text: str) -> str:
    """Return an argument in shell syntax; a mask is not quoted.

    >>> word("--token=***"), word("a b")
    ('--token=***', "'a b'")
    """
    plain = text.replace(MASK, "x")
    return text if quote(plain) == plain else quote(text)


def requests_and_limits(resources: Tree) -> str:
    """Return a container's requests, and the limits that differ from them."""
    requests, limits = (resources.get(key) or {} for key in ("requests", "limits"))
    more = {name: amount for name, amount in limits.items() if requests.get(name) != amount}
    return "; ".join(filter(None, (quantities(requests), f"limits {quantities(more)}" if more else "")))


def quantities(amounts: Tree) -> str:
    """Return quantities as text."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))


def cut(line: str, width: int) -> str:
    """Return the line, truncated to the width."""
    if len(line) <= width and line.isascii():
        return line
    sizes = [2 if east_asian_width(character) in "WF" else 1 for character in line]
    if sum(sizes) <= width:
        return line
    taken = 0
    for end, size in enumerate(sizes):
        if taken + size > width - 1:
            return f"{line[:end].rstrip()}…"
        taken += size
    return line
