"""The files that a fix can change: not those that a build or another tool writes, and none behind a link.

Reads    the path of a file.
Returns  whether a fix of it is allowed.
"""

from __future__ import annotations

import os

from trainc.files.confine import repository_above
from trainc.files.output_marks import is_marked

_MARKED = 4096
"""The first bytes of a file, which have an output's mark."""


def is_fixable(path: str) -> bool:
    """Return whether a path is a regular file that is no output of trainc, and has no link below its root."""
    full = os.path.abspath(path)
    root = repository_above(full) or os.path.dirname(full)
    at = full
    while at not in (root, os.path.dirname(at)):
        if os.path.islink(at):
            return False
        at = os.path.dirname(at)
    if not os.path.isfile(full):
        return False
    try:
        with open(full, "rb") as file:
            return not is_marked(file.read(_MARKED))
    except OSError:
        return False
