"""Masked changes: changes of manifests without secrets (`masking`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.masking.masked_values import CHANGED, MASK, masked, masked_at, secrecy_at
from trainc.provenance.tracing.correspondence import GONE, value_at

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path
    from trainc.review.changes import Change


def shown(change: Change, old: Any, new: Any) -> Change:
    """Return a change of the tree `old` to `new` without secrets. A secret that changes is marked."""
    if change.kind == "moved":
        return change
    before, after = _shown(change.old, old, change.old_path), _shown(change.new, new, change.new_path)
    if before == after and isinstance(after, str):
        after = after.replace(MASK, CHANGED)
    return change._replace(old=before, new=after)


def _shown(value: Any, tree: Any, path: Path) -> Any:
    """Return a value as it is shown at its path in a tree; one that the tree has not, by its context."""
    if value is GONE:
        return value
    if value_at(tree, path) == value:
        return masked_at(tree, path)
    return masked(value, secret=secrecy_at(tree, path))
