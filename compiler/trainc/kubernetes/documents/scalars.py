"""Plain YAML scalars, resolved to null, booleans, numbers and strings as the API server resolves them.

Reads the text of one scalar without a tag; returns a Python value. Underscores, octal, hexadecimal and binary integers,
`yes` and `on` follow YAML 1.1; base 60 and timestamps stay strings.
Source: sigs.k8s.io/yaml 1.6.0 on go.yaml.in/yaml/v2 (resolve.go), and strconv and encoding/json of Go's library.
"""

from __future__ import annotations

import math
from typing import Final

Scalar = None | bool | int | float | str

HINTS: Final = frozenset("+-.0123456789yYnNtTfFoO~")
"""First characters of plain scalars that may not be strings; the empty scalar is not a string either."""

_NUMERIC: Final = frozenset("+-.0123456789")
_IN_NUMBERS: Final = frozenset("+-._0123456789abcdefABCDEFoOxX")
"""The characters of numbers. Quantities such as 4Gi and 100m have others."""


def _cases(*words: str) -> tuple[str, ...]:
    return tuple(form for word in words for form in (word, word.capitalize(), word.upper()))


WORDS: Final[dict[str, Scalar]] = {
    "": None,
    "~": None,
    **dict.fromkeys(_cases("null"), None),
    **dict.fromkeys(_cases("y", "yes", "true", "on"), True),
    **dict.fromkeys(_cases("n", "no", "false", "off"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
"""The words that are neither strings nor numbers with digits."""
# Patterns are compiled on first use, for a number that is not only digits: compiling takes longer than a document.
_INTEGER: Final = r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)"
_SIGN_AFTER_BASE: Final = r"0b[-+][01]+"
_FLOAT: Final = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_POINT_FLOAT: Final = r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?"
_BASES: Final = {"x": 16, "o": 8, "b": 2}
_DIGITS_OF_UINT64: Final = 20


def plain_scalar(text: str) -> Scalar:
    """Return the value of a plain scalar without a tag. Integers outside int64 and uint64 are floats."""
    word = WORDS.get(text, text)
    if word is not text:
        return word
    if text[0] in _NUMERIC:
        return _number(text)
    return text


def _number(text: str) -> Scalar:
    if text.isdecimal() and text.isascii() and len(text) < _DIGITS_OF_UINT64 and (text[0] != "0" or len(text) == 1):
        return int(text)
    if not _IN_NUMBERS.issuperset(text):
        return text
    from re import fullmatch

    if text[0] == ".":  # as in Go literals, underscores are valid only between two digits
        return _float(text.replace("_", ""), text) if fullmatch(_POINT_FLOAT, text) else text
    bare = text.replace("_", "")
    if fullmatch(_INTEGER, bare):
        number = _integer(bare)
        if number is not None:
            return number
    elif fullmatch(_SIGN_AFTER_BASE, bare):  # `0b-1` is -1: upstream reads the sign after removing the base
        number = int(bare[2:], 2)
        return number if -(2**63) <= number < 2**63 else text
    return _float(bare, text) if fullmatch(_FLOAT, bare) else text


def _integer(bare: str) -> int | None:
    """Return the integer if it fits into int64, or without a sign into uint64."""
    digits = bare.lstrip("+-")
    if digits[0] == "0" and len(digits) > 1:
        base = _BASES.get(digits[1].lower(), 8)
        number = int(digits if base == 8 and digits[1].isdigit() else digits[2:], base)
    elif len(digits) > _DIGITS_OF_UINT64:  # Python rejects integers with thousands of digits
        return None
    else:
        number = int(digits)
    if bare[0] == "-":
        return -number if number <= 2**63 else None
    return number if number < (2**63 if bare[0] == "+" else 2**64) else None


def _float(bare: str, text: str) -> float | str:
    """Return the float; the text itself if it overflows."""
    number = float(bare)
    return text if math.isinf(number) else number


def json_number(value: float) -> int | float:
    """Return a finite float after a round trip through JSON: Go writes whole floats below 1e21 as integers.

    >>> json_number(1500.0), json_number(2.0**66), json_number(0.5), json_number(1e21)
    (1500, 73786976294838210000, 0.5, 1e+21)
    """
    if not value.is_integer() or abs(value) >= 1e21:
        return value
    if abs(value) < 1e16:
        return int(value)
    digits, _, exponent = repr(value).partition("e")  # the shortest digits, padded with zeros
    whole, _, fraction = digits.partition(".")
    return int(whole + fraction.ljust(int(exponent), "0")[: int(exponent)])


def key_text(value: Scalar) -> str | None:
    """Return a mapping's key as JSON writes it; None for null and integers above int64, which JSON keys cannot hold.

    >>> key_text(True), key_text(0x1F), key_text(1.5), key_text(1e6), key_text(None)
    ('true', '31', '1.5', '1e+06', None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value < 2**63 else None
    if isinstance(value, float):
        return _float_key(value)
    return None


def _float_key(value: float) -> str:
    """Return the shortest digits with the same 32-bit value; with an exponent below 1e-4 and from 1e6."""
    if math.isnan(value):
        return ".nan"
    import struct

    try:
        (single,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        single = math.copysign(math.inf, value)
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    import re
    from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Context, Decimal

    exact = Decimal(single)
    # Above a power of two, floats are twice as far apart as below it: rounding up may go further, and wins a tie.
    nearest = ROUND_HALF_UP if abs(math.frexp(single)[0]) == 0.5 else ROUND_HALF_EVEN
    contexts = (Context(prec=digits, rounding=mode) for digits in range(1, 10) for mode in (nearest, ROUND_UP))
    rounded = (context.create_decimal(exact) for context in contexts)
    shortest = next(decimal for decimal in rounded if _same_single(float(decimal), single)).normalize()
    if -4 <= shortest.adjusted() < 6:
        return f"{shortest:f}"
    return re.sub("E([+-])([0-9])$", r"e\g<1>0\2", f"{shortest:E}").replace("E", "e")


def _same_single(number: float, single: float) -> bool:
    import struct

    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == single)
    except OverflowError:  # rounded up beyond the largest float
        return False


MERGE_TAG: Final = "tag:yaml.org,2002:merge"


def shorten(text: str) -> str:
    """Return user text as a message quotes it: on one line, and cut to 60 characters.

    >>> shorten("tab" + chr(9)), shorten("x" * 100)
    ('tab\\\\t', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...')
    """
    cut = text if len(text) <= 60 else text[:57] + "..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in cut)


def without_escapes(text: str) -> str:
    """Return a text of the same length in which a string with double quotes ends at the next quote.

    >>> without_escapes(r'"a\\" "b"') == r'"a   "b"'
    True
    """
    return text.replace("\\\\", "  ").replace('\\"', "  ")
