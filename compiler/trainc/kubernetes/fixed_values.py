"""The changes of a fix, made in the value of a document.

Reads    a value and a change, whose paths are in it.
Returns  a copy with the change; unchanged parts are the same objects. Imported only when there is a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.base.fixes import Addition, Relocation, Removal, Renaming
from trainc.kubernetes.trees import edit, put

if TYPE_CHECKING:
    from trainc.base.fixes import Change


def changed(value: Any, change: Change) -> Any:
    """Return a value with a change. Raise ValueError if a key of the new name is there, LookupError without a list."""
    *above, last = change.path
    match change:
        case Renaming(_, name):
            return edit(value, tuple(above), lambda parent: _renamed(parent, last, name))
        case Relocation(_, target, moved):
            without = edit(value, tuple(above), lambda parent: _remove_step(parent, last))
            return put(without, target, moved)
        case Removal():
            return edit(value, tuple(above), lambda parent: _remove_step(parent, last))
        case Addition(_, added) if isinstance(last, int):
            return edit(value, tuple(above), lambda items: [*items, added])
    return put(value, change.path, change.value)


def _remove_step(parent: Any, step: str | int) -> Any:
    if isinstance(parent, list):
        return [each for index, each in enumerate(parent) if index != step]
    return {key: each for key, each in parent.items() if key != step}


def _renamed(parent: dict[str, Any], name: str | int, new: str) -> dict[str, Any]:
    if new in parent:
        raise ValueError(f"the mapping has the key {new!r}")
    return {new if key == name else key: value for key, value in parent.items()}
