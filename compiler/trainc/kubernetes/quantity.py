"""Resource quantities (`500m`, `64Gi`, `1e3`): parsed, calculated, printed and merged exactly as Kubernetes does.

Reads a text, or the JSON value of a manifest; `canonical` returns the text in the manifest after the API server has
read and written it. The arithmetic is exact: an integer times a power of ten.
Source: Kubernetes 1.36, apimachinery's resource.Quantity, which keeps the original text of some values and reformats
others; verified against its recorded answers and, in tests/differential, against the library itself.
"""

from __future__ import annotations

import math
from functools import lru_cache, total_ordering
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kubernetes.trees import Tree

Format = Literal["", "DecimalSI", "BinarySI", "DecimalExponent"]
"""The suffix family in which a quantity is printed; "" is undecided, and adopts that of the first summand."""
_DIGITS: Final = "0123456789"
_LETTERS: Final = "eEinumkKMGTP"
_DECIMAL: Final = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY: Final = {10: "Ki", 20: "Mi", 30: "Gi", 40: "Ti", 50: "Pi", 60: "Ei"}
_UNITS: Final[dict[str, tuple[int, Format]]] = {
    **{suffix: (power, "DecimalSI") for power, suffix in _DECIMAL.items()},
    **{suffix: (power, "BinarySI") for power, suffix in _BINARY.items()},
}
_NANO: Final = -9  # smaller units are rounded up
_MOST: Final = 2**63 - 1  # the maximum of binary quantities
_WORD: Final = 18
"""The decimal digits that Go holds in a machine word."""
_STEPS: Final = (0, 1, 2, 3, 6, 9)
"""The powers of ten by which Go multiplies a machine word in one step, without a test for an overflow."""
_LIMIT: Final = 1000  # larger exponents and more digits would take Go's parser forever, and no resource needs them
_SPACES: Final = " \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Characters that Go trims around a quantity in JSON: the white space that its JSON writer leaves unescaped."""


class QuantityError(ValueError):
    """A text or a JSON value that is not a quantity; the message gives the reason and the expected form."""


@total_ordering
class Quantity:
    """`mantissa` times ten to the power of `exponent`. Compares by value: 1 equals 1000m."""

    __slots__ = ("exponent", "format", "mantissa", "text")

    def __init__(self, mantissa: int, exponent: int = 0, format: Format = "", text: str = "") -> None:
        self.mantissa: Final = mantissa
        self.exponent: Final = exponent
        self.format: Final = format
        self.text: Final = text
        """The original text, if Kubernetes prints it unchanged."""

    def __repr__(self) -> str:
        return f"Quantity({self.mantissa}, {self.exponent}, {self.format!r}, {self.text!r})"

    @staticmethod
    def parse(text: str) -> Quantity:
        """Parse a quantity; raises QuantityError."""
        return _parse(text)

    @staticmethod
    def from_json(value: str | int | float | None) -> Quantity:
        """Parse a quantity from a manifest, where it may also be a number, or null for zero; raises QuantityError."""
        return _parse(_text(value))

    def __str__(self) -> str:
        """Return the text that Kubernetes prints."""
        if self.text:
            return self.text
        if not self.mantissa:
            return "0"
        format = self.format
        if format == "BinarySI":
            whole = self._in_units_of(0)
            if abs(whole) >= 1024 and self == Quantity(whole):
                number, times = _without_factor(whole, 1024)
                return f"{number}{_BINARY.get(10 * times, '')}"
            format = "DecimalSI"
        number, tens = _without_factor(self.mantissa, 10)
        exponent = self.exponent + tens
        padding = exponent % 3
        number, exponent = number * 10**padding, exponent - padding
        if format == "DecimalSI":
            # Above exa, Kubernetes has no suffix and prints the number without one: 1000E becomes 1.
            return f"{number}{_DECIMAL.get(exponent, '')}"
        return f"{number}e{exponent}" if exponent else str(number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        mine, theirs, _ = self._align(other)
        return mine == theirs

    def __lt__(self, other: Quantity) -> bool:
        mine, theirs, _ = self._align(other)
        return mine < theirs

    def __hash__(self) -> int:
        if not self.mantissa:
            return hash(0)
        number, tens = _without_factor(self.mantissa, 10)
        return hash((number, self.exponent + tens))

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.mantissa > 0) - (self.mantissa < 0)

    @property
    def is_zero(self) -> bool:
        """Whether the quantity is zero."""
        return not self.mantissa

    def value(self) -> int:
        """Return the number of whole units, rounded away from zero."""
        return self._in_units_of(0)

    def milli_value(self) -> int:
        """Return the number of thousandths, rounded away from zero."""
        return self._in_units_of(-3)

    def int64(self, power: int = 0) -> int:
        """Return the number of units of ten to the power of `power` (-3: milli) as Go calculates it, in 64 bits.

        A positive number that does not fit is taken modulo 2**64, signed. If Go holds the quantity in a machine word
        and multiplies it in several steps, the result is 0. A fraction of such a number is not considered.
        """
        exact = self._in_units_of(power)
        if exact <= _MOST:
            return exact
        if self.mantissa < 10**_WORD and self.exponent - power not in _STEPS:
            return 0
        return _signed(exact, 64)

    def add(self, other: Quantity) -> Quantity:
        """Return the sum, in the format of the first summand that is not zero."""
        mine, theirs, exponent = self._align(other)
        return Quantity(mine + theirs, exponent, other.format if self.is_zero else self.format)

    def sub(self, other: Quantity) -> Quantity:
        """Return the difference; zero minus a quantity is printed in that quantity's format."""
        return self.add(other.negated())

    def negated(self) -> Quantity:
        """Return the quantity with the opposite sign."""
        return Quantity(-self.mantissa, self.exponent, self.format)

    def mul(self, times: int) -> Quantity:
        """Return the sum of `times` equal quantities."""
        return Quantity(self.mantissa * times, self.exponent, self.format)

    def round_up(self, exponent: int) -> Quantity:
        """Return the quantity rounded away from zero to a multiple of ten to the power of `exponent` (-3: milli)."""
        if self.exponent >= exponent:
            return self
        return Quantity(self._in_units_of(exponent), exponent, self.format)

    def _in_units_of(self, exponent: int) -> int:
        """Return the quantity in units of ten to the power of `exponent`, rounded away from zero."""
        shift = self.exponent - exponent
        unit: int = 10 ** abs(shift)
        if shift >= 0:
            return self.mantissa * unit
        return -(-self.mantissa // unit) if self.mantissa > 0 else self.mantissa // unit

    def _align(self, other: Quantity) -> tuple[int, int, int]:
        """Return both mantissas at a common exponent, and that exponent."""
        exponent = min(self.exponent, other.exponent)
        return self._in_units_of(exponent), other._in_units_of(exponent), exponent


def int32(number: int) -> int:
    """Return a number as Go converts it to 32 bits.

    >>> int32(2**31 - 1), int32(2**31)
    (2147483647, -2147483648)
    """
    return _signed(number, 32)


def _signed(number: int, bits: int) -> int:
    """Return a number modulo a power of two, as a signed integer of that size."""
    half: int = 2 ** (bits - 1)
    return (number + half) % (2 * half) - half


def canonical(value: str | int | float | None) -> str:
    """Return the text of `value` after Kubernetes has read and written it; raises QuantityError."""
    if type(value) is int and 0 < value < 10**18 and value % 1000:
        return str(value)
    return _canonical(value if type(value) is str else _text(value))


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    return str(_parse(text.strip(_SPACES)))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    sign, whole, fraction, suffix = _split(text)
    power, format = _unit(text, suffix)
    digits = (whole.lstrip("0") or "0") + fraction
    exponent = -len(fraction) if format == "BinarySI" else power - len(fraction)
    number = int(sign + digits)
    if format == "BinarySI":
        number <<= power
    if _is_short(len(digits), len(fraction), power, format):
        return Quantity(number, exponent, format, text if _is_kept(digits, exponent, format) else "")
    if not whole and not fraction:
        raise QuantityError(_error_message(text))
    return _bounded(Quantity(number, exponent, format))


def _split(text: str) -> tuple[str, str, str, str]:
    """Return the sign, the digits before and after the point, and the suffix, which may be an exponent."""
    sign = text[:1] if text[:1] in ("+", "-") else ""
    whole, rest = _span(text[len(sign) :], _DIGITS)
    fraction = ""
    if rest[:1] == ".":
        fraction, rest = _span(rest[1:], _DIGITS)
    suffix, more = _span(rest, _LETTERS)
    if more[:1] in ("+", "-"):
        suffix, more = suffix + more[:1], more[1:]
    power, more = _span(more, _DIGITS)
    if more or not text or len(text) > _LIMIT:
        raise QuantityError(_error_message(text))
    return sign, whole, fraction, suffix + power


def _span(text: str, characters: str) -> tuple[str, str]:
    """Return the longest prefix of `text` that consists of `characters`, and the rest."""
    rest = text.lstrip(characters)
    return text[: len(text) - len(rest)], rest


def _is_short(digits: int, fraction: int, power: int, format: Format) -> bool:
    """Whether Go holds the quantity in a machine word; all others are rounded, bounded and reformatted.

    Go's estimate is deliberately rough: 18 decimal digits, or, with a binary suffix and no fraction, those of 2**50.
    """
    if format == "BinarySI":
        return not fraction and digits + power * 3 // 10 <= 14
    return digits <= _WORD and power - fraction >= _NANO


def _is_kept(digits: str, exponent: int, format: Format) -> bool:
    """Whether the original text is printed again: Go's quick test for a text that cannot be shortened.

    The test is stricter than necessary, so some canonical texts are reformatted (+8Ki), and it accepts signs and
    leading zeros (+01).
    """
    if format == "BinarySI":
        return int(digits) % 8 != 0
    return exponent % 3 == 0 and digits[0] != "0" and not digits.endswith("000")


def _bounded(quantity: Quantity) -> Quantity:
    """Return the quantity in whole nanos; with a binary suffix at most 2**63-1, and in decimal format below 1."""
    quantity = quantity.round_up(_NANO)
    if quantity.format != "BinarySI":
        return quantity
    size = quantity.negated() if quantity.sign < 0 else quantity
    if size > Quantity(_MOST):
        return Quantity(_MOST * quantity.sign, 0, "BinarySI")
    if size < Quantity(1) and size.sign:
        return Quantity(quantity.mantissa, quantity.exponent, "DecimalSI")
    return quantity


def _unit(text: str, suffix: str) -> tuple[int, Format]:
    """Return the power (of ten, or of two) that `suffix` represents, and its family."""
    unit = _UNITS.get(suffix)
    if unit is not None:
        return unit
    if suffix[0] not in "eE" or not suffix[1:].lstrip("+-").isdecimal():
        raise QuantityError(_error_message(text))
    power = int(suffix[1:])
    if abs(power) > _LIMIT:
        raise QuantityError(f'"{text}" has an exponent beyond the maximum of {_LIMIT}')
    return power, "DecimalExponent"


def _without_factor(number: int, factor: int) -> tuple[int, int]:
    """Divide a non-zero `number` by `factor` as often as possible; return the quotient and the number of divisions."""
    times = 0
    while number % factor == 0:
        number //= factor
        times += 1
    return number, times


def _text(value: object) -> str:
    """Return the text of a JSON value, without its quotes."""
    if isinstance(value, str):
        return value.strip(_SPACES)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return "0"
    if isinstance(value, float) and math.isfinite(value):
        return _json_number(value)
    raise QuantityError(f"a quantity must be a number or a string such as 500m or 64Gi, not {value!r}")


def _json_number(number: float) -> str:
    """Return a float as Go writes it in JSON: the shortest digits, with an exponent only below 1e-6 and from 1e21."""
    mantissa, _, exponent = repr(number).partition("e")
    if not exponent:
        return mantissa.removesuffix(".0")
    power = int(exponent)
    if power < -6 or power >= 21:
        return f"{mantissa}e{power:+d}"
    sign = "-" if number < 0 else ""
    digits = mantissa.replace(".", "").removeprefix("-")
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    return f"{sign}{digits.ljust(power + 1, '0')}"


def _error_message(text: str) -> str:
    if len(text) > _LIMIT:
        return f'"{text[:40]}..." is too long for a quantity: {len(text)} characters, more than the maximum of {_LIMIT}'
    sign, rest = _span(text, "+-")
    number, rest = _span(rest, f"{_DIGITS}.")
    size = rest.strip().lower().removesuffix("b").removesuffix("i")
    meant = [
        f"{sign}{number}{unit}"
        for unit, (power, _) in _UNITS.items()
        if power > 0 and unit.lower() in (size, f"{size}i")
    ]
    hint = f" (did you mean {' or '.join(meant)}?)" if meant and number else ""
    return (
        f'"{text}" is not a valid quantity{hint}: use a number with an optional suffix directly after it '
        "(m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, or an exponent like e3)"
    )


def merge_resources(base: Tree, override: Tree) -> Tree:
    """Return `base` overridden by `override`: limits and requests resource by resource, claims by name.

    Raises QuantityError for an amount that is not a quantity.
    """
    merged = {
        "limits": _amounts(base.get("limits"), override.get("limits")),
        "requests": _amounts(base.get("requests"), override.get("requests")),
        "claims": _claims(base.get("claims") or [], override.get("claims") or []),
    }
    return {field: value for field, value in merged.items() if value}


def _amounts(base: Mapping[str, Any] | None, override: Mapping[str, Any] | None) -> Tree:
    return {resource: canonical(amount) for resource, amount in {**(base or {}), **(override or {})}.items()}


def _claims(base: list[Tree], override: list[Tree]) -> list[Tree]:
    """Return the claims of both, merged by name, in the order of a strategic merge.

    A claim repeated on one side stays repeated if the other side has no claims; otherwise it is merged into the first.
    """
    claims = [_claim(claim) for claim in base]
    patch = [_claim(claim) for claim in override]
    if not claims or not patch:
        return claims or patch
    for claim in patch:
        place = next((i for i, known in enumerate(claims) if known["name"] == claim["name"]), None)
        if place is None:
            claims.append(claim)
        else:
            claims[place] = {**claims[place], **claim}
    return _in_order(claims, [claim["name"] for claim in base], [claim["name"] for claim in override])


def _claim(claim: Tree) -> Tree:
    request = claim.get("request")
    return {"name": claim.get("name") or "", **({"request": request} if request else {})}


def _in_order(claims: list[Tree], before: list[str], patch: list[str]) -> list[Tree]:
    """Return `claims` in patch order; one that the patch lacks precedes the next patched claim if it did `before`."""
    kept = [claim for claim in claims if claim["name"] not in patch]
    ordered: list[Tree] = []
    for claim in sorted((c for c in claims if c["name"] in patch), key=lambda c: patch.index(c["name"])):
        name = claim["name"]
        while kept and name in before and before.index(kept[0]["name"]) < before.index(name):
            ordered.append(kept.pop(0))
        ordered.append(claim)
    return ordered + kept
