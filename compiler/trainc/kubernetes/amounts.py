"""Amounts of resources for people: CPU in cores, memory and storage in Gi or Ti, other resources as numbers.

Reads    a resource's name and quantity.
Returns  a short text, rounded to one decimal, or to three significant digits below 100. Bytes below 1 Mi are exact. A
         manifest needs the exact text, `str(quantity)`.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.kubernetes.quantity import Quantity

MI: Final = 2**20
GI: Final = 2**30
TI: Final = 2**40
_EXACT: Final = Context(prec=60, rounding=ROUND_HALF_UP)


def amount(name: str, quantity: Quantity) -> str:
    """Return a quantity as text.

    >>> from trainc.kubernetes.quantity import Quantity
    >>> [amount("cpu", Quantity.parse(text)) for text in ("1580700m", "24678", "250m")]
    ['1580.7', '24678', '0.25']
    >>> [amount("memory", Quantity.parse(text)) for text in ("19552128Mi", "900Gi", "64Mi", "-2Ti")]
    ['18.6Ti', '900Gi', '0.0625Gi', '-2Ti']
    """
    number = Decimal(quantity.mantissa).scaleb(quantity.exponent, _EXACT)
    if not _is_bytes(name):
        return _rounded(number)
    if abs(number) < MI:
        return str(quantity)
    unit, suffix = (TI, "Ti") if abs(number) >= TI else (GI, "Gi")
    return _rounded(_EXACT.divide(number, Decimal(unit))) + suffix


def amounts(quantities: Mapping[str, Quantity]) -> Iterator[str]:
    """Yield each resource and its amount, GPUs first: `nvidia.com/gpu=8`, `cpu=64`, `memory=900Gi`."""
    for name in sorted(quantities, key=order):
        yield f"{name}={amount(name, quantities[name])}"


def order(name: str) -> tuple[bool, str]:
    """Return the sort key of a resource: GPUs come first."""
    return "gpu" not in name.lower(), name


def _is_bytes(name: str) -> bool:
    return name in {"memory", "storage", "ephemeral-storage"} or name.startswith("hugepages-")


def _rounded(number: Decimal) -> str:
    """Return a number with one decimal, or with three significant digits below 100."""
    places = max(1, 2 - number.adjusted()) if number else 0
    text = f"{number.quantize(Decimal(1).scaleb(-places), context=_EXACT):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
