"""`lint.paths`: the lint rules that are turned off for the TrainJobs and runtimes in some files.

Reads    patterns in the syntax of .gitignore, each with the ids of its rules.
Returns  the rules that are off for a file, and a warning for each pattern that matches no file with a TrainJob or a
         runtime. Imported only for a project with the key.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from trainc.diagnostics import Diagnostic
from trainc.edits.transforming.setting_faults import UNUSED_SETTING
from trainc.files.exclude import Excluded, Patterns
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from trainc.diagnostics import Place


class PathRules:
    """The patterns of a project, and their rules."""

    def __init__(self, folder: str, items: Sequence[tuple[str, Set[str], Place]]) -> None:
        """Compile the patterns.

        Args:
            folder: the absolute folder that the patterns are relative to.
            items: each pattern with its rules and its place. They are valid: `exclude.faults` reports the others.
        """
        self.items = [(pattern, frozenset(rules), place) for pattern, rules, place in items]
        self._patterns = [Excluded([Patterns(folder, (pattern,))]) for pattern, _, _ in items]
        self._matching = cache(self._find)

    def __call__(self, file: str) -> frozenset[str]:
        """Return the rules that are off for a file."""
        return frozenset[str]().union(*(self.items[index][1] for index in self._matching(file)))

    def warnings(self, files: Iterable[str]) -> Iterator[Diagnostic]:
        """Yield a warning for each pattern that matches none of some files."""
        matching = {index for file in {*files} for index in self._matching(file)}
        for index, (pattern, _, place) in enumerate(self.items):
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
