"""The model of a review: what every format shows.

A Review holds the objects that are not the same on both sides; each has lines, a line a change with its consequence and
its cause; `groups` turns that round, so that what comes of one edit stands together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from trainc.review.consequences import RANK, Consequence, worst

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Diagnostic, Location, ObjectId
    from trainc.footprint import Footprint
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.review.changes import Change
    from trainc.review.consequences import Effect

Status = Literal["added", "removed", "changed"]


class Cause(NamedTuple):
    """The edit of the input that a change comes from."""

    by: str
    """Whose line it is, in words: the TrainJob, runtime "torch-distributed", patch "acme.io/pools", trainc.yaml."""
    field: str
    """The field of it that was edited."""
    edit: Change
    at: Location
    """Its line, in the new side; `file` as the side knows it, without a revision."""
    gone: bool = False
    """Whether the line is one of the old side, where that has all that there was."""

    @property
    def key(self) -> object:
        """What is the same for one edit, however many objects it changes."""
        return (self.by, self.field, self.at, self.edit.kind)


class Line(NamedTuple):
    """One change of an object, with what is to be said of it."""

    change: Change
    """Its values without secrets."""
    consequence: Consequence
    cause: Cause | None = None
    """None where the input does not say: for rendered manifests, and where both inputs are the same."""


class Reviewed(NamedTuple):
    """An object that is not the same on both sides."""

    status: Status
    id: ObjectId
    """Of the new one; of the old one, where it is removed."""
    lines: tuple[Line, ...] = ()
    """In what it has changed; of an added or removed object, nothing."""
    refused: tuple[Violation, ...] = ()
    """What the API server would refuse of the change."""
    known: bool = True
    """Whether trainc knows what the server would say."""
    cause: Cause | None = None
    """Why it was added or removed, where its TrainJob is on both sides."""
    at: Location | None = None
    """Where it stands; of a compiled one, its TrainJob."""
    old: Tree | None = None
    """The whole object before, without secrets."""
    new: Tree | None = None
    renamed: str = ""
    """The name of the old one, where that is another."""
    anew: str = ""
    """The name that the new JobSet gets, where names end in a hash of what cannot change in place."""

    @property
    def effect(self) -> Effect:
        """What of its changes matters most."""
        return worst([line.consequence for line in self.lines])


class Group(NamedTuple):
    """All that comes of one edit; or of none that is known."""

    cause: Cause | None
    objects: tuple[Reviewed, ...]
    """The changed objects, in the order of the review."""
    lines: tuple[tuple[Line, tuple[Reviewed, ...]], ...]
    """Each change once, with the objects that have it: of those alike in all but their values, the first one's."""

    @property
    def effect(self) -> Effect:
        """What of its changes matters most."""
        return worst([line.consequence for line, _ in self.lines])


class Setting(NamedTuple):
    """A setting that differs between the sides."""

    change: Change
    """Its values without secrets."""
    at: Location
    """Its line, in the new side; `file` as the side knows it, without a revision."""
    gone: bool = False
    """Whether the line is one of the old side: the new side has no settings."""
    objects: tuple[Reviewed, ...] = ()
    """The objects that it changes, adds or removes."""


class Review(NamedTuple):
    """All that there is to review."""

    old: str
    """What the sides are called."""
    new: str
    settings: tuple[Setting, ...] = ()
    """The changed settings: every format shows them first."""
    objects: tuple[Reviewed, ...] = ()
    """By namespace and name, JobSets first."""
    unchanged: int = 0
    """How many objects are the same."""
    before: dict[str, Footprint] = {}  # noqa: RUF012 (never changed)
    """What the pods of all JobSets take, by queue ("" for none)."""
    after: dict[str, Footprint] = {}  # noqa: RUF012
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with the sides. An error of the new side, or of none in particular, leaves nothing to review."""

    @property
    def failed(self) -> bool:
        """Whether there is nothing to review."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    def of(self, status: Status) -> list[Reviewed]:
        """The objects that were added, removed or changed."""
        return [found for found in self.objects if found.status == status]

    def groups(self) -> list[Group]:
        """The changes by their cause: what changes most objects first."""
        return grouped(self.of("changed"))


def grouped(objects: Iterable[Reviewed]) -> list[Group]:
    """Changed objects by the causes of their changes; an object is in the group of each."""
    members: dict[object, dict[int, Reviewed]] = {}
    lines: dict[object, dict[object, tuple[Line, dict[int, Reviewed]]]] = {}
    causes: dict[object, Cause | None] = {}
    for reviewed in objects:
        for line in reviewed.lines:
            key = line.cause and line.cause.key
            causes.setdefault(key, line.cause)
            members.setdefault(key, {})[id(reviewed)] = reviewed
            alike = (reviewed.id.kind, line.change.kind, line.change.field, line.consequence.effect)
            lines.setdefault(key, {}).setdefault(alike, (line, {}))[1][id(reviewed)] = reviewed
    groups = [
        Group(
            cause,
            tuple(members[key].values()),
            tuple((line, tuple(having.values())) for line, having in lines[key].values()),
        )
        for key, cause in causes.items()
    ]
    return sorted(groups, key=lambda group: (group.cause is None, -len(group.objects), -RANK[group.effect]))
