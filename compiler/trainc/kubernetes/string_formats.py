"""String formats of structural schemas: patterns, times and quantities, as Go reads them.

Reads    the text, and the schema keyword.
Returns  None if the API server accepts the text; otherwise whether its schema or its decoder rejects it.
Source   kube-openapi v0.36 (validation/strfmt), apimachinery v0.36.2 (resource.Quantity, Time), Go's regexp, time.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

RejectedBy = Literal["read", "schema"]
"""The decoder or the schema."""

QUANTITY: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""The pattern that CRDs use for quantities."""

# The pattern allows a fraction in the exponent; the decoder that follows does not.
_FRACTION_IN_EXPONENT: Final = re.compile(r"[eE][+-]?[0-9]*\.")
_EXPONENT: Final = re.compile(r"[eE][+-]?([0-9]+)$")
_GREATEST_EXPONENT: Final = 1000
_LONGEST_QUANTITY: Final = 1000

# Dates are rare, so the patterns are compiled on first use.
# The schema checks only the shape, in either case and with any character before a fraction; the decoder reads RFC 3339.
_DATE: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z"
_CLOCK: Final = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})\Z"
_RFC3339: Final = r"[^t]{10}T[0-9:]{8}(?:[.,][0-9]+)?(?:Z|[+-]([0-9]{2}):([0-9]{2}))\Z"
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@cache  # one value for each pattern of the schemas
def go_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a schema pattern so that it matches as Go's regexp does. Raises ValueError for syntax that differs."""
    translated: list[str] = []
    in_class = False
    steps = iter(pattern)
    for character in steps:
        text = character
        if character == "\\":
            escaped = next(steps, "")
            if escaped.isalnum() or not escaped:
                raise ValueError(f"cannot translate \\{escaped} in the pattern {pattern!r}")
            text += escaped
        elif character == "[":
            in_class = True
        elif character == "]":
            in_class = False
        elif character == "$" and not in_class:
            text = r"\Z"  # Python's $ also matches before a final newline
        translated.append(text)
    if "(?" in pattern or "[[" in pattern:
        raise ValueError(f"cannot translate the pattern {pattern!r}")
    return re.compile("".join(translated), re.ASCII)


def quantity(text: str) -> RejectedBy | None:
    """Check whether a string that matches the quantity pattern is a quantity.

    More than 1000 characters and exponents beyond 1000 are rejected too, because Go's parser takes very long for the
    largest of them.
    """
    if len(text) > _LONGEST_QUANTITY:
        return "schema"
    if _FRACTION_IN_EXPONENT.search(text):
        return "read"
    exponent = _EXPONENT.search(text)
    if exponent and (len(exponent[1]) > 9 or int(exponent[1]) > _GREATEST_EXPONENT):
        return "schema"
    return None


def date_time(text: str) -> RejectedBy | None:
    """Check whether a string is a time, for the schema and for the decoder after it."""
    date, t, clock = text.lower().partition("t")
    time = re.match(_CLOCK, clock.partition("t")[0])
    if not t or not _is_date(date) or not time or time[1] > "23" or time[2] > "59" or time[3] > "59":
        return "schema"
    exact = re.match(_RFC3339, text)
    if not exact or (exact[1] and (exact[1] > "24" or exact[2] > "60")):
        return "read"
    return None


def _is_date(text: str) -> bool:
    found = re.match(_DATE, text)
    if not found:
        return False
    year, month, day = (int(part) for part in found.groups())
    if month == 2 and day == 29:
        return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]
