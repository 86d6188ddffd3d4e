"""Exclude patterns: `exclude` of trainc.yaml and `--exclude`, in the syntax of .gitignore.

Reads    the patterns with the folder that they are relative to, and the paths of a walk.
Returns  whether an entry of a folder is left out, and a diagnostic for patterns that leave nothing. A walk passes
         on what is left of the patterns, so that each name is read once.
Source   gitignore(5); git 2.39, dir.c.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic
from trainc.files.confine import is_within
from trainc.files.globs import DEEP, Glob, GlobList, encoded, parse, parse_path
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import Place

EXCLUDE_PATTERN: Final = Declaration("exclude-pattern", ("read",), trainc_only=True)
ALL_EXCLUDED: Final = Declaration("all-excluded", ("read",), trainc_only=True)
KEY: Final = "exclude"
"""The key in trainc.yaml."""
LONGEST: Final = 4095
"""The maximum length of a pattern in characters: no path is longer."""
_INVALID: Final = "is not a valid .gitignore pattern"
_NOTHING: Final = "matches nothing"
_NOT_IN_A_LINE: Final = frozenset("\0\n\r")


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
        return Gitignore(self.given.lines, [path_below(folder, self.folder) for folder in self.given.folders])

    def match(self, full: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes an absolute path; None if no pattern does."""
        if full == self.folder or not is_within(full, self.folder):
            return None
        return self.patterns.match(path_below(full, self.folder), is_folder=is_folder)


def path_below(path: str, folder: str) -> str:
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

    def unused_patterns(self, names: Iterable[str]) -> Iterator[tuple[str, Place]]:
        """Yield each pattern of trainc.yaml, with its place, that matches none of the files and folders of a walk."""
        for name in names:
            self.matches(name, is_folder=True)
        for patterns in self._lists:
            for index, place in enumerate(patterns.given.places):
                if index not in patterns.patterns.matched:
                    yield patterns.given.lines[index], place

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


class Pattern(NamedTuple):
    """One line of a list of patterns."""

    globs: list[Glob]
    """The globs of paths: the pattern matches what one of them matches."""
    includes: bool
    """Whether it begins with `!`."""
    is_folder: bool
    """Whether it matches only folders."""


class PatternError(ValueError):
    """A line that is not a pattern."""


def pattern_of(line: str) -> Pattern:
    """Return the pattern of a line. Raises PatternError with the reason if it is not one.

    git ignores a blank line, a comment and a set without an end; in a list of patterns, they are mistakes.
    """
    if len(line) > LONGEST or not _NOT_IN_A_LINE.isdisjoint(line):
        raise PatternError(_INVALID)
    text = line.rstrip(" ")
    if len(text) < len(line) and (len(text) - len(text.rstrip("\\"))) % 2:
        text += " "  # it is escaped
    if not text.strip("/") or text.startswith("#"):
        raise PatternError(_NOTHING)
    includes = text.startswith("!")
    text = text.removeprefix("!")
    if not text:
        raise PatternError(_INVALID)
    return path_pattern(text, includes=includes)


def path_pattern(text: str, *, includes: bool = False) -> Pattern:
    """Return a pattern without a `!` of its own. Raises PatternError if it matches nothing."""
    is_folder = text.endswith("/")
    text = text.removesuffix("/")
    is_path = "/" in text
    text = text.removeprefix("/")
    try:
        globs = parse_path(encoded(text)) if is_path else [(DEEP, *parse(encoded(text)))]
    except ValueError as error:
        raise PatternError(_INVALID) from error
    if not globs:
        raise PatternError(_NOTHING)
    return Pattern(globs, includes, is_folder)


class Gitignore:
    """A list of patterns. As in git, the last one that matches decides, and an excluded folder has no entries."""

    def __init__(self, lines: Iterable[str], folders: Sequence[str] = ()) -> None:
        """Parse the patterns. Raises PatternError for an invalid one.

        Args:
            lines: the patterns.
            folders: the relative folder of each pattern, as of the .gitignore file that has it; by default the root.
        """
        self.patterns = [pattern_of(line) for line in lines]
        self._globs = GlobList(pattern.globs for pattern in self.patterns)
        self._of_folder: dict[str, list[int]] = {}
        """The indices of the patterns that are relative to a folder."""
        for index in range(len(self.patterns)):
            self._of_folder.setdefault(folders[index] if folders else "", []).append(index)
        self.matched = set[int]()
        """The indices of the patterns that have matched an entry."""
        self._folders: dict[str, int | set[int]] = {"": self._globs.start(self._of_folder.get("", ()))}
        """The folders of the walk: the index of the pattern that excludes one, or the positions for its entries."""

    def match(self, path: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes a relative path or a folder above it; None if none does."""
        if is_folder:
            found = self._folder(path)
            return found if isinstance(found, int) else None
        above, _, name = path.rpartition("/")
        found = self._folder(above)
        return found if isinstance(found, int) else self._excluding_index(found, encoded(name), is_folder=False)

    def _folder(self, path: str) -> int | set[int]:
        """Return the index of the pattern that excludes a folder or one above it, or the positions for its entries."""
        missing: list[str] = []
        while (found := self._folders.get(path)) is None:
            missing.append(path)
            path = path.rpartition("/")[0]
        for folder in reversed(missing):
            if not isinstance(found, int):
                name = encoded(folder.rpartition("/")[2])
                index = self._excluding_index(found, name, is_folder=True)
                own = self._globs.start(self._of_folder.get(folder, ()))
                found = self._globs.positions_below(found, name) | own if index is None else index
            self._folders[folder] = found
        return found

    def _excluding_index(self, positions: set[int], name: bytes, *, is_folder: bool) -> int | None:
        """Return the last pattern that matches an entry; None without one, or if it begins with `!`."""
        matching = set(self._globs.matching(positions, name))
        self.matched |= matching
        last = max((index for index in matching if is_folder or not self.patterns[index].is_folder), default=None)
        return None if last is None or self.patterns[last].includes else last


def reason(line: str) -> str:
    """Return why a line is not a valid pattern; empty if it is valid.

    >>> reason("vendor/"), reason("!"), reason("[z-a]")
    ('', 'is not a valid .gitignore pattern', 'is not a valid .gitignore pattern')
    """
    try:
        pattern_of(line)
    except PatternError as error:
        return str(error)
    return ""
