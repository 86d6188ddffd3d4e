"""Masked changes: changes of manifests without secrets (`source.masking`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.provenance.tracing.correspondence import GONE, value_at
from trainc.source.masking import masked, masked_at, secrecy_at
from trainc.source.unnamed_secrets import NOTHING, redacted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kubernetes.trees import Path
    from trainc.review.changes import Change


def shown(change: Change, old: Any, new: Any, forms: Mapping[str, str] = NOTHING) -> Change:
    """Return a change of the tree `old` to `new` without secrets; `forms` are those of unnamed secrets."""
    if change.kind == "moved":
        return change._replace(old=redacted(change.old, forms), new=redacted(change.new, forms)) if forms else change
    before, after = _shown(change.old, old, change.old_path, forms), _shown(change.new, new, change.new_path, forms)
    field = change.field
    for text, form in forms.items():
        field = field.replace(f"[{text}]", f"[{form}]")  # the name of an item
    return change._replace(field=field, old=before, new=after)


def _shown(value: Any, tree: Any, path: Path, forms: Mapping[str, str]) -> Any:
    """Return a value as it is shown at its path in a tree; one that the tree has not, by its context."""
    if value is GONE:
        return value
    if value_at(tree, path) == value:
        return masked_at(redacted(tree, forms), path)
    return masked(redacted(value, forms), secret=secrecy_at(tree, path))
