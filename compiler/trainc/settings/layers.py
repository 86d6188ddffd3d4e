"""The layers of the settings: built-in, files, environment, flags; a higher layer changes a lower one.

Reads    the values of each layer, with the source of each value.
Returns  their merge. Every value keeps its source: its place in a file, or the name of a flag. deepmerge walks the
         trees; `keys` decides whether a list is appended or replaced.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Place
from trainc.kubernetes.trees import get
from trainc.settings.keys import BY_PATH, TOGETHER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deepmerge import Merger

    from trainc.diagnostics import Document, Path

BUILT_IN: Final = "built-in"
"""The source of the values of the lowest layer."""


ALTERNATIVES: Final = frozenset({"newTag", "digest"})
"""The keys of an item of `images` that replace each other."""


class Leaf(NamedTuple):
    """A scalar, or a list as a tuple of leaves, and its source."""

    value: Any
    source: Place | str
    """The place in trainc.yaml; the name of a flag; `BUILT_IN`."""
    merged: tuple[Leaf, ...] = ()
    """The items of lower layers that an item of `images` was merged with."""


class Branch(dict[str, "Leaf | Branch"]):
    """A mapping, and its source."""

    def __init__(self, source: Place | str) -> None:
        super().__init__()
        self.source = source


Node = Leaf | Branch


def file_layer(document: Document, path: Path, without: Sequence[str] = ()) -> Branch:
    """Return a mapping of trainc.yaml as a layer, without some keys."""
    found = _node(get(document.value, path, {}), Place(document, path))
    assert isinstance(found, Branch)
    for key in without:
        found.pop(key, None)
    return found


def key_layer(path: tuple[str, ...], value: Any, source: str) -> Branch:
    """Return the value of one key as a layer, with the name of its source."""
    for step in reversed(path):
        value = {step: value}
    found = _node(value, source)
    assert isinstance(found, Branch)
    return found


def _node(value: Any, source: Place | str) -> Node:
    """Return a value with the sources of its parts. A null in a mapping is a missing key."""
    if isinstance(value, dict):
        found = Branch(source)
        found.update({key: _node(each, _source_below(source, key)) for key, each in value.items() if each is not None})
        return found
    if isinstance(value, list | tuple):
        # An item is replaced whole, so only the item has a source.
        return Leaf(tuple(Leaf(item, _source_below(source, index)) for index, item in enumerate(value)), source)
    return Leaf(value, source)


def _source_below(source: Place | str, step: str | int) -> Place | str:
    return source._replace(path=(*source.path, step)) if isinstance(source, Place) else source


def merged(layers: Sequence[Branch]) -> Branch:
    """Return the merge of some layers, the lowest first. They must not be used again: their mappings are changed."""
    if len(layers) == 1:
        return layers[0]
    from deepmerge import Merger

    for index, layer in enumerate(layers):
        if any(key in layer for key in TOGETHER):
            for lower in layers[:index]:
                for key in TOGETHER:
                    lower.pop(key, None)

    return reduce(Merger([(dict, ["merge"]), (Leaf, _changed)], ["override"], ["override"]).merge, layers)


def _changed(merger: Merger, path: list[str], base: Leaf, higher: Leaf) -> Leaf:
    """Return the value of a higher layer, merged with the lower ones by the key's rule."""
    key = BY_PATH.get(tuple(path))
    if key is not None and key.rule == "append":
        return Leaf((*base.value, *higher.value), higher.source)
    if key is not None and key.rule == "merge by name":
        return Leaf((*_merged_by_name(base.value, higher.value),), higher.source)
    return higher


def _merged_by_name(base: Sequence[Leaf], higher: Sequence[Leaf]) -> list[Leaf]:
    """Return the items of two layers: those with one name merged key by key, the others of the higher layer last."""
    found = [*base]
    for item in higher:
        same = [index for index, known in enumerate(base) if known.value["name"] == item.value["name"]]
        for index in same:
            known, replaced = found[index], ALTERNATIVES if ALTERNATIVES & item.value.keys() else frozenset[str]()
            kept = {key: value for key, value in known.value.items() if key not in replaced}
            found[index] = Leaf(kept | item.value, item.source, (*known.merged, known))
        if not same:
            found.append(item)
    return found


def value_of(node: Node) -> Any:
    """Return a node's value without sources."""
    if isinstance(node, Branch):
        return {key: value_of(below) for key, below in node.items()}
    return [item.value for item in node.value] if isinstance(node.value, tuple) else node.value


def find(node: Node, path: Path) -> tuple[Node, Path]:
    """Return the innermost node on a path, and the rest of the path, which is inside the node's value or missing."""
    for index, step in enumerate(path):
        below: Any = None
        if isinstance(node, Branch):
            below = node.get(str(step))
        elif isinstance(node.value, tuple) and isinstance(step, int) and step < len(node.value):
            below = node.value[step]
        if below is None:
            return node, path[index:]
        node = below
    return node, ()


def leaf(tree: Branch, *path: str) -> Leaf | None:
    """Return the leaf at a path; None if the key is not set."""
    node, rest = find(tree, path)
    return node if isinstance(node, Leaf) and not rest else None


def sources(node: Node) -> Iterator[Place]:
    """Yield the places in the files of the values of a node, and those of the items that they were merged with."""
    if isinstance(node, Branch):
        for below in node.values():
            yield from sources(below)
    elif isinstance(node.value, tuple):
        for item in node.value:
            yield from sources(item)
    else:
        yield from (each.source for each in (node, *node.merged) if isinstance(each.source, Place))


def named(tree: Branch, *path: str) -> Iterator[tuple[str, Leaf, Place]]:
    """Yield the keys of the mapping at a path that trainc.yaml sets, each with its value and the place of the key."""
    node, rest = find(tree, path)
    for key, below in node.items() if isinstance(node, Branch) and not rest else ():
        if isinstance(below, Leaf) and isinstance(below.source, Place):
            yield key, below, below.source._replace(key=True)


def items(tree: Branch, *path: str) -> tuple[Leaf, ...]:
    """Return the items of the list at a path; none if the key is not set."""
    found = leaf(tree, *path)
    return () if found is None else found.value
