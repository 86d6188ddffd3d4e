"""The layers of the settings: built-in, file, environment, flags; a higher layer changes a lower one.

Reads    the values of each layer, with the source of each value.
Returns  their merge. Every value keeps its source: its place in trainc.yaml, or the name of a flag. deepmerge walks the
         trees; `keys` decides whether a list is appended or replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.diagnostics import Place
from trainc.records import NamedTuple
from trainc.settings.keys import BY_PATH, KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deepmerge import Merger

    from trainc.diagnostics import Document, Path

BUILT_IN: Final = "built-in"
"""The source of the values of the lowest layer."""


class Leaf(NamedTuple):
    """A scalar, or a list as a tuple of leaves, and its source."""

    value: Any
    source: Place | str
    """The place in trainc.yaml; the name of a flag; `BUILT_IN`."""


class Branch(dict[str, "Leaf | Branch"]):
    """A mapping, and its source."""

    def __init__(self, source: Place | str) -> None:
        super().__init__()
        self.source = source


Node = Leaf | Branch


def built_in() -> Branch:
    """Return the built-in layer."""
    return given({key.path: (key.default, BUILT_IN) for key in KEYS if key.default is not None}, BUILT_IN)


def of_file(document: Document, path: Path, without: Sequence[str] = ()) -> Branch:
    """Return a mapping of trainc.yaml as a layer; nulls and the keys in `without` are missing keys."""
    from trainc.kubernetes.trees import get

    found = Branch(Place(document, path))
    for key, value in (get(document.value, path) or {}).items():
        if value is not None and key not in without:
            found[key] = _node(value, document, (*path, key))
    return found


def _node(value: Any, document: Document, path: Path) -> Node:
    place = Place(document, path)
    if isinstance(value, dict):
        return of_file(document, path)
    if isinstance(value, list):
        # An item is replaced whole, so only the item has a source.
        return Leaf(tuple(Leaf(item, Place(document, (*path, index))) for index, item in enumerate(value)), place)
    return Leaf(value, place)


def given(values: Mapping[tuple[str, ...], tuple[Any, str]], source: str) -> Branch:
    """Return values by path, each with the name of its source, as a layer."""
    root = Branch(source)
    for path, (value, name) in values.items():
        at = root
        for step in path[:-1]:
            below = at.setdefault(step, Branch(name))
            assert isinstance(below, Branch)  # no key is the parent of another one
            at = below
        match value:
            case dict():
                at[path[-1]] = Branch(name)
            case list() | tuple():
                at[path[-1]] = Leaf(tuple(Leaf(item, name) for item in value), name)
            case _:
                at[path[-1]] = Leaf(value, name)
    return root


def merged(layers: Sequence[Branch]) -> Branch:
    """Return the merge of some layers, the lowest first. They must not be used again: their mappings are changed."""
    result, *higher = layers or [Branch("")]
    if higher:
        merger = _merger()
        for layer in higher:
            result = merger.merge(result, layer)
    return result


def _merger() -> Merger:
    """Return the merger of layers. deepmerge is imported only if there are two layers."""
    from deepmerge import Merger

    return Merger([(dict, ["merge"]), (Leaf, _changed)], ["override"], ["override"])


def _changed(merger: Merger, path: list[str], base: Leaf, higher: Leaf) -> Leaf:
    """Append the items of a higher layer if the key's rule is to append; else return the higher layer's value."""
    key = BY_PATH.get(tuple(path))
    if key is None or key.rule != "append":
        return higher
    return Leaf((*base.value, *higher.value), higher.source)


def value_of(node: Node | None) -> Any:
    """Return a node's value without sources; None for a missing one."""
    if isinstance(node, Branch):
        return {key: value_of(below) for key, below in node.items()}
    if node is not None and isinstance(node.value, tuple):
        return [value_of(item) if isinstance(item, Leaf) else item for item in node.value]
    return None if node is None else node.value


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


def items(tree: Branch, *path: str) -> tuple[Leaf, ...]:
    """Return the items of the list at a path; none if the key is not set."""
    found = leaf(tree, *path)
    return () if found is None else found.value
