"""Messages without secrets: a message may quote the value that it complains of.

Reads a located diagnostic; returns it with `***` for what is hidden where it points, and for what looks like a secret
in the sentence itself.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Location
from trainc.source.excerpt import place
from trainc.source.patterns import in_message, joined
from trainc.source.secrets import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Diagnostic

_MASK: Final = "***"
_AROUND: Final = 4096
"""How far from its place a message is thought to quote, in characters."""
_SAYS_SOMETHING: Final = re.compile(r"\w")
_QUOTED: Final = 50
"""A message quotes at least as many characters of a longer value."""


def without_secrets(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with its secrets hidden."""
    values = sorted(_values(diagnostic.place), key=len, reverse=True)
    message, help = _masked(diagnostic.message, values), _masked(diagnostic.help, values)
    if message == diagnostic.message and help == diagnostic.help:
        return diagnostic
    return diagnostic._replace(message=message, help=help)


def _values(at: object) -> set[str]:
    """What is hidden around a place, as a message may spell it."""
    if not isinstance(at, Location) or at.source is None or not at.line:
        return set()
    text = at.source.text
    first, _ = place(at)
    begin = max(text.rfind("\n", 0, first) + 1, first - _AROUND)
    end = min(len(text), first + _AROUND)
    stop = text.find("\n", first, end)
    hidden = secrets(text, begin, end if stop < 0 else stop, parsed=at.source.value is not None)
    return {spelling for a, b in hidden for spelling in _spellings(text[a:b]) if _SAYS_SOMETHING.search(spelling)}


def _spellings(literal: str) -> Iterator[str]:
    """A value as it is written, as it is read, and as JSON has it; of a list or mapping, what is in it."""
    from trainc.kubernetes.documents import YamlError, parse

    yield literal
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
                yield str(value)
                yield json.dumps(value, ensure_ascii=False).strip('"')


def _masked(text: str, values: list[str]) -> str:
    for value in values:
        if value[:_QUOTED] in text:
            rest = rf"(?:{re.escape(value[_QUOTED:])}|.{{0,20}}?\.\.\.)" if len(value) > _QUOTED else ""
            text = re.sub(rf"(?<![\w\[-]){re.escape(value[:_QUOTED])}{rest}(?![\w\]-])", _MASK, text)
    for begin, end in list(joined(in_message(text)))[::-1]:
        text = text[:begin] + _MASK + text[end:]
    return text
