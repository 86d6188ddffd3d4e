"""Selectors: the fields that match a FIELD, and a suggestion if none does.

Reads    `spec.replicatedJobs[0].template`, in the field syntax of diagnostics. Brackets contain an index, an item's
         name, `key=value` or a quoted key. `*` within a word matches any text, `*` on its own any one step, `**` any
         number of steps. A prefix selects the objects: `ConfigMap/hosts:data` or `ConfigMap:`.
Returns  the matching paths in an object.
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
"""The prefix of a FIELD that selects objects."""
_STEP: Final = re.compile(r"""\.?([^.\[\]]+)|\[("[^"]*"|'[^']*'|[^\[\]"']+)\]""")
_EVERYWHERE: Final = "**"


class SelectorStep(NamedTuple):
    """One step of a FIELD."""

    kind: Literal["word", "key", "index", "item", "deep"]
    text: str
    key: str = "name"
    """The field of an item that must match the text."""


DEEP: Final = SelectorStep("deep", _EVERYWHERE)


class Selector(NamedTuple):
    """A parsed FIELD."""

    text: str
    """The original text."""
    kind: str
    name: str
    steps: tuple[SelectorStep, ...]

    def matches(self, tree: Tree) -> bool:
        """Return whether the prefix selects this object."""
        return matches_wildcard(self.kind.lower(), str(tree["kind"]).lower()) and matches_wildcard(
            self.name, tree["metadata"]["name"]
        )

    def find(self, tree: Tree) -> set[Path]:
        """Return the matching paths in an object."""
        return set(_find(tree, self.steps, (), set())) if self.matches(tree) else set()

    def find_in(self, tree: Tree) -> set[Path]:
        """Return the paths in a document that match the steps, of which there is one; its kind does not matter."""
        return set(_find(tree, self.steps, (), set())) if self.steps else set()


def parse(text: str) -> Selector | None:
    """Parse a FIELD; return None for invalid syntax."""
    prefix = OBJECT.match(text)
    kind, name = (prefix[1], prefix[2] or "*") if prefix else ("*", "*")
    rest = text[prefix.end() :] if prefix else text
    steps, at = [], 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None or (at and found[1] and rest[at] != "."):
            return None
        steps.append(_word(found[1]) if found[1] else _bracketed(found[2]))
        at = found.end()
    return Selector(text, kind, name, tuple(steps)) if steps or prefix else None


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
    """Yield the paths that match the steps from a node. Each pair of a path and remaining steps is visited once."""
    if (path, len(steps)) in seen:
        return
    seen.add((path, len(steps)))
    if not steps:
        yield path
        return
    if steps[0] == DEEP:
        yield from _find(node, steps[1:], path, seen)
    for step, child, taken in _matching_children(node, steps):
        yield from _find(child, steps[taken:], (*path, step), seen)


def _matching_children(node: Any, steps: tuple[SelectorStep, ...]) -> Iterator[tuple[str | int, Any, int]]:
    """Yield the matching children of a node, each with the number of steps that it consumes."""
    first = steps[0]
    if isinstance(node, dict):
        for key, child in node.items():
            if first == DEEP:
                yield key, child, 0
            else:
                yield from ((key, child, taken) for taken in _steps_of_key(key, steps))
    elif isinstance(node, list):
        items = enumerate(node)
        yield from ((index, child, int(first != DEEP)) for index, child in items if _matches(index, child, first))


def _steps_of_key(key: str, steps: tuple[SelectorStep, ...]) -> Iterator[int]:
    """Yield how many steps a key matches: a key with dots may be several words."""
    if steps[0].kind == "key":
        if key == steps[0].text:
            yield 1
        return
    text = ""
    for taken, step in enumerate(steps[: key.count(".") + 1], 1):
        if step.kind != "word":
            return
        text += f".{step.text}" if text else step.text
        if matches_wildcard(text, key):
            yield taken


def _matches(index: int, item: Any, step: SelectorStep) -> bool:
    """Return whether a step matches a list item."""
    if step.kind == "index":
        return index == int(step.text)
    if step.kind == "item" and step.text != "*":
        return isinstance(item, dict) and step.key in item and matches_wildcard(step.text, str(item[step.key]))
    return step == DEEP or step.text == "*"


def matches_wildcard(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern in which `*` is any text."""
    return pattern in ("*", text) or ("*" in pattern and bool(_compiled(pattern).fullmatch(text)))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"(?:\\\*)+", ".*", re.escape(pattern)), re.DOTALL)


def suggestion(selector: Selector, trees: Iterable[Tree]) -> str:
    """Return the help for a FIELD that no object has."""
    from trainc.base.suggestions import nearest_name

    trees = list(trees)
    chosen = [tree for tree in trees if selector.matches(tree)]
    if not chosen:
        objects = dict.fromkeys(f"{tree['kind']}/{tree['metadata']['name']}" for tree in trees)
        return f"the objects are {', '.join(objects)}"
    prefix = found[0] if (found := OBJECT.match(selector.text)) else ""
    rest = selector.text[len(prefix) :]
    inner = dict.fromkeys(field_of(path) for tree in chosen for path in _find(tree, (DEEP, *selector.steps), (), set()))
    if len(inner) == 1:
        return f"did you mean {prefix}{next(iter(inner))}?"
    if inner:
        return f"did you mean {prefix}**.{rest}, which matches {len(inner)} fields?"
    known = dict.fromkeys(field_of(path) for tree in chosen for path in _find(tree, (DEEP,), (), set()) if path)
    if near := nearest_name(rest, known):
        return f"did you mean {prefix}{near}?"
    words = dict.fromkeys(str(path[-1]) for tree in chosen for path in _find(tree, (DEEP,), (), set()) if path)
    last = selector.steps[-1].text if selector.steps else ""
    if near := nearest_name(last, (word for word in words if word)):
        return f"did you mean {prefix}**.{near}?"
    return "omit FIELD to list every field"
