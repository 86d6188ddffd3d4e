"""The dialects of TrainJob, detected by their fields: Trainer releases share an apiVersion, but differ in fields.

Reads    a TrainJob as it was written.
Returns  the key of its dialect, and the field that identifies an older one; or two fields that no dialect has together.

Each dialect is one file, named after its key, with `_` for characters that module names cannot have: `v2.0` is v2_0.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from trainc.base.kinds import DRAFT_VERSION, OLD_VERSION, VERSION
from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.moves import Move
    from trainc.kubernetes.trees import Path, Tree

DIALECTS: Final = ("v2.3", "v2.1", "v2.0", "v1.9", "kep-2170")
"""Newest first: if several dialects fit the fields, the first one is used."""

_ALL: Final = frozenset(DIALECTS)
_BEFORE_PATCHES: Final = _ALL - {"v2.3"}
_FIRST_GROUP: Final = frozenset({"kep-2170", "v1.9"})
FIELDS: Final[dict[str, frozenset[str]]] = {
    "trainingRuntimeRef": frozenset({"kep-2170"}),
    "datasetConfig": _FIRST_GROUP,
    "modelConfig": _FIRST_GROUP,
    "podSpecOverrides": _FIRST_GROUP | {"v2.0"},
    "podTemplateOverrides": frozenset({"v2.1"}),
    "labels": _BEFORE_PATCHES,
    "annotations": _BEFORE_PATCHES,
    "runtimeRef": _ALL - {"kep-2170"},
    "initializer": _ALL - _FIRST_GROUP,
    "runtimePatches": frozenset({"v2.3"}),
    "activeDeadlineSeconds": frozenset({"v2.3"}),
}
"""The fields of a TrainJob's spec by which dialects differ, and the dialects that have each."""
OLDER: Final = frozenset(field for field, dialects in FIELDS.items() if "v2.3" not in dialects)
TARGETS: Final = {"targetReplicatedJobs": frozenset({"kep-2170"}), "targetJobs": frozenset({"v2.0", "v1.9"})}
"""The distinctive fields of an override in podSpecOverrides, and the dialects that have each."""
WORDS: Final = ("auto", "cpu", "gpu")
"""The values that dialects before v2.3 allow for numProcPerNode besides a number."""
PROCESSES: Final = ("spec", "trainer", "numProcPerNode")


class Dialect(Protocol):
    """The interface of a dialect's module."""

    SCHEMA: str
    """The folder of its schemas."""
    NAME: str
    GONE: tuple[str, ...]
    """The fields of its spec that v2.3 does not have."""

    def moves(self, job: Tree) -> Iterator[Move]:
        """Yield the fields that v2.3 has elsewhere."""
        ...


class Detected(NamedTuple):
    """The dialect of a TrainJob, according to its fields."""

    key: str
    mark: Path = ()
    """The first field that v2.3 does not have."""
    conflict: Path = ()
    """The field that no dialect has together with `mark`, if fields contradict each other."""


V2_3: Final = Detected("v2.3")


def detect(job: Tree) -> Detected:
    """Return the dialect of a TrainJob."""
    spec = job.get("spec")
    if job.get("apiVersion") == VERSION and not (isinstance(spec, dict) and (spec.keys() & OLDER or _has_word(spec))):
        return V2_3
    possible, marks = _ALL, list(_marks(job))
    for index, (path, dialects) in enumerate(marks):
        if not possible & dialects:
            other = next(earlier for earlier, theirs in marks[:index] if not theirs & dialects)
            return _contradiction(other, path)
        possible &= dialects
    number = _by_number(job)
    if possible & number < possible:
        # A contradiction here is a wrong type, which the schema of the dialect reports.
        possible = possible & number or possible
        marks.append((PROCESSES, number))
    if job.get("apiVersion") == DRAFT_VERSION and "v1.9" in possible:
        key = "v1.9"
    else:
        key = next(dialect for dialect in DIALECTS if dialect in possible)
    if job.get("apiVersion") == VERSION and key == "v2.3":
        return V2_3
    return Detected(key, next(path for path, dialects in marks if path == ("apiVersion",) or "v2.3" not in dialects))


def load(key: str) -> Dialect:
    """Return the module of a dialect."""
    return cast("Dialect", import_module(f"{__name__}.{key.replace('.', '_').replace('-', '_')}"))


def moves(detected: Detected, job: Tree) -> Iterator[Move]:
    """Yield the moves of a TrainJob to its v2.3 form, the apiVersion first."""
    from trainc.frontends.moves import Move

    if job.get("apiVersion") != VERSION:
        yield Move(("apiVersion",), ("apiVersion",), VERSION)
    yield from load(detected.key).moves(job)


def _has_word(spec: Tree) -> bool:
    """Return whether numProcPerNode is a word, which v2.3 rejects."""
    trainer = spec.get("trainer")
    return isinstance(trainer, dict) and trainer.get("numProcPerNode") in WORDS


def _by_number(job: Tree) -> frozenset[str]:
    """Return the dialects that accept the type of numProcPerNode."""
    from trainc.kubernetes.trees import get

    count = get(job, PROCESSES)
    if isinstance(count, int) and not isinstance(count, bool):
        return _ALL - _FIRST_GROUP
    return _BEFORE_PATCHES if count in WORDS else _ALL


def _marks(job: Tree) -> Iterator[tuple[Path, frozenset[str]]]:
    """Yield the distinctive fields in the order in which they were written, each with the dialects that have it."""
    version = job.get("apiVersion")
    if version != VERSION:
        yield ("apiVersion",), _FIRST_GROUP if version == OLD_VERSION else _ALL
    spec = job.get("spec")
    for key, value in spec.items() if isinstance(spec, dict) else ():
        if key in FIELDS:
            yield ("spec", key), FIELDS[key]
        if key == "podSpecOverrides" and isinstance(value, list):
            for index, override in enumerate(value):
                for target in override if isinstance(override, dict) else ():
                    if target in TARGETS:
                        yield ("spec", key, index, target), TARGETS[target]


def _contradiction(first: Path, second: Path) -> Detected:
    """Return two contradictory fields; the older one is the mark."""
    older = [path for path in (first, second) if path[-1] in OLDER or path[-1] in TARGETS or path == ("apiVersion",)]
    mark = older[0]
    return Detected("", mark, second if mark == first else first)
