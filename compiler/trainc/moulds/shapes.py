"""The shape of a TrainJob: its text as an expression, with groups for its values.

Reads    a text that `documents.blocks` reads: every scalar stands on one line.
Returns  expressions for the texts that differ from it in values alone. Keys, indentation and the order of fields are
         constants, and so are the values that decide how others are looked at; a group is a word (`places`), a number,
         or a comment, which nobody reads.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from trainc.frontends import VERSION
from trainc.kubernetes.documents import blocks
from trainc.kubernetes.documents.scalars import WORDS
from trainc.kubernetes.trees import get
from trainc.moulds.places import LABEL, NAME, NAMESPACE, NUMBER, RUNTIME, RUNTIME_NAME, TEXT, Kind, kind
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.kubernetes.trees import Path
    from trainc.moulds.casts import Mould

    Groups = tuple[str, ...]

ROOM: Final = 8
"""A word is at most as long as that of the first job, rounded up to so many characters."""
SHORT: Final = 16
"""Shorter ones may be as long as this."""
LONG: Final = 40
"""Longer ones have no room: the limits of names and labels are near, and the probe must not meet them."""
COMMENT: Final = "#[ -~]*"
_KEYS: Final = r"^ *+(?:- ++)*+(?:[^\s:]++:)?"
"""The start of each line: its indentation, and its key."""


class Word(NamedTuple):
    """A group that is a word."""

    path: Path
    kind: Kind
    most: int
    """How many characters it has at most."""
    before: str
    """What stands before it in the same scalar."""


class Group(NamedTuple):
    """A stretch of the text that is no constant."""

    begin: int
    end: int
    expression: str
    word: Word | None = None
    """None for a number or comment."""
    bare: bool = False
    """Whether it is, or will be, written without quotes, and so must not be `yes` or `null`."""


class Shape:
    """The texts of one shape. There are a few in a run; they are compared by identity."""

    __slots__ = (
        "_bare_of",
        "_filled",
        "_order",
        "_skim",
        "comments_of",
        "failures",
        "moulds",
        "name",
        "namespace",
        "numbers_of",
        "said_namespace",
        "words",
        "words_of",
    )

    def __init__(self, text: str, groups: list[Group], said_namespace: str) -> None:
        """`said_namespace` is the namespace that the text says where that is a constant."""
        ends = [0, *(group.end for group in groups)]
        constants = [text[end:begin] for end, begin in zip(ends, (*(g.begin for g in groups), len(text)), strict=True)]
        # What is between the groups is skipped by its length, and seen to be right when the text is filled in again:
        # an expression with all constants takes some milliseconds to be compiled. No group gives back what it took.
        between = [f".{{{len(constant)}}}" for constant in constants]
        expressions = [*(f"((?>{group.expression}))" for group in groups), ""]
        whole = "".join(part for pair in zip(between, expressions, strict=True) for part in pair)
        self._skim = re.compile(whole, re.DOTALL).fullmatch
        self._filled = "%s".join(constant.replace("%", "%%") for constant in constants)
        self.words = [group.word for group in groups if group.word is not None]
        words = [at for at, group in enumerate(groups) if group.word is not None]
        comments = [at for at, group in enumerate(groups) if group.expression == COMMENT]
        numbers = sorted({*range(len(groups))}.difference(words, comments))
        self.words_of, self.numbers_of, self.comments_of = map(picker, (words, numbers, comments))
        self._bare_of = picker([at for at, group in enumerate(groups) if group.bare])
        self._order = [*words, *numbers, *comments]
        paths = [word.path for word in self.words]
        self.name = paths.index(NAME)
        self.namespace = paths.index(NAMESPACE) if NAMESPACE in paths else None
        self.said_namespace = said_namespace
        self.moulds: list[tuple[Groups, Mould]] = []
        """Those that a probe was made for, with their numbers."""
        self.failures = 0
        """How many probes were in vain."""

    def values(self, text: str) -> Groups | None:
        """What the groups are in a text; None where it is of another shape."""
        match = self._skim(text)
        if match is None:
            return None
        values = match.groups()
        if self._filled % values != text or not WORDS.keys().isdisjoint(self._bare_of(values)):
            return None
        return values

    def text(self, words: Groups, numbers: Groups, comments: Groups) -> str:
        """The text with these values."""
        values = dict(zip(self._order, (*words, *numbers, *comments), strict=True))
        return self._filled % tuple(values[at] for at in range(len(values)))


def picker(places: list[int]) -> Callable[[Sequence[str]], Groups]:
    """What picks these of some values, as a tuple in any case."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[at] for at in places)


def signature(text: str) -> str:
    """The text without its values: texts of one shape have one signature, and nearly the other way round."""
    return "\n".join(re.findall(_KEYS, text, flags=re.MULTILINE))


def shape_of(text: str) -> Shape | None:
    """The shape of a TrainJob's text; None where it has none: it is not plain to read, or its name is no word."""
    job = blocks.read(text)
    if not isinstance(job, dict) or (job.get("apiVersion"), job.get("kind")) != (VERSION, "TrainJob"):
        return None
    stands = blocks.scalars(text)
    found = [(path, leaf) for path, leaf in leaves(job) if leaf is not None]
    if len(stands) != len(found):
        return None
    groups: list[Group] = []
    behind = 0
    for (begin, end), (path, leaf) in zip(stands, found, strict=True):
        if blocks.value(text[begin:end]) != leaf:
            return None
        groups += _comments(text, behind, begin)
        if group := _group(text[begin:end], begin, path, job):
            groups.append(group)
        behind = end
    groups += _comments(text, behind, len(text))
    if not any(group.word and group.word.path == NAME for group in groups):
        return None
    namespace = get(job, NAMESPACE, "")
    return Shape(text, groups, namespace) if isinstance(namespace, str) else None


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The scalars of a tree, in the order of its text."""
    if isinstance(node, dict | list):
        for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(inner, (*path, key))
    else:
        yield path, node


def _comments(text: str, begin: int, end: int) -> list[Group]:
    """The comments of a stretch without scalars."""
    found = re.compile(COMMENT).finditer(text, begin, end)
    return [Group(comment.start(), comment.end(), COMMENT) for comment in found]


def _group(raw: str, begin: int, path: Path, job: Any) -> Group | None:
    """The group of a scalar; None for a constant."""
    quotes = 1 if raw[0] in "\"'" else 0
    said = raw[quotes : len(raw) - quotes]
    begin += quotes
    found = kind(path, job)
    if found is not None and (before := re.match(found.before, said)):
        text = said[before.end() :]
        most = len(text) if len(text) > LONG else max(SHORT, -(-len(text) // ROOM) * ROOM)
        expression = (found.quoted if quotes else found.plain).format(most=most, rest=most - 1)
        if re.fullmatch(expression, text):
            word = Word(path, found, most, before[0])
            bare = found is LABEL or (found is TEXT and not quotes)
            return Group(begin + before.end(), begin + len(said), expression, word, bare)
    if path[0] == "spec":
        expression = RUNTIME_NAME if path == RUNTIME else NUMBER
        if re.fullmatch(expression, said):
            return Group(begin, begin + len(said), expression)
    return None
