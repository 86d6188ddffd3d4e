"""Positions of the secrets in a document's text, by the rules of `masking`.

Reads    a document's text.
Returns  the ranges in a line of it that a report masks. The names in a text are found in any notation of YAML and JSON.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.documents.jsontree import JsonNode, without_garbage_collection
from trainc.kubernetes.documents.positions import tree
from trainc.source.masking import field_secrecy, item_secrecy, role_of
from trainc.source.patterns import hidden, in_item, in_line, joined, private_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.documents.positions import PositionNode
    from trainc.source.masking import Secrecy
    from trainc.source.patterns import Stretch

    Value = PositionNode | JsonNode

_LONGEST: Final = 256
"""Maximum length of the name of a variable, field or option."""
_KEY: Final = re.compile(r"""(?:[\s\[\]},#"'-]|\{(?!\{))*+(?:[^:=\n]*+(?::|=(?!=*+[ \t\r"']*+$)))?\s*+""", re.MULTILINE)
"""The start of a line up to its first `:` or `=`; in a line without one, the punctuation before its text. A `=` at the
end of a line is no separator: base64 ends with it."""


@lru_cache(maxsize=64)
def secrets(text: str, begin: int, end: int, *, parsed: bool) -> tuple[Stretch, ...]:
    """Return the ranges to mask in a line of a text, or in a part of it; in order, without overlaps.

    parsed    whether the text is a valid document
    """
    found = [(begin + a, begin + b) for a, b in in_line(text[begin:end])]
    root, read = tree(text) if parsed else (None, 0)
    if read < end:
        found += _all_but_the_key(text, begin, end)
    if isinstance(root, JsonNode):
        found += _named(text, root, begin, end)
    known = _secrets_in_text(text) if parsed else []
    first = bisect_left(known, begin, key=lambda stretch: stretch[1])
    return tuple(joined([*found, *known[first : bisect_left(known, end, key=lambda stretch: stretch[0])]]))


def _all_but_the_key(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the part of an unparsable line that is not its key; `begin` and `end` may be inside the line."""
    key = _KEY.match(text, text.rfind("\n", 0, begin) + 1, end)
    return hidden(text, max(begin, key.end() if key else begin), end)


@lru_cache(maxsize=4)
def _secrets_in_text(text: str) -> list[Stretch]:
    """Return the secrets of a text that may have several lines, but of a large JSON text only the private keys."""
    root = tree(text).root
    with without_garbage_collection():
        named = () if isinstance(root, JsonNode) else _named(text, root, 0, len(text))
        return list(joined(chain(private_keys(text), named)))


def _named(text: str, root: Value, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the values with secret names; of a large JSON text, only those between two indices are read."""
    waiting: list[tuple[Value, Secrecy]] = [(root, "")]
    seen = set()
    while waiting:
        node, secret = waiting.pop()
        if (id(node), secret) in seen or (isinstance(node, JsonNode) and (node.index >= end or node.end <= begin)):
            continue
        seen.add((id(node), secret))
        if secret and (node.sequence is None or secret == "variable"):
            yield from hidden(text, node.index, node.end, literal=secret == "data")
        elif node.sequence:
            fields = node.fields_between(begin, end) if isinstance(node, JsonNode) else node.fields.values()
            items = [field.value for field in fields]
            words = [_word(text, item) for item in items]
            waiting += [(item, secret or item_secrecy(words, index)) for index, item in enumerate(items)]
            yield from _in_items(text, items, words)
        elif node.sequence is not None:
            pairs = list(_pairs(node))
            names = [(key, _word(text, value)) for key, value in pairs if key == "kind" or role_of(key) == "name"]
            waiting += [(value, secret if secret == "data" else field_secrecy(key, names)) for key, value in pairs]


def _in_items(text: str, items: list[Value], words: list[str]) -> Iterator[Stretch]:
    for index, word in enumerate(words):
        for begin, end in in_item(words, index) if word else ():
            shift = text.index(word, items[index].index)
            yield shift + begin, shift + end


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


def _word(text: str, node: Value) -> str:
    """Return a short scalar without its quotes."""
    literal = text[node.index : node.end] if node.sequence is None and node.end - node.index < _LONGEST else ""
    return literal.strip("\"'")
