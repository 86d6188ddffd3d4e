"""Edits of manifests that leave the original as it was.

A manifest is a JSON tree: dicts, lists and scalars. Trees are shared between jobs, so nothing changes one in place:
an edit copies the containers on the way to the field, and shares the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = dict[str, Any]
Path = tuple[str | int, ...]
Step = tuple[Any, str | int]
"""The way to a value, innermost step first: (the way to its parent or None, its key or index). Cheap to extend."""
At = Step | None


class Memory(dict[Any, Any]):
    """What pure functions made of parts of trees, mostly by their identity: jobs share those of runtimes and patches.

    An entry by identity holds what it is an entry of, so that no identity is given away a second time. It forgets all
    when it is full, and when another run begins.
    """

    MOST: Final = 2048

    def __init__(self) -> None:
        super().__init__()
        _TO_CLEAR.append(self.clear)

    def keep(self, key: Any, value: Any) -> Any:
        """Remember a value, and return it."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = value
        return value


_TO_CLEAR: Final[list[Callable[[], object]]] = []


def forgotten(clear: Callable[[], object]) -> None:
    """Have something else that holds trees cleared when another run begins."""
    _TO_CLEAR.append(clear)


def forget() -> None:
    """Forget what earlier runs have made: whoever holds their objects may have changed them since."""
    for clear in _TO_CLEAR:
        clear()


def path_of(at: At) -> Path:
    """The path that a chain of steps stands for."""
    steps = []
    while at is not None:
        at, step = at
        steps.append(step)
    return tuple(reversed(steps))


def get(tree: Any, path: Path, default: Any = None) -> Any:
    """The value at `path`, or `default` where some step of it is missing or null."""
    for step in path:
        if tree.__class__ is dict:  # half of the time of isinstance, in what stages do most
            tree = tree.get(step)
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        elif isinstance(tree, dict):
            tree = tree.get(step)
        else:
            return default
    return default if tree is None else tree


def edit(tree: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy of `tree` with the value at `path` (None where it is missing) replaced by what `change` makes of it.

    Mappings that are missing on the way are made; lists are not. Raises IndexError for a list item that is not there.
    """
    root: list[Any] = [tree]
    around: Any = root
    at: str | int = 0
    for step in path:
        inner: Any = around.get(at) if isinstance(around, dict) else around[at]
        around[at] = list(inner) if isinstance(step, int) else dict(inner) if inner else {}
        around, at = around[at], step
    around[at] = change(around.get(at) if isinstance(around, dict) else around[at])
    return root[0]


def put(tree: Any, path: Path, value: Any) -> Any:
    """A copy of `tree` with `value` at `path`."""
    return edit(tree, path, lambda _: value)
