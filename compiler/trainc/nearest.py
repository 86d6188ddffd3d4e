"""Suggestions for misspelled names. Imported only when there is a fault to report."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST: Final = 256
"""The longest name, in characters, that is compared. A longer one is no typing error, and comparing it is slow."""


def nearest(name: str, names: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """Return the one of `names` that differs only in case, else the most similar one; None if none is similar.

    >>> nearest("numNode", ["image", "numNodes"]), nearest("x", ["image"])
    ('numNodes', None)
    """
    if len(name) > _LONGEST:
        return None
    known = list(names)
    folded = next((candidate for candidate in known if candidate.lower() == name.lower()), None)
    return folded or next(iter(difflib.get_close_matches(name, known, 1, likeness)), None)
