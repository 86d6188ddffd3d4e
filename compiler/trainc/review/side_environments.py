"""The environments of the two sides of a review, one of which at least is rendered.

Reads    both sides: a compiled one is read once for each environment, a rendered one once.
Returns  the pairs of sides to compare. Objects are matched by environment and identity, or by identity alone if one
         side has no environments.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.diagnostics import failed
from trainc.review import sides
from trainc.review.side_files import SideFiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.budget import Meter
    from trainc.compilation import Run
    from trainc.diagnostics import ObjectId
    from trainc.review.sides import Side, SideSpec
    from trainc.settings import Settings

Pair = tuple[str, "Side", "Side"]
"""An environment, and the two sides in it."""


class Versions:
    """One side in each of its environments."""

    def __init__(self, spec: SideSpec, run: Run, meter: Meter, reporting: Settings | None) -> None:
        self.spec = spec
        if spec.trainer_version:
            run = run.with_flag("trainerVersion", spec.trainer_version)
        self.run = run
        self.project = sides.settings_of(spec, run)
        """The side's own settings, without an environment."""
        self.meter = meter
        self.reporting = reporting
        self.files = SideFiles(spec.paths, spec.commit, follow_links=run.options.follow_links)
        names = self.project.environment_names
        wanted = tuple(name for name in names if name in run.options.environments or not run.options.environments)
        self.names = wanted or names or ("",)
        self.first = self._read(self.names[0])

    @property
    def side_files(self) -> SideFiles:
        """The files of the side, in all environments that were read."""
        self.files.is_rendered = self.is_rendered
        return self.files

    @property
    def is_rendered(self) -> bool:
        """Whether the side has JobSets, and not TrainJobs."""
        return self.first.content == "rendered"

    @property
    def has_hidden_jobsets(self) -> bool:
        """Whether all JobSets of the side, which has no TrainJobs, are in files that sources may not have."""
        first = self.first
        if first.as_rendered is None or failed(first.diagnostics):
            return False
        return first.as_rendered().content == "rendered"

    def read_as_rendered(self) -> None:
        """Read a side without TrainJobs and JobSets as a rendered one, because the other side is one."""
        if self.first.as_rendered is not None:
            self.first = self.first.as_rendered()

    def side(self, name: str) -> Side:
        """Return the side in an environment."""
        return self.first if name == self.names[0] else self._read(name)

    def by_environment(self) -> dict[str, Side]:
        """Return the side in each of the requested environments; a side without environments has the name ""."""
        if not self.is_rendered:
            return {name: self.side(name) for name in self.names}
        names = sorted({item.environment for item in self.first.items})
        if self.run.options.environments and names != [""]:
            names = [name for name in names if name in self.run.options.environments]
        return {name: _selected(self.first, (name,)) for name in names}

    def path_of(self, other: Versions, path: str) -> str:
        """Return the path in this side of a file of the other side: two folders may be compared."""
        if self.spec.paths == other.spec.paths:
            return path
        return os.path.normpath(os.path.join(self.spec.folder, os.path.relpath(path, other.spec.folder)))

    def _read(self, name: str) -> Side:
        return sides.read(
            self.spec, self.run, self.meter, name, own=self.project, files=self.files, reporting=self.reporting
        )


def pairs(old: Versions, new: Versions) -> list[Pair] | None:
    """Return the pairs of sides to compare; None if an object without an environment is in several environments."""
    if old.first.one_jobset and new.first.one_jobset:
        return [("", old.first, new.first)]
    before, after = old.by_environment(), new.by_environment()
    if before.keys() == after.keys():
        return [(name, before[name], after[name]) for name in after]
    for one, several, is_new in ((before, after, False), (after, before, True)):
        if [*one] == [""]:
            found = _by_identity(one[""], several)
            return found and [(name, *((b, a) if is_new else (a, b))) for name, a, b in found]
    names = dict.fromkeys((*after, *before))
    return [(name, before.get(name) or _empty(old.first), after.get(name) or _empty(new.first)) for name in names]


def _by_identity(one: Side, several: dict[str, Side]) -> list[Pair] | None:
    """Return the pairs of a side without environments and another side, by the identity of the objects."""
    found: list[Pair] = []
    seen: set[ObjectId] = set()
    for name, side in several.items():
        ids = {item.id for item in side.items}
        part = one._replace(items=tuple(item for item in one.items if item.id in ids))
        if seen & {item.id for item in part.items}:
            return None
        seen |= {item.id for item in part.items}
        found.append((name, part, side))
    left = tuple(item for item in one.items if item.id not in seen)
    if left:
        found.append(("", one._replace(items=left), _empty(next(iter(several.values()), one))))
    return found


def _selected(side: Side, names: Iterable[str]) -> Side:
    return side._replace(items=tuple(item for item in side.items if item.environment in names))


def _empty(side: Side) -> Side:
    """Return a side of the same kind without objects. The faults of a rendered side are those of all environments."""
    return side._replace(items=(), diagnostics=side.diagnostics if side.content == "rendered" else ())
