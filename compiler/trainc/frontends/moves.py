"""Moves: the fields that a dialect has elsewhere than the form. Both the compiler and `trainc upgrade` use them.

Reads    a TrainJob of a dialect.
Returns  moves; the same TrainJob in the form; and for any path in the form, the path in the original.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.base.suggestions import shared_length
from trainc.diagnostics import Edit
from trainc.kubernetes.trees import Path, Tree, get, removed_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import Document

AS_IS: Final = object()


class Move(NamedTuple):
    """A field at `source` that is at `target` after the conversion, with the same value or another one."""

    source: Path
    target: Path
    """The new path; empty for a field that is removed."""
    value: Any = AS_IS

    def value_in(self, job: Tree) -> Any:
        """Return the new value of the field of a TrainJob."""
        return get(job, self.source) if self.value is AS_IS else self.value


def edited(document: Document, value: Tree, moves: Sequence[Move]) -> Document:
    """Return a document with another value, with the edit that leads back to the fields from which it was derived."""
    edit = Edit(before=document.value, source=partial(written_at, moves=moves))
    return document._replace(value=value, edits=(*document.edits, edit))


def moved(job: Tree, moves: Iterable[Move], gone: Iterable[Path]) -> Tree:
    """Return the TrainJob after the moves. `gone` are the fields that it does not keep."""
    result = job
    for path in gone:
        result = removed_at(result, path)
    for move in moves:
        if move.target:
            result = _with_value_at(result, move.target, move.value_in(job))
    return result


def composed(first: Iterable[Move], second: Iterable[Move]) -> Iterator[Move]:
    """Yield the moves of single fields that have the effect of two conversions, one after the other."""
    left = {move.target: move for move in first}
    for move in second:
        earlier = left.pop(move.source, None)
        if earlier is not None:
            value = earlier.value if move.value is AS_IS else move.value
            move = Move(earlier.source, move.target, value)  # noqa: PLW2901 (the same field)
        if move.source != move.target or move.value is not AS_IS:
            yield move
    yield from left.values()


def written_at(path: Path, moves: Iterable[Move]) -> Path:
    """Return the path in the original TrainJob of a path in the form."""
    best: tuple[int, Path] = (0, path)
    for move in moves:
        length = len(move.target)
        if length > best[0] and path[:length] == move.target:
            best = length, (*move.source, *path[length:])
    if not best[0] and path[:2] == ("spec", "initializer"):
        below = next((move for move in moves if move.target[: len(path)] == path), None)
        return below.source[: len(path) - len(below.target)] if below else path
    if best[0] or path[:2] != ("spec", "runtimePatches"):
        return best[1]
    # No move targets the path itself or a field above it: use the move that shares most of the path.
    nearest = max(moves, key=lambda move: shared_length(path, move.target), default=None)
    return nearest.source[:3] if nearest else path


def _with_value_at(node: Any, path: Path, value: Any) -> Any:
    """Return a copy of `node` with `value` at `path`, and with missing parents added."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(node or ())
        items += [None] * (step + 1 - len(items))
        items[step] = _with_value_at(items[step], rest, value)
        return items
    fields = dict(node or {})
    fields[step] = _with_value_at(fields.get(step), rest, value)
    return fields
