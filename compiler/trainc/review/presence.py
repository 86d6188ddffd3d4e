"""Objects that a setting adds or removes: those of an environment, and those of files that `exclude` leaves out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.files.exclude import KEY as EXCLUDE
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from trainc.diagnostics import Path
    from trainc.files.exclude import Excluded
    from trainc.review.reviewed import Reviewed
    from trainc.review.sides import Side


class Presence:
    """The settings of two sides that decide which TrainJobs they have."""

    def __init__(self, before: Side, after: Side, environment: str) -> None:
        self.sides = {"added": (after, before), "removed": (before, after)}
        """The side that has an object and the side that lacks it, by status."""
        self.environment = environment
        self._excluded: dict[str, Excluded] = {}

    def is_by(self, path: Path, reviewed: Reviewed) -> bool:
        """Return whether the edit of a setting adds or removes an object."""
        if reviewed.status == "changed" or reviewed.cause is not None or reviewed.at is None:
            return False
        if self.environment and path in ((ENVIRONMENTS,), (ENVIRONMENTS, self.environment)):
            return True
        own = path[2:] if path[:2] == (ENVIRONMENTS, self.environment) else path
        return own[:1] == (EXCLUDE,) and self._is_excluded(reviewed.status, reviewed.at.file)

    def _is_excluded(self, status: str, file: str) -> bool:
        """Whether the side that lacks an object excludes its file."""
        having, lacking = self.sides[status]
        if not lacking.settings.exclude:
            return False
        if status not in self._excluded:
            from trainc.files.exclude import Excluded

            self._excluded[status] = Excluded(lacking.settings.exclude)
        commit = having.spec.commit
        path = os.path.abspath(file if commit is None else os.path.join(commit.top, file))
        excluded, is_folder = self._excluded[status], False
        while not excluded.matches(path, is_folder=is_folder):
            above, is_folder = os.path.dirname(path), True
            if above == path:
                return False
            path = above
        return True
