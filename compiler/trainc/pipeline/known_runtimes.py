"""The names of all runtimes, sorted once for the hints about those that TrainJobs request and no level has.

Reads    the levels of a library.
Returns  the runtimes by name, and the names by kind. Imported only if there is such a TrainJob.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.base.suggestions import KnownNames

if TYPE_CHECKING:
    from trainc.pipeline.library import Key, Level


class KnownRuntimes(NamedTuple):
    """The runtimes of some levels."""

    searched: str
    """The names of the levels, each with the number of its runtimes."""
    by_name: dict[str, Key]
    """The first runtime of each name."""
    of_framework: dict[tuple[str, str], KnownNames]
    """The sorted names by kind and first word, and all of a kind by an empty word."""


@lru_cache(maxsize=4)
def known_runtimes(levels: tuple[Level, ...]) -> KnownRuntimes:
    """Return the runtimes of the levels; a TrainJob that requests a missing one is not compared with all of them."""
    keys = [[*level.known()] for level in levels]
    by_name: dict[str, Key] = {}
    names: dict[str, set[str]] = {}
    for key in (key for each in keys for key in each):
        by_name.setdefault(key[2], key)
        names.setdefault(key[0], set()).add(key[2])
    of_framework: dict[tuple[str, str], list[str]] = {}
    for kind, found in names.items():
        for name in sorted(found):
            of_framework.setdefault((kind, name.partition("-")[0]), []).append(name)
            of_framework.setdefault((kind, ""), []).append(name)
    return KnownRuntimes(
        ", ".join(f"{level.name} ({len(each)})" for level, each in zip(levels, keys, strict=True)),
        by_name,
        {key: KnownNames(found) for key, found in of_framework.items()},
    )
