"""Input fields: the fields of a TrainJob, a runtime and a project that experiments alter, in search order.

Reads    these documents as trees.
Returns  their fields by rank, and copies of a tree with some fields changed or removed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainc.kubernetes.trees import Path, Tree

Owner = Literal["job", "runtime", "project"]
"""A document with input fields, by its attribute of a plan."""
OWNERS: Final[tuple[Owner, ...]] = ("job", "runtime", "project")
"""The owners in search order."""
TEMPLATES: Final = (("spec", "runtimePatches", "*", "trainingRuntimeSpec", "template"), ("spec", "template"))
"""The shapes of the fields that are merged into the JobSet: a TrainJob's patches, a runtime's template."""
MERGED: Final = frozenset(template[:2] for template in TEMPLATES)
_FIRST_DIGITS_OR_END: Final = re.compile(r"\d+|$")


class Rank(NamedTuple):
    """The search order of fields, False before True."""

    merged: bool
    """Whether they are merged into the JobSet: patches, the template."""
    reference: bool
    """Whether other fields refer to them, such as names and labels; altering one moves its effects to other paths."""
    owner: int
    """Their owner's index in OWNERS."""
    whole: bool
    """Whether they contain other fields, which a removal would remove too."""

    @classmethod
    def for_field(cls, owner: Owner, path: Path, value: Any) -> Rank:
        """Return the rank of a field."""
        whole = bool(value) and isinstance(value, (dict, list))
        return cls(path[:2] in MERGED, is_name(path) or "labels" in path, OWNERS.index(owner), whole)


class InputField:
    """A field of a document. It is created once and compared by identity, which makes groups of fields cheap keys."""

    __slots__ = ("another", "owner", "path", "value")

    def __init__(self, owner: Owner, path: Path, value: Any, another: Any) -> None:
        self.owner = owner
        self.path = path
        self.value = value
        self.another = another
        """The value that replaces its own in experiments."""


Group = tuple[InputField, ...]
"""Fields of one rank, nested ones before the enclosing one, which one experiment changes or removes."""


class RankedFields:
    """The fields of one rank, in document order."""

    def __init__(self, rank: Rank, fields: Sequence[tuple[Path, Any]]) -> None:
        self.rank = rank
        owner, width = OWNERS[rank.owner], len(str(len(fields)))
        # Marks have one length, so that no two strings become equal, and end in 1, so that quantities stay canonical.
        group = tuple(
            InputField(owner, path, value, substitute(value, f"{number:0{width}}1"))
            for number, (path, value) in enumerate(fields)
        )
        self.changeable = tuple(field for field in group if isinstance(field.value, (str, int, float)))
        """The fields that can have another value."""
        self.originals = {field.another: field for field in self.changeable if isinstance(field.value, str)}
        """The strings by their other values, which differ."""
        self._by_text: dict[str, list[InputField]] = {}
        for field in self.changeable:
            self._by_text.setdefault(str(field.value), []).append(field)
        self._removable = tuple(field for field in group if isinstance(field.path[-1], str))
        """All fields except for list items, whose removal would shift the rest."""
        self._shapes = frozenset(shape(one.path) for one in self._removable if rank.merged and rank.whole)
        """The shapes of the fields that can enclose an output field."""
        self._outside: dict[frozenset[Path], Group] = {}

    def fields_with_value(self, value: Any) -> Group:
        """Return the changeable fields with a value, compared as text."""
        return tuple(self._by_text.get(str(value), ()))

    def removable_fields(self, output: Path) -> Group:
        """Return the fields that can be removed, except for those that enclose an output field: it would go too."""
        enclosing = self._shapes and self._shapes.intersection(_enclosing_shapes(output))
        if not enclosing:
            return self._removable
        if enclosing not in self._outside:
            self._outside[enclosing] = tuple(one for one in self._removable if shape(one.path) not in enclosing)
        return self._outside[enclosing]


def by_rank(documents: Mapping[Owner, Tree]) -> list[RankedFields]:
    """Return the fields of the documents in search order."""
    found: dict[Rank, list[tuple[Path, Any]]] = {}
    for owner, tree in documents.items():
        for path, value in _fields(tree):
            found.setdefault(Rank.for_field(owner, path, value), []).append((path, value))
    return [RankedFields(rank, found[rank]) for rank in sorted(found)]


def _fields(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all fields below the top level with their values, nested ones before the enclosing one."""
    for step, value in enumerate(tree) if isinstance(tree, list) else tree.items():
        there = (*path, step)
        if isinstance(value, (dict, list)):
            yield from _fields(value, there)
        if path:
            yield there, value


def is_name(path: Path) -> bool:
    """Return whether a path is the name of a list item."""
    return path[-1] == "name" and isinstance(path[-2], int)


def shape(path: Path) -> Path:
    """Return a path with `*` for each index."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def _enclosing_shapes(output: Path) -> Iterator[Path]:
    """Yield the shapes of the fields in templates and patches that enclose an output field, if it is in the JobSet."""
    steps = shape(output[1:])
    for template in TEMPLATES if output[0] == 0 else ():
        whole = (*template, *steps)
        yield from (whole[:end] for end in range(1, len(whole) + 1))


def substitute(value: Any, mark: str) -> Any:
    """Return another value of the same type; a string gets the mark after its first digits or at its end.

    >>> [substitute(value, "171") for value in (4, True, "900Gi", "torch")]
    [5, False, '900171Gi', 'torch171']
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return _FIRST_DIGITS_OR_END.sub(lambda digits: digits[0] + mark, value, count=1)
    return value


def altered(tree: Tree, fields: Group, *, remove: bool) -> Tree:
    """Return a copy of a tree with some of its fields changed or removed; each container is copied once."""
    copies: dict[Path, Any] = {(): tree.copy()}

    def copy(path: Path) -> Any:
        if path not in copies:
            parent = copy(path[:-1])
            parent[path[-1]] = copies[path] = parent[path[-1]].copy()
        return copies[path]

    for field in fields:
        parent = copy(field.path[:-1])
        if remove:
            del parent[field.path[-1]]
        else:
            parent[field.path[-1]] = field.another
    result: Tree = copies[()]
    return result
