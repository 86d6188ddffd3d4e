"""Strings as Go reads them: numbers and booleans (package `strconv`), and command line flags (package `flag`).

Reads    a text of a label, an annotation or a flag; the arguments of a program, and the type of each of its flags.
Returns  the value, or None for a text that Go rejects; the values of the flags, and the number of arguments that are
         read: the first one that is no flag, is an unknown flag or has an invalid value ends the parse. An invalid
         number leaves 0, a large one the limit.
Source   Go 1.24, `flag.FlagSet` with ContinueOnError, `strconv.ParseInt`, `ParseUint`, `Atoi` and `ParseBool`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Type = Literal["string", "int", "bool"]
_NUMBER: Final = re.compile(
    r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)"
)
_LARGEST: Final = 2**63 - 1
_LONGEST: Final = 30
"""The most digits that are converted. A longer text is out of range, unless it begins with zeros."""
_BOOLEANS: Final = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


class Flags(NamedTuple):
    """The result of a parse."""

    values: dict[str, str | int | bool]
    """The values of the flags that are set."""
    read: int
    """The number of arguments that are read."""


def parse(arguments: Sequence[str], types: Mapping[str, Type]) -> Flags:
    """Return the flags in some arguments.

    >>> parse(["--port=5", "-ps", "a", "x", "--worker=b"], {"port": "int", "ps": "string", "worker": "string"})
    Flags(values={'port': 5, 'ps': 'a'}, read=3)
    """
    values: dict[str, str | int | bool] = {}
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if len(argument) < 2 or argument[0] != "-" or argument == "--":
            break
        name, has_value, text = argument.removeprefix("-").removeprefix("-").partition("=")
        kind = types.get(name)
        if kind is None or argument.startswith("---"):
            break
        taken = 1
        if kind == "bool" and not has_value:
            text = "true"
        elif not has_value:
            if index + 1 == len(arguments):
                break
            text, taken = arguments[index + 1], 2
        values[name], is_valid = _value(text, kind)
        if not is_valid:
            return Flags(values, index + taken)
        index += taken
    return Flags(values, index)


def _value(text: str, kind: Type) -> tuple[str | int | bool, bool]:
    """Return the value that a flag has after a text is parsed, and whether the text is valid."""
    if kind == "bool":
        given = parse_bool(text)
        return given is True, given is not None
    return number(text) if kind == "int" else (text, True)


def number(text: str) -> tuple[int, bool]:
    """Return the integer in a text, and whether it is valid.

    >>> [number(text) for text in ("0x10", "1_000", "010", "abc", "9" * 30)]
    [(16, True), (1000, True), (8, True), (0, False), (9223372036854775807, False)]
    """
    if not _NUMBER.fullmatch(text):
        return 0, False
    digits = text.lstrip("+-").replace("_", "")
    is_octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    value = int(digits, 8 if is_octal else 0) if len(digits) <= 80 else 2 * _LARGEST
    value = -value if text[0] == "-" else value
    limited = max(-_LARGEST - 1, min(_LARGEST, value))
    return limited, limited == value


def parse_int(text: str, bits: int = 64) -> int | None:
    """Return a signed integer of a number of bits.

    >>> [parse_int(text) for text in ("7", "+7", "-07", "1_000", " 7", "", "9223372036854775808")]
    [7, 7, -7, None, None, None, None]
    """
    sign, digits = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    magnitude = parse_uint(digits)
    if magnitude is None:
        return None
    number = -magnitude if sign == "-" else magnitude
    return number if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None


def parse_uint(text: str) -> int | None:
    """Return an unsigned integer of 64 bits, which has no sign.

    >>> [parse_uint(text) for text in ("7", "+7", "18446744073709551616", "0" * 40 + "1")]
    [7, None, None, 1]
    """
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0")
    number = int(digits or "0") if len(digits) <= _LONGEST else 2**64
    return number if number < 2**64 else None


def parse_bool(text: str) -> bool | None:
    """Return a boolean.

    >>> [parse_bool(text) for text in ("T", "0", "yes")]
    [True, False, None]
    """
    return _BOOLEANS.get(text)
