"""Label selectors, as kubectl reads them: `team=nlp,tier in (a,b),!legacy`.

Reads    a selector, and the labels or annotations of an object.
Returns  whether the object matches. Raises SelectorError with the characters at fault.
Source   Kubernetes 1.36, apimachinery's labels package: the operators =, ==, !=, in, notin, >, <, a key that must
         exist, and `!key`. An empty selector matches every object.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.names import label_value_errors, qualified_name_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_TOKEN: Final = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_SPECIAL: Final = frozenset("=!(),<>") | {"==", "!="}
_SETS: Final = ("in", "notin")
_EQUAL: Final = ("=", "==", "!=")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_MOST_DIGITS: Final = 19
"""Of an integer of 64 bits."""
_SHOWN: Final = 40


class SelectorError(ValueError):
    """An invalid selector. `part` is the range of the characters at fault."""

    def __init__(self, message: str, help: str, part: tuple[int, int]) -> None:
        super().__init__(message)
        self.help = help
        self.part = part
        self.key = ""
        """The field that has the selector."""


class Requirement(NamedTuple):
    """One term of a selector: `team in (a,b)`."""

    key: str
    operator: str
    """`exists`, `!`, `in`, `notin`, `<` or `>`. `=` is `in` with one value, and `!=` is `notin`."""
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, object]) -> bool:
        """Return whether labels match. As in Kubernetes, `notin` also matches labels without the key."""
        value = labels.get(self.key)
        if self.operator in ("!", "exists"):
            return (self.key in labels) == (self.operator == "exists")
        if not isinstance(value, str):
            return self.operator == "notin" and self.key not in labels
        if self.operator in _SETS:
            return (value in self.values) == (self.operator == "in")
        (limit,) = self.values
        number, bound = _integer(value), _integer(limit)
        if number is None or bound is None:
            return False
        return number > bound if self.operator == ">" else number < bound


class _Token(NamedTuple):
    text: str
    part: tuple[int, int]


@lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a selector, all of which an object must match. Raises SelectorError.

    >>> parse("team=nlp,!legacy")[1]
    Requirement(key='legacy', operator='!', values=frozenset())
    """
    return tuple(_Parser(text).requirements())


class _Parser:
    """A parser for one selector; the tokens are those of Kubernetes' lexer."""

    def __init__(self, text: str) -> None:
        self.tokens = [_Token(found[0], found.span()) for found in _TOKEN.finditer(text)]
        self.at = 0
        self.end = _Token("", (len(text), len(text)))

    @property
    def token(self) -> _Token:
        """The next token; an empty one at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else self.end

    def take(self) -> _Token:
        """Return the next token and pass it."""
        token = self.token
        self.at += 1
        return token

    def requirements(self) -> Iterator[Requirement]:
        """Yield the requirements of the whole text."""
        while self.token.text:
            yield self.requirement()
            separator = self.take()
            if not separator.text:
                return
            if separator.text != ",":
                raise _unexpected_token(separator, "a comma or the end", "separate the terms by commas")
            if not self.token.text:
                raise _unexpected_token(self.token, "a key", "remove the comma at the end")

    def requirement(self) -> Requirement:
        """Return the next requirement."""
        absent = self.token.text == "!"
        if absent:
            self.take()
        key = self.word("a key", qualified_name_errors)
        if absent or self.token.text in ("", ","):
            return Requirement(key, "!" if absent else "exists")
        operator = self.take()
        if operator.text in _SETS:
            return Requirement(key, operator.text, frozenset(self.values()))
        if operator.text in _EQUAL:
            return Requirement(key, "notin" if operator.text == "!=" else "in", frozenset({self.value()}))
        if operator.text in ("<", ">"):
            limit = self.token
            if _integer(limit.text) is None:
                raise _unexpected_token(
                    limit, f"an integer after {operator.text}", "use a number of 64 bits, such as 3"
                )
            return Requirement(key, operator.text, frozenset({self.take().text}))
        raise _unexpected_token(operator, "an operator", "use one of =, ==, !=, in, notin, <, >")

    def values(self) -> Iterator[str]:
        """Yield the values in parentheses."""
        opening = self.take()
        if opening.text != "(":
            raise _unexpected_token(opening, "an opening parenthesis", "put the values in parentheses: in (a,b)")
        if self.token.text == ")":
            raise SelectorError("the list of values is empty", "add a value", self.token.part)
        while True:
            yield self.value()
            separator = self.take()
            if separator.text == ")":
                return
            if separator.text != ",":
                raise _unexpected_token(separator, "a comma or a closing parenthesis", "close the list: in (a,b)")

    def value(self) -> str:
        """Return a value, which may be empty."""
        if self.token.text in ("", ",", ")"):
            return ""
        return self.word("a value", label_value_errors)

    def word(self, expected: str, faults: Callable[[str], list[str]]) -> str:
        """Return the next token, which must be a valid key or value."""
        token = self.take()
        if not token.text or token.text in _SPECIAL:
            raise _unexpected_token(token, expected, f"add {expected}")
        for reason in faults(token.text):
            what = expected.removeprefix("a ")
            raise SelectorError(
                f'the {what} "{_shown(token.text)}" is not valid: {reason}', f"fix the {what}", token.part
            )
        return token.text


def _integer(text: str) -> int | None:
    """Return an integer of 64 bits; None for any other text."""
    digits = text.lstrip("+-").lstrip("0")
    if not _INTEGER.fullmatch(text) or len(digits) > _MOST_DIGITS:
        return None
    number = int(f"{'-' * text.startswith('-')}{digits or 0}")
    return number if -(2**63) <= number < 2**63 else None


def _unexpected_token(token: _Token, expected: str, help: str) -> SelectorError:
    found = f'"{_shown(token.text)}"' if token.text else "the end"
    return SelectorError(f"the selector must have {expected}, not {found}", help, token.part)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
