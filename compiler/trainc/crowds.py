"""Diagnostics that come in crowds: five thousand fields of one mapping are wrong for one reason.

Reads    the diagnostics of a run.
Returns  them with the first of each crowd, and one that counts the rest. A crowd has one id, one object, and places
         that differ in their last step and in the indices of lists only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Place

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from trainc.diagnostics import Diagnostic

SHOWN: Final = 100
"""As many of a crowd are told one by one."""


def thinned(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, in their order, without the mass of any crowd."""
    counts: dict[Hashable, int] = {}
    kept = []
    for diagnostic in diagnostics:
        crowd = _crowd(diagnostic)
        counts[crowd] = counts.get(crowd, 0) + 1
        if counts[crowd] <= SHOWN + 1:
            kept.append(diagnostic)
    told: dict[Hashable, int] = {}
    result = []
    for diagnostic in kept:
        crowd = _crowd(diagnostic)
        told[crowd] = told.get(crowd, 0) + 1
        more = counts[crowd] - SHOWN
        if told[crowd] > SHOWN and more > 1:
            message = f"{diagnostic.message} (and {more - 1} more like this from here on)"
            diagnostic = diagnostic._replace(message=message)  # noqa: PLW2901
        result.append(diagnostic)
    return result


def _crowd(diagnostic: Diagnostic) -> Hashable:
    place = diagnostic.place
    if not isinstance(place, Place):
        return (diagnostic.id, place)
    around = tuple("" if isinstance(step, int) else step for step in place.path[:-1])
    return (diagnostic.id, diagnostic.object, id(place.document), around)
