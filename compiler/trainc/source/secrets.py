"""Positions of the secrets in a document's text, by the rules of `masking`.

Reads    a document's text.
Returns  the ranges in a line of it that a report masks. The names in a text are found in any notation of YAML and JSON.
         A string is masked as its value is, and its characters are found in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents import YamlError, parse
from trainc.kubernetes.documents.jsonobjects import JsonNode, without_garbage_collection
from trainc.kubernetes.documents.positions import tree
from trainc.kubernetes.documents.strings import string_at
from trainc.source.command_lines import FAR, first_word, in_argument, in_command, is_value
from trainc.source.patterns import hidden, in_line, joined
from trainc.source.secrecy import NAMED, field_secrecy, item_secrecy, names_others

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.documents.positions import PositionNode
    from trainc.source.patterns import Stretch
    from trainc.source.secrecy import Secrecy

    Value = PositionNode | JsonNode

_LONGEST: Final = 256
"""Maximum length of the name of a variable, field or option."""
_LARGEST: Final = 2**20
"""The maximum length of a document in a string."""
_LARGE: Final = 2**16
"""The maximum length of a string whose value is read; in a longer one, the secrets are those of the shown part."""
_KEY: Final = re.compile(
    r"""(?:[\s\[\]},#"'-]++|\{(?!\{))*(?:[^:=\n]*+(?::|=(?!=*+[ \t\r"']*+$)))?\s*+""", re.MULTILINE
)
"""The start of a line up to its first `:` or `=`; in a line without one, the punctuation before its text. A `=` at the
end of a line is no separator: base64 ends with it."""

_PUBLIC: Final = re.compile(
    r"""[\s"'-]*+(?:apiVersion|image|imagePullPolicy|kind|name|namespace|numNodes|numProcPerNode|replicas|restartPolicy)
    ["']?:[ \t]++[\["']*+[\w./:@-]++[\]"',]*+\s*+""",
    re.VERBOSE,
)
"""A line with a field that has no secret, and one word as its value."""


class _Scalar(NamedTuple):
    """A scalar of a text, with its context."""

    begin: int
    end: int
    secret: Secrecy
    items: Sequence[str] = ()
    """The items of its list, if it is one."""
    number: int = 0
    """Its index in that list."""
    is_collection: bool = False
    """Whether it is a list or mapping in the place of a scalar, which is masked as a whole."""


@lru_cache(maxsize=64)
def secrets(text: str, begin: int, end: int, *, parsed: bool) -> tuple[Stretch, ...]:
    """Return the ranges to mask in a line of a text, or in a part of it; in order, without overlaps.

    parsed    whether the text is a valid document
    """
    root, read = tree(text) if parsed else (None, 0)
    found = list(_all_but_the_key(text, begin, end)) if read < end else []
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


def in_text(text: str, secret: Secrecy) -> Iterator[Stretch]:
    """Yield the secrets in a string, by its context; switches and references are not secrets."""
    if secret in NAMED:
        yield from hidden(text, 0, len(text), literal=secret == "data")
    elif secret in ("command", "item"):
        yield from in_command(text)
        if secret == "item" and not text.startswith("-"):
            yield from first_word(text, 0, len(text))
    elif secret == "patch" and len(text) <= _LARGEST:
        yield from in_document(text)
    else:
        yield from in_line(text)


def in_document(text: str) -> Iterator[Stretch]:
    """Yield the secrets in the text of a document, such as a patch in a string."""
    try:
        parse(text)
        parsed = True
    except YamlError:
        parsed = False
    begin = 0
    for line in text.split("\n"):
        yield from secrets(text, begin, begin + len(line), parsed=parsed)
        begin += len(line) + 1


def _in_part(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets between two values, such as in a comment."""
    return ((begin + a, begin + b) for a, b in in_line(text[begin:end])) if begin < end else iter(())


def _all_but_the_key(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the part of an unparsable line that is not its key; `begin` and `end` may be inside the line."""
    first = text.rfind("\n", 0, begin) + 1
    if _PUBLIC.fullmatch(text, first, end) and not _has_secret(text):
        return iter(())
    key = _KEY.match(text, first, end)
    return hidden(text, max(begin, key.end() if key else begin), end)


@lru_cache(maxsize=4)
def _has_secret(text: str) -> bool:
    """Return whether a text may have a Secret, whose data can have any names."""
    return "Secret" in text


def _in_scalar(text: str, scalar: _Scalar, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets of a scalar; of a long one, those between two indices."""
    if scalar.end - scalar.begin > (_LARGEST if scalar.secret == "patch" else _LARGE):
        begin, end = max(begin, scalar.begin), min(end, scalar.end)
        context: Secrecy = "command" if scalar.items else scalar.secret
        yield from ((begin + a, begin + b) for a, b in in_text(text[begin:end], context))
        return
    string = string_at(text, scalar.begin, scalar.end)
    if scalar.secret in NAMED and list(in_text(string.value, scalar.secret)) == [(0, len(string.value))]:
        yield from hidden(text, scalar.begin, scalar.end, literal=True)
        return
    if scalar.items:
        before = scalar.items[max(scalar.number - FAR, 0) : scalar.number]
        found = in_argument([*before, string.value], len(before))
    else:
        found = in_text(string.value, scalar.secret)
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
        visit = id(node), secret, is_value(context.items, context.number)
        if visit in seen:  # by another alias
            continue
        seen.add(visit)
        if node.sequence is None or secret == "variable":
            yield context._replace(begin=node.index, end=node.end, is_collection=node.sequence is not None)
        elif node.sequence:
            fields = node.fields_between(begin, end) if isinstance(node, JsonNode) else node.fields.values()
            items = [field.value for field in fields]
            words = [_word(text, item) for item in items]
            for index, item in enumerate(items):
                if secret in NAMED:
                    waiting.append((item, _Scalar(0, 0, secret)))
                elif item.sequence is None:
                    waiting.append((item, _Scalar(0, 0, "", words, index)))
                else:
                    waiting.append((item, _Scalar(0, 0, item_secrecy(words, index))))
        else:
            pairs = list(_pairs(node))
            names = [(key, _word(text, value)) for key, value in pairs if names_others(key)]
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


def _word(text: str, node: Value) -> str:
    """Return a short scalar."""
    is_short = node.sequence is None and node.end - node.index < _LONGEST
    return string_at(text, node.index, node.end).value if is_short else ""
