"""Exclude patterns: `exclude` of trainc.yaml and `--exclude`, in the syntax of .gitignore.

Reads    the patterns with the folder that they are relative to, and the paths of a walk.
Returns  whether an entry of a folder is left out, and a diagnostic for patterns that leave nothing.
Source   gitignore(5), by the library pathspec. Its regular expressions are rewritten so that their time is bounded: the
         patterns of a repository are untrusted.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from trainc.confine import within
from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Document, Place
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXCLUDE_PATTERN: Final = Declaration("exclude-pattern", ("read",), "Invalid exclude pattern", own=True)
ALL_EXCLUDED: Final = Declaration("all-excluded", ("read",), "Exclude patterns that leave no file", own=True)

KEY: Final = "exclude"
MOST_STARS: Final = 2
"""The maximum number of `**` between other segments: the time of a match grows with this power of the path's length."""
_STAR: Final = r"\[\^/\]\*"
_CHARACTER: Final = r"(?:\\.|\[(?!\^/\][*+])(?:\\.|[^\]\\])+\]|[^\\\[/()|$^])"
_STAR_BEFORE_STAR: Final = re.compile(rf"{_STAR}({_CHARACTER}*)(?={_STAR})")
_STARS: Final = "(?:/.+)?/"


class Patterns(NamedTuple):
    """The patterns of one list, relative to a folder."""

    folder: str
    """An absolute path."""
    lines: tuple[str, ...]
    document: Document | None = None
    """The trainc.yaml that has them; None for `--exclude`."""


class _Pattern(GitIgnoreSpecPattern):
    """A pattern that matches the same paths as pathspec's, in linear time for each segment.

    Between two `*` of a segment, the first match of the text is as good as any later one, so that there is no reason to
    try the others.
    """

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> tuple[Any, bool | None]:
        """Return a pattern's regular expression, and whether it excludes."""
        regex, include = super().pattern_to_regex(pattern)
        return (None if regex is None else _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", regex)), include


class _List:
    """One list of patterns."""

    def __init__(self, given: Patterns) -> None:
        self.given = given

    @cached_property
    def spec(self) -> GitIgnoreSpec:
        """The compiled patterns."""
        return GitIgnoreSpec.from_lines(self.given.lines, pattern_factory=_Pattern)

    def match(self, full: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes an absolute path; None if no pattern does."""
        folder = self.given.folder
        if full == folder or not within(full, folder):
            return None
        path = full[len(folder) :].lstrip(os.sep)
        found = self.spec.check_file(f"{path}/" if is_folder else path)
        return found.index if found.include else None


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

    def everything(self) -> Diagnostic | None:
        """Return the error for a walk that found no file; None if no pattern excluded an entry."""
        if self._first is None:
            return None
        patterns, index = self._first
        line, document = patterns.lines[index], patterns.document
        return Diagnostic.of(
            ALL_EXCLUDED,
            f'the pattern "{line}" of {"--exclude" if document is None else KEY} leaves no file in the given paths',
            "narrow the pattern, or give other paths",
            field="" if document is None else f"{KEY}[{index}]",
            place=None if document is None else Place(document=document, path=(KEY, index)),
        )


def faults(given: Patterns) -> Iterator[Diagnostic]:
    """Yield an error for each invalid pattern of a trainc.yaml."""
    assert given.document is not None  # those of the command line are usage errors
    for index, line in enumerate(given.lines):
        if why := reason(line):
            yield Diagnostic.of(
                EXCLUDE_PATTERN,
                f'the pattern "{line}" {why}',
                "use a pattern as in .gitignore, such as vendor/ or *.tmpl.yaml",
                field=f"{KEY}[{index}]",
                place=Place(document=given.document, path=(KEY, index)),
            )


def reason(line: str) -> str:
    """Return why a line is not a valid pattern; empty if it is valid.

    >>> reason("vendor/"), reason("!"), reason("[z-a]")
    ('', 'is not a valid .gitignore pattern', 'is not a valid .gitignore pattern')
    """
    invalid = "is not a valid .gitignore pattern"
    try:
        patterns = GitIgnoreSpec.from_lines((line,), pattern_factory=_Pattern).patterns
    except (ValueError, re.error):
        return invalid
    if not patterns or patterns[0].include is None:
        # git ignores a blank line, a comment, a slash and an unclosed bracket; in a list of patterns it is a mistake.
        return "matches nothing" if not line.strip("/ ") or line.startswith("#") else invalid
    regex = _Pattern.pattern_to_regex(line)[0] or ""
    return f"has more than {MOST_STARS} `/**/`" if regex.count(_STARS) > MOST_STARS else ""
