"""Suggestions for unknown names. Imported only when there is a fault to report."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLAIN_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources of containers without a domain, except for huge pages."""
LISTED: Final = 8
"""The most names of the user's objects in a hint."""
_LONGEST: Final = 64
"""The longest name, in characters, that `difflib` compares: its time grows with the cube. Longer names are compared at
their beginning and their end."""
_NEIGHBOURS: Final = 16
"""The names before and after a name, in each of two orders, that are compared with it."""
_COMPARED: Final = 8
"""The most names of which the similarity is computed, those with the most characters in common first."""


class KnownNames:
    """Known names, sorted once: of many names, an unknown one is compared with its neighbours.

    A mistyped name begins or ends as the one that is meant, so the two are near each other among the names in
    alphabetical order, or among the reversed names.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._by_spelling: dict[str, str] = {}
        for name in self._names:
            self._by_spelling.setdefault(_spelling(name), name)
        self._is_short = len(self._names) <= 4 * _NEIGHBOURS
        self._sorted = [] if self._is_short else sorted(self._names)
        self._reversed = [] if self._is_short else sorted(name[::-1] for name in self._names)

    def __bool__(self) -> bool:
        return bool(self._names)

    @property
    def only(self) -> str | None:
        """The name, if there is only one."""
        return self._names[0] if len(self._names) == 1 else None

    def use(self, last: str = ", ") -> str:
        """Return the hint to use one of the names, of which the first ones are listed, in the given order."""
        more = len(self._names) > LISTED
        return f"{use(self._names[:LISTED], ', ' if more else last)}{' ...' if more else ''}"

    def differing_in_case(self, name: str) -> str | None:
        """Return the first name that differs only in case, or in `_` for `-`."""
        return self._by_spelling.get(_spelling(name))

    def neighbours(self, name: str) -> Sequence[str]:
        """Return the names to compare with a name."""
        if self._is_short:
            return self._names
        backwards = (each[::-1] for each in _neighbours(self._reversed, name[::-1]))
        return tuple(dict.fromkeys((*_neighbours(self._sorted, name), *backwards)))


def _spelling(name: str) -> str:
    return name.lower().replace("_", "-")


def _neighbours(names: list[str], name: str) -> list[str]:
    at = bisect_left(names, name)
    return names[max(at - _NEIGHBOURS, 0) : at + _NEIGHBOURS]


def nearest_name(name: str, names: Iterable[str] | KnownNames, *, likeness: float = 0.6) -> str | None:
    """Return the one of `names` that differs only in case, else the most similar one; None if none is similar.

    >>> nearest_name("numNode", ["image", "numNodes"]), nearest_name("x", ["image"])
    ('numNodes', None)
    """
    known = names if isinstance(names, KnownNames) else KnownNames(names)
    if (same := known.differing_in_case(name)) is not None:
        return same
    near = known.neighbours(name)
    edited = [each for each in near if len(each) > 2 and is_one_edit(name, each)]
    return edited[0] if len(edited) == 1 else _most_similar(name, near, likeness)


def _most_similar(name: str, names: Sequence[str], likeness: float) -> str | None:
    """Return the name with the highest ratio of `difflib`, if it is high enough."""
    if len(name) > _LONGEST:
        likest = max(((_likeness_of_ends(name, each), each) for each in names), default=(0.0, ""))
        return likest[1] if likest[0] >= likeness else None
    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(name)
    bounds: list[tuple[float, str]] = []
    for each in names:
        matcher.set_seq1(each)
        if matcher.real_quick_ratio() >= likeness and (bound := matcher.quick_ratio()) >= likeness:
            bounds.append((bound, each))
    best = (likeness, "")
    for bound, each in sorted(bounds, reverse=True)[:_COMPARED]:
        if bound >= best[0]:
            matcher.set_seq1(each)
            best = max(best, (matcher.ratio(), each))
    return best[1] or None


def _likeness_of_ends(name: str, other: str) -> float:
    """Return the ratio of the characters that two names share at their beginning and at their end."""
    begin = shared_length(name, other)
    return 2 * (begin + shared_length(name[begin:][::-1], other[begin:][::-1])) / (len(name) + len(other))


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the number of items, such as characters, that two sequences share at their beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def is_certain(name: str, meant: str, names: Iterable[str] | KnownNames) -> bool:
    """Return whether a name differs from the meant one in case or by one edit, and from no other one of `names`.

    >>> is_certain("imge", "image", ["image", "args"]), is_certain("hostIPD", "hostIPC", ["hostIPC", "hostPID"])
    (True, False)
    """
    near = names.neighbours(name) if isinstance(names, KnownNames) else names
    return [each for each in near if each.lower() == name.lower() or is_one_edit(name, each)] == [meant]


def use(names: Sequence[str], last: str = ", ") -> str:
    """Return the hint to use one of the names; `last` precedes the last one.

    >>> use(["a"]), use(["a", "b", "c"]), use(["a", "b", "c"], " and ")
    ('use a', 'use one of a, b, c', 'use one of a, b and c')
    """
    return f"use one of {', '.join(names[:-1])}{last}{names[-1]}" if len(names) > 1 else f"use {names[0]}"


def is_one_edit(text: str, other: str) -> bool:
    """Return whether one inserted, removed or replaced character, or two swapped ones, turn a text into another.

    >>> [is_one_edit(text, "abc") for text in ("ab", "abcd", "axc", "acb", "abc", "cab")]
    [True, True, True, True, False, False]
    """
    if abs(len(text) - len(other)) > 1:
        return False
    same = shared_length(text, other)
    left, right = text[same:], other[same:]
    swapped = left[1::-1] + left[2:] if len(left) > 1 else left
    return left != right and (left[1:] == right or left == right[1:] or left[1:] == right[1:] or swapped == right)
