"""The patterns of trainc.yaml, in the syntax of .gitignore: those of `lint.paths`, and those that match nothing.

Reads    the patterns of `lint.paths`, each with the ids of its rules; the names in the paths of a project, and in its
         output folder.
Returns  the rules that are off for a file; a warning for each pattern of `lint.paths`, `exclude` and `keep` without an
         effect. Imported only for a project with one of the keys.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
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


class PathRule(NamedTuple):
    """The rules that are off for the files of one pattern."""

    folder: str
    """The absolute folder that the pattern is relative to."""
    pattern: str
    rules: frozenset[str]
    place: Place


class PathRules:
    """The patterns of a project, and their rules."""

    def __init__(self, items: Iterable[PathRule]) -> None:
        """Compile the patterns. They are valid: `exclude.faults` reports the others."""
        self.items = [*items]
        self._patterns = [Excluded([Patterns(item.folder, (item.pattern,))]) for item in self.items]
        self._matching = cache(self._find)

    def __call__(self, file: str) -> frozenset[str]:
        """Return the rules that are off for a file."""
        return frozenset[str]().union(*(self.items[index].rules for index in self._matching(file)))

    def warnings(self, files: Iterable[str]) -> Iterator[Diagnostic]:
        """Yield a warning for each pattern that matches none of some files."""
        matching = {index for file in {*files} for index in self._matching(file)}
        for index, (_, pattern, _, place) in enumerate(self.items):
            if index not in matching:
                yield Diagnostic.declared(
                    UNUSED_SETTING,
                    f'no TrainJob and no runtime is in a file that matches "{pattern}"',
                    "correct the pattern, which is relative to trainc.yaml, or remove it",
                    field=field_of(place.path),
                    place=place,
                )

    def _find(self, file: str) -> tuple[int, ...]:
        """Return the indices of the patterns that match a file or one of its folders."""
        return tuple(index for index, each in enumerate(self._patterns) if each.matches(file, is_folder=False))


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
