"""The projects and environments of a review: the reviews of all of them as one.

Reads    a review for each environment of each project.
Returns  one review. Its objects have their environment, and are in the order of the reviews. An edit that reaches
         several environments is one cause, and a changed setting is listed once, with the objects of all of them. A
         TrainJob that moves to another project keeps its objects in the cluster: a removed and an added object of one
         identity are a changed one, whose causes are unknown, because the document and the settings have changed
         together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.compilation import ONLY_NOT_FOUND, environment_runs
from trainc.pods.footprint import NOTHING
from trainc.review.changes import changes, shown
from trainc.review.consequences import as_a_whole, judge, without_rendering
from trainc.review.queue_figures import summed_uses
from trainc.review.reviewed import Line, PodNumbers, Review, Reviewed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Diagnostic
    from trainc.pods.footprint import Footprint
    from trainc.review.reviewed import ChangedSetting
ClusterKey = tuple[str | None, str, str, str, str]
"""An object in a cluster: the cluster, the API group, the kind, the namespace and the name."""


def merge_reviews(by_name: Sequence[tuple[str, Review]]) -> Review:
    """Return one review of several projects and environments, each with the name of its environment."""
    reviews = [review for _, review in by_name]
    diagnostics = environment_runs.merge_diagnostics(
        (name, each) for name, review in by_name for each in _diagnostics(review, reviews)
    )
    first = reviews[0]
    if any(each.severity == "error" for each in diagnostics):
        return Review(first.old, first.new, diagnostics=diagnostics, skipped=_skipped(reviews))
    objects = _objects(by_name)
    return first._replace(
        settings=tuple(sorted(_settings(by_name), key=_severity_first)),
        objects=tuple({id(each): each for each in objects.values()}.values()),
        unchanged=sum(review.unchanged for review in reviews),
        pods=tuple(_pods(by_name)),
        diagnostics=diagnostics,
        skipped=_skipped(reviews),
        not_compared=tuple({repr(row): row for review in reviews for row in review.not_compared}.values()),
        notes=tuple(dict.fromkeys(note for review in reviews for note in review.notes)),
    )


def _pods(by_name: Iterable[tuple[str, Review]]) -> Iterator[PodNumbers]:
    """Yield the pods of each environment of each cluster, in all projects."""
    merged: dict[tuple[str, str | None], PodNumbers] = {}
    for name, pods in ((name, pods) for name, review in by_name for pods in review.pods):
        known = merged.setdefault((name, pods.cluster), PodNumbers({}, {}, name, pods.cluster))
        before, after = _sum(known.before, pods.before), _sum(known.after, pods.after)
        queues = tuple(summed_uses((*known.queues, *pods.queues)))
        merged[name, pods.cluster] = known._replace(before=before, after=after, queues=queues)
    yield from merged.values()


def _sum(one: Mapping[str, Footprint], other: Mapping[str, Footprint]) -> dict[str, Footprint]:
    """Return the sum of two footprints by queue."""
    return {queue: one.get(queue, NOTHING) + other.get(queue, NOTHING) for queue in dict.fromkeys((*one, *other))}


def _key(setting: ChangedSetting) -> Hashable:
    """Return the key of a setting. Removed rules have one place and one field; only their values differ."""
    change = setting.change
    return (setting.at, setting.gone, setting.owner, change.kind, change.field, repr((change.old, change.new)))


def _objects(by_name: Iterable[tuple[str, Review]]) -> dict[int, Reviewed]:
    """Return the objects by the identities of those in the reviews; equal objects of several environments are one."""
    groups: dict[Hashable, list[tuple[Reviewed, list[str], list[int]]]] = {}
    for name, review in by_name:
        for reviewed in review.objects:
            alike = groups.setdefault((reviewed.status, reviewed.id), [])
            for first, names, members in alike:
                if first == reviewed:
                    names.append(name)
                    members.append(id(reviewed))
                    break
            else:
                alike.append((reviewed, [name], [id(reviewed)]))
    return {
        member: merged
        for alike in groups.values()
        for first, names, members in alike
        for merged in [first._replace(environments=tuple(filter(None, names)))]
        for member in members
    }


def _diagnostics(review: Review, reviews: Sequence[Review]) -> Iterable[Diagnostic]:
    """Return the diagnostics of a review; a TrainJob that one environment excludes is found in another one."""
    if any(each.objects or each.unchanged for each in reviews):
        return [each for each in review.diagnostics if each.id != ONLY_NOT_FOUND.id]
    return review.diagnostics


def _settings(by_name: Iterable[tuple[str, Review]]) -> Iterator[ChangedSetting]:
    """Return the settings of all environments, each once, with the objects of all of them."""
    merged: dict[Hashable, list[ChangedSetting]] = {}
    for name, review in by_name:
        for setting in review.settings:
            objects = tuple(each._replace(environments=(name,) if name else ()) for each in setting.objects)
            merged.setdefault(_key(setting), []).append(setting._replace(objects=objects))
    for equal in merged.values():
        objects = tuple(each for setting in equal for each in setting.objects)
        yield equal[0]._replace(objects=objects, severity=max(each.severity for each in equal))


def _severity_first(setting: ChangedSetting) -> tuple[int, int, int]:
    """Return the position of a setting: by rank, then by the most severe change, then by the number of objects."""
    return setting.rank, -setting.severity, -sum(each.number for each in setting.objects)


def _skipped(reviews: Iterable[Review]) -> tuple[str, ...]:
    return tuple(sorted({path for review in reviews for path in review.skipped}))


def with_moved_objects(reviews: Sequence[Review], release: TrainerRelease) -> Iterator[Review]:
    """Yield the reviews of several projects, each in one environment; `release` is that of the new side."""
    removed = {_key_in_cluster(each, review): each for review in reviews for each in review.with_status("removed")}
    added = {_key_in_cluster(each, review) for review in reviews for each in review.with_status("added")}
    for review in reviews:
        objects, unchanged = list[Reviewed](), review.unchanged
        for each in review.objects:
            key = _key_in_cluster(each, review)
            if each.status == "added" and key in removed:
                changed = _changed(removed[key], each, release)
                unchanged += changed is None
                objects += [] if changed is None else [changed]
            elif each.status != "removed" or key not in added:
                objects.append(each)
        yield review._replace(objects=tuple(objects), unchanged=unchanged)


def _key_in_cluster(reviewed: Reviewed, review: Review) -> ClusterKey:
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
    judgement = as_a_whole(judge(new.id.kind, before, after, differing, release, compiled=True))
    if new.applied:
        judgement = without_rendering(judgement, new.applied)
    lines = zip(differing, judgement.consequences, strict=True)
    return new._replace(
        status="changed",
        lines=tuple(Line(shown(change, before, after), consequence) for change, consequence in lines),
        refused=judgement.refused,
        known=judgement.known,
        cause=None,
        before=before,
    )
