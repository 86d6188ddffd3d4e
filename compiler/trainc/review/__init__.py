"""Review: what a change of the input changes in the objects, where it comes from, and what the cluster makes of it.

Reads    two sides (`sides`): sources, rendered manifests or revisions of git.
Returns  a Review: the objects that were added, removed or changed, each change with its consequence (`consequences`)
         and its cause (`causes`); the changes by cause, so that one edit of a runtime is one thing to read; and how
         much of the cluster the pods take before and after. `formats/<format>.py` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from trainc import footprint
from trainc.diagnostics import Diagnostic, Location, ObjectId
from trainc.review import sides
from trainc.review.causes import Causes
from trainc.review.changes import Change, changes
from trainc.review.consequences import RANK, Consequence, Judgement, judge, worst
from trainc.review.masking import shown
from trainc.source.masking import masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.footprint import Footprint
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation
    from trainc.plan import Plan
    from trainc.review.causes import Edit
    from trainc.review.consequences import Effect
    from trainc.review.sides import Item, Options, Side, Where

__all__ = ["Cause", "Change", "Consequence", "Group", "Line", "Review", "Reviewed", "compare"]

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


class Review(NamedTuple):
    """All that there is to review."""

    old: str
    """What the sides are called."""
    new: str
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


OLD_SIDE: Final = "in {}: "
"""What stands before the message of a diagnostic of the old side."""


def compare(old: Where, new: Where, options: Options) -> Review:
    """Compare two sides."""
    before, after = (sides.read(where, options) for where in (old, new))
    diagnostics = (*_of_old_side(before), *_of_new_side(before, after))
    if before.made == after.made == "nothing" and not diagnostics:
        diagnostics = (sides.nothing(before, after),)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Review(old.name, new.name, diagnostics=diagnostics)
    before, after = sides.comparable(before, after, passthrough=options.passthrough)
    reviewer = _Reviewer(before, after, anew=options.delivery.name_suffix_hash)
    pairs = list(_pairs(before, after))
    found = [reviewed for pair in pairs if (reviewed := reviewer.review(*pair))]
    return Review(
        old=old.name,
        new=new.name,
        objects=tuple(found),
        unchanged=len(pairs) - len(found),
        before=footprint.by_queue(item.tree for item in before.items),
        after=footprint.by_queue(item.tree for item in after.items),
        diagnostics=diagnostics,
    )


def _of_old_side(side: Side) -> Iterator[Diagnostic]:
    """What is wrong with the old side, as a warning: a change that mends it can be reviewed."""
    for diagnostic in side.diagnostics:
        if diagnostic.id == "mixed-side":
            yield diagnostic
        elif diagnostic.severity == "error":
            yield diagnostic._replace(severity="warning", message=OLD_SIDE.format(side.where.name) + diagnostic.message)


def _of_new_side(old: Side, new: Side) -> Iterator[Diagnostic]:
    """What is wrong with the new side; what the old one was warned of, too, is no part of the change."""
    before = {(said.id, said.object, said.message) for said in old.diagnostics if said.severity != "error"}
    for said in new.diagnostics:
        if said.severity == "error" or (said.id, said.object, said.message) not in before:
            yield said


def _pairs(old: Side, new: Side) -> Iterator[tuple[Item | None, Item | None]]:
    """The objects of both sides that are the same one, in the order of a review."""
    theirs = {_key(item.id): item for item in old.items}
    ours = {_key(item.id): item for item in new.items}
    if old.one_jobset and new.one_jobset:
        [one], [other] = ([key for key in items if key[2] == "JobSet"] for items in (theirs, ours))
        if one != other:
            theirs[other] = theirs.pop(one)
    for key in sorted(theirs.keys() | ours.keys()):
        yield theirs.get(key), ours.get(key)


def _key(id: ObjectId) -> tuple[str, bool, str, str, str]:
    """The identity of an object, so that it sorts as a review tells it: a JobSet before what belongs to it.

    The version of an API is left out: an object of one version is there in every other one.
    """
    group = id.apiVersion.rpartition("/")[0]
    return (id.namespace, id.kind != "JobSet", id.kind, id.name, group)


class _Reviewer:
    """Tells of each pair in what it differs, and why."""

    def __init__(self, old: Side, new: Side, *, anew: bool) -> None:
        self.sides = {False: new, True: old}
        self.anew = anew
        self.causes = Causes()
        self.plans = [
            {(item.job.namespace, item.job.name): item.job.plan for item in side.items if item.job is not None}
            for side in (old, new)
        ]

    def review(self, old: Item | None, new: Item | None) -> Reviewed | None:
        """What is to be said of an object; None where it has not changed."""
        if old is None or new is None:
            return self._alone(old, new)
        if old.tree == new.tree:
            return None
        found = changes(old.tree, new.tree)
        if not found:
            return None
        judgement = judge(new.id.kind, old.tree, new.tree, found)
        lines = tuple(self._lines(old, new, found, judgement))
        return Reviewed(
            status="changed",
            id=new.id,
            lines=lines,
            refused=judgement.refused,
            known=judgement.known,
            at=self._at(new),
            old=masked(old.tree),
            new=masked(new.tree),
            renamed=old.id.name if old.id.name != new.id.name else "",
            anew=self._anew(new, judgement),
        )

    def _lines(self, old: Item, new: Item, found: list[Change], judgement: Judgement) -> Iterator[Line]:
        known = None
        if old.job is not None and new.job is not None:
            known = self.causes.of(old.job.plan, new.job.plan)
        for change, consequence in zip(found, judgement.consequences, strict=True):
            edit = known.cause(old.position, new.position, change) if known else None
            yield Line(shown(change, old.tree, new.tree), consequence, self._cause(edit) if edit else None)

    def _alone(self, old: Item | None, new: Item | None) -> Reviewed | None:
        item = new or old
        assert item is not None  # one of a pair is there
        was, now = self._plans_of(item)
        edit = self.causes.of(was, now).presence(item.id) if was and now else None
        return Reviewed(
            status="removed" if new is None else "added",
            id=item.id,
            cause=self._cause(edit) if edit else None,
            at=self._at(item, old=new is None),
            old=masked(old.tree) if old else None,
            new=masked(new.tree) if new else None,
        )

    def _plans_of(self, item: Item) -> tuple[Plan | None, Plan | None]:
        """What the TrainJob of an object is on both sides."""
        if item.job is None:
            return None, None
        key = (item.job.namespace, item.job.name)
        was, now = (plans.get(key) for plans in self.plans)
        return was, now

    def _anew(self, new: Item, judgement: Judgement) -> str:
        """The name of the JobSet that takes the place of one that cannot change."""
        if not self.anew or new.job is None or new.id.kind != "JobSet" or not judgement.refused:
            return ""
        from trainc.suffix import digest

        return f"{new.id.name}-{digest(new.job.objects)}"

    def _at(self, item: Item, *, old: bool = False) -> Location:
        return self._located(item.document.file, item.document.line, item.document.column, old=old)

    def _located(self, file: str, line: int, column: int, *, old: bool) -> Location:
        return Location(self.sides[old].file(file), line, column)

    def _cause(self, edit: Edit) -> Cause:
        located = edit.place.locate()
        at = self._located(located.file, located.line, located.column, old=edit.gone)
        return Cause(edit.by, edit.change.field, shown(edit.change, *edit.trees), at, edit.gone)


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
