"""Mask secrets in messages, which may quote the value that they report.

Reads a located diagnostic; returns it with `***` for the secrets at its location, and for text in the message that
looks like a secret.
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
_HAS_WORD: Final = re.compile(r"\w")
_PROPERTIES: Final = re.compile(r"\A(?:[!&]\S*\s+)+")
"""A tag and an anchor before a value."""
_QUOTED: Final = 50
"""The minimum number of characters that a message quotes of a longer value."""


def without_secrets(diagnostic: Diagnostic) -> Diagnostic:
    """Return the diagnostic with its secrets masked."""
    values = sorted(_values(diagnostic.place), key=len, reverse=True)
    message, help = masked(diagnostic.message, values), masked(diagnostic.help, values)
    if message == diagnostic.message and help == diagnostic.help:
        return diagnostic
    return diagnostic._replace(message=message, help=help)


def _values(at: object) -> set[str]:
    """Return the secrets at a location, in all forms that a message may quote."""
    if not isinstance(at, Location) or at.source is None or not at.line:
        return set()
    values = {at.source.text[begin:end] for begin, end in hidden(at)}
    return {form for value in values for form in _forms(value)}


@lru_cache(maxsize=256)
def _forms(literal: str) -> tuple[str, ...]:
    """Return a value as written, as parsed and as JSON; for a list or mapping, the values in it."""
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
    return tuple(form for form in found if _HAS_WORD.search(form))


def masked(text: str, values: list[str]) -> str:
    """Mask some values, sorted by length in descending order, in a message; and text in the form of a secret."""
    for value in values:
        if value[:_QUOTED] in text:
            rest = rf"(?:{re.escape(value[_QUOTED:])}|.{{0,20}}?\.\.\.)" if len(value) > _QUOTED else ""
            text = re.sub(rf"(?<![\w\[-]){re.escape(value[:_QUOTED])}{rest}(?![\w\]-])", _MASK, text)
    for begin, end in list(joined(in_message(text)))[::-1]:
        text = text[:begin] + _MASK + text[end:]
    return text
