"""The violations that are consequences of an unknown field: a required field that is written under another name.

Reads    the violations of an object, and its unknown fields with their fixes.
Returns  the violations that remain when the unknown fields are fixed. Imported only if there are both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.fixes import Addition, Removal, Renaming, Replacement
from trainc.kubernetes.violations import REQUIRED, TOO_FEW_PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.base.fixes import Fix
    from trainc.kubernetes.trees import Path
    from trainc.kubernetes.violations import Violation

_MISSING: Final = frozenset({REQUIRED.id, TOO_FEW_PROPERTIES.id})


def causes(violations: Iterable[Violation], unknown: Iterable[Violation]) -> list[Violation]:
    """Return the violations that no fix of an unknown field removes."""
    supplied = {path for violation in unknown if violation.fix for path in _supplied(violation.fix)}
    return [violation for violation in violations if violation.path not in supplied or violation.rule not in _MISSING]


def _supplied(fix: Fix) -> Iterator[Path]:
    """Yield the paths of the fields that a fix writes, and of the mappings to which it adds them."""
    for change in fix.changes:
        if isinstance(change, Removal | Addition):
            continue
        if isinstance(change, Replacement):
            yield from ((*change.path, key) for key in (change.value if isinstance(change.value, dict) else ()))
            continue
        target = (*change.path[:-1], change.name) if isinstance(change, Renaming) else change.target
        yield from (target[:length] for length in range(1, len(target) + 1))
