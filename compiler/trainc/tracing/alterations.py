"""Alterations: the input fields of a trace, in groups that are altered together, and the altered input.

Reads    a TrainJob, a runtime or the settings of a project, as a tree.
Returns  its fields by rank, and copies of it with some fields changed or removed. Jobs share runtimes: the groups of a
         tree and its altered copies are computed once.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.kubernetes.trees import Memory
from trainc.records import NamedTuple
from trainc.tracing.correspondence import at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree

    Alteration = Callable[[Any, Path], None]
    """Alters the field at a path in its parent, which is given and modified in place."""

Owner = Literal["job", "runtime", "project"]
"""A document with input fields, by its attribute of a plan."""
OWNERS: Final[tuple[Owner, ...]] = ("job", "runtime", "project")
"""The owners in search order."""
TEMPLATES: Final = (
    ("spec", "runtimePatches", "*", "trainingRuntimeSpec", "template"),
    ("spec", "template"),
)
"""The shapes of the fields that are merged into the JobSet: a TrainJob's patches, a runtime's template."""
MERGED: Final = frozenset(shape[:2] for shape in TEMPLATES)
_LETTER: Final = re.compile("[A-Za-z]")
_DIGIT: Final = re.compile(r"\d")


class InputField(NamedTuple):
    """A field of the input."""

    owner: Owner
    path: Path
    whole: bool = False
    """Whether it contains other fields."""


class Rank(NamedTuple):
    """The search order of a field, False before True. Fields of one rank may be altered together."""

    merged: bool
    """Whether it is merged into the JobSet: patches, the template."""
    reference: bool
    """Whether other fields refer to it, such as a name or a label; altering it moves their effects to other paths."""
    owner: int
    """Its owner's index in OWNERS."""
    whole: bool
    """Whether it contains other fields, which a removal would remove too."""


class Group:
    """The fields of one rank that an alteration affects, with fields of one shape side by side."""

    def __init__(self, alter: Alteration, tree: Tree, fields: Sequence[InputField]) -> None:
        self.alter = alter
        self.tree = tree
        shapes: dict[Path, list[int]] = {}
        for number, field in enumerate(fields):
            shapes.setdefault(shape(field.path), []).append(number)
        self.order: list[int] = [number for numbers in shapes.values() for number in numbers]
        """The position of each field in the document; nested fields precede the enclosing one."""
        self.fields = [fields[number] for number in self.order]
        self.shape_of: list[int] = [index for index, numbers in enumerate(shapes.values()) for _ in numbers]
        """The index of each field's shape."""
        self.shapes = list(shapes)
        self.sole: dict[str, int | None] = {}
        """The index of the only field with a text; None for a text that several fields have."""
        for index, field in enumerate(self.fields):
            value = at(tree, field.path)
            if isinstance(value, str) and _LETTER.search(value):
                self.sole[value] = None if value in self.sole else index
        self._enclosing: dict[Path, frozenset[int]] = {}

    def enclosing(self, path: Path) -> frozenset[int]:
        """Return the indices of the shapes that enclose a field of the JobSet, in a template or a patch."""
        wanted = shape(path)
        if wanted not in self._enclosing:
            whole = [(*template, *wanted) for template in TEMPLATES]
            self._enclosing[wanted] = frozenset(
                index for index, outer in enumerate(self.shapes) if any(outer == one[: len(outer)] for one in whole)
            )
        return self._enclosing[wanted]


class Ranked(NamedTuple):
    """The fields of one rank, in a group for each alteration."""

    rank: Rank
    changed: Group
    removed: Group


_RANKED: Final = Memory()
_ALTERED: Final = Memory()


def ranked(owner: Owner, tree: Tree) -> list[Ranked]:
    """Return the fields of a tree by rank."""
    known: tuple[Tree, list[Ranked]] | None = _RANKED.get((owner, id(tree)))
    if known is None:
        fields = sorted((InputField(owner, path, whole) for path, whole in _inside(tree, ())), key=_rank)
        found = [_ranked(rank, tree, list(members)) for rank, members in groupby(fields, _rank)]
        known = _RANKED.keep((owner, id(tree)), (tree, found))
    return known[1]


def _ranked(rank: Rank, tree: Tree, fields: list[InputField]) -> Ranked:
    altered = [field for field in fields if other(value := at(tree, field.path)) is not value]
    # A list keeps its items, because a removal would shift the rest.
    kept = [field for field in fields if not isinstance(field.path[-1], int)]
    return Ranked(rank, Group(changed, tree, altered), Group(removed, tree, kept))


def _rank(field: InputField) -> Rank:
    return Rank(
        field.path[:2] in MERGED, _is_name(field.path) or "labels" in field.path, OWNERS.index(field.owner), field.whole
    )


def _is_name(path: Path) -> bool:
    """Return whether a path is the name of a list item."""
    return path[-1] == "name" and isinstance(path[-2], int)


def shape(path: Path) -> Path:
    """Return a path with `*` for each index."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def _inside(tree: Any, path: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the paths of all fields, nested ones before the enclosing one, and whether they contain others."""
    for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        whole = bool(value) and isinstance(value, dict | list)
        if whole:
            yield from _inside(value, (*path, step))
        if path:
            yield (*path, step), whole


def altered(tree: Tree, alter: Alteration, paths: tuple[Path, ...]) -> Tree:
    """Return a copy of the tree with the fields at the paths altered; the containers around them are copied once."""
    key = (id(tree), alter, paths)
    known: tuple[Tree, Tree] | None = _ALTERED.get(key)
    if known is None:
        copies: dict[Path, Any] = {(): dict(tree)}
        for path in paths:
            parent = _copy(copies, path[:-1])
            if parent is not None:
                alter(parent, path)
        known = _ALTERED.keep(key, (tree, copies[()]))
    return known[1]


def _copy(copies: dict[Path, Any], path: Path) -> Any:
    """Return the copy of the container at a path; None if it has been removed."""
    if path not in copies:
        parent, step = _copy(copies, path[:-1]), path[-1]
        there = at(parent, (step,))
        if isinstance(there, dict | list):
            parent[step] = copies[path] = there.copy()
        else:
            copies[path] = None
    return copies[path]


def changed(parent: Any, path: Path) -> None:
    """Set another value at the path."""
    parent[path[-1]] = another(path, parent[path[-1]])


def removed(parent: Any, path: Path) -> None:
    """Remove the field at the path."""
    parent.pop(path[-1], None)


def another(path: Path, value: Any) -> Any:
    """Return a field's altered value. List item names stay distinct: changing a digit could make two equal."""
    return f"{value}x" if isinstance(value, str) and _is_name(path) else other(value)


def other(value: Any) -> Any:
    """Return another value of the same type: a number, quantity or name. Return a mapping or a list unchanged.

    >>> [other(value) for value in (4, True, "900Gi", "torch", {})]
    [5, False, '800Gi', 'torchx', {}]
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return (
            _DIGIT.sub(lambda digit: "1234567898"[int(digit[0])], value, count=1)
            if _DIGIT.search(value)
            else f"{value}x"
        )
    return value
