"""How a review is written: one module a format, each with `render(review, *, color) -> str`; loaded by name.

What several formats say alike is here: numbers, names, values and what a change means, in words.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from trainc.review.consequences import WORDS
from trainc.tracing.counterparts import GONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.diagnostics import ObjectId
    from trainc.footprint import Footprint
    from trainc.review import Cause, Line, Review, Reviewed

FORMATS: Final = ("text", "markdown", "json", "html")
"""The formats, without loading them."""
SHORT: Final = 60
"""So many characters of a value fit beside others."""


def load(name: str) -> Callable[..., str]:
    """The `render` of a format."""
    render: Callable[..., str] = import_module(f"{__name__}.{name}").render
    return render


def plural(count: int, word: str) -> str:
    """`1 object`, `2 objects`, `1 PodGroup`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def counted(objects: Iterable[Reviewed]) -> str:
    """How many objects of each kind: `3 JobSets and 1 ConfigMap`."""
    kinds: dict[str, int] = {}
    for found in objects:
        kinds[found.id.kind] = kinds.get(found.id.kind, 0) + 1
    return listed(plural(count, kind) for kind, count in kinds.items())


def headline(review: Review) -> str:
    """What there is to review, in a line: `3 JobSets change, 1 JobSet is added; 7 objects stay as they are`."""
    words = {
        "changed": ("changes", "change"),
        "added": ("is added", "are added"),
        "removed": ("is removed", "are removed"),
    }
    parts = [
        f"{counted(found)} {one if len(found) == 1 else many}"
        for status, (one, many) in words.items()
        if (found := review.of(status))  # type: ignore[arg-type]  (the keys of `words` are statuses)
    ]
    stays = f"{plural(review.unchanged, 'object')} {'stays as it is' if review.unchanged == 1 else 'stay as they are'}"
    if not parts:
        return f"nothing changes: {stays}" if review.unchanged else "nothing changes"
    return f"{', '.join(parts)}; {stays}" if review.unchanged else ", ".join(parts)


def named(id: ObjectId) -> str:
    """An object: `JobSet ml/llm`."""
    return f"{id.kind} {within(id)}"


def within(id: ObjectId) -> str:
    """An object's name, in its namespace: `ml/llm`."""
    return f"{id.namespace}/{id.name}" if id.namespace else id.name


def value(given: Any) -> str:
    """A value on one line, as YAML or JSON would have it."""
    if given is GONE:
        return ""
    if isinstance(given, str):
        from trainc.emit.yaml import inline

        return inline(given)
    return json.dumps(given, ensure_ascii=False)


def meaning(line: Line, reviewed: Reviewed) -> str:
    """What a change means, with the reason."""
    said = WORDS[line.consequence.effect]
    if line.consequence.effect == "new-object":
        said = f"needs a new {reviewed.id.kind}" + (f", {reviewed.anew}" if reviewed.anew else "")
    return f"{said}: {line.consequence.why}" if line.consequence.why else said


def origin(cause: Cause) -> str:
    """The line of the input: `runtimes/torch.yaml:14`; one that is gone is in the old side."""
    return f"{cause.at.file}:{cause.at.line}" + (" (before)" if cause.gone else "")


def amounts(before: Footprint, after: Footprint) -> list[tuple[str, str, str, str]]:
    """Nodes, pods and resources: what is counted, before, after, and the difference with its sign ("" for none)."""
    from trainc.kubernetes.quantity import Quantity

    rows = [
        (word, str(one), str(other), f"{other - one:+}" if one != other else "")
        for word, one, other in (("nodes", before.nodes, after.nodes), ("pods", before.pods, after.pods))
    ]
    names = sorted(before.resources.keys() | after.resources.keys(), key=lambda name: ("gpu" not in name, name))
    for name in names:
        one, other = before.resources.get(name, Quantity(0)), after.resources.get(name, Quantity(0))
        more = other.sub(one)
        sign = "+" if more.sign > 0 else ""
        rows.append((name, str(one), str(other), "" if more.is_zero else f"{sign}{more}"))
    return rows
