"""Masked changes: changes of manifests, and the cluster's messages about them, without secrets (`source.masking`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.source import messages
from trainc.source.masking import is_secret_at, masked
from trainc.tracing.correspondence import GONE, at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.violations import Violation
    from trainc.review.changes import Change


def shown(change: Change, old: Any, new: Any) -> Change:
    """Return a change of the tree `old` to `new` without secrets."""
    if change.kind == "moved":
        return change
    return change._replace(
        old=masked(change.old, secret=is_secret_at(old, change.old_path)),
        new=masked(change.new, secret=is_secret_at(new, change.new_path)),
    )


def without_secrets(violation: Violation, *trees: Any) -> Violation:
    """Return a violation whose message does not quote the secrets at its path in the trees."""
    values = {
        spelling
        for tree in trees
        if (value := at(tree, violation.path)) is not GONE
        for secret in _secrets(value, masked(value, secret=is_secret_at(tree, violation.path)))
        for spelling in (secret, json.dumps(secret, ensure_ascii=False)[1:-1])
    }
    return violation._replace(message=messages.masked(violation.message, sorted(values, key=len, reverse=True)))


def _secrets(value: Any, shown: Any) -> Iterator[str]:
    """Yield the values of a tree that are masked."""
    if isinstance(value, dict | list):
        steps: Iterable[Any] = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            yield from _secrets(value[step], shown[step])
    elif value != shown:
        yield str(value)
