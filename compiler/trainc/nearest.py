"""The name that was probably meant. Imported when there is a fault to explain."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST: Final = 256
"""Characters. Nobody has mistyped a name that is longer; comparing it would take long."""


def nearest(name: str, names: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The one of `names` that differs in case alone, or else is the most alike; None where none is.

    >>> nearest("numNode", ["image", "numNodes"]), nearest("x", ["image"])
    ('numNodes', None)
    """
    if len(name) > _LONGEST:
        return None
    known = list(names)
    folded = next((candidate for candidate in known if candidate.lower() == name.lower()), None)
    return folded or next(iter(difflib.get_close_matches(name, known, 1, likeness)), None)
