"""Patterns of .gitignore, compiled by pathspec to regular expressions whose time is bounded.

Reads    the lines of a list of patterns, which may be untrusted: a repository has its own trainc.yaml.
Returns  the patterns, which match the entries of a walk as git does, or the reason why a line is not a pattern.
Source   gitignore(5).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_STARS: Final = 2
"""The maximum number of `**` between other segments: the time of a match grows with this power of the path's length."""
ENDS_ENTRY: Final = "ps_d"
"""The name of pathspec's group for the slash that ends a folder's name."""
_STAR: Final = r"\[\^/\]\*"
_CHARACTER: Final = r"(?:\\.|\[(?!\^/\][*+])(?:\\.|[^\]\\])+\]|[^\\\[/()|$^])"
_STAR_BEFORE_STAR: Final = re.compile(rf"{_STAR}({_CHARACTER}*)(?={_STAR})")
_NEGATED: Final = re.compile(r"(?<!\\)\[\^(?!/\])")
"""The start of a set such as `[!a]`: as in git, it does not match a slash."""
LONGEST: Final = 4095
"""The maximum length of a pattern in characters: no path is longer."""
_STARS: Final = "(?:/.+)?/"


class Pattern(GitIgnoreSpecPattern):
    """A pattern of pathspec whose time is linear within a segment.

    Between two `*` of a segment, the first match of the text is as good as any later one, so that there is no reason to
    try the others.
    """

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> tuple[Any, bool | None]:
        """Return a pattern's regular expression, and whether it excludes."""
        if len(pattern) > LONGEST:
            raise ValueError
        # pathspec reads `a/**/` as `a/`; in git it matches each folder below a.
        regex, include = super().pattern_to_regex(f"{pattern}*/" if pattern.endswith("/**/") else pattern)
        if regex is not None:
            regex = _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", _NEGATED.sub("[^/", regex))
        return regex, include


class Gitignore:
    """A list of patterns. As in git, the last one that matches an entry decides, and an excluded folder has no entries.

    pathspec decides about files whose folders it does not know, so that a pattern of a folder also matches its files,
    with rules of precedence for both. In a walk, each entry is matched by itself, after its folder.
    """

    def __init__(self, lines: Iterable[str], folders: Sequence[str] = ()) -> None:
        """Compile the patterns. Raises ValueError or re.error for an invalid one.

        Args:
            lines: the patterns.
            folders: the relative folder of each pattern, as of the .gitignore file that has it; by default the root.
        """
        self.patterns = [Pattern(line) for line in lines]
        self.prefixes = [f"{folder}/" if folder else "" for folder in folders] or [""] * len(self.patterns)
        """The start of the paths that each pattern applies to."""
        self._folders: dict[str, int | None] = {"": None}

    def match(self, path: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes a relative path or a folder above it; None if none does."""
        return self._folder(path) if is_folder else self._excluding_index(path, is_folder=False)

    def _folder(self, path: str) -> int | None:
        if path not in self._folders:
            self._folders[path] = self._excluding_index(path, is_folder=True)
        return self._folders[path]

    def _excluding_index(self, path: str, *, is_folder: bool) -> int | None:
        above = self._folder(path.rpartition("/")[0])
        return self._entry(path, is_folder=is_folder) if above is None else above

    def _entry(self, path: str, *, is_folder: bool) -> int | None:
        """Return the index of the pattern that excludes an entry whose folder is not excluded."""
        for index in range(len(self.patterns) - 1, -1, -1):
            pattern, prefix = self.patterns[index], self.prefixes[index]
            if not path.startswith(prefix) or pattern.regex is None:
                continue
            if _matches(pattern.regex, path[len(prefix) :], is_folder=is_folder):
                return index if pattern.include else None
        return None


def _matches(regex: re.Pattern[str], path: str, *, is_folder: bool) -> bool:
    """Whether a pattern matches an entry itself, and not only a folder above it."""
    if ENDS_ENTRY not in regex.groupindex:  # `a/**` matches what is below a
        return regex.search(path) is not None
    whole = f"{path}/" if is_folder else path
    return any(match.end() == len(whole) for match in regex.finditer(whole))


def reason(line: str) -> str:
    """Return why a line is not a valid pattern; empty if it is valid.

    >>> reason("vendor/"), reason("!"), reason("[z-a]")
    ('', 'is not a valid .gitignore pattern', 'is not a valid .gitignore pattern')
    """
    invalid = "is not a valid .gitignore pattern"
    try:
        pattern = Pattern(line)
    except (ValueError, re.error):
        return invalid
    if pattern.include is None or pattern.regex is None:
        # git ignores a blank line, a comment, a slash and an unclosed bracket; in a list of patterns it is a mistake.
        return "matches nothing" if not line.strip("/ ") or line.startswith("#") else invalid
    return f"has more than {MOST_STARS} `/**/`" if pattern.regex.pattern.count(_STARS) > MOST_STARS else ""
