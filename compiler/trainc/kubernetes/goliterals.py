"""Numbers and booleans in strings as Go's package `strconv` reads them.

Reads    a text: of a label, an annotation or a flag.
Returns  the value, or None for a text that Go rejects.
Source   Go 1.24: `strconv.ParseInt` and `strconv.ParseUint` with base 10, `strconv.Atoi`, `strconv.ParseBool`.
"""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 30
"""The most digits that are converted. A longer text is out of range, unless it begins with zeros."""
_BOOLEANS: Final = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


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
