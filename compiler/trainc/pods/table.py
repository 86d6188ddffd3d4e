"""Pods as a table, for a terminal: a row for each pod, then the containers of each replicated job's first pod.

Reads    Jobs, an optional completion index, and the width of the terminal.
Returns  lines that are at most that wide, with the number of pods and GPUs first. Columns that do not fit are folded.
         Of a replicated job, the first pods are listed and the others counted. Likely secrets are masked. A value that
         is only known at run time is a question mark with the reason.
"""

from __future__ import annotations

from itertools import chain, groupby, islice
from shlex import quote
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

from trainc import plan
from trainc.columns import folded
from trainc.kubernetes.amounts import amounts
from trainc.kubernetes.downward import Unknown
from trainc.kubernetes.quantity import Quantity
from trainc.plural import plural
from trainc.source.names import is_secret
from trainc.source.patterns import in_line, joined
from trainc.source.printable import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.downward import Value
    from trainc.kubernetes.trees import Tree
    from trainc.pods import Container, Job, Pod

HEADER: Final = ("POD", "INDEX", "ADDRESS", "RESOURCES")
MOST: Final = 4
"""The number of listed pods per replicated job. If there is only one more, it replaces the line with the count."""
HIDDEN: Final = "***"
SHORTEST: Final = 4
"""The minimum length of a secret that is masked within other text; shorter ones would mask ordinary text."""
LABEL: Final = 13
"""The width of the label column in a container's lines."""


def render(jobs: Iterable[Job], index: int | None, width: int) -> str:
    """Return the Jobs' pods, grouped by JobSet."""
    jobsets = [list(alike) for _, alike in groupby(jobs, key=lambda job: id(job.jobset))]
    blocks = [list(of_jobset(own, index, width)) for own in jobsets]
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


def of_jobset(jobs: list[Job], index: int | None, width: int) -> Iterator[str]:
    """Yield one JobSet: the number of pods and GPUs, the table, and the containers."""
    listed: list[tuple[list[Pod], int]] = []
    for _, alike in groupby(jobs, key=lambda job: id(job.replicated)):
        group = list(alike)
        count = sum(job.size if index is None else index < job.size for job in group)
        found = islice(chain.from_iterable(job.pods(index) for job in group), count if count == MOST + 1 else MOST)
        listed.append((list(found), count))
    metadata = jobs[0].jobset["metadata"]
    namespace = metadata.get("namespace")
    where = f" in namespace {namespace}" if namespace else ""
    yield f"{metadata['name']}{where}: {size(*numbers_of(jobs, index))}"
    rows = iter(folded([HEADER, *(row(pod) for pods, _ in listed for pod in pods)], width))
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
                yield from of_container(pod, container)


def row(pod: Pod) -> tuple[str, ...]:
    """Return a pod's cells."""
    index = "-" if pod.completion is None else str(pod.completion)
    return pod.name, index, pod.address or "-", ",".join(amounts(parsed(pod.requests)))


def parsed(requests: Tree) -> dict[str, Quantity]:
    """Return requests as quantities."""
    return {name: Quantity.from_json(text) for name, text in requests.items()}


def of_container(pod: Pod, container: Container) -> Iterator[str]:
    """Yield a container's image, command, arguments, resources and environment."""
    kind = "init container" if container.init else "container"
    yield f"{pod.name}, {kind} {container.tree['name']}"
    secrets = tuple(sorted(set(known_secrets(pod, container)), key=lambda secret: (-len(secret), secret)))
    parts: list[tuple[str, list[str]]] = [
        ("image", [container.tree.get("image", "")]),
        ("command", [words(container.command or [], secrets)]),
        ("args", [words(container.args or [], secrets)]),
        ("resources", [requests_and_limits(container.tree.get("resources") or {})]),
        ("env", [variable(name, value, secrets) for name, value in container.env.items()]),
        ("env from", [f"? {reason}" for (reason,) in container.missing.values()]),
    ]
    for label, lines in parts:
        for number, line in enumerate(filter(None, lines)):
            yield f"  {'' if number else label:<{LABEL - 2}}{escape(line)}"


def known_secrets(pod: Pod, container: Container) -> Iterator[str]:
    """Yield the values to mask everywhere: Secret data, and variables with a secret's name."""
    for (kind, _), data in pod.job.sources.items():
        if kind == "Secret":
            yield from (value for value in data.values() if isinstance(value, str))
    yield from (value for name, value in container.env.items() if isinstance(value, str) and is_secret(name))


def variable(name: str, value: Value, secrets: tuple[str, ...]) -> str:
    """Return a variable, with its value masked if it is a secret."""
    if isinstance(value, Unknown):
        return f"{name}=? {value.reason}"
    return f"{name}={HIDDEN if value and is_secret(name) else hidden(value, secrets)}"


def words(texts: list[Value], secrets: tuple[str, ...]) -> str:
    """Return a command or arguments in shell syntax; unknown words are question marks."""
    shown: list[str] = []
    flag = False
    for text in texts:
        word = "?" if isinstance(text, Unknown) else quote(text)
        shown.append(HIDDEN if flag and not word.startswith("-") else word)
        flag = word.startswith("-") and "=" not in word and is_secret(word)
    return hidden(" ".join(shown), secrets)


def hidden(text: str, secrets: tuple[str, ...]) -> str:
    """Return the text with secrets masked."""
    for secret in secrets:
        if len(secret) >= SHORTEST or secret == text:
            text = text.replace(secret, HIDDEN)
    for begin, end in reversed(list(joined(in_line(text)))):
        text = f"{text[:begin]}{HIDDEN}{text[end:]}"
    return text


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
