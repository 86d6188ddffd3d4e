"""How a review is written: one module a format, each with `render(review, *, color) -> str`; loaded by name.

What several formats say alike is here: numbers, names, values and what a change means, in words.
"""

from __future__ import annotations

from importlib import import_module
from json import dumps
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.footprint import NOTHING
from trainc.kubernetes.quantity import Quantity
from trainc.plural import plural
from trainc.review.consequences import WORDS
from trainc.review.settings import REPORTING
from trainc.source.masking import MASK
from trainc.tracing.correspondence import GONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.diagnostics import ObjectId
    from trainc.footprint import Footprint
    from trainc.review.changes import Change
    from trainc.review.model import Cause, Line, Review, Reviewed, Setting

SHORT: Final = 60
"""So many characters of a value fit beside others."""
BLOCKING: Final = frozenset({"new-object", "while-suspended", "refused"})
"""What a cluster that holds the old object does not take as it is."""
ZERO: Final = Quantity(0)


def load(name: str) -> Callable[..., str]:
    """The `render` of a format."""
    render: Callable[..., str] = import_module(f"{__name__}.{name}").render
    return render


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
    """Return the review in a line: `1 setting changes, 3 JobSets change; 7 objects stay as they are`."""
    parts = [
        f"{counted(found)} {one if len(found) == 1 else many}"
        for found, one, many in (
            (review.of("changed"), "changes", "change"),
            (review.of("added"), "is added", "are added"),
            (review.of("removed"), "is removed", "are removed"),
        )
        if found
    ]
    if review.settings:
        verb = "changes" if len(review.settings) == 1 else "change"
        parts.insert(0, f"{plural(len(review.settings), 'setting')} {verb}")
    stays = f"{plural(review.unchanged, 'object')} {'stays as it is' if review.unchanged == 1 else 'stay as they are'}"
    if not parts:
        return f"nothing changes: {stays}" if review.unchanged else "nothing changes"
    return f"{', '.join(parts)}; {stays}" if review.unchanged else ", ".join(parts)


def changed_by(setting: Setting) -> str:
    """Return what a setting changes: `3 JobSets`, `what is reported`."""
    if setting.objects:
        return counted(setting.objects)
    return "what is reported" if setting.change.path[0] in REPORTING else "no object"


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
    if given == MASK:
        return MASK
    if isinstance(given, str):
        from trainc.emit.yaml import inline

        return inline(given)
    return dumps(given, ensure_ascii=False)


def block(given: Any) -> list[str]:
    """A value on lines of its own: mappings and lists as YAML, a text by its lines, anything else on one."""
    if isinstance(given, dict | list) and given:
        from trainc.emit import yaml

        return yaml.Writer().part(given).splitlines()
    return given.splitlines() if isinstance(given, str) and "\n" in given else [value(given)]


def short(change: Change) -> bool:
    """Whether a change can be told on one line."""
    if change.kind == "moved":
        return True
    values = [part for part in (change.old, change.new) if part is not GONE]
    return not any(isinstance(part, dict | list) and part for part in values) and all(
        len(value(part)) <= SHORT for part in values
    )


def edited(change: Change) -> str:
    """What follows the name of a field that has changed: `: 4 -> 8`, ` is added`."""
    if change.kind == "moved":
        return f" in another order: {_order(change.old, change.new)} -> {_order(change.new, change.old)}"
    if not short(change):
        return "" if change.kind == "changed" else f" is {change.kind}"
    if change.kind == "changed":
        return f": {value(change.old)} -> {value(change.new)}"
    return f": {value(change.new if change.kind == 'added' else change.old)} is {change.kind}"


def _order(names: list[Any], others: list[Any]) -> str:
    """The names of some items, without those that both orders begin and end with."""
    head = _alike(names, others)
    tail = _alike(names[head:][::-1], others[head:][::-1])
    shown = [str(name) for name in names[head : len(names) - tail]]
    return ", ".join(["..."] * bool(head) + shown + ["..."] * bool(tail))


def _alike(one: list[Any], other: list[Any]) -> int:
    """How many items two lists begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def same_values(line: Line, having: Iterable[Reviewed]) -> bool:
    """Whether a change has the same values in all these objects."""
    change = line.change
    found = {
        (repr(other.change.old), repr(other.change.new))
        for reviewed in having
        for other in reviewed.lines
        if other.change.field == change.field and other.change.kind == change.kind
    }
    return len(found) == 1


def meaning(line: Line, reviewed: Reviewed) -> str:
    """What a change means, with the reason."""
    said = WORDS[line.consequence.effect]
    if line.consequence.effect == "new-object":
        said = f"needs a new {reviewed.id.kind}" + (f", {reviewed.anew}" if reviewed.anew else "")
    return f"{said}: {line.consequence.why}" if line.consequence.why else said


def origin(cause: Cause | Setting) -> str:
    """The line of the input: `runtimes/torch.yaml:14`; one that is gone is in the old side."""
    return f"{cause.at.file}:{cause.at.line}" + (" (before)" if cause.gone else "")


class Row(NamedTuple):
    """A number before and after, as text."""

    name: str
    before: str
    after: str
    more: str
    """The difference with its sign; empty where there is none."""


def amounts(before: Footprint | None, after: Footprint | None) -> list[Row]:
    """Nodes, pods and resources, GPUs first."""
    one, other = before or NOTHING, after or NOTHING
    rows = [
        Row(word, str(old), str(new), f"{new - old:+}" if old != new else "")
        for word, old, new in (("nodes", one.nodes, other.nodes), ("pods", one.pods, other.pods))
    ]
    for name in sorted(one.resources.keys() | other.resources.keys(), key=lambda name: ("gpu" not in name, name)):
        old, new = one.resources.get(name, ZERO), other.resources.get(name, ZERO)
        more = new.sub(old)
        sign = "+" if more.sign > 0 else ""
        rows.append(Row(name, str(old), str(new), "" if more.is_zero else sign + str(more)))
    return rows


def sums(queues: dict[str, Footprint]) -> Footprint:
    """All queues together."""
    return sum(queues.values(), NOTHING)
