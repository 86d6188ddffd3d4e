"""Trees: edits of manifests that do not modify the original, their size, and caches of what is derived from them.

A manifest is a JSON tree: dicts, lists and scalars. Jobs share trees, so no code modifies one in place: an edit copies
the containers on the path to the field and shares the rest. `measured` counts the values of a tree: a part that aliases
repeat counts each time that it occurs, and is visited once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import EACH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Tree = dict[str, Any]
Path = tuple[str | int, ...]
PathStep = tuple[Any, str | int]
"""The path to a value, innermost step first: (its parent's PathStep or None, its key or index). Cheap to extend."""
At = PathStep | None
_TO_CLEAR: Final[list[Callable[[], object]]] = []
DEEPEST: Final = 100
"""The maximum nesting depth of lists and mappings in a patched object, as in a manifest."""


class Memory(dict[Any, Any]):
    """A cache for pure functions of subtrees, mostly keyed by identity: jobs share subtrees of runtimes and patches.

    An entry keyed by identity keeps its object alive, so that the identity is not reused; other keys have the thread
    (`get_ident`), so that two runs at once share no tree. The cache is cleared when it is full and when another run
    starts, in any thread: read an entry by one call of `get`.
    """

    MOST: Final = 2048
    """The most entries."""

    def __init__(self) -> None:
        super().__init__()
        _TO_CLEAR.append(self.clear)

    def keep(self, key: Any, value: Any) -> Any:
        """Store a value and return it."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = value
        return value


def cleared_each_run(clear: Callable[[], object]) -> None:
    """Register a function that clears another cache of trees when another run starts."""
    _TO_CLEAR.append(clear)


def forget() -> None:
    """Clear all caches of earlier runs: callers may have modified the objects since."""
    for clear in _TO_CLEAR:
        clear()


def path_of(at: At) -> Path:
    """Return the path that a chain of steps represents."""
    steps = []
    while at is not None:
        at, step = at
        steps.append(step)
    return tuple(reversed(steps))


def get(tree: Any, path: Path, default: Any = None) -> Any:
    """Return the value at `path`, or `default` if a step is missing or the value is null."""
    for step in path:
        if tree.__class__ is dict:  # takes half the time of isinstance, and is the most frequent case
            tree = tree.get(step)
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        elif isinstance(tree, dict):
            tree = tree.get(step)
        else:
            return default
    return default if tree is None else tree


def values_at(tree: Any, path: tuple[str, ...], at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the values at a path with steps for each item of a list or each value of a map, each with its own path.

    Missing and null values are skipped.

    >>> list(values_at({"jobs": [{"name": "a"}, {}], "roles": {"PS": 1}}, ("jobs", EACH, "name")))
    [(('jobs', 0, 'name'), 'a')]
    >>> list(values_at({"roles": {"PS": 1}}, ("roles", EACH)))
    [(('roles', 'PS'), 1)]
    """
    for depth, step in enumerate(path):
        if step == EACH:
            items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
            for key, item in items:
                yield from values_at(item, path[depth + 1 :], (*at, *path[:depth], key))
            return
        tree = tree.get(step) if isinstance(tree, dict) else None
        if tree is None:
            return
    if tree is not None:
        yield (*at, *path), tree


def edit(tree: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """Return a copy of `tree` with the value at `path` (None if missing) replaced by the result of `change`.

    Missing mappings on the path are created, lists are not. Raises IndexError for a list item that does not exist.
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
    """Return a copy of `tree` with `value` at `path`."""
    return edit(tree, path, lambda _: value)


def removed_at(tree: Any, path: Path) -> Any:
    """Return a copy of `tree` without the key or item at `path`, or `tree` if it has none; its parents stay.

    >>> removed_at({"spec": {"a": 1}}, ("spec", "a")), removed_at({"a": [1, 2]}, ("a", 0))
    ({'spec': {}}, {'a': [2]})
    """
    parent = get(tree, path[:-1])
    if isinstance(parent, list):
        return put(tree, path[:-1], [item for index, item in enumerate(parent) if index != path[-1]])
    if not isinstance(parent, dict) or path[-1] not in parent:
        return tree
    return put(tree, path[:-1], {key: value for key, value in parent.items() if key != path[-1]})


def repeated(text: str, tree: Any) -> int:
    """Return the number of characters by which the texts in the value of a document exceed its own text.

    Only aliases repeat texts.

    >>> repeated("[&a abcdefgh, *a, *a, *a]", ["abcdefgh"] * 4)
    7
    """
    return max(0, _length(tree, {}) - len(text)) if "&" in text and "*" in text else 0


def _length(tree: Any, known: dict[int, int]) -> int:
    """Return the length of all keys and strings in a tree; each shared part is visited once."""
    if isinstance(tree, str):
        return len(tree)
    if not isinstance(tree, dict | list):
        return 0
    found = known.get(id(tree))
    if found is None:
        keys = sum(map(len, tree)) if isinstance(tree, dict) else 0
        values = tree.values() if isinstance(tree, dict) else tree
        found = known[id(tree)] = keys + sum(_length(value, known) for value in values)
    return found


def measured(tree: Any, known: dict[int, tuple[int, int]] | None = None) -> tuple[int, int]:
    """Return the number of mappings, lists and scalars in a tree, and its depth; each shared part is visited once.

    known    the results for earlier parts, by identity; the caller keeps them alive

    >>> part = [1, 2]
    >>> measured({"a": part, "b": part})
    (7, 2)
    """
    if not isinstance(tree, dict | list):
        return 1, 0
    known = {} if known is None else known
    found = known.get(id(tree))
    if found is None:
        inside = [measured(value, known) for value in (tree.values() if isinstance(tree, dict) else tree)]
        size, depth = 1 + sum(size for size, _ in inside), 1 + max((depth for _, depth in inside), default=0)
        found = known[id(tree)] = size, depth
    return found
