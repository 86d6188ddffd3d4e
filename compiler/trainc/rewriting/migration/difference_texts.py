"""Why a candidate does not keep the behaviour of a job, in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.review.formats import edited

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.review.changes import Change

_OF_CONTAINER: Final = re.compile(r"^.*\.(?:initContainers|containers)\[([^\]]*)\]\.")
_OF_JOB: Final = re.compile(r"^spec\.replicatedJobs\[([^\]]*)\]\.(?:template\.spec\.)?")
SHOWN: Final = 3
"""The number of reasons that a line shows."""


def reason(change: Change) -> str:
    """Return a difference in words; its values are without secrets.

    >>> from trainc.review.changes import Change
    >>> reason(Change("removed", "spec.replicatedJobs[node].template.spec.containers[node].env[RANK]", (), ()))
    'env[RANK] of container node is removed'
    """
    field = change.field
    if match := _OF_CONTAINER.match(field):
        field = f"{field[match.end() :]} of container {match[1]}"
    elif match := _OF_JOB.match(field):
        field = f"{field[match.end() :]} of job {match[1]}"
    if change.kind == "changed":
        return f"{field}{edited(change) or ' changes'}"
    return f"{field} is {'reordered' if change.kind == 'moved' else change.kind}"


def one_line(reasons: Iterable[str]) -> str:
    """Return the first reasons, and the number of the others."""
    found = [*dict.fromkeys(reasons)]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
