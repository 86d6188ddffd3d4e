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


def with_moved_objects(reviews: Sequence[Review], release: TrainerRelease) -> list[Review]:
    """Return the reviews of several projects; `release` is that of the new side."""
    removed = {
        key: reviewed
        for review in reviews
        for reviewed in review.with_status("removed")
        for key in _keys(reviewed, review)
    }
    taken: set[Key] = set()
    found = []
    for review in reviews:
        objects, unchanged = list[Reviewed](), review.unchanged
        for reviewed in review.objects:
            moved = [key for key in _keys(reviewed, review) if reviewed.status == "added" and key in removed]
            taken.update(moved)
            for key, environments in zip(_keys(reviewed, review), reviewed.environments or ("",), strict=True):
                if key in moved:
                    own = reviewed._replace(environments=tuple(filter(None, [environments])))
                    changed = _changed(removed[key], own, release)
                    unchanged += changed is None
                    objects += [changed] if changed is not None else []
            if len(moved) < reviewed.number:
                objects.append(_remaining(reviewed, {*moved}, review))
        found.append(review._replace(objects=tuple(objects), unchanged=unchanged))
    return [_without_removed(review, taken) for review in found]


def _keys(reviewed: Reviewed, review: Review) -> Iterator[Key]:
    """Yield the key of an object in each of its environments."""
    id, clusters = reviewed.id, {pods.environment: pods.cluster for pods in review.pods}
    for name in reviewed.environments or ("",):
        yield clusters.get(name), id.apiVersion.rpartition("/")[0], id.kind, id.namespace, id.name


def _remaining(reviewed: Reviewed, taken: set[Key], review: Review) -> Reviewed:
    """Return an object without the environments in which it has moved."""
    pairs = zip(reviewed.environments, _keys(reviewed, review), strict=False)
    return reviewed._replace(environments=tuple(name for name, key in pairs if key not in taken))


def _without_removed(review: Review, taken: set[Key]) -> Review:
    """Return a review without the removed objects that have moved."""
    objects = []
    for reviewed in review.objects:
        gone = taken.intersection(_keys(reviewed, review)) if reviewed.status == "removed" else set[Key]()
        if len(gone) < reviewed.number:
            objects.append(_remaining(reviewed, gone, review) if gone else reviewed)
    return review._replace(objects=tuple(objects))


def _changed(old: Reviewed, new: Reviewed, release: TrainerRelease) -> Reviewed | None:
    """Return the changed object of a removed and an added one; None if they are equal."""
    before, after = old.before, new.after
    assert before is not None  # it is removed
    assert after is not None  # it is added
    differing = changes(before, after)
    if not differing:
        return None
    judgement = as_a_whole(new.id.kind, judge(new.id.kind, before, after, differing, release, compiled=True))
    forms = {**old.forms, **new.forms}
    lines = zip(differing, judgement.consequences, strict=True)
    return new._replace(
        status="changed",
        lines=tuple(Line(shown(change, before, after, forms), consequence) for change, consequence in lines),
        refused=judgement.refused,
        known=judgement.known,
        cause=None,
        before=before,
        forms=forms,
    )
