"""Globs, matched in linear time: the wildcards of .gitignore, and those of the targets of patches.

Reads    globs and texts as bytes, as git does.
Returns  which globs of a list match a text. All globs of a list are one automaton, whose states are the bits of an
         integer: a byte of a text takes a few operations on it, however many ways there are to match.
Source   git 2.39: wildmatch.c and dir.c.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SLASH: Final = ord("/")
_STAR: Final = ord("*")
_ESCAPE: Final = ord("\\")
_OPENING: Final = ord("[")
_CLOSING: Final = ord("]")
_DASH: Final = ord("-")
_SPECIAL: Final = b"*?[\\"
SLASH: Final = frozenset({_SLASH})
"""The token of a slash."""
_ALL_BUT_SLASH: Final = frozenset(range(256)) - SLASH
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


class Glob(NamedTuple):
    """A parsed glob. State `n` is reached by a text that matches the first `n` tokens."""

    tokens: tuple[frozenset[int], ...]
    """The bytes that each token accepts."""
    stars: frozenset[int] = frozenset()
    """The states that any byte but a slash keeps: those before the token that follows `*`."""
    deep: frozenset[int] = frozenset()
    """The states that any byte keeps: those before the slash that follows `**`, or at the end."""
    skipped: frozenset[int] = frozenset()
    """The states with which the next one is reached: `**/` also matches nothing."""


def parse(pattern: bytes, *, is_path: bool = False) -> Glob:
    """Return a glob. Raises ValueError for a set without an end or a byte, a reversed range, and an escape at the end.

    With `is_path`, `**` matches slashes if it is a whole segment. As in git, its segment may also begin with the text
    before the first wildcard of the pattern.
    """
    tokens: list[frozenset[int]] = []
    stars, deep, skipped = set[int](), set[int](), set[int]()
    start = next((at for at, byte in enumerate(pattern) if byte in _SPECIAL), len(pattern))
    at = 0
    while at < len(pattern):
        if pattern[at] == _STAR:
            end = at
            while pattern[end : end + 1] == b"*":
                end += 1
            is_whole = is_path and end - at > 1 and (at == start or pattern[at - 1] == _SLASH)
            if not (is_whole and _ends_segment(pattern, end)):
                stars.add(len(tokens))
            elif pattern[end : end + 1] == b"/":
                if len(tokens) - 1 in skipped:  # `**/**/` is `**/`
                    end += 1
                else:
                    skipped.add(len(tokens))
                    deep.add(len(tokens))
            else:
                deep.add(len(tokens))
            at = end
        else:
            accepted, at = _token(pattern, at)
            tokens.append(accepted)
    return Glob(tuple(tokens), frozenset(stars), frozenset(deep), frozenset(skipped))


def _ends_segment(pattern: bytes, at: int) -> bool:
    """Whether a slash, or nothing, is at an index."""
    return at == len(pattern) or pattern[at] == _SLASH or pattern[at : at + 2] == b"\\/"


def _token(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """Return the bytes that the token at an index accepts, and the index after it."""
    match pattern[at]:
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
    found = _ALL_BUT_SLASH - accepted if is_negated else accepted - SLASH
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


class Automaton:
    """Globs that are matched together. A state of the automaton is a set of states of the globs, as an integer."""

    def __init__(self, globs: Sequence[Glob]) -> None:
        self._positions: dict[frozenset[int], list[int]] = {}
        """The states before the tokens that accept the same bytes."""
        self.starts: list[int] = []
        """The first state of each glob."""
        stars, deep, skipped, ends = list[int](), list[int](), list[int](), list[int]()
        size = 0
        for glob in globs:
            self.starts.append(size)
            stars += (size + state for state in glob.stars)
            deep += (size + state for state in glob.deep)
            skipped += (size + state for state in glob.skipped)
            for state, accepted in enumerate(glob.tokens, size):
                self._positions.setdefault(accepted, []).append(state)
            size += len(glob.tokens) + 1
            ends.append(size - 1)
        self._size = size
        self._glob_of_end = {end: index for index, end in enumerate(ends)}
        self._deep, self._skipped = self._bits(deep), self._bits(skipped)
        self._kept = self._deep | self._bits(stars)
        self._accepting: dict[int, int] = {}
        """The states before the tokens that accept a byte, for each byte of the texts."""

    def start(self, globs: Iterable[int]) -> int:
        """Return the state for an empty text of some globs."""
        return self._with_skipped(self._bits(self.starts[glob] for glob in globs))

    def ends(self, globs: Iterable[int]) -> int:
        """Return the states in which some globs match."""
        following = [*self.starts[1:], self._size]
        return self._bits(following[glob] - 1 for glob in globs)

    def advance(self, state: int, text: bytes) -> int:
        """Return the state after a text."""
        for byte in text:
            accepting = self._accepting.get(byte)
            if accepting is None:
                accepting = self._accepting[byte] = self._accepting_states(byte)
            kept = state & (self._deep if byte == _SLASH else self._kept)
            state = kept | self._with_skipped((state & accepting) << 1)
            if not state:
                break
        return state

    def last(self, state: int, ends: int) -> int | None:
        """Return the last glob that matches in a state, of those with some ends; None if none does."""
        matching = state & ends
        return self._glob_of_end[matching.bit_length() - 1] if matching else None

    def matching(self, state: int, ends: int) -> Iterator[int]:
        """Yield the globs that match in a state, of those with some ends, the last one first."""
        bits = f"{state & ends:b}"
        at = bits.find("1")
        while at >= 0:
            yield self._glob_of_end[len(bits) - 1 - at]
            at = bits.find("1", at + 1)

    def _with_skipped(self, reached: int) -> int:
        """Return states that a text reached, and those that it thereby also reaches."""
        return reached | (reached & self._skipped) << 1

    def _accepting_states(self, byte: int) -> int:
        return self._bits(state for accepted, states in self._positions.items() if byte in accepted for state in states)

    def _bits(self, positions: Iterable[int]) -> int:
        """Return the integer with some bits."""
        found = bytearray(self._size // 8 + 1)
        for position in positions:
            found[position >> 3] |= 1 << (position & 7)
        return int.from_bytes(found, "little")


def matches(glob: str, text: str) -> bool:
    """Return whether a glob, which is not a path, matches a whole text; an invalid one matches none."""
    automaton = _automaton(glob)
    if automaton is None:
        return False
    return automaton.last(automaton.advance(automaton.start([0]), encoded(text)), automaton.ends([0])) is not None


@lru_cache(maxsize=1024)
def _automaton(glob: str) -> Automaton | None:
    """Return the automaton of one glob; None if it is invalid."""
    try:
        return Automaton([parse(encoded(glob))])
    except ValueError:
        return None


def encoded(text: str) -> bytes:
    """Return a text as bytes: the name of a file as the file system has it."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
