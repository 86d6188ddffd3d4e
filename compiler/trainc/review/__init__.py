"""Review: what a change of the input changes in the objects, where it comes from, and what the cluster makes of it.

Reads    two sides (`sides`): sources, rendered manifests or revisions of git.
Returns  a Review (`model`): the changed settings (`settings`); the objects that were added, removed or changed, each
         change with its consequence (`consequences`) and its cause (`causes`); the changes by cause, so that one edit
         of a runtime is one thing to read; and how much of the cluster the pods take before and after.
         `formats/<format>.py` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc import footprint
from trainc.diagnostics import Location
from trainc.inputs import SETTINGS
from trainc.review import sides
from trainc.review.causes import Causes
from trainc.review.changes import changes
from trainc.review.consequences import judge, touches
from trainc.review.masked_changes import shown
from trainc.review.model import Cause, Line, Review, Reviewed, Setting
from trainc.review.settings import edits
from trainc.source.masking import masked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic, ObjectId, Place
    from trainc.plan import Plan
    from trainc.review.causes import Edit
    from trainc.review.changes import Change
    from trainc.review.consequences import Judgement
    from trainc.review.settings import Edit as Edited
    from trainc.review.sides import DiffOptions, Item, Side, Where

OLD_SIDE: Final = "in {}: "
"""What stands before the message of a diagnostic of the old side."""


def compare(old: Where, new: Where, options: DiffOptions) -> Review:
    """Compare two sides."""
    # An older trainc, or another client, has dropped the unknown fields of the old side.
    before = sides.read(old, options._replace(field_validation="ignore"))
    after = sides.read(new, options)
    diagnostics = (*_of_old_side(before), *_of_new_side(before, after))
    if before.made == after.made == "nothing" and not diagnostics:
        diagnostics = (sides.nothing(before, after),)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Review(old.name, new.name, diagnostics=diagnostics)
    edited = _edited_settings(before, after)
    before, after = sides.comparable(before, after, passthrough=options.passthrough)
    reviewer = _Reviewer(before, after, anew=options.delivery.name_suffix_hash)
    pairs = list(_pairs(before, after))
    found = [reviewed for pair in pairs if (reviewed := reviewer.review(*pair))]
    return Review(
        old=old.name,
        new=new.name,
        settings=tuple(reviewer.setting(edit, found) for edit in edited),
        objects=tuple(found),
        unchanged=len(pairs) - len(found),
        before=footprint.by_queue(item.tree for item in before.items),
        after=footprint.by_queue(item.tree for item in after.items),
        diagnostics=diagnostics,
    )


def _edited_settings(old: Side, new: Side) -> list[Edited]:
    """Return the changed settings of two sides. A rendered side has none to compare with those of a compiled one."""
    if {old.made, new.made} == {"compiled", "rendered"}:
        return []
    return edits(old.settings.document, new.settings.document)


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

    def setting(self, edit: Edited, found: list[Reviewed]) -> Setting:
        """Return a changed setting with the objects that it changes."""
        path = edit.change.path
        objects = tuple(
            reviewed
            for reviewed in found
            if any(
                cause is not None and cause.by == SETTINGS and touches(cause.edit.path, path)
                for cause in (reviewed.cause, *(line.cause for line in reviewed.lines))
            )
        )
        return Setting(shown(edit.change, *edit.trees), self._placed(edit.place, old=edit.gone), edit.gone, objects)

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
        at = self._placed(edit.place, old=edit.gone)
        return Cause(edit.by, edit.change.field, shown(edit.change, *edit.trees), at, edit.gone)

    def _placed(self, place: Place, *, old: bool) -> Location:
        located = place.locate()
        return self._located(located.file, located.line, located.column, old=old)
