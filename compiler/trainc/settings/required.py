"""`requiredVersion`: the versions of trainc that a project accepts.

Reads    specifiers as in ruff's required-version: `>=0.2`, `==0.3.1`, `>=0.2,<1`. Without an operator, a version is
         exact.
Returns  whether this trainc has an accepted version.
Source   PEP 440, for final releases and pre-releases. `packaging` is not used: its import takes longer than a build.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_RELEASE: Final = r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,9})(?:(a|b|rc)([0-9]{1,9}))?"
_SPECIFIER: Final = re.compile(rf"(?:(==|!=|<=|>=|<|>|~=)\s*)?{_RELEASE}")
_FINAL: Final = ("z", 0)
"""Sorts behind the pre-releases a, b and rc of the same release."""

Version = tuple[tuple[int, ...], tuple[str, int]]
"""The numbers of a release without trailing zeros, and its pre-release."""
_COMPARE: Final[dict[str, Callable[[Version, Version], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    # PEP 440: `<1.0` excludes 1.0's own pre-releases.
    "<": lambda one, other: one < other and not (one[0] == other[0] and other[1] == _FINAL),
    ">": operator.gt,
}


def accepts(specifiers: str, version: str) -> bool:
    """Return whether all specifiers accept a version. Raises ValueError for text that is not a list of specifiers."""
    found = re.match(_RELEASE, version)
    assert found is not None  # the version of trainc itself
    this = _version(found[1], found[2], found[3])
    # All are validated, also those after one that does not accept the version.
    accepted = [_accepts(specifier, this) for specifier in specifiers.split(",")]
    return all(accepted)


def _accepts(specifier: str, this: Version) -> bool:
    found = _SPECIFIER.fullmatch(specifier.strip())
    if found is None:
        raise ValueError(specifier)
    compare, release = found[1] or "==", found[2]
    other = _version(release, found[3], found[4])
    if compare != "~=":
        return _COMPARE[compare](this, other)
    prefix = tuple(map(int, release.split(".")))[:-1]
    if not prefix:
        raise ValueError(specifier)  # PEP 440: `~=1` has no part that may change
    return this >= other and (*this[0], *[0] * len(prefix))[: len(prefix)] == prefix


def _version(release: str, pre: str | None, number: str | None) -> Version:
    numbers = [int(part) for part in release.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), (pre, int(number or 0)) if pre else _FINAL
