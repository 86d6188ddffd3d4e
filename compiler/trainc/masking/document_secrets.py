"""Secrets in the text of a document: the values that are masked in its tree.

Reads    a document's text, in any notation of YAML and JSON.
Returns  the ranges in a line of it that are masked. A string is masked as its value is, and its characters are found in
         the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.jsonobjects import JsonNode, without_garbage_collection
from trainc.kubernetes.documents.positions import tree
from trainc.kubernetes.documents.strings import string_at
from trainc.masking.secret_names import SECRET, field_secrecy, names_others
from trainc.masking.text_secrets import (
    NO_WORDS,
    CommandLine,
    command_line,
    in_text,
    in_value,
    in_words,
    is_flag_value,
    joined,
    secret_value,
    unquoted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.documents.positions import PositionNode
    from trainc.masking.secret_names import Secrecy
    from trainc.masking.text_secrets import Stretch

    Value = PositionNode | JsonNode

_LONGEST: Final = 256
"""Maximum length of the name of a variable, field or option."""
_LARGE: Final = 2**16
"""The maximum length of a string whose value is read; in a longer one, the secrets are those of the shown part."""
_KEY: Final = re.compile(
    r"""(?:[\s\[\]},#"'-]++|\{(?!\{))*(?:[^:=\n]*+(?::|=(?!=*+[ \t\r"']*+$)))?\s*+""", re.MULTILINE
)
"""The start of a line up to its first `:` or `=`; in a line without one, the punctuation before its text. A `=` at the
end of a line is no separator: base64 ends with it."""
_KIND: Final = re.compile(r"""(?<![\w.-])(?i:kind)["']?[ \t]*:[ \t]*["']?(\w+)""")


class _Scalar(NamedTuple):
    """A scalar of a text, with its context."""

    begin: int
    end: int
    secret: Secrecy
    line: CommandLine = NO_WORDS
    """The list with it, if it may be a command line."""
    number: int = 0
    """Its index in them."""
    is_collection: bool = False
    """Whether it is a list or mapping in the place of a scalar, which is masked as a whole."""


@lru_cache(maxsize=64)
def secrets(text: str, begin: int, end: int, *, parsed: bool) -> tuple[Stretch, ...]:
    """Return the ranges to mask in a line of a text, or in a part of it; in order, without overlaps.

    parsed    whether the text is a valid document
    """
    root, read = tree(text) if parsed else (None, 0)
    found = list(_unparsed(text, begin, end)) if read < end else []
    at = begin
    scalars = [] if root is None else _scalars_between(text, root, begin, end)
    for scalar in sorted(scalars, key=_begin):
        if scalar.is_collection:
            found.append((scalar.begin, scalar.end))
            continue
        found += _in_part(text, at, scalar.begin)
        found += _in_scalar(text, scalar, begin, end)
        at = max(at, scalar.end)
    return tuple(joined([*found, *_in_part(text, at, end)]))


def _in_part(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets between two values, such as in a comment."""
    return ((begin + a, begin + b) for a, b in in_text(text[begin:end])) if begin < end else iter(())


def _unparsed(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets in a part of a text that cannot be parsed: all values if it may be a Secret."""
    if not _may_be_secret(text):
        known = _unparsed_secrets(text)
        for first, last in known[bisect_right(known, begin, key=itemgetter(1)) :]:
            if first >= end:
                break
            yield max(first, begin), min(last, end)
        return
    at = begin
    for line in text[begin:end].split("\n"):
        start = text.rfind("\n", 0, at) + 1
        key = _KEY.match(text, start, at + len(line))
        yield from secret_value(text, max(at, key.end() if key else at), at + len(line))
        at += len(line) + 1


@lru_cache(maxsize=4)
def _unparsed_secrets(text: str) -> tuple[Stretch, ...]:
    return tuple(joined(in_text(text, broken=True)))


def _may_be_secret(text: str) -> bool:
    """Return whether a text that cannot be parsed may be a Secret, whose data can have any names."""
    kinds = _KIND.findall(text)
    return not kinds or "Secret" in kinds


def _in_scalar(text: str, scalar: _Scalar, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets of a scalar; of a long one, those between two indices."""
    if scalar.end - scalar.begin > _LARGE:
        begin, end = max(begin, scalar.begin), min(end, scalar.end)
        yield from ((begin + a, begin + b) for a, b in in_value(text[begin:end], scalar.secret))
        return
    string = string_at(text, scalar.begin, scalar.end)
    if scalar.line.words:
        found = list(in_words(scalar.line, scalar.number, string.value, scalar.secret))
    else:
        found = list(in_value(string.value, scalar.secret))
    if scalar.secret in SECRET and found == [(0, len(string.value))]:
        yield unquoted(text, scalar.begin, scalar.end)
        return
    for stretch in found:
        begin, end = string.stretch(*stretch)
        yield end - len(text[begin:end].lstrip()), end  # the indentation of a block is no part of its string


def _scalars_between(text: str, root: Value, begin: int, end: int) -> list[_Scalar]:
    """Return the scalars of a text that have a part between two indices."""
    if isinstance(root, JsonNode):
        return list(_scalars(text, root, begin, end))
    found = []
    for known in _all_scalars(text):
        first = bisect_left(known, begin + 1, key=_end)
        found += known[first : bisect_left(known, end, key=_begin)]
    return found


@lru_cache(maxsize=4)
def _all_scalars(text: str) -> tuple[list[_Scalar], list[_Scalar]]:
    """Return the scalars of a text, and the collections in the place of scalars; each in order, without overlaps."""
    root = tree(text).root
    with without_garbage_collection():
        found = [] if isinstance(root, JsonNode) else sorted(_scalars(text, root, 0, len(text)), key=_begin)
    whole = joined((each.begin, each.end) for each in found if each.is_collection)
    collections = [_Scalar(*stretch, "variable", is_collection=True) for stretch in whole]
    return [each for each in found if not each.is_collection], collections


def _end(scalar: _Scalar) -> int:
    return scalar.end


def _begin(scalar: _Scalar) -> int:
    return scalar.begin


def _scalars(text: str, root: Value, begin: int, end: int) -> Iterator[_Scalar]:
    """Yield the scalars with their contexts; of a large JSON text, only those between two indices are read."""
    waiting: list[tuple[Value, _Scalar]] = [(root, _Scalar(0, 0, ""))]
    seen = set()
    while waiting:
        node, context = waiting.pop()
        if isinstance(node, JsonNode) and (node.index >= end or node.end <= begin):
            continue
        secret = context.secret
        visit = id(node), secret, bool(context.line.words) and is_flag_value(context.line.words, context.number)
        if visit in seen:  # by another alias
            continue
        seen.add(visit)
        if node.sequence is None or secret == "variable":
            yield context._replace(begin=node.index, end=node.end, is_collection=node.sequence is not None)
        elif node.sequence:
            fields = node.fields_between(begin, end) if isinstance(node, JsonNode) else node.fields.values()
            items = [field.value for field in fields]
            line = command_line([_word(text, each) for each in items]) if secret in ("", "words") else NO_WORDS
            waiting += [(item, _Scalar(0, 0, secret, line, number)) for number, item in enumerate(items)]
        else:
            pairs = list(_pairs(node))
            names = [(key, _words(text, value)) for key, value in pairs if names_others(key)]
            for key, value in pairs:
                waiting.append((value, _Scalar(0, 0, secret if secret == "data" else field_secrecy(key, names))))


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


def _words(text: str, node: Value) -> object:
    """Return a short scalar, or those of a list."""
    return [_word(text, field.value) for field in node.fields.values()] if node.sequence else _word(text, node)


def _word(text: str, node: Value) -> str:
    """Return a short scalar."""
    is_short = node.sequence is None and node.end - node.index < _LONGEST
    return string_at(text, node.index, node.end).value if is_short else ""
