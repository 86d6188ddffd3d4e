"""Moves: the fields that an older dialect has elsewhere. Both the compiler and `trainc upgrade` use them.

Reads    a TrainJob of an older dialect.
Returns  moves; the same TrainJob in the v2.3 form; and for any path in that form, the path in the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import Path, Tree, get
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MANAGER: Final = "trainc.dev/upgrade"
"""The manager of a patch that was an override: overrides have no manager, but patches require one."""
TEMPLATE: Final = ("trainingRuntimeSpec", "template")
POD: Final = ("template", "spec", "template")
"""The path of the pod template in a replicated job."""
AS_IS: Final = object()


class Move(NamedTuple):
    """A field at `source` that is at `target` in v2.3, with the same value or another one."""

    source: Path
    target: Path
    value: Any = AS_IS


def patches(
    spec: Tree,
    field: str,
    *,
    targets: Callable[[Path, Tree], Iterable[tuple[Path, str]]],
    destinations: Mapping[str, Path],
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
            job: Path = ("spec", "runtimePatches", len(taken) - 1, *TEMPLATE, "spec", "replicatedJobs", len(taken[-1]))
            taken[-1].append(name)
            yield Move(source, (*job, "name"), name)
            for key, destination in destinations.items():
                if key in override:
                    yield Move((*at, key), (*job, *POD, *destination))


def processes(spec: Tree) -> Iterator[Move]:
    """Yield a number of processes that was written as a string. The framework reads words such as `auto`."""
    count = get(spec, ("trainer", "numProcPerNode"))
    if isinstance(count, str) and count.isascii() and count.isdecimal():
        path = ("spec", "trainer", "numProcPerNode")
        yield Move(path, path, int(count))


def targets_by_name(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the job names of `targetJobs: [{name: ...}]`, each with its path."""
    for index, target in enumerate(_items(override.get("targetJobs"))):
        if isinstance(target.get("name"), str):
            yield (*at, "targetJobs", index, "name"), target["name"]


def moved(job: Tree, moves: Iterable[Move], gone: Iterable[str]) -> Tree:
    """Return the TrainJob in the v2.3 form. `gone` are the fields of its spec that v2.3 does not have."""
    left = {key: value for key, value in job["spec"].items() if key not in gone}
    result: Tree = job | {"spec": left}
    for move in moves:
        result = _put(result, move.target, get(job, move.source) if move.value is AS_IS else move.value)
    return result


def written_at(path: Path, moves: Iterable[Move]) -> Path:
    """Return the path in the original TrainJob of a path in its v2.3 form."""
    best: tuple[int, Path] = (0, path)
    for move in moves:
        shared = _shared(path, move.target)
        if shared == len(move.target) and shared > best[0]:
            best = shared, (*move.source, *path[shared:])
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


def _put(node: Any, path: Path, value: Any) -> Any:
    """Return a copy of `node` with `value` at `path`, and with missing parents added."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(node or ())
        items += [None] * (step + 1 - len(items))
        items[step] = _put(items[step], rest, value)
        return items
    fields = dict(node or {})
    fields[step] = _put(fields.get(step), rest, value)
    return fields
