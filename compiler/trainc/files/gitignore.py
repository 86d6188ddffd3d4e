"""Patterns of .gitignore, which match the entries of a walk as git does, in linear time.

Reads    the lines of a list of patterns, which may be untrusted: a repository has its own trainc.yaml.
Returns  the pattern that excludes an entry, or the reason why a line is not a pattern. A walk passes the state of a
         folder on to its entries, so that each name is read once.
Source   gitignore(5); git 2.39, dir.c.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.files.globs import SLASH, Automaton, Glob, encoded, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST: Final = 4095
"""The maximum length of a pattern in characters: no path is longer."""
_INVALID: Final = "is not a valid .gitignore pattern"
_NOTHING: Final = "matches nothing"
_NOT_IN_A_LINE: Final = frozenset("\0\n\r")


class Pattern(NamedTuple):
    """One line of a list of patterns."""

    glob: Glob
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
        glob = parse(encoded(text), is_path=is_path)
    except ValueError as error:
        raise PatternError(_INVALID) from error
    if is_path and _has_empty_segment(glob):
        raise PatternError(_NOTHING)
    return Pattern(glob if is_path else _at_any_depth(glob), includes, is_folder)


def _has_empty_segment(glob: Glob) -> bool:
    """Whether a slash begins or ends a glob, or follows another one."""
    slashes = [-1, *(state for state, accepted in enumerate(glob.tokens) if accepted == SLASH), len(glob.tokens)]
    return any(
        state - before == 1 and state not in glob.stars | glob.deep and before not in glob.skipped
        for before, state in pairwise(slashes)
    )


def _at_any_depth(glob: Glob) -> Glob:
    """Return `**/` and a glob of one segment."""
    stars = frozenset(state + 1 for state in glob.stars)
    return Glob((SLASH, *glob.tokens), stars, deep=frozenset({0}), skipped=frozenset({0}))


class Gitignore:
    """A list of patterns. As in git, the last one that matches decides, and an excluded folder has no entries."""

    def __init__(self, lines: Iterable[str], folders: Sequence[str] = ()) -> None:
        """Parse the patterns. Raises PatternError for an invalid one.

        Args:
            lines: the patterns.
            folders: the relative folder of each pattern, as of the .gitignore file that has it; by default the root.
        """
        self.patterns = [pattern_of(line) for line in lines]
        self._automaton = Automaton([pattern.glob for pattern in self.patterns])
        self._of_folder: dict[str, list[int]] = {}
        """The indices of the patterns that are relative to a folder."""
        for index in range(len(self.patterns)):
            self._of_folder.setdefault(folders[index] if folders else "", []).append(index)
        self._folder_ends = self._automaton.ends(range(len(self.patterns)))
        self._file_ends = self._automaton.ends(
            index for index, pattern in enumerate(self.patterns) if not pattern.is_folder
        )
        self._folders: dict[str, int | _Folder] = {"": _Folder(self._started(""))}
        """The folders of the walk: the index of the pattern that excludes one, or its state."""

    def match(self, path: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes a relative path or a folder above it; None if none does."""
        above, _, name = path.rpartition("/")
        if is_folder:
            found = self._folder(path)
            return found if isinstance(found, int) else None
        found = self._folder(above)
        if isinstance(found, int):
            return found
        return self._excluding_index(self._automaton.advance(found.state, encoded(name)), self._file_ends)

    def _folder(self, path: str) -> int | _Folder:
        """Return the index of the pattern that excludes a folder or one above it, or its state."""
        found = self._folders.get(path)
        if found is not None:
            return found
        missing = [path]
        while (above := missing[-1].rpartition("/")[0]) not in self._folders:
            missing.append(above)
        found = self._folders[above]
        for folder in reversed(missing):
            if not isinstance(found, int):
                state = self._automaton.advance(found.state, encoded(folder.rpartition("/")[2]))
                index = self._excluding_index(state, self._folder_ends)
                below = self._automaton.advance(state, b"/") | self._started(folder)
                found = _Folder(below) if index is None else index
            self._folders[folder] = found
        return found

    def _started(self, folder: str) -> int:
        """Return the state of the patterns that are relative to a folder, for its entries."""
        return self._automaton.start(self._of_folder.get(folder, ()))

    def _excluding_index(self, state: int, ends: int) -> int | None:
        """Return the last pattern that matches in a state; None without one, or if it begins with `!`."""
        index = self._automaton.last(state, ends)
        return None if index is None or self.patterns[index].includes else index


class _Folder(NamedTuple):
    """A folder that is not excluded."""

    state: int
    """The state of the automaton for its entries."""


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
