"""Positions of the secrets in a document: the values of variables, fields and flags with secret names.

Reads a document's text; returns the ranges in a part of it that a report masks. In text that can be parsed, secrets are
found by structure, in any notation; in other text, by the lines around them. `patterns` checks the line itself.
"""

from __future__ import annotations

from bisect import bisect_left
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from trainc.kubernetes.documents.jsontree import JsonNode, uncollected
from trainc.kubernetes.documents.positions import tree
from trainc.source.names import LAST_APPLIED, is_secret
from trainc.source.patterns import hidden, in_line, is_script, joined, login, private_keys, whole_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.kubernetes.documents.jsontree import JsonField
    from trainc.kubernetes.documents.positions import Node, PositionedKey
    from trainc.source.patterns import Stretch

    Value = Node | JsonNode

_Role = Literal["", "name", "value", "kind", "data", "fields", "whole", "secret", "address"]
_ROLES: Final[dict[str, _Role]] = {
    "name": "name",
    "key": "name",
    "value": "value",
    "valueFrom": "",
    "kind": "kind",
    "data": "data",
    "stringData": "fields",
    LAST_APPLIED: "whole",
}
"""The roles of fields by name: in a variable, a Secret or an annotation."""
_MISSPELLED: Final[dict[str, _Role]] = {"value": "value", "name": "name"}
"""Fields that are also recognized if misspelled, so that the other field of the pair stays masked."""
_SIMILAR: Final = 0.7
_LARGE: Final = 2**20
"""An unparsable text of at least this many characters is not parsed again."""
_LONGEST: Final = 256
"""Maximum length of the name of a variable, field or flag."""


@lru_cache(maxsize=64)
def secrets(text: str, begin: int, end: int, *, parsed: bool) -> tuple[Stretch, ...]:
    """Return the ranges to mask in a line of a text, or in a part of it; in order, without overlaps.

    parsed    whether the text is a valid document; only then is its structure sufficient
    """
    found = [(begin + a, begin + b) for a, b in in_line(text[begin:end])]
    found += _private_keys(text, begin, end)
    whole = parsed
    if parsed or len(text) < _LARGE:
        root, read = tree(text)
        known = list(joined(_within(text, root, begin, end))) if isinstance(root, JsonNode) else _in_structure(text)
        first = bisect_left(known, begin, key=lambda stretch: stretch[1])
        found += known[first : bisect_left(known, end, key=lambda stretch: stretch[0])]
        whole = parsed and end <= read
    if not whole:
        from trainc.source.masking_heuristics import in_broken_line

        found += in_broken_line(text, begin, end)
    return tuple(joined(found))


def _private_keys(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the parts of private keys, which have several lines, in a line of a text; without its indentation."""
    for first, last in _all_private_keys(text) if "PRIVATE KEY" in text else ():
        low, high = max(first, begin), min(last, end)
        low += len(text[low:high]) - len(text[low:high].lstrip())
        if low < high:
            yield low, high


@lru_cache(maxsize=4)
def _all_private_keys(text: str) -> tuple[Stretch, ...]:
    return tuple(private_keys(text))


def _within(text: str, node: JsonNode, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets between two indices by structure; JSON is read only up to there."""
    fields = node.near(begin, end) if node.sequence else list(node.fields.values())
    yield from _in_list(text, fields) if node.sequence else _in_mapping(text, node)
    for _, _, value in fields:
        if value.sequence is not None and value.index < end and value.end > begin:
            yield from _within(text, value, begin, end)


@lru_cache(maxsize=4)
def _in_structure(text: str) -> list[Stretch]:
    """Return the secrets in the parsable part of a text by structure; in order, without overlaps."""
    with uncollected():
        return list(joined(_everywhere(text)))


def _everywhere(text: str) -> Iterator[Stretch]:
    waiting = [tree(text).root]
    seen = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield from _in_list(text, list(node.fields.values())) if node.sequence else _in_mapping(text, node)
        waiting += [value for _, _, value in node.fields.values() if value.sequence is not None]
        waiting += [value for _, value in node.duplicates if value.sequence is not None]
        waiting += node.merges


def _in_list(text: str, items: Sequence[PositionedKey | JsonField]) -> Iterator[Stretch]:
    """Yield the secrets in a command line: the word after a flag, a flag with its value, a login."""
    before: list[str] = []
    for _, _, item in items:
        word = _word(text, item)
        flag = before[-1] if before else ""
        if flag.startswith("-") and "=" not in flag and is_secret(flag) and not word.startswith("-"):
            yield from _whole(text, item)
        elif word and not is_script(before, len(before)):
            begin = text.index(word, item.index)
            for stretch in (whole_word(word), login(before, word)):
                if stretch is not None:
                    yield from hidden(text, begin + stretch[0], begin + stretch[1])
        before.append(word)


def _pairs(node: Value) -> Iterator[tuple[str, Value]]:
    """Yield the fields of a mapping, those with duplicate keys, and merged ones."""
    waiting, seen = [node], set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if found.sequence:  # <<: [*a, *b]
            waiting += [item.value for item in found.fields.values()]
            continue
        yield from ((str(key), field.value) for key, field in found.fields.items())
        yield from found.duplicates
        waiting += found.merges


def _in_mapping(text: str, node: Value) -> Iterator[Stretch]:
    roles = [(role, value) for key, value in _pairs(node) if (role := _role(key))]
    for role, value in roles:
        if role == "whole":
            yield from _literal(text, value)
        elif role == "value" and _has_value(text, roles, "name", is_secret):
            yield from _whole(text, value)
        elif role == "fields" or (role == "data" and _has_value(text, roles, "kind", "Secret".__eq__)):
            for _, field in _pairs(value):
                yield from _literal(text, field)
        elif role == "secret":
            yield from _scalars(text, value)
        elif role == "address":
            yield from _user(text, value)


def _has_value(text: str, roles: Sequence[tuple[_Role, Value]], role: _Role, test: Callable[[str], bool]) -> bool:
    """Whether a field with that role has a value that passes a test."""
    return any(test(_word(text, value)) for other, value in roles if other == role)


@lru_cache(maxsize=2**16)
def _role(key: str) -> _Role:
    """Return the role of a field, for itself or for the other fields of its mapping."""
    for word, role in _ROLES.items():
        if key == word:
            return role
    if is_secret(key):
        return "secret"
    if key.lower().endswith(("uri", "url")):
        return "address"
    return next((role for word, role in _MISSPELLED.items() if _is_like(key, word)), "")


def _is_like(key: str, word: str) -> bool:
    return SequenceMatcher(None, key.lower(), word).ratio() > _SIMILAR


def _scalars(text: str, value: Value) -> Iterator[Stretch]:
    """Yield a scalar, or the scalars of a list; the fields of a mapping have their own names."""
    for node in [field.value for field in value.fields.values()] if value.sequence else [value]:
        if node.sequence is None:
            yield from _whole(text, node)


def _user(text: str, value: Value) -> Iterator[Stretch]:
    """Yield the part before the @ of an address without a scheme; `patterns` handles addresses with one."""
    word = _word(text, value)
    before, at, _ = word.rpartition("@")
    if at and "://" not in word:
        begin = text.index(word, value.index)
        yield from hidden(text, begin, begin + len(before))


def _whole(text: str, node: Value) -> Iterator[Stretch]:
    return hidden(text, node.index, node.end)


def _literal(text: str, node: Value) -> Iterator[Stretch]:
    """Yield a value that is a secret whatever it contains."""
    return hidden(text, node.index, node.end, literal=True)


def _word(text: str, node: Value) -> str:
    """Return a short scalar without its quotes."""
    literal = text[node.index : node.end] if node.sequence is None and node.end - node.index < _LONGEST else ""
    return literal.strip("\"'")
