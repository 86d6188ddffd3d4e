"""Secrets in a command line: the values of options and variables with secret names, logins, and forms of secrets.

A mask covers one plain word: it ends at the first blank, quote or character that a shell acts on. A container may run
any text of its command, so a longer mask could hide code. A private key has a mask for each line of base64.

Reads    an item of a command line, and the items before it.
Returns  the ranges that are masked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.source.patterns import FLAG, FORMS, LOGIN, NAME, PRIVATE_KEY, PROGRAM, is_harmless
from trainc.source.secret_names import is_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.source.patterns import Stretch

_PLAIN: Final = r"""[^\s"';|&<>(){}$`\\]+"""
_FIRST_WORD: Final = re.compile(rf"""["']?({_PLAIN})""")
_OPTION: Final = re.compile(rf"""{FLAG}["']?({_PLAIN})""")
_VARIABLE: Final = re.compile(rf"""(?<![\w./-])({NAME})=["']?({_PLAIN})""")
_FIELD: Final = re.compile(
    rf"""(?<![\w./-])(?:(["']?)({NAME})\1[ \t]*:[ \t]+|"({NAME})":[ \t]*)["']?(?![\[#])({_PLAIN})(?<!,)"""
)
_BASE64_LINE: Final = re.compile(r"[ \t]*([\w+/=-]+)[ \t\r]*", re.ASCII)
FAR: Final = 16
"""The number of items before an item of a command line that are read."""
_LONGEST: Final = 256


def in_command(text: str) -> Iterator[Stretch]:
    """Yield the secrets in the text of a command or a script.

    >>> [text[begin:end] for text in ("a --token='b c' PASSWORD=d;e|f",) for begin, end in in_command(text)]
    ['b', 'd']
    """
    for sign, pattern in (("-", _OPTION), ("=", _VARIABLE), (":", _FIELD)):
        for match in pattern.finditer(text) if sign in text else ():
            name = match[2] or match[3] if pattern is _FIELD else match[1]
            if is_secret(name):
                yield from first_word(text, *match.span(match.lastindex or 0))
    for sign, form in FORMS:
        for match in form.finditer(text) if sign in text else ():
            if form is PRIVATE_KEY:
                yield from base64_lines(text, *match.span(1))
            else:
                yield from first_word(text, match.start(1), len(text) if form in (LOGIN, PROGRAM) else match.end(1))


def base64_lines(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the lines of base64 between two indices, without white space around them."""
    while begin < end:
        stop = text.find("\n", begin, end)
        stop = end if stop < 0 else stop
        if line := _BASE64_LINE.fullmatch(text, begin, stop):
            yield line.span(1)
        begin = stop + 1


def in_argument(items: Sequence[object], index: int) -> Iterator[Stretch]:
    """Yield the secrets in an item of a command line; the items before it may name it, as `--token` does."""
    item = items[index]
    assert isinstance(item, str)
    yield from in_command(item)
    if is_value(items, index):
        yield from first_word(item, 0, len(item))
    near = [each for each in items[max(index - FAR, 0) : index] if isinstance(each, str) and len(each) < _LONGEST]
    line = " ".join([*near, ""])
    for pattern in (LOGIN, PROGRAM) if near and "-" in line + item and "\n" not in line else ():
        for found in pattern.finditer(line + item):
            if found.start() < len(line) <= found.start(1):
                yield from first_word(item, found.start(1) - len(line), len(item))


def is_value(items: Sequence[object], index: int) -> bool:
    """Whether an item of a command line is the value of an option with a secret name: [--token, abc]."""
    option = items[index - 1] if 0 < index <= len(items) else None
    if not isinstance(option, str) or not option.startswith("-") or "=" in option or not is_secret(option):
        return False
    return not str(items[index] if index < len(items) else "").startswith("-")


def first_word(text: str, begin: int, end: int) -> Iterator[Stretch]:
    """Yield the plain word with which a value begins, after its quote; nothing for a harmless value."""
    word = _FIRST_WORD.match(text, begin, end)
    if word and not is_harmless(text, *word.span(1)):
        yield word.span(1)
