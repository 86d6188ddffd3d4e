"""Alterations: the input fields of a trace, in groups that are altered together, and the altered input.

Reads    a TrainJob, a runtime or the settings of a project, as a tree.
Returns  its fields by rank, and copies of it with some fields changed or removed. Jobs share runtimes: the groups of a
         tree and its altered copies are computed once.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
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
_NUMBER: Final = re.compile(r"\d{1,9}")


class InputField(NamedTuple):
    """A field of the input."""

    owner: Owner
    path: Path
    whole: bool = False
    """Whether it contains other fields."""


class _Member(NamedTuple):
    """A field with its shape and its value."""

    field: InputField
    shape: Path
    value: Any


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
    """The fields of one rank that an alteration affects. Fields of one shape are side by side, and so are siblings."""

    def __init__(self, alter: Alteration, tree: Tree, members: Sequence[_Member]) -> None:
        self.alter = alter
        self.tree = tree
        numbers: dict[Path, list[int]] = {}
        for number, member in enumerate(members):
            numbers.setdefault(member.shape, []).append(number)
        below: dict[Path | None, list[Path]] = {}
        for one in numbers:
            ends = range(len(one) - 1, 0, -1)
            below.setdefault(next((one[:end] for end in ends if one[:end] in numbers), None), []).append(one)
        self.shapes: list[Path | None] = [None]
        """The shapes, enclosing ones before nested ones; the first one is that of the whole document."""
        self.inner: list[tuple[int, int]] = []
        """For each shape, the range of the fields that are directly inside it."""
        self.order: list[int] = []
        """The position of each field in the document; nested fields precede the enclosing one."""
        self.shape_of: list[int] = []
        """The index of each field's shape."""
        for outer in self.shapes:
            low = len(self.order)
            for one in below.get(outer, ()):
                self.order += numbers[one]
                self.shape_of += [len(self.shapes)] * len(numbers[one])
                self.shapes.append(one)
            self.inner.append((low, len(self.order)))
        self.fields = [members[number].field for number in self.order]
        self.numbers = {field.path: index for index, field in enumerate(self.fields)}
        """The index of each field by its path."""
        self.sole: dict[str, int | None] = {}
        """The index of the only field with a text; None for a text that several fields have."""
        for index, number in enumerate(self.order):
            value = members[number].value
            if isinstance(value, str) and _LETTER.search(value):
                self.sole[value] = None if value in self.sole else index
        self._enclosing: dict[Path, frozenset[int]] = {}

    @cached_property
    def marks(self) -> Marks:
        """The values by which an output field that is a copy tells the fields apart."""
        return Marks(self.tree, [field.path for field in self.fields])

    def enclosing(self, path: Path) -> frozenset[int]:
        """Return the indices of the shapes that enclose a field of the JobSet, in a template or a patch."""
        wanted = shape(path)
        if wanted not in self._enclosing:
            whole = [(*template, *wanted) for template in TEMPLATES]
            self._enclosing[wanted] = frozenset(
                index
                for index, outer in enumerate(self.shapes)
                if any(outer == one[: len(outer or ())] for one in whole)
            )
        return self._enclosing[wanted]


class Marks:
    """An alteration that gives each field a value that no other field has."""

    def __init__(self, tree: Tree, paths: Sequence[Path]) -> None:
        self._values = {path: _mark(at(tree, path), number) for number, path in enumerate(paths, 2)}
        self._indices: dict[str, int | None] = {}
        """The index of each field by its mark as text; None for a mark that several fields have."""
        self.equal = Counter(str(at(tree, path)) for path in paths)
        """The number of fields with each value as text."""
        for index, mark in enumerate(map(str, self._values.values())):
            self._indices[mark] = None if mark in self._indices else index

    def __call__(self, parent: Any, path: Path) -> None:
        """Set the field's mark."""
        parent[path[-1]] = self._values[path]

    def index(self, mark: Any) -> int | None:
        """Return the index of the field with a mark."""
        return self._indices.get(str(mark))


def _mark(value: Any, number: int) -> Any:
    """Return another value of the same type for each number.

    >>> [_mark(value, 7) for value in (4, "900Gi", "torch", True)]
    [11, '907Gi', 'torchx7', True]
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    if not isinstance(value, str):
        return value + number
    text, count = _NUMBER.subn(lambda digits: str(int(digits[0]) + number), value, count=1)
    return text if count else f"{value}x{number}"


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
        members: dict[Rank, list[_Member]] = {}
        for member in _inside(owner, tree, (), ()):
            members.setdefault(_rank(member.field), []).append(member)
        found = [_ranked(rank, tree, members[rank]) for rank in sorted(members)]
        known = _RANKED.keep((owner, id(tree)), (tree, found))
    return known[1]


def _ranked(rank: Rank, tree: Tree, members: list[_Member]) -> Ranked:
    kept = [member for member in members if not isinstance(member.field.path[-1], int)]
    altered = [member for member in members if other(member.value) is not member.value]
    return Ranked(rank, Group(changed, tree, altered), Group(removed, tree, kept))


def _rank(field: InputField) -> Rank:
    path = field.path
    return Rank(path[:2] in MERGED, is_name(path) or "labels" in path, OWNERS.index(field.owner), field.whole)


def is_name(path: Path) -> bool:
    """Return whether a path is the name of a list item."""
    return path[-1] == "name" and isinstance(path[-2], int)


def shape(path: Path) -> Path:
    """Return a path with `*` for each index."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def _inside(owner: Owner, tree: Any, path: Path, outer: Path) -> Iterator[_Member]:
    """Yield all fields below the top level, nested ones before the enclosing one."""
    is_list = isinstance(tree, list)
    for step, value in enumerate(tree) if is_list else tree.items():
        there, inner = (*path, step), (*outer, "*" if is_list else step)
        whole = bool(value) and isinstance(value, dict | list)
        if whole:
            yield from _inside(owner, value, there, inner)
        if path:
            yield _Member(InputField(owner, there, whole), inner, value)


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
    """Remove the field at the path; a list keeps its items, because a removal would shift the rest."""
    if isinstance(parent, dict):
        parent.pop(path[-1], None)


def another(path: Path, value: Any) -> Any:
    """Return a field's altered value. List item names stay distinct: changing a digit could make two equal."""
    return f"{value}x" if isinstance(value, str) and is_name(path) else other(value)


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
