"""Selectors: which fields are meant by a FIELD, and which may have been when there are none.

Reads    `spec.replicatedJobs[0].template`, as diagnostics spell fields. In brackets stands an index, the name of an
         item, `key=value` or a quoted key; `*` in a word is any text, alone any one step, `**` any number of steps. In
         front may stand the object, `ConfigMap/hosts:data` or `ConfigMap:`.
Returns  the paths in an object.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree

OBJECT: Final = re.compile(r"([A-Za-z*]+)(?:/([a-z0-9.*-]+))?:")
"""An object in front of a field."""
_STEP: Final = re.compile(r"""\.?([^.\[\]]+)|\[("[^"]*"|'[^']*'|[^\[\]"']+)\]""")
_EVERYWHERE: Final = "**"


class SelectorStep(NamedTuple):
    """One step of a FIELD."""

    kind: Literal["word", "key", "index", "item", "deep"]
    text: str
    key: str = "name"
    """Of an item: which of its fields has the text."""


DEEP: Final = SelectorStep("deep", _EVERYWHERE)


class Selector(NamedTuple):
    """What is asked for."""

    text: str
    """As it was written."""
    kind: str
    name: str
    steps: tuple[SelectorStep, ...]

    def means(self, tree: Tree) -> bool:
        """Whether it is asked for fields of this object."""
        return like(self.kind.lower(), str(tree["kind"]).lower()) and like(self.name, tree["metadata"]["name"])

    def find(self, tree: Tree) -> set[Path]:
        """What is asked for of an object."""
        return set(_find(tree, self.steps, (), set())) if self.means(tree) else set()


def parse(text: str) -> Selector | None:
    """A FIELD as a selector; None where it is none."""
    front = OBJECT.match(text)
    kind, name = (front[1], front[2] or "*") if front else ("*", "*")
    rest = text[front.end() :] if front else text
    steps, at = [], 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None or (at and found[1] and rest[at] != "."):
            return None
        steps.append(_word(found[1]) if found[1] else _bracketed(found[2]))
        at = found.end()
    return Selector(text, kind, name, tuple(steps)) if steps or front else None


def _word(text: str) -> SelectorStep:
    return DEEP if text == _EVERYWHERE else SelectorStep("word", text)


def _bracketed(text: str) -> SelectorStep:
    if text[0] in "\"'":
        return SelectorStep("key", text[1:-1])
    if text.isascii() and text.isdigit():
        return SelectorStep("index", text)
    key, equals, value = text.partition("=")
    return SelectorStep("item", value, key) if equals else SelectorStep("item", text)


def _find(node: Any, steps: tuple[SelectorStep, ...], path: Path, seen: set[tuple[Path, int]]) -> Iterator[Path]:
    """Where the steps lead from a node; each place with as many steps before it is visited once."""
    if (path, len(steps)) in seen:
        return
    seen.add((path, len(steps)))
    if not steps:
        yield path
        return
    if steps[0] == DEEP:
        yield from _find(node, steps[1:], path, seen)
    for step, child, taken in _next(node, steps):
        yield from _find(child, steps[taken:], (*path, step), seen)


def _next(node: Any, steps: tuple[SelectorStep, ...]) -> Iterator[tuple[str | int, Any, int]]:
    """The children of a node that are meant, each with the number of steps that it takes."""
    first = steps[0]
    if isinstance(node, dict):
        for key, child in node.items():
            if first == DEEP:
                yield key, child, 0
            else:
                yield from ((key, child, taken) for taken in _spelt(key, steps))
    elif isinstance(node, list):
        yield from ((index, child, int(first != DEEP)) for index, child in enumerate(node) if _is(index, child, first))


def _spelt(key: str, steps: tuple[SelectorStep, ...]) -> Iterator[int]:
    """How many of the steps spell a key: one that has dots in it may be several words."""
    if steps[0].kind == "key":
        if key == steps[0].text:
            yield 1
        return
    text = ""
    for taken, step in enumerate(steps[: key.count(".") + 1], 1):
        if step.kind != "word":
            return
        text += f".{step.text}" if text else step.text
        if like(text, key):
            yield taken


def _is(index: int, item: Any, step: SelectorStep) -> bool:
    """Whether a step means an item of a list."""
    if step.kind == "index":
        return index == int(step.text)
    if step.kind == "item" and step.text != "*":
        return isinstance(item, dict) and step.key in item and like(step.text, str(item[step.key]))
    return step == DEEP or step.text == "*"


def like(pattern: str, text: str) -> bool:
    """Whether a text is what a pattern says, in which `*` is any text."""
    return pattern in ("*", text) or ("*" in pattern and bool(_compiled(pattern).fullmatch(text)))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"(?:\\\*)+", ".*", re.escape(pattern)), re.DOTALL)


def meant(selector: Selector, trees: Iterable[Tree]) -> str:
    """What to ask for instead of a FIELD that nothing has, in words."""
    from trainc.nearest import nearest

    trees = list(trees)
    chosen = [tree for tree in trees if selector.means(tree)]
    if not chosen:
        there = dict.fromkeys(f"{tree['kind']}/{tree['metadata']['name']}" for tree in trees)
        return f"the objects are {', '.join(there)}"
    front = selector.text[: front.end()] if (front := OBJECT.match(selector.text)) else ""
    rest = selector.text[len(front) :]
    inner = dict.fromkeys(field_of(path) for tree in chosen for path in _find(tree, (DEEP, *selector.steps), (), set()))
    if len(inner) == 1:
        return f"did you mean {front}{next(iter(inner))}?"
    if inner:
        return f"did you mean {front}**.{rest}? It is there {len(inner)} times"
    known = dict.fromkeys(field_of(path) for tree in chosen for path in _find(tree, (DEEP,), (), set()) if path)
    if near := nearest(rest, known):
        return f"did you mean {front}{near}?"
    words = dict.fromkeys(str(path[-1]) for tree in chosen for path in _find(tree, (DEEP,), (), set()) if path)
    last = selector.steps[-1].text if selector.steps else ""
    if near := nearest(last, (word for word in words if word)):
        return f"did you mean {front}**.{near}?"
    return "leave FIELD out to see all there are"
