"""Suggestions for unknown names. Imported only when there is a fault to report."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST: Final = 256
"""The longest name, in characters, that is compared. A longer one is no typing error, and comparing it is slow."""


def nearest_name(name: str, names: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """Return the one of `names` that differs only in case, else the most similar one; None if none is similar.

    >>> nearest_name("numNode", ["image", "numNodes"]), nearest_name("x", ["image"])
    ('numNodes', None)
    """
    if len(name) > _LONGEST:
        return None
    known = list(names)
    folded = next((candidate for candidate in known if candidate.lower() == name.lower()), None)
    if folded is not None:
        return folded
    edited = [candidate for candidate in known if len(candidate) > 2 and is_one_edit(name, candidate)]
    return edited[0] if len(edited) == 1 else next(iter(difflib.get_close_matches(name, known, 1, likeness)), None)


def is_certain(name: str, meant: str, names: Iterable[str]) -> bool:
    """Return whether a name differs from the meant one in case or by one edit, and from no other one of `names`.

    >>> is_certain("imge", "image", ["image", "args"]), is_certain("hostIPD", "hostIPC", ["hostIPC", "hostPID"])
    (True, False)
    """
    return [each for each in names if each.lower() == name.lower() or is_one_edit(name, each)] == [meant]


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
    same = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    left, right = text[same:], other[same:]
    swapped = left[1::-1] + left[2:] if len(left) > 1 else left
    return left != right and (left[1:] == right or left == right[1:] or left[1:] == right[1:] or swapped == right)
