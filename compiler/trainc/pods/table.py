"""Pods as a table, for a terminal: a row each, then the containers of the first one of each replicated job.

Reads    Jobs, a completion index if one is asked for, and the width of the terminal.
Returns  lines that are no wider. Of many pods alike the first are listed, the others counted; what looks like a secret
         is hidden, what nobody can know before the pod runs is a question mark with its reason.
"""

from __future__ import annotations

from itertools import chain, groupby, islice
from shlex import quote
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

from trainc.columns import table
from trainc.kubernetes.downward import Unknown
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
"""Of the pods of a replicated job, so many are listed; one more than that is, too, for its line is there anyway."""
HIDDEN: Final = "***"
SHORTEST: Final = 4
"""Characters of a secret that is hidden within other text: a shorter one would hide half of it."""
LABEL: Final = 13
"""Columns in front of what a container has."""


def render(jobs: Iterable[Job], index: int | None, width: int) -> str:
    """The Jobs' pods, JobSet by JobSet."""
    blocks = (of_jobset(list(alike), index) for _, alike in groupby(jobs, key=lambda job: id(job.jobset)))
    lines = chain.from_iterable((*block, "") for block in blocks)
    return "".join(f"{cut(line, width)}\n" for line in list(lines)[:-1])


def of_jobset(jobs: list[Job], index: int | None) -> Iterator[str]:
    """One JobSet: how many pods there are, the table, and what their containers find."""
    listed: list[tuple[list[Pod], int]] = []
    for _, alike in groupby(jobs, key=lambda job: id(job.replicated)):
        group = list(alike)
        count = sum(job.size if index is None else index < job.size for job in group)
        found = islice(chain.from_iterable(job.pods(index) for job in group), count if count == MOST + 1 else MOST)
        listed.append((list(found), count))
    metadata = jobs[0].jobset["metadata"]
    total, of_namespace = sum(count for _, count in listed), metadata.get("namespace")
    where = f" in namespace {of_namespace}" if of_namespace else ""
    yield f"{metadata['name']}{where}: {plural(total, 'pod')}"
    lines = table([HEADER, *(row(pod) for pods, _ in listed for pod in pods)])
    yield ""
    yield lines.pop(0)
    for pods, count in listed:
        yield from (lines.pop(0) for _ in pods)
        if count > len(pods):
            yield f"... and {count - len(pods)} more"
    for pods, _ in listed:
        for pod in pods[:1]:
            for container in pod.containers:
                yield ""
                yield from of_container(pod, container)


def row(pod: Pod) -> tuple[str, ...]:
    """A pod as the cells of a line."""
    index = "-" if pod.completion is None else str(pod.completion)
    return pod.name, index, pod.address or "-", asked(pod.requests)


def of_container(pod: Pod, container: Container) -> Iterator[str]:
    """What a container runs, asks for and finds."""
    kind = "init container" if container.init else "container"
    yield f"{pod.name}, {kind} {container.tree['name']}"
    secrets = tuple(sorted(set(known_secrets(pod, container)), key=lambda secret: (-len(secret), secret)))
    parts: list[tuple[str, list[str]]] = [
        ("image", [container.tree.get("image", "")]),
        ("command", [words(container.command or [], secrets)]),
        ("args", [words(container.args or [], secrets)]),
        ("resources", [both(container.tree.get("resources") or {})]),
        ("env", [variable(name, value, secrets) for name, value in container.env.items()]),
        ("env from", [f"? {reason}" for (reason,) in container.missing.values()]),
    ]
    for label, lines in parts:
        for number, line in enumerate(filter(None, lines)):
            yield f"  {'' if number else label:<{LABEL - 2}}{escape(line)}"


def known_secrets(pod: Pod, container: Container) -> Iterator[str]:
    """What is hidden wherever it stands: what Secrets hold, and variables whose names say that they do."""
    for (kind, _), data in pod.job.sources.items():
        if kind == "Secret":
            yield from (value for value in data.values() if isinstance(value, str))
    yield from (value for name, value in container.env.items() if isinstance(value, str) and is_secret(name))


def variable(name: str, value: Value, secrets: tuple[str, ...]) -> str:
    """A variable, its value hidden if it is a secret's."""
    if isinstance(value, Unknown):
        return f"{name}=? {value.reason}"
    return f"{name}={HIDDEN if value and is_secret(name) else hidden(value, secrets)}"


def words(texts: list[Value], secrets: tuple[str, ...]) -> str:
    """A command or arguments as a shell would read them; a question mark where one is not known."""
    shown: list[str] = []
    flag = False
    for text in texts:
        word = "?" if isinstance(text, Unknown) else quote(text)
        shown.append(HIDDEN if flag and not word.startswith("-") else word)
        flag = word.startswith("-") and "=" not in word and is_secret(word)
    return hidden(" ".join(shown), secrets)


def hidden(text: str, secrets: tuple[str, ...]) -> str:
    """The text without what is secret in it."""
    for secret in secrets:
        if len(secret) >= SHORTEST or secret == text:
            text = text.replace(secret, HIDDEN)
    for begin, end in reversed(list(joined(in_line(text)))):
        text = f"{text[:begin]}{HIDDEN}{text[end:]}"
    return text


def both(resources: Tree) -> str:
    """What a container asks for, and its limits where they differ."""
    requests, limits = (resources.get(key) or {} for key in ("requests", "limits"))
    more = {name: amount for name, amount in limits.items() if requests.get(name) != amount}
    return "; ".join(filter(None, (asked(requests), f"at most {asked(more)}" if more else "")))


def asked(amounts: Tree) -> str:
    """Amounts of resources."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))


def cut(line: str, width: int) -> str:
    """The line, or as much of it as the width allows."""
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
