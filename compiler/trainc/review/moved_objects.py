"""Moved objects: a TrainJob that moves to another project keeps its objects in the cluster.

Reads    the review of each project, in which its object is removed or added.
Returns  the reviews with one changed object for each two of the same identity in one cluster; none if they are equal.
         Its causes are unknown: the document and the settings have changed together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.review.changes import changes
from trainc.review.consequences import as_a_whole, judge
from trainc.review.masked_changes import shown
from trainc.review.reviewed import Line, Review, Reviewed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.base.releases import TrainerRelease

Key = tuple[str | None, str, str, str, str]
"""An object in a cluster: the cluster, the API group, the kind, the namespace and the name."""


def with_moved_objects(reviews: Sequence[Review], release: TrainerRelease) -> Iterator[Review]:
    """Yield the reviews of several projects, each in one environment; `release` is that of the new side."""
    removed = {_key(each, review): each for review in reviews for each in review.with_status("removed")}
    added = {_key(each, review) for review in reviews for each in review.with_status("added")}
    for review in reviews:
        objects, unchanged = list[Reviewed](), review.unchanged
        for each in review.objects:
            key = _key(each, review)
            if each.status == "added" and key in removed:
                changed = _changed(removed[key], each, release)
                unchanged += changed is None
                objects += [] if changed is None else [changed]
            elif each.status != "removed" or key not in added:
                objects.append(each)
        yield review._replace(objects=tuple(objects), unchanged=unchanged)


def _key(reviewed: Reviewed, review: Review) -> Key:
    id = reviewed.id
    return review.pods[0].cluster, id.apiVersion.rpartition("/")[0], id.kind, id.namespace, id.name


def _changed(old: Reviewed, new: Reviewed, release: TrainerRelease) -> Reviewed | None:
    """Return the changed object of a removed and an added one; None if they are equal."""
    before, after = old.before, new.after
    assert before is not None  # it is removed
    assert after is not None  # it is added
    differing = changes(before, after)
    if not differing:
        return None
    judgement = as_a_whole(new.id.kind, judge(new.id.kind, before, after, differing, release, compiled=True))
    lines = zip(differing, judgement.consequences, strict=True)
    return new._replace(
        status="changed",
        lines=tuple(Line(shown(change, before, after), consequence) for change, consequence in lines),
        refused=judgement.refused,
        known=judgement.known,
        cause=None,
        before=before,
    )
