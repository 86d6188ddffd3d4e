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
from trainc.tracing.correspondence import inside
from trainc.tracing.marks import Marks

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

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
_NONE: Final[frozenset[int]] = frozenset()
_LETTER: Final = re.compile("[A-Za-z]")
_DIGIT: Final = re.compile(r"\d")


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

    def __init__(self, owner: Owner, alter: Alteration, tree: Tree, members: Sequence[_Member]) -> None:
        self.owner = owner
        self.alter = alter
        self.tree = tree
        numbers: dict[Path, list[int]] = {}
        for number, member in enumerate(members):
            numbers.setdefault(member.shape, []).append(number)
        below: dict[Path | None, list[Path]] = {}
        nearest: dict[Path, Path | None] = {(): None}
        for one in numbers:
            below.setdefault(_nearest(one[:-1], numbers, nearest), []).append(one)
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
        self.values = [members[number].value for number in self.order]
        self.numbers = {field.path: index for index, field in enumerate(self.fields)}
        """The index of each field by its path."""
        self.sole: dict[str, int | None] = {}
        """The index of the only field with a text; None for a text that several fields have."""
        for index, value in enumerate(self.values):
            if isinstance(value, str) and _LETTER.search(value):
                self.sole[value] = None if value in self.sole else index
        self._enclosing: dict[Path, frozenset[int]] = {}

    @cached_property
    def texts(self) -> Counter[str]:
        """The number of fields with each value, as text."""
        return Counter(map(str, self.values))

    @property
    def _by_path(self) -> dict[Path, Any]:
        return {field.path: value for field, value in zip(self.fields, self.values, strict=True)}

    @cached_property
    def marks(self) -> Marks:
        """The values by which an output field that is a copy tells the fields apart."""
        return Marks(self._by_path, range(2, len(self.fields) + 2))

    @cached_property
    def reverse_marks(self) -> Marks:
        """The same values in reverse order."""
        return Marks(self._by_path, range(len(self.fields) + 1, 1, -1))

    def enclosing(self, wanted: Path) -> frozenset[int]:
        """Return the indices of the shapes that enclose a field of the JobSet, by its shape, in a template or patch."""
        if wanted not in self._enclosing:
            outer = self.enclosing(wanted[:-1]) if wanted else _NONE
            inner = self._in_templates.get(wanted)
            self._enclosing[wanted] = outer.union(inner) if inner else outer
        return self._enclosing[wanted]

    @cached_property
    def _in_templates(self) -> dict[Path, list[int]]:
        """The indices of the shapes in templates, by the shape of the JobSet's field; of those around one, by ()."""
        found: dict[Path, list[int]] = {}
        for index, one in enumerate(self.shapes):
            if one is None:
                continue
            for template in TEMPLATES:
                if one == template[: len(one)]:
                    found.setdefault((), []).append(index)
                elif one[: len(template)] == template:
                    found.setdefault(one[len(template) :], []).append(index)
        return found


def _nearest(path: Path, numbers: Container[Path], known: dict[Path, Path | None]) -> Path | None:
    """Return the path or the nearest enclosing one that has a number; None if there is none."""
    if path not in known:
        known[path] = path if path in numbers else _nearest(path[:-1], numbers, known)
    return known[path]


class Ranked(NamedTuple):
    """The fields of one rank, in a group for each alteration."""

    rank: Rank
    changed: Group
    removed: Group


_RANKED: Final = Memory()


def ranked(owner: Owner, tree: Tree) -> list[Ranked]:
    """Return the fields of a tree by rank."""
    known: tuple[Tree, list[Ranked]] | None = _RANKED.get((owner, id(tree)))
    if known is None:
        members: dict[Rank, list[_Member]] = {}
        fields: list[_Member] = []
        _add_fields(fields, owner, tree, (), ())
        for member in fields:
            members.setdefault(_rank(member.field), []).append(member)
        found = [_ranked(owner, rank, tree, members[rank]) for rank in sorted(members)]
        known = _RANKED.keep((owner, id(tree)), (tree, found))
    return known[1]


def _ranked(owner: Owner, rank: Rank, tree: Tree, members: list[_Member]) -> Ranked:
    kept = [member for member in members if not isinstance(member.field.path[-1], int)]
    altered = [member for member in members if isinstance(member.value, (str, int, float))]
    return Ranked(rank, Group(owner, changed, tree, altered), Group(owner, removed, tree, kept))


def _rank(field: InputField) -> Rank:
    path = field.path
    return Rank(path[:2] in MERGED, is_name(path) or "labels" in path, OWNERS.index(field.owner), field.whole)


def is_name(path: Path) -> bool:
    """Return whether a path is the name of a list item."""
    return path[-1] == "name" and isinstance(path[-2], int)


def shape(path: Path) -> Path:
    """Return a path with `*` for each index."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def _add_fields(found: list[_Member], owner: Owner, tree: Any, path: Path, outer: Path) -> None:
    """Add all fields below the top level, nested ones before the enclosing one."""
    is_list = isinstance(tree, list)
    for step, value in enumerate(tree) if is_list else tree.items():
        there, inner = (*path, step), (*outer, "*" if is_list else step)
        whole = bool(value) and isinstance(value, (dict, list))
        if whole:
            _add_fields(found, owner, value, there, inner)
        if path:
            found.append(_Member(InputField(owner, there, whole), inner, value))


def altered(tree: Tree, alter: Alteration, paths: Sequence[Path]) -> Tree:
    """Return a copy of the tree with the fields at the paths altered; the containers around them are copied once."""
    copies: dict[Path, Any] = {(): dict(tree)}
    for path in paths:
        parent = _copy(copies, path[:-1])
        if parent is not None:
            alter(parent, path)
    result: Tree = copies[()]
    return result


def _copy(copies: dict[Path, Any], path: Path) -> Any:
    """Return the copy of the container at a path; None if it has been removed."""
    if path not in copies:
        parent, step = _copy(copies, path[:-1]), path[-1]
        there = inside(parent, step)
        if isinstance(there, (dict, list)):
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
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return (
            _DIGIT.sub(lambda digit: "1234567898"[int(digit[0])], value, count=1)
            if _DIGIT.search(value)
            else f"{value}x"
        )
    return value
