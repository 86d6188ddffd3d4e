"""Moves: the fields that a dialect has elsewhere than the form. Both the compiler and `trainc upgrade` use them.

Reads    a TrainJob of a dialect.
Returns  moves; the same TrainJob in the form; and for any path in the form, the path in the original.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_PATCH, POD_TEMPLATE
from trainc.base.records import NamedTuple
from trainc.diagnostics import Edit
from trainc.kubernetes.trees import Path, Tree, get, removed_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trainc.diagnostics import Document

MANAGER: Final = "trainc.dev/upgrade"
"""The manager of a patch that was an override: overrides have no manager, but patches require one."""
TEMPLATE: Final = ("trainingRuntimeSpec", "template")
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


def patches(
    spec: Tree,
    field: str,
    *,
    targets: Callable[[Path, Tree], Iterable[tuple[Path, str]]],
    destinations: Mapping[Path, Path],
) -> Iterator[Move]:
    """Yield the moves of labels, annotations and a list of overrides to runtimePatches.

    An override becomes an entry for each job that it targets. Overrides of different jobs share a patch. An override of
    a job that an earlier one targets starts a new patch, so that it still takes precedence.

    Args:
        spec: the TrainJob's spec.
        field: the name of the list of overrides.
        targets: returns the names of an override's jobs, each with its path.
        destinations: the path in a pod template for each field of an override.
    """
    taken: list[list[str]] = []

    def begin(source: Path) -> Iterator[Move]:
        taken.append([])
        name = MANAGER if len(taken) == 1 else f"{MANAGER}-{len(taken)}"
        yield Move(source, ("spec", "runtimePatches", len(taken) - 1, "manager"), name)

    for key in ("labels", "annotations"):
        if isinstance(spec.get(key), dict):
            if not taken:
                yield from begin(("spec", key))
            yield Move(("spec", key), ("spec", "runtimePatches", 0, *TEMPLATE, "metadata", key))
    for index, override in enumerate(_items(spec.get(field))):
        at: Path = ("spec", field, index)
        named: dict[str, Path] = {}
        for source, name in targets(at, override):
            named.setdefault(name, source)
        if not taken or not named.keys().isdisjoint(taken[-1]):
            yield from begin(at)
        for name, source in named.items():
            job: Path = ("spec", "runtimePatches", len(taken) - 1, *JOBS_OF_PATCH, len(taken[-1]))
            taken[-1].append(name)
            yield Move(source, (*job, "name"), name)
            for path, destination in destinations.items():
                if get(override, path) is not None:
                    yield Move((*at, *path), (*job, *POD_TEMPLATE, *destination))


def initializer(spec: Tree, source: Path, part: str) -> Iterator[Move]:
    """Yield the moves of a config to a part of `initializer`. Its Secret is in the TrainJob's own namespace."""
    config = get(spec, source)
    for key in config if isinstance(config, dict) else ():
        if key == "secretRef":
            yield Move(("spec", *source, key, "name"), ("spec", "initializer", part, key, "name"))
        else:
            yield Move(("spec", *source, key), ("spec", "initializer", part, key))
    if config == {}:
        yield Move(("spec", *source), ("spec", "initializer", part))


def targets_by_name(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the job names of `targetJobs: [{name: ...}]`, each with its path."""
    for index, target in enumerate(_items(override.get("targetJobs"))):
        if isinstance(target.get("name"), str):
            yield (*at, "targetJobs", index, "name"), target["name"]


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
    nearest = max(moves, key=lambda move: _shared(path, move.target), default=None)
    return nearest.source[:3] if nearest else path


def _shared(path: Path, target: Path) -> int:
    """Return the length of the common prefix of two paths."""
    return next((i for i, (a, b) in enumerate(zip(path, target, strict=False)) if a != b), min(len(path), len(target)))


def _items(value: object) -> list[Tree]:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


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
