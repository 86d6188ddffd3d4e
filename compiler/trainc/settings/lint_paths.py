"""`lint.paths`: the lint rules that are turned off for the TrainJobs and runtimes in some files.

Reads    patterns in the syntax of .gitignore, each with the ids of its rules.
Returns  the rules that are off for a file, and a warning for each pattern that matches no file with a TrainJob or a
         runtime. Imported only for a project with the key.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic
from trainc.edits.transforming.setting_faults import UNUSED_SETTING
from trainc.files.exclude import Excluded, Patterns
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Place


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
