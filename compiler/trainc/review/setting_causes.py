"""The changed setting that causes a change of an object, by the measured effects of the settings.

Reads    the effects in one environment, and the cause that the plans of the TrainJob show.
Returns  the cause. A setting is the cause of a change that disappears if it is set back. A setting that the plans show
         is replaced if another one affects the field, and it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.edits.patching.patch_names import numbered
from trainc.files.selection import SETTINGS
from trainc.review.consequences import RANK, touches
from trainc.review.masked_changes import shown
from trainc.review.reviewed import Cause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.diagnostics import Location, ObjectId, Place
    from trainc.review.changes import Change
    from trainc.review.consequences import Effect
    from trainc.review.setting_effects import SettingEffect

    Locating = Callable[..., Location]

TRAINER_VERSION: Final = "trainerVersion"


class CausesBySetting:
    """The causes of changes in one environment."""

    def __init__(self, effects: Iterable[SettingEffect], locate: Locating) -> None:
        """Keep the effects.

        Args:
            effects: the effects of the changed settings.
            locate: `locate(place, old=...)` returns the location of a place in one of the sides.
        """
        self._locate = locate
        self._by_object: dict[ObjectId, list[SettingEffect]] = {}
        for effect in effects:
            for each in effect.objects:
                self._by_object.setdefault(each.id, []).append(effect)
        self._causes: dict[int, Cause] = {}
        self._severities: dict[int, int] = {}

    def cause(self, id: ObjectId, change: Change, effect: Effect, known: Cause | None) -> Cause | None:
        """Return the cause of a change of an object with an effect in the cluster, which may be the known cause."""
        effects = self._by_object.get(id, [])
        own = [each for each in effects if known is not None and self._is_of(each, known)]
        found = _first_effect(own, lambda each: each.undoes(id, change))
        found = found or _first_effect(effects, lambda each: each.undoes(id, change))
        if found is None and (known is None or _is_setting(known)):
            found = _first_effect([*own, *effects], lambda each: each.affects(id, change))
        if found is None:
            return known
        self._severities[found.number] = max(RANK[effect], self._severities.get(found.number, 0))
        return known if any(found is each for each in own) else self._cause(found)

    def severity(self, effect: SettingEffect) -> int:
        """Return the severity of the changes that a setting causes; it is known after the causes."""
        if effect.unknown:
            return len(RANK)
        if any(effect.decides_presence(each.id) for each in effect.objects):
            return RANK["new-object"]
        return self._severities.get(effect.number, 0 if effect.objects else -1)

    def cause_of_presence(self, id: ObjectId, known: Cause | None) -> Cause | None:
        """Return the cause of an added or removed object, which may be the known one."""
        deciding = [effect for effect in self._by_object.get(id, []) if effect.decides_presence(id)]
        if not deciding or any(known is not None and self._is_of(effect, known) for effect in deciding):
            return known
        return self._cause(deciding[0])

    def _cause(self, effect: SettingEffect) -> Cause:
        """Return a changed setting as a cause."""
        if effect.number not in self._causes:
            edit = effect.edit
            at = self._located(edit.place, gone=edit.gone)
            change = shown(edit.change, *edit.trees)
            self._causes[effect.number] = Cause(SETTINGS, change.field, change, at, edit.gone, edit.change.path)
        return self._causes[effect.number]

    def _located(self, place: Place, *, gone: bool) -> Location:
        return self._locate(place, old=gone)

    def _is_of(self, effect: SettingEffect, cause: Cause) -> bool:
        """Return whether a changed setting is the cause of a change: it has its path, or contains it."""
        setting = effect.edit.change
        if cause.release:
            return setting.path[-1:] == (TRAINER_VERSION,)
        file = self._cause(effect).at.file
        if cause.at.file != file:
            return False
        if patch := numbered(setting.path, file):
            return cause.by.endswith(patch)
        if cause.setting:
            return touches(cause.setting, setting.old_path if cause.gone else setting.new_path)
        return cause.by == SETTINGS and touches(cause.edit.path, setting.path)


def _first_effect(effects: Iterable[SettingEffect], holds: Callable[[SettingEffect], bool]) -> SettingEffect | None:
    return next(filter(holds, effects), None)


def _is_setting(cause: Cause) -> bool:
    """Return whether a cause is a setting."""
    return bool(cause.setting) or cause.by == SETTINGS
