"""Versions in trainc.yaml: the releases in the cluster as their author wrote them, and requiredVersion.

Reads    the document, in which an unquoted version is a number.
Returns  the document with the text of each version, and violations for the versions that no release has; and whether
         the specifiers of requiredVersion accept this trainc.
"""

from __future__ import annotations

import operator
import re
from itertools import product
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.option_rows import RELEASE_ROWS
from trainc.diagnostics import Place
from trainc.kubernetes.trees import get, put
from trainc.kubernetes.violations import Violation
from trainc.settings.keys import BY_PATH, ENVIRONMENTS
from trainc.settings.layers import leaf
from trainc.settings.schema import diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from trainc.diagnostics import Diagnostic, Document, Path
    from trainc.settings.layers import Branch
    from trainc.settings.model import Base


CLUSTER_VERSION: Final = Declaration("cluster-version", ("read",), trainc_only=True)
_NUMBER: Final = re.compile(r"[0-9][0-9.]{0,60}", re.ASCII)
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


def with_version_texts(document: Document) -> Document:
    """Return the document with the text of each number that is a release: 2.10 is not 2.1."""
    from trainc.source.excerpt import place as indices

    environments = get(document.value, (ENVIRONMENTS,))
    layers: list[Path] = [(), *((ENVIRONMENTS, name) for name in environments or () if environments)]
    value = document.value
    for path in ((*layer, key) for layer in layers for key in RELEASE_ROWS):
        number = get(value, path)
        if not isinstance(number, int | float) or isinstance(number, bool):
            continue
        at = Place(document, path).locate()
        if at.source is None:
            continue
        begin, end = indices(at)
        text = at.source.text[begin:end]
        if _NUMBER.fullmatch(text):
            value = put(value, path, text)
    return document if value is document.value else document._replace(value=value)


def environment_faults(base: Base, environments: Mapping[str, Branch]) -> Iterator[Diagnostic]:
    """Yield a fault for each environment whose cluster has another release in an earlier environment.

    Args:
        base: the files.
        environments: the merged layers of each environment.
    """
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for (name, tree), key in product(environments.items(), RELEASE_ROWS):
        of_cluster, of_version = leaf(tree, "cluster"), leaf(tree, key)
        cluster = "" if of_cluster is None else of_cluster.value
        version = BY_PATH[key,].default if of_version is None else of_version.value
        if version is None:
            continue
        other, expected = first.setdefault((cluster, key), (name, version))
        if version != expected:
            named = f'cluster "{cluster}"' if cluster else "one cluster"
            place = None if of_version is None else of_version.source
            if not isinstance(place, Place) or place.path[:1] != (ENVIRONMENTS,):
                place = Place(base.document_with(ENVIRONMENTS, name), (ENVIRONMENTS, name), key=True)
            violation = Violation.at(
                place.path,
                CLUSTER_VERSION,
                f"the environments {other} and {name} of {named} have different values of {key}: {expected} and "
                f"{version}",
                f"set the same {key}, or cluster if each has a cluster of its own",
                key=place.key,
            )
            yield diagnostic(place.document, violation)


def faults(path: Path, layer: Branch) -> Iterator[Violation]:
    """Yield the faults of the releases of a layer."""
    for key, row in RELEASE_ROWS.items():
        found = leaf(layer, key)
        if found is None or row.release_fault is None:
            continue
        if fault := row.release_fault(found.value if isinstance(found.value, str) else ""):
            yield Violation.at((*path, key), CLUSTER_VERSION, *fault)


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
