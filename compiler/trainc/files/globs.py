"""Globs, matched segment by segment: the wildcards of .gitignore, and those of the targets of patches.

Reads    globs and the names of a path as bytes, as git does.
Returns  which globs of a list match a path, whose names come one after the other. In a segment, only the last star is
         remembered: it takes what is left of a name until the text behind it is found.
Source   git 2.39: wildmatch.c and dir.c.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Segment = bytes | tuple[frozenset[int] | None, ...]
"""What matches a name: its bytes, or the bytes that each place accepts; None is a star."""
Glob = tuple[Segment, ...]

DEEP: Final = b"/"
"""The segment `**`: any number of names. It is never the last one."""
_SLASH: Final = ord("/")
_ESCAPE: Final = ord("\\")
_OPENING: Final = ord("[")
_CLOSING: Final = ord("]")
_DASH: Final = ord("-")
_SEPARATOR: Final = frozenset({_SLASH})
_ALL_BUT_SLASH: Final = frozenset(range(256)) - _SEPARATOR
_BEHIND_TEXT: Final = re.compile(rb"([^*?[\\]*[^*?[\\/])\*\*+(?=(/|\\/|\Z))")
"""`**` that ends a segment, behind the text before the first wildcard of a pattern."""
_DEEP: Final = re.compile(rb"\*\*+(?:(/)|(?=\\/)|\Z)")
"""`**` that ends a segment."""
_DIGITS: Final = b"0123456789"
_LOWER: Final = b"abcdefghijklmnopqrstuvwxyz"
_GRAPHIC: Final = bytes(range(33, 127))
_LETTERS: Final = _LOWER + _LOWER.upper()
_CLASSES: Final = {
    b"alnum": _LETTERS + _DIGITS,
    b"alpha": _LETTERS,
    b"blank": b" \t",
    b"cntrl": bytes([*range(32), 127]),
    b"digit": _DIGITS,
    b"graph": _GRAPHIC,
    b"lower": _LOWER,
    b"print": b" " + _GRAPHIC,
    b"punct": bytes({*_GRAPHIC} - {*_LETTERS, *_DIGITS}),
    b"space": b" \t\r\n",
    b"upper": _LOWER.upper(),
    b"xdigit": _DIGITS + b"abcdefABCDEF",
}
"""The bytes of `[[:alpha:]]` and of the other classes."""


def parse(pattern: bytes) -> Glob:
    """Return a glob in which `**` is a star.

    Raises ValueError for a set without an end or a byte, a reversed range, and an escape at the end.
    """
    return _glob(pattern, is_path=False)


def parse_path(pattern: bytes) -> list[Glob]:
    """Return the globs of which one matches each path that a pattern matches; none if it has an empty segment.

    Raises ValueError as `parse` does. In git, `**` at the end of the first segment with a wildcard also matches the
    rest of a name: `a**/b` matches `ab`, `axb/b` and `ax/y/b`.
    """
    patterns = [pattern]
    if (found := _BEHIND_TEXT.match(pattern)) is not None:
        text, rest = found[1], pattern[found.end() :]
        patterns = [text + b"*/**" + rest]
        if found[2] == b"/":
            patterns.append(text + re.sub(rb"\A/(?:\*\*+/)*", b"", rest))
        elif not rest:
            patterns.append(text + b"*")
    globs = (_glob(each, is_path=True) for each in patterns)
    return [glob for glob in globs if b"" not in glob]


def _glob(pattern: bytes, *, is_path: bool) -> Glob:
    """Return the segments of a pattern. With `is_path`, a whole segment `**` matches any number of names."""
    segments: list[Segment] = []
    tokens: list[frozenset[int] | None] = []
    at = 0
    while at < len(pattern):
        if is_path and not tokens and (deep := _DEEP.match(pattern, at)) is not None:
            segments.append(DEEP)
            if deep[1] is None:  # at the end, and before an escaped slash, it is at least one name
                tokens.append(None)
            at = deep.end()
            continue
        accepted, at = _token(pattern, at)
        if accepted == _SEPARATOR:
            segments.append(_segment(tokens))
            tokens = []
        elif accepted is not None or tokens[-1:] != [None]:
            tokens.append(accepted)
    return (*segments, _segment(tokens))


def _segment(tokens: list[frozenset[int] | None]) -> Segment:
    """Return a segment, as its bytes if it has no wildcard."""
    if all(accepted is not None and len(accepted) == 1 for accepted in tokens):
        return bytes(byte for accepted in tokens for byte in accepted or ())
    return tuple(tokens)


def _token(pattern: bytes, at: int) -> tuple[frozenset[int] | None, int]:
    """Return the bytes that the token at an index accepts, None for a star, and the index after it."""
    match pattern[at]:
        case 0x2A:  # *
            return None, at + 1
        case 0x3F:  # ?
            return _ALL_BUT_SLASH, at + 1
        case 0x5B:  # [
            return _set(pattern, at + 1)
        case 0x5C:  # \
            return frozenset({_byte(pattern, at + 1)}), at + 2
        case byte:
            return frozenset({byte}), at + 1


def _set(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """Return the bytes of the set whose content starts at an index, and the index after it."""
    is_negated = _byte(pattern, at) in b"!^"
    at += is_negated
    accepted = set[int]()
    first: int | None = None
    """The byte that starts a range if `-` follows."""
    is_empty = True
    while is_empty or _byte(pattern, at) != _CLOSING:  # a set begins with its first `]`
        is_empty = False
        byte = _byte(pattern, at)
        if byte == _DASH and first is not None and _byte(pattern, at + 1) != _CLOSING:
            at += 1 + (pattern[at + 1] == _ESCAPE)
            if (last := _byte(pattern, at)) < first:
                raise ValueError
            accepted.update(range(first, last + 1))
            first = None
        elif byte == _OPENING and pattern[at + 1 : at + 2] == b":" and (name := _class(pattern, at + 2)) is not None:
            accepted.update(_CLASSES[name])
            at += len(name) + 3
            first = None
        else:
            at += byte == _ESCAPE
            first = _byte(pattern, at)
            accepted.add(first)
        at += 1
    found = _ALL_BUT_SLASH - accepted if is_negated else accepted - _SEPARATOR
    if not found:
        raise ValueError
    return frozenset(found), at + 1


def _class(pattern: bytes, at: int) -> bytes | None:
    """Return the name of the class at an index; None if it is not one. Raises ValueError if it is unknown."""
    end = pattern.index(b"]", at)
    name = pattern[at : end - 1]
    if end == at or pattern[end - 1] != ord(":"):
        return None
    if name not in _CLASSES:
        raise ValueError
    return name


def _byte(pattern: bytes, at: int) -> int:
    """Return the byte at an index. Raises ValueError at the end."""
    if at >= len(pattern):
        raise ValueError
    return pattern[at]


class GlobList:
    """Globs that are matched together. What is left of them for the entries of a folder is a set of positions."""

    def __init__(self, patterns: Iterable[Sequence[Glob]]) -> None:
        """Number the segments of all patterns, each of which has one or more globs."""
        self._segments: list[Segment | None] = []
        """The segments by position; None is the end of a glob."""
        self._patterns: list[int] = []
        """The index of the pattern of each position."""
        self._starts: list[list[int]] = []
        """The first positions of each pattern."""
        for index, globs in enumerate(patterns):
            self._starts.append([])
            for glob in globs:
                self._starts[index].append(len(self._segments))
                self._segments += (*glob, None)
                self._patterns += [index] * (len(glob) + 1)

    def start(self, patterns: Iterable[int]) -> set[int]:
        """Return the positions of some patterns for the entries of their folder."""
        return self._with_skipped(at for index in patterns for at in self._starts[index])

    def positions_below(self, positions: Iterable[int], name: bytes) -> set[int]:
        """Return the positions for the entries of a folder; `positions` are those for itself."""
        return self._with_skipped(
            at if segment == DEEP else at + 1
            for at in positions
            if (segment := self._segments[at]) is not None and (segment == DEEP or is_match(segment, name))
        )

    def matching(self, positions: Iterable[int], name: bytes) -> Iterator[int]:
        """Yield the indices of the patterns that match an entry."""
        for at in positions:
            segment = self._segments[at]
            if segment is not None and self._segments[at + 1] is None and is_match(segment, name):
                yield self._patterns[at]

    def _with_skipped(self, positions: Iterable[int]) -> set[int]:
        """Return positions with those that follow a `**`, which also matches no name."""
        found = set(positions)
        for position in tuple(found):
            at = position
            while self._segments[at] == DEEP:
                at += 1
                found.add(at)
        return found


def is_match(segment: Segment, name: bytes) -> bool:
    """Return whether a segment matches a name."""
    if isinstance(segment, bytes):
        return segment == name
    place = at = 0
    star: tuple[int, int] | None = None
    """The place behind the last star, and the index in the name up to which the star matches."""
    while place < len(segment) or at < len(name):
        accepted = segment[place] if place < len(segment) else frozenset[int]()
        if accepted is None:
            place += 1
            if place == len(segment):
                return True
            star = place, at
        elif at < len(name) and name[at] in accepted:
            place, at = place + 1, at + 1
        elif star is not None and at < len(name):
            place, at = star = star[0], star[1] + 1
        else:
            return False
    return True


def matches(glob: str, text: str) -> bool:
    """Return whether a glob, which is not a path, matches a whole text; an invalid one matches none."""
    try:
        segments = parse(encoded(glob))
    except ValueError:
        return False
    names = encoded(text).split(b"/")
    return len(segments) == len(names) and all(map(is_match, segments, names))


def encoded(text: str) -> bytes:
    """Return a text as bytes: the name of a file as the file system has it."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
