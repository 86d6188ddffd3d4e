"""Exclude patterns: `exclude` of trainc.yaml and `--exclude`, in the syntax of .gitignore.

Reads    the patterns with the folder that they are relative to, and the paths of a walk.
Returns  whether an entry of a folder is left out, and a diagnostic for patterns that leave nothing.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic
from trainc.files.confine import is_within
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.diagnostics import Place
    from trainc.files.gitignore import Gitignore

EXCLUDE_PATTERN: Final = Declaration("exclude-pattern", ("read",), "Invalid exclude pattern", trainc_only=True)
ALL_EXCLUDED: Final = Declaration("all-excluded", ("read",), "Exclude patterns that leave no file", trainc_only=True)

KEY: Final = "exclude"
"""The key in trainc.yaml."""


class Patterns(NamedTuple):
    """The patterns of one list, relative to a folder."""

    folder: str
    """An absolute path."""
    lines: tuple[str, ...]
    places: tuple[Place, ...] = ()
    """The place of each line in trainc.yaml; empty for `--exclude`."""
    folders: tuple[str, ...] = ()
    """The folder of each line, if lines of several files are one list; empty if `folder` is that of all."""


class _List:
    """One list of patterns."""

    def __init__(self, given: Patterns) -> None:
        self.given = given
        folders = {*given.folders} or {given.folder}
        self.folder = os.path.commonpath(folders) if len(folders) > 1 else next(iter(folders))
        """The folder that has the folders of all lines."""

    @cached_property
    def patterns(self) -> Gitignore:
        """The compiled patterns."""
        from trainc.files.gitignore import Gitignore

        return Gitignore(self.given.lines, [_path_below(folder, self.folder) for folder in self.given.folders])

    def match(self, full: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes an absolute path; None if no pattern does."""
        if full == self.folder or not is_within(full, self.folder):
            return None
        return self.patterns.match(_path_below(full, self.folder), is_folder=is_folder)


def _path_below(path: str, folder: str) -> str:
    """Return an absolute path relative to a folder above it; empty for the folder itself."""
    return path[len(folder) :].lstrip(os.sep)


class Excluded:
    """All patterns of a walk, and the first one that excluded an entry."""

    def __init__(self, given: Sequence[Patterns]) -> None:
        self._lists = [_List(patterns) for patterns in given]
        self._first: tuple[Patterns, int] | None = None

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether an entry of a folder is excluded. What is below an excluded folder is excluded with it."""
        full = os.path.abspath(path)
        for patterns in self._lists:
            index = patterns.match(full, is_folder=is_folder)
            if index is not None:
                self._first = self._first or (patterns.given, index)
                return True
        return False

    def no_files_error(self) -> Diagnostic | None:
        """Return the error for a walk that found no file; None if no pattern excluded an entry."""
        if self._first is None:
            return None
        patterns, index = self._first
        line, place = patterns.lines[index], patterns.places[index] if patterns.places else None
        return Diagnostic.declared(
            ALL_EXCLUDED,
            f'the pattern "{line}" of {"--exclude" if place is None else KEY} leaves no file in the given paths',
            "narrow the pattern, or give other paths",
            field="" if place is None else field_of(place.path),
            place=place,
        )


def faults(given: Patterns) -> Iterator[Diagnostic]:
    """Yield an error for each invalid pattern of a trainc.yaml."""
    from trainc.files.gitignore import reason

    # Those of the command line have no place: they are usage errors.
    for line, place in zip(given.lines, given.places, strict=True):
        if why := reason(line):
            yield Diagnostic.declared(
                EXCLUDE_PATTERN,
                f'the pattern "{line}" {why}',
                "use a pattern as in .gitignore, such as vendor/ or *.tmpl.yaml",
                field=field_of(place.path),
                place=place,
            )
