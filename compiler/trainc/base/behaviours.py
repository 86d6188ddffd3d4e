"""The behaviours in which releases of Trainer differ, in words: a title, and a sentence for each value.

Reads    schemas/behaviours.json, by the fields of `TrainerRelease`.
Returns  their descriptions, in the order of docs/releases.md, which has a section for each.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_table
from trainc.base.records import NamedTuple
from trainc.base.releases import RELEASES, TrainerRelease

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE: Final = "docs/releases.md"


class Behaviour(NamedTuple):
    """A behaviour of releases."""

    field: str
    """The field of `TrainerRelease`."""
    title: str
    """The heading of its section in docs/releases.md."""
    sentences: Mapping[str, str]
    """A sentence for each value, by the first release that has the value."""
    objects: bool = True
    """Whether it can change compiled objects, or what is rejected."""
    documents: bool = False
    """Whether it decides how documents are read, and not what a stage does."""

    @property
    def link(self) -> str:
        """The section's link: `docs/releases.md#resources-of-a-node`."""
        anchor = "".join(c for c in self.title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
        return f"{PAGE}#{anchor}"

    def sentence(self, release: TrainerRelease) -> str:
        """Return what a release does."""
        names = [each.name for each in RELEASES]
        known = [self.sentences[name] for name in names[: names.index(release.name) + 1] if name in self.sentences]
        return known[-1].format(tag=release.tag)


BEHAVIOURS: Final = tuple(Behaviour(field, **row) for field, row in data_table("behaviours").items())
"""All behaviours, in the order of the page."""


def evidence_lines() -> list[str]:
    """Return a line for each behaviour, with the evidence for it in each release, in columns.

    >>> evidence_lines()[2]
    'Schemas of TrainJobs and runtimes  code  code  code  source of 2026-08-21'
    """
    titles = ("evidence for each behavior", *(behaviour.title for behaviour in BEHAVIOURS))
    columns = [("v" + each.name, *(each.evidence(behaviour.field) for behaviour in BEHAVIOURS)) for each in RELEASES]
    widths = [max(map(len, column)) for column in (titles, *columns)]
    rows = zip(titles, *columns, strict=True)
    return ["", *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)]


class ChangedBehaviour(NamedTuple):
    """A change of a behaviour from one release to the next one."""

    behaviour: Behaviour
    release: TrainerRelease
    """The release that changes it."""
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """The cause in words: `Trainer v2.3: resourcesPerNode merges into the container's resources`."""
        evidence = self.release.evidence(self.behaviour.field)
        announced = {"code": "", "notes": f", from its {self.release.source}"}.get(evidence, f", from its {evidence}")
        return f"{self.release.title}{announced}: {self.behaviour.sentence(self.release)}"


def changed_behaviours(old: TrainerRelease, new: TrainerRelease) -> Iterator[ChangedBehaviour]:
    """Yield the changes of behaviours on the way from one release to another, the last change of each first."""
    steps = [*pairwise(releases_between(old, new))][::-1]
    for behaviour in BEHAVIOURS:
        for one, other in steps:
            before, after = (getattr(release, behaviour.field) for release in (one, other))
            if before != after:
                yield ChangedBehaviour(behaviour, other, before, after)


def releases_between(old: TrainerRelease, new: TrainerRelease) -> tuple[TrainerRelease, ...]:
    """Return the releases on the way from one to another, with both; backwards if the second one is older."""
    names = [release.name for release in RELEASES]
    first, last = names.index(old.name), names.index(new.name)
    inside = RELEASES[min(first, last) + 1 : max(first, last)]
    if first == last:
        return (new,)
    return (old, *(inside if first < last else inside[::-1]), new)
