"""The environments of a review: the reviews of all environments as one.

Reads    a review for each environment.
Returns  one review. Its objects have their environment, and are in the order of the environments. An edit that reaches
         several environments is one cause, and a changed setting is listed once, with the objects of all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.compilation import ONLY_NOT_FOUND, environment_runs
from trainc.pods.footprint import NOTHING
from trainc.review.reviewed import ChangedSetting, Review

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from trainc.diagnostics import Diagnostic
    from trainc.pods.footprint import Footprint


def merge_reviews(by_name: Sequence[tuple[str, Review]]) -> Review:
    """Return one review of several environments, each with its name."""
    reviews = [_in_environment(name, review) for name, review in by_name]
    diagnostics = environment_runs.merge_diagnostics(
        (name, each) for name, review in by_name for each in _diagnostics(review, by_name)
    )
    first = reviews[0]
    if any(each.severity == "error" for each in diagnostics):
        return Review(first.old, first.new, diagnostics=diagnostics, skipped=_skipped(reviews))
    return first._replace(
        settings=tuple(_settings(reviews)),
        objects=tuple(each for review in reviews for each in review.objects),
        unchanged=sum(review.unchanged for review in reviews),
        before=_sums(review.before for review in reviews),
        after=_sums(review.after for review in reviews),
        diagnostics=diagnostics,
        skipped=_skipped(reviews),
    )


def _in_environment(name: str, review: Review) -> Review:
    """Return a review whose objects have their environment; its settings refer to the same objects."""
    objects = {id(each): each._replace(environment=name) for each in review.objects}
    settings = tuple(
        setting._replace(objects=tuple(objects[id(each)] for each in setting.objects)) for setting in review.settings
    )
    return review._replace(objects=tuple(objects.values()), settings=settings)


def _diagnostics(review: Review, by_name: Sequence[tuple[str, Review]]) -> Iterable[Diagnostic]:
    """Return the diagnostics of a review; a TrainJob that one environment excludes is found in another one."""
    if any(each.objects or each.unchanged for _, each in by_name):
        return [each for each in review.diagnostics if each.id != ONLY_NOT_FOUND.id]
    return review.diagnostics


def _settings(reviews: Iterable[Review]) -> Iterable[ChangedSetting]:
    merged: dict[Hashable, ChangedSetting] = {}
    for review in reviews:
        for setting in review.settings:
            key = (setting.at, setting.gone, setting.change.kind, setting.change.field)
            known = merged.setdefault(key, setting._replace(objects=()))
            merged[key] = known._replace(objects=(*known.objects, *setting.objects))
    return merged.values()


def _sums(groups: Iterable[dict[str, Footprint]]) -> dict[str, Footprint]:
    """Return the resources of each queue in all environments."""
    queues: dict[str, list[Footprint]] = {}
    for group in groups:
        for queue, footprint in group.items():
            queues.setdefault(queue, []).append(footprint)
    return {queue: sum(found, NOTHING) for queue, found in queues.items()}


def _skipped(reviews: Iterable[Review]) -> tuple[str, ...]:
    return tuple(sorted({path for review in reviews for path in review.skipped}))
