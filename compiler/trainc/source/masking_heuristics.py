"""Heuristics for secrets in a line of an unparsable text, based on nearby lines and their indentation.

Reads a text and one of its lines; returns the ranges that a report masks: when in doubt, too many rather than too few.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.source.names import LAST_APPLIED, is_secret
from trainc.source.patterns import hidden, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.source.patterns import Stretch

_NAME: Final = re.compile(r"\b(?:name|key)\b")
_VALUE: Final = re.compile(r"""(?<![\w.-])["']?val(?!ueFrom)\w*[^\w\s]{0,2}[ \t]*+(?::[ \t]*+)?(?=\S)""")
_WORD: Final = re.compile(r"""[\w./-]{1,256}(?!["']?[ \t]*:)""")
_FIRST: Final = re.compile(r"""[ \t]*+(?:-[ \t]*+)*+["']?([A-Za-z_][\w./-]{0,255})["']?[ \t]*+(?::[ \t]*+)?(?=\S)""")
"""The first word of a line, which is probably meant as a key."""
_FIELD: Final = re.compile(r"""([ \t]*(?:-[ \t]+){0,64})(["']?)([^\s"'#][^"':\n]{0,255})\2[ \t]*:(?=[ \t\r]|$)[ \t]*""")
_SECRET: Final = re.compile(r"""^["']?kind["']?[ \t]*:[ \t]*["']?Secret\b""", re.MULTILINE)
_NEAR: Final = 10
"""Maximum distance in lines at which a variable's name is searched."""
_FAR: Final = 200
"""Maximum number of lines above in which the enclosing fields are searched."""


def in_broken_line(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the secrets in the line from `begin` to `end`, by the lines around it."""
    line = text[begin:end]
    above, below = _lines_above(text, begin), text[end : end + 2000].splitlines()[1 : _NEAR + 1]
    values = list(_VALUE.finditer(line))
    if values and _is_named_secret(line, above, below):
        for value in values:
            yield from _shifted(value_at(line, value.end(), in_json='"' in value[0]), begin)
    if (first := _FIRST.match(line)) and (is_secret(first[1]) or first[1] == "stringData"):
        yield from _shifted(value_at(line, first.end()), begin)
    field = _FIELD.match(line)
    width = len(line) - len(line.lstrip(" \t-"))
    for number, around in enumerate(above):
        upper = _FIELD.match(around)
        if upper is None or len(upper[1]) >= width:
            continue
        width = len(upper[1])
        if _hides_below(upper[3], text) or (upper[3] == "value" and _is_named_secret(around, above[number + 1 :], [])):
            rest = field.end() if field else len(line) - len(line.lstrip())
            yield from _shifted(hidden(line, rest, len(line)), begin)
        elif is_secret(upper[3]) and not field:
            yield from _shifted(hidden(line, len(line) - len(line.lstrip(" \t-")), len(line)), begin)


def _shifted(stretches: Iterable[Stretch], by: int) -> Iterator[Stretch]:
    return ((begin + by, end + by) for begin, end in stretches)


def _lines_above(text: str, begin: int) -> list[str]:
    """Return the lines above a line, nearest first."""
    return text[max(begin - 100 * _FAR, 0) : begin].splitlines()[: -_FAR - 1 : -1]


def _hides_below(name: str, text: str) -> bool:
    return name in ("stringData", LAST_APPLIED) or (name == "data" and bool(_SECRET.search(text)))


def _is_named_secret(line: str, above: list[str], below: list[str]) -> bool:
    """Whether a line with `value:` belongs to a secret: by its own words, else by those of its list item."""
    if _NAME.search(line):
        return _names_secret(line)
    starts_item = line.lstrip().startswith("-")
    around = ([] if starts_item else _of_item(above, upwards=True)) + _of_item(below, upwards=False)
    return any(map(_names_secret, around))


def _of_item(lines: list[str], *, upwards: bool) -> list[str]:
    """Return the nearest lines up to the start of the list item, or of the next one."""
    for number, line in enumerate(lines[:_NEAR]):
        if line.lstrip().startswith("-"):
            return lines[: number + upwards]
    return lines[:_NEAR]


def _names_secret(line: str) -> bool:
    """Whether a word of the line is a secret name; keys are ignored."""
    return any(is_secret(word) for word in _WORD.findall(line))
