"""Patterns of .gitignore, compiled by pathspec to regular expressions whose time is bounded.

Reads    the lines of a list of patterns, which may be untrusted: a repository has its own trainc.yaml.
Returns  a spec that matches the same paths as pathspec's, or the reason why a line is not a pattern.
Source   gitignore(5).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_STARS: Final = 2
"""The maximum number of `**` between other segments: the time of a match grows with this power of the path's length."""
_STAR: Final = r"\[\^/\]\*"
_CHARACTER: Final = r"(?:\\.|\[(?!\^/\][*+])(?:\\.|[^\]\\])+\]|[^\\\[/()|$^])"
_STAR_BEFORE_STAR: Final = re.compile(rf"{_STAR}({_CHARACTER}*)(?={_STAR})")
_STARS: Final = "(?:/.+)?/"


class Pattern(GitIgnoreSpecPattern):
    """A pattern that matches the same paths as pathspec's, in linear time within a segment.

    Between two `*` of a segment, the first match of the text is as good as any later one, so that there is no reason to
    try the others.
    """

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> tuple[Any, bool | None]:
        """Return a pattern's regular expression, and whether it excludes."""
        regex, include = super().pattern_to_regex(pattern)
        return (None if regex is None else _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", regex)), include


def spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """Return the compiled patterns. Raises ValueError or re.error for an invalid one."""
    return GitIgnoreSpec.from_lines(lines, pattern_factory=Pattern)


def reason(line: str) -> str:
    """Return why a line is not a valid pattern; empty if it is valid.

    >>> reason("vendor/"), reason("!"), reason("[z-a]")
    ('', 'is not a valid .gitignore pattern', 'is not a valid .gitignore pattern')
    """
    invalid = "is not a valid .gitignore pattern"
    try:
        patterns = spec((line,)).patterns
    except (ValueError, re.error):
        return invalid
    if not patterns or patterns[0].include is None:
        # git ignores a blank line, a comment, a slash and an unclosed bracket; in a list of patterns it is a mistake.
        return "matches nothing" if not line.strip("/ ") or line.startswith("#") else invalid
    regex = Pattern.pattern_to_regex(line)[0] or ""
    return f"has more than {MOST_STARS} `/**/`" if regex.count(_STARS) > MOST_STARS else ""
