"""The patterns of `exclude` and `keep` that match nothing.

Reads    the names in the paths of a project, and in its output folder.
Returns  a warning for each pattern that has no effect. Imported only for a project with one of the keys.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.diagnostics import Diagnostic
from trainc.edits.transforming.setting_faults import UNUSED_SETTING
from trainc.files.exclude import Excluded, Patterns
from trainc.files.selection import Selection
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from trainc.diagnostics import Place
    from trainc.settings.model import Settings

    Names = Callable[[Iterable[str], Selection], Collection[str]]
    """A function that returns the names of the files and folders in some paths, without those below excluded ones."""


def warnings(settings: Settings, paths: Iterable[str], names: Names) -> Iterator[Diagnostic]:
    """Yield a warning for each pattern that matches nothing in the paths of a project, or in its output folder."""
    if settings.exclude:
        found = names(paths, Selection(exclude=settings.exclude))
        for pattern, place in Excluded(settings.exclude).unused_patterns(found):
            yield _unused_setting(f'no file or folder that trainc would read matches "{pattern}"', "trainc.yaml", place)
    output = settings.output
    if settings.keep and output is not None and os.path.isdir(output.path):
        found = names([output.path], Selection(read_before=()))
        patterns = Patterns(os.path.abspath(output.path), settings.keep, settings.keep_places)
        for pattern, place in Excluded([patterns]).unused_patterns(found):
            yield _unused_setting(f'no file in {output.written} matches "{pattern}"', "the output folder", place)


def _unused_setting(message: str, base: str, place: Place) -> Diagnostic:
    return Diagnostic.declared(
        UNUSED_SETTING,
        message,
        f"correct the pattern, which is relative to {base}, or remove it",
        field=field_of(place.path),
        place=place,
    )
