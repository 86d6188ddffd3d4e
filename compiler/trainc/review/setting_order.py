"""The order of the changed settings in a review, from the most severe effect to the least.

Reads    a review.
Returns  its settings in this order: those that decide what is reported; those that change objects, by the most severe
         change that they cause, then by the number of objects; those without effect. A shortened list keeps a row of
         each key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.review.changes.changed_settings import own_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.review.reviewed import ChangedSetting, Review


def in_order(review: Review) -> Review:
    """Return a review with its settings in order."""

    def order(setting: ChangedSetting) -> tuple[int, int, int]:
        return setting.rank, -setting.severity, -sum(each.number for each in setting.objects)

    return review._replace(settings=tuple(sorted(review.settings, key=order)))


def shortened(settings: Sequence[ChangedSetting], most: int) -> list[ChangedSetting]:
    """Return at most this many settings, but one of each key: first the first one of each key, in the given order."""
    firsts = {_key(setting): index for index, setting in reversed([*enumerate(settings)])}
    kept = {*firsts.values()}
    rest = (index for index in range(len(settings)) if index not in kept)
    kept.update(index for index, _ in zip(rest, range(most - len(kept)), strict=False))
    return [settings[index] for index in sorted(kept)]


def _key(setting: ChangedSetting) -> object:
    """Return what a setting has in common with those that it may represent: the key at the top of its layer."""
    if setting.owner is not None:
        return True
    return own_path(setting.change.path)[:1]
