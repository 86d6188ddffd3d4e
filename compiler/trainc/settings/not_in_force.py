"""Settings files below the paths of a run that are not in force, which may look as if they were.

Reads    the paths of all trainc.yaml files that the run leaves out, and its settings.
Returns  one warning about those that are neither in force nor extended.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.files.confine import resolved
from trainc.kubernetes.violations import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.settings.model import Settings

SETTINGS_NOT_IN_FORCE: Final = Declaration(
    "settings-not-in-force", ("read",), "Settings file without effect", "warning", trainc_only=True
)
SHOWN: Final = 10
"""The most files that the message names."""


def not_in_force(paths: Iterable[str], settings: Settings) -> Diagnostic | None:
    """Return the warning about the settings files that have no effect; None without any."""
    own = settings.settings_files[-1:]
    extended = {resolved(file.path) for file in settings.extended}
    found = [
        path
        for path in dict.fromkeys(paths)
        if not (any(os.path.abspath(path) == file.path for file in own) or resolved(path) in extended)
    ]
    if not found:
        return None
    more = [f"{len(found) - SHOWN} more"] if len(found) > SHOWN else []
    message = f"{listed([*found[:SHOWN], *more])} {'is' if len(found) == 1 else 'are'} not in force"
    message += f": {own[0].document.file} is" if own else ": no other file is"
    help = "run the command in its folder, move its settings to the file in force, or exclude it"
    return Diagnostic.declared(SETTINGS_NOT_IN_FORCE, message, help, place=Location(file=found[0]))
