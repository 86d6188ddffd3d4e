"""The patterns of `exclude` and `keep` that match nothing.

Reads    the names in the paths of a project, and in its output folder.
Returns  a warning for each pattern that has no effect. Imported only for a project with one of the keys.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.texts import and_others
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


SHOWN: Final = 10
"""The patterns of a list that are reported one by one."""


def warnings(settings: Settings, paths: Iterable[str], names: Names) -> Iterator[Diagnostic]:
    """Yield a warning for each pattern that matches nothing in the paths of a project, or in its output folder."""
    if settings.exclude:
        found = names(paths, Selection(exclude=settings.exclude))
        unused = Excluded(settings.exclude).unused_patterns(found)
        yield from _unused_settings("no file or folder that trainc would read", "trainc.yaml", unused)
    output = settings.output
    if settings.keep and output is not None and os.path.isdir(output.path):
        found = names([output.path], Selection(read_before=()))
        patterns = Patterns(os.path.abspath(output.path), settings.keep, settings.keep_places)
        unused = Excluded([patterns]).unused_patterns(found)
        yield from _unused_settings(f"no file in {output.written}", "the output folder", unused)


def _unused_settings(nothing: str, base: str, unused: Iterable[tuple[str, Place]]) -> Iterator[Diagnostic]:
    """Yield a warning for each of the first patterns, and the number of the others."""
    patterns = list(unused)
    for number, (pattern, place) in enumerate(patterns[:SHOWN], 1):
        others = and_others(len(patterns) - SHOWN, "more pattern") if number == SHOWN else ""
        yield Diagnostic.declared(
            UNUSED_SETTING,
            f'{nothing} matches "{pattern}"{others}',
            f"correct the pattern, which is relative to {base}, or remove it",
            field=field_of(place.path),
            place=place,
        )
