"""Masked changes: changes of manifests without secrets (`source.masking`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.source.masking import masked, secrecy_at

if TYPE_CHECKING:
    from trainc.review.changes import Change


def shown(change: Change, old: Any, new: Any) -> Change:
    """Return a change of the tree `old` to `new` without secrets."""
    if change.kind == "moved":
        return change
    return change._replace(
        old=masked(change.old, secret=secrecy_at(old, change.old_path)),
        new=masked(change.new, secret=secrecy_at(new, change.new_path)),
    )
