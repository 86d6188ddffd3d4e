"""The projects and environments of a review: the reviews of all of them as one.

Reads    a review for each environment of each project.
Returns  one review. Its objects have their environment, and are in the order of the reviews. An edit that reaches
         several environments is one cause, and a changed setting is listed once, with the objects of all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.compilation import ONLY_NOT_FOUND, environment_runs
from trainc.pods.footprint import NOTHING
from trainc.review.reviewed import PodNumbers, Review

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from trainc.diagnostics import Diagnostic
    from trainc.pods.footprint import Footprint
    from trainc.review.reviewed import ChangedSetting, Reviewed


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
        settings=tuple(_settings(by_name)),
        objects=tuple({id(each): each for each in objects.values()}.values()),
        unchanged=sum(review.unchanged for review in reviews),
        pods=tuple(_pods(by_name)),
        diagnostics=diagnostics,
        skipped=_skipped(reviews),
        not_compared=tuple(dict.fromkeys(row for review in reviews for row in review.not_compared)),
    )


def _pods(by_name: Iterable[tuple[str, Review]]) -> Iterator[PodNumbers]:
    """Yield the pods of each environment of each cluster, in all projects."""
    merged: dict[tuple[str, str | None], PodNumbers] = {}
    for name, pods in ((name, pods) for name, review in by_name for pods in review.pods):
        known = merged.setdefault((name, pods.cluster), PodNumbers({}, {}, name, pods.cluster))
        before, after = _sum(known.before, pods.before), _sum(known.after, pods.after)
        merged[name, pods.cluster] = known._replace(before=before, after=after)
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


def _skipped(reviews: Iterable[Review]) -> tuple[str, ...]:
    return tuple(sorted({path for review in reviews for path in review.skipped}))
