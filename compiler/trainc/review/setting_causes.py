"""The objects that a changed setting changes, by the causes of a review.

Reads    the changed settings and the objects of one environment.
Returns  the settings with the objects that have a cause of this setting. A setting without any may have effects that no
         cause shows, such as `sources`: an object that changes without a cause lists these settings (`CauseGroup`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.edits.patching.patch_faults import numbered
from trainc.files.selection import SETTINGS
from trainc.review.consequences import RANK, most_severe, touches
from trainc.review.setting_changes import environment_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.review.reviewed import Cause, ChangedSetting, Reviewed

TRAINER_VERSION: Final = "trainerVersion"


def with_objects(
    settings: Iterable[ChangedSetting], objects: Iterable[Reviewed], environment: str
) -> tuple[ChangedSetting, ...]:
    """Return changed settings with the objects that they change in an environment, and the severity of the changes."""
    objects = [*objects]
    causes = {
        id(cause): cause
        for each in objects
        for cause in (each.cause, *(line.cause for line in each.lines))
        if cause is not None
    }
    return tuple(_with_objects(setting, objects, causes, environment) for setting in settings)


def _with_objects(
    setting: ChangedSetting, objects: Iterable[Reviewed], causes: dict[int, Cause], environment: str
) -> ChangedSetting:
    if setting.owner is not None or environment_of(setting.change.path) not in ("", environment):
        return setting
    own = {key for key, cause in causes.items() if _is_of(setting, cause)}
    found, severity = [], -1
    for each in objects if own else ():
        lines = [line.consequence for line in each.lines if id(line.cause) in own]
        if lines or id(each.cause) in own:
            found.append(each)
            severity = max(severity, RANK[most_severe(lines) if lines else "new-object"])
    return setting._replace(objects=tuple(found), severity=severity)


def _is_of(setting: ChangedSetting, cause: Cause) -> bool:
    """Return whether a cause is a changed setting, a part of it, or contains it."""
    change, file = setting.change, setting.at.file
    if cause.release:
        return change.path[-1:] == (TRAINER_VERSION,)
    if cause.at.file != file:
        return False
    if patch := numbered(change.path, file):
        return cause.by.endswith(patch)
    if cause.setting:
        return touches(cause.setting, change.old_path if cause.gone else change.new_path)
    return cause.by == SETTINGS and touches(cause.edit.path, change.path)
