"""Messages without secrets: a message may quote the value that it complains of.

Reads a located diagnostic; returns it with `***` for what is hidden where it points, and for what looks like a secret
in the sentence itself.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Location
from trainc.source.excerpt import hidden
from trainc.source.patterns import in_message, joined

if TYPE_CHECKING:
    from trainc.diagnostics import Diagnostic

_MASK: Final = "***"
_SAYS_SOMETHING: Final = re.compile(r"\w")
_PROPERTIES: Final = re.compile(r"\A(?:[!&]\S*\s+)+")
"""A tag and an anchor before a value."""
_QUOTED: Final = 50
"""A message quotes at least as many characters of a longer value."""


def without_secrets(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with its secrets hidden."""
    values = sorted(_values(diagnostic.place), key=len, reverse=True)
    message, help = masked(diagnostic.message, values), masked(diagnostic.help, values)
    if message == diagnostic.message and help == diagnostic.help:
        return diagnostic
    return diagnostic._replace(message=message, help=help)


def _values(at: object) -> set[str]:
    """What is hidden around a place, as a message may spell it."""
    if not isinstance(at, Location) or at.source is None or not at.line:
        return set()
    values = {at.source.text[begin:end] for begin, end in hidden(at)}
    return {spelling for value in values for spelling in _spellings(value)}


@lru_cache(maxsize=256)
def _spellings(literal: str) -> tuple[str, ...]:
    """A value as it is written, as it is read, and as JSON has it; of a list or mapping, what is in it."""
    from trainc.kubernetes.documents import YamlError, parse

    bare = _PROPERTIES.sub("", literal)
    found = {literal, bare, bare.strip("\"'")}
    for written in (literal, f'"{literal}"'):
        try:
            value = parse(written)
        except YamlError:
            continue
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict | list):
                waiting += value.values() if isinstance(value, dict) else value
            elif value is not None:
                found |= {str(value), json.dumps(value, ensure_ascii=False).strip('"')}
    return tuple(spelling for spelling in found if _SAYS_SOMETHING.search(spelling))


def masked(text: str, values: list[str]) -> str:
    """A message without some values, the longest of them first, and without what its own form betrays."""
    for value in values:
        if value[:_QUOTED] in text:
            rest = rf"(?:{re.escape(value[_QUOTED:])}|.{{0,20}}?\.\.\.)" if len(value) > _QUOTED else ""
            text = re.sub(rf"(?<![\w\[-]){re.escape(value[:_QUOTED])}{rest}(?![\w\]-])", _MASK, text)
    for begin, end in list(joined(in_message(text)))[::-1]:
        text = text[:begin] + _MASK + text[end:]
    return text
