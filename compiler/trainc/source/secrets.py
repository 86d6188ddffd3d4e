"""Where the secrets of a document stand: the values of variables, fields and flags whose names say so.

Reads a document's text; returns the stretches of a part of it that a report hides. What can be parsed is known by its
structure, however it is written; in the rest, by what stands around a line. `patterns` looks at the line itself.
"""

from __future__ import annotations

from bisect import bisect_left
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.documents.positions import tree
from trainc.source.names import is_secret
from trainc.source.patterns import hidden, in_line, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.documents.positions import Node
    from trainc.source.patterns import Stretch

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl keeps the whole object, secrets and all."""
_NAMES: Final = ("name", "key")
_VALUE: Final = "value"
_ALIKE: Final = 0.7
"""A misspelt `value` is no reason to show it."""
_LONGEST: Final = 256
"""No name of a variable, a field or a flag is as long."""


def secrets(text: str, begin: int, end: int, *, parsed: bool) -> list[Stretch]:
    """What to hide of one line of a text, or of a part of it; in order, and none within another.

    parsed    whether the text is a document without errors: only then its structure says all
    """
    known = _in_structure(text)
    first = bisect_left(known, begin, key=lambda stretch: stretch[1])
    found = [(begin + a, begin + b) for a, b in in_line(text[begin:end])]
    for stretch in known[first:]:
        if stretch[0] >= end:
            break
        found.append(stretch)
    if not parsed or end > tree(text).read:
        from trainc.source.surroundings import in_broken_line

        found += in_broken_line(text, begin, end)
    return list(joined(found))


@lru_cache(maxsize=4)
def _in_structure(text: str) -> list[Stretch]:
    """The secrets of a text by its structure, as far as it can be parsed; in order, and none within another."""
    found: list[Stretch] = []
    waiting = [tree(text).root]
    seen = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        found += _in_list(text, node) if node.sequence else _in_mapping(text, node)
        waiting += [field.value for field in node.fields.values() if field.value.sequence is not None]
        waiting += node.merges
    return list(joined(found))


def _in_list(text: str, node: Node) -> Iterator[Stretch]:
    """The word behind a flag: [--token, abc]."""
    flag = False
    for _, _, item in node.fields.values():
        word = _word(text, item)
        if flag and not word.startswith("-"):
            yield from _whole(text, item)
        flag = word.startswith("-") and "=" not in word and is_secret(word)


def _in_mapping(text: str, node: Node) -> Iterator[Stretch]:
    fields = node.fields
    named = any(is_secret(_word(text, field.value)) for key, field in fields.items() if _is_like(str(key), *_NAMES))
    secret = "kind" in fields and _word(text, fields["kind"].value) == "Secret"
    for key, (_, _, value) in fields.items():
        if key == LAST_APPLIED or (named and _is_like(str(key), _VALUE) and key != "valueFrom"):
            yield from _whole(text, value)
        elif key == "stringData" or (secret and key == "data"):
            for field in value.fields.values():
                yield from _whole(text, field.value)
        elif is_secret(str(key)):
            yield from _scalars(text, value)


@lru_cache(maxsize=4096)
def _is_like(key: str, *words: str) -> bool:
    """Whether a key is one of these words, or was meant to be."""
    return any(key == word or SequenceMatcher(None, key.lower(), word).ratio() > _ALIKE for word in words)


def _scalars(text: str, value: Node) -> Iterator[Stretch]:
    """A scalar, or the scalars of a list; fields of a mapping have names of their own."""
    for node in [field.value for field in value.fields.values()] if value.sequence else [value]:
        if node.sequence is None:
            yield from _whole(text, node)


def _whole(text: str, node: Node) -> Iterator[Stretch]:
    return hidden(text, node.index, node.end)


def _word(text: str, node: Node) -> str:
    """A short scalar without its quotes."""
    literal = text[node.index : node.end] if node.sequence is None and node.end - node.index < _LONGEST else ""
    return literal.strip("\"'")
