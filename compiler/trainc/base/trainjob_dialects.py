"""The dialects of TrainJob: one row for each, with the names and values that it has for the fields of one form.

Reads    a TrainJob as it was written, and the dialect of the release that it is for.
Returns  the rows; and the dialect of a TrainJob, detected by its fields: releases share an apiVersion, but differ in
         fields.

A release that renames a field, changes its type or drops it has a row of its own. The moves, hints and messages of all
commands follow from the rows. Overrides of older dialects are not fields of the form:
`frontends.dialects` moves their parts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import DRAFT_VERSION, EACH, GROUP, JOBS_OF_PATCH, OLD_GROUP, OLD_VERSION, VERSION
from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Tree = dict[str, Any]
Path = tuple[str | int, ...]

CONTROLLER: Final = "trainjob-controller"
WORDS: Final = ("auto", "cpu", "gpu")
"""The values that some dialects allow for the number of processes, besides a number."""


PROCESSES_FIELD: Final = "numProcPerNode"
"""The name of the number of processes per node in the form of a TrainJob, and in the policies of runtimes."""


class TrainJobForm:
    """The form in which all stages and checks read a TrainJob: the paths of its fields by which dialects differ."""

    RUNTIME: Final = ("spec", "runtimeRef")
    INITIALIZER: Final = ("spec", "initializer")
    PATCHES: Final = ("spec", "runtimePatches")
    PATCHED_METADATA: Final = (*PATCHES, EACH, "trainingRuntimeSpec", "template", "metadata")
    PATCHED_JOB: Final = (*PATCHES, EACH, *JOBS_OF_PATCH, EACH, "name")
    PROCESSES: Final = ("spec", "trainer", PROCESSES_FIELD)
    MANAGER: Final = ("spec", "managedBy")
    DEADLINE: Final = ("spec", "activeDeadlineSeconds")


TORCH_PROCESSES: Final = ("spec", "mlPolicy", "torch", PROCESSES_FIELD)
"""The number of processes in torch runtimes of Trainer v2.0 and v2.1, which later releases drop."""


class Field(NamedTuple):
    """A field of a dialect: the path that it has in the form, and how its values differ."""

    form: Path
    read: Callable[[Any], Any] | None = None
    """Return the value in the form; None if all values are the same."""
    write: Callable[[Any], Any] | None = None
    """Return the dialect's value for one of the form; None if all values are the same."""
    rejects: Callable[[Any], bool] | None = None
    """Return whether another dialect has a value, but this one does not."""
    is_whole: bool = True
    """Whether the field moves as a whole; `frontends.dialects` moves the parts of others."""


class Dialect(NamedTuple):
    """A dialect of TrainJob."""

    key: str
    name: str
    """The release in messages: `Trainer v2.1`."""
    schema: str
    """The folder of its schemas."""
    fields: Mapping[Path, Field] = {}
    """Its fields that the form has elsewhere, or with other values. A step `*` is each item of a list."""
    lacks: tuple[Path, ...] = ()
    """The fields of the form that it does not have, besides those that `fields` replaces."""
    version: str = VERSION
    """Its apiVersion."""
    has_overrides: bool = False
    """Whether it has overrides, whose parts `frontends.dialects` moves; nothing is converted to such a dialect."""
    runtime_fields: Mapping[Path, Field] = {}
    """The fields of runtimes that the form has elsewhere, or with other values."""

    @property
    def for_runtimes(self) -> Dialect:
        """The dialect of runtimes in the same release."""
        return self._replace(fields=self.runtime_fields, lacks=(), has_overrides=False)

    @property
    def is_form(self) -> bool:
        """Whether all its fields have their place and value in the form."""
        return not any(path != field.form or field.read for path, field in self.fields.items())

    @property
    def gone(self) -> tuple[Path, ...]:
        """Its fields that the form does not have, without those below others."""
        own = [path for path, field in self.fields.items() if path != field.form]
        return tuple(path for path in own if not any(path[: len(other)] == other for other in own if other != path))

    def written(self, path: Path) -> Path:
        """Return the dialect's path for one of the form."""
        found = [(len(field.form), own) for own, field in self.fields.items() if path[: len(field.form)] == field.form]
        if not found:
            return path
        length, own = max(found, key=lambda pair: pair[0])
        return (*own, *path[length:])

    def lacked(self) -> Iterator[Path]:
        """Yield the fields of the form that it does not have under their name."""
        yield from self.lacks
        yield from (field.form for path, field in self.fields.items() if path != field.form)


def _is_word(value: Any) -> bool:
    return value in WORDS


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> Any:
    """Return a number for a string that is one; other strings stay for the framework."""
    is_number = isinstance(value, str) and value.isascii() and value.isdecimal() and str(int(value)) == value
    return int(value) if is_number else value


def _manager(value: Any) -> Any:
    return f"{GROUP}/{CONTROLLER}" if value == f"{OLD_GROUP}/{CONTROLLER}" else value


def _group(value: Any) -> Any:
    return GROUP if value == OLD_GROUP else value


_LABELS: Final[dict[Path, Field]] = {
    ("spec", key): Field((*TrainJobForm.PATCHED_METADATA, key), is_whole=False) for key in ("labels", "annotations")
}
_CONFIGS: Final[dict[Path, Field]] = {
    ("spec", "datasetConfig"): Field((*TrainJobForm.INITIALIZER, "dataset"), is_whole=False),
    ("spec", "modelConfig"): Field((*TrainJobForm.INITIALIZER, "model"), is_whole=False),
}
_VALUES: Final[dict[Path, Field]] = {
    TrainJobForm.PROCESSES: Field(TrainJobForm.PROCESSES, _number, rejects=_is_integer),
    TrainJobForm.MANAGER: Field(TrainJobForm.MANAGER, _manager),
}


def _overrides(field: str, targets: str) -> dict[Path, Field]:
    return {
        ("spec", field): Field(TrainJobForm.PATCHES, is_whole=False),
        ("spec", field, EACH, targets): Field(TrainJobForm.PATCHED_JOB, is_whole=False),
    }


_EARLY: Final = (TrainJobForm.INITIALIZER, TrainJobForm.DEADLINE)
_ROWS: Final = (
    Dialect(
        "kep-2170",
        "KEP-2170",
        "kep-2170",
        {
            ("spec", "trainingRuntimeRef"): Field(TrainJobForm.RUNTIME),
            ("spec", "trainingRuntimeRef", "apiGroup"): Field((*TrainJobForm.RUNTIME, "apiGroup"), _group),
            **_CONFIGS,
            **_overrides("podSpecOverrides", "targetReplicatedJobs"),
            **_LABELS,
            **_VALUES,
        },
        lacks=_EARLY,
        version=OLD_VERSION,
        has_overrides=True,
    ),
    Dialect(
        "v1.9",
        "Training Operator v1.9",
        "operator-1.9",
        {
            (*TrainJobForm.RUNTIME, "apiGroup"): Field((*TrainJobForm.RUNTIME, "apiGroup"), _group),
            **_CONFIGS,
            **_overrides("podSpecOverrides", "targetJobs"),
            **_LABELS,
            **_VALUES,
        },
        lacks=_EARLY,
        version=OLD_VERSION,
        has_overrides=True,
    ),
    Dialect(
        "v2.0",
        "Trainer v2.0",
        "trainer-2.0",
        _overrides("podSpecOverrides", "targetJobs") | _LABELS,
        lacks=(TrainJobForm.DEADLINE,),
        has_overrides=True,
    ),
    Dialect(
        "v2.1",
        "Trainer v2.1",
        "trainer-2.1",
        _overrides("podTemplateOverrides", "targetJobs") | _LABELS,
        lacks=(TrainJobForm.DEADLINE,),
        has_overrides=True,
    ),
    Dialect(
        "v2.3",
        "Trainer v2.3",
        "trainer-2.3",
        {TrainJobForm.PROCESSES: Field(TrainJobForm.PROCESSES, rejects=_is_word)},
    ),
)
DIALECTS: Final = {row.key: row for row in _ROWS}
"""The dialects by key, the oldest first: if several fit the fields, the newest one is used."""


class Detected(NamedTuple):
    """The dialect of a TrainJob, according to its fields."""

    key: str
    mark: Path = ()
    """The first field that the release does not have; empty for a TrainJob in the release's own dialect."""
    conflict: Path = ()
    """The field that no dialect has together with `mark`, if fields contradict each other."""


class _Marks(NamedTuple):
    """The differences between a dialect and those before it."""

    keys: frozenset[str]
    """The keys of all of them."""
    fields: dict[Path, frozenset[str]]
    """The fields by which they differ, and the dialects that have each. A step `*` is each item of a list."""
    parents: frozenset[Path]
    """The paths that lead to those fields."""
    foreign: tuple[tuple[Path, frozenset[str]], ...]
    """The names below each parent that the dialect itself does not have."""
    values: tuple[tuple[Path, Dialect, Callable[[Any], bool]], ...]
    """The functions that recognize the values of other dialects."""


def newest() -> str:
    """Return the key of the newest dialect."""
    return next(reversed(DIALECTS))


def detect(job: Tree, own: str) -> Detected:
    """Return the dialect of a TrainJob for a release with the dialect `own`; newer dialects are unknown to it."""
    marks_of = _marks_of(own)
    is_served = job.get("apiVersion") == VERSION
    if is_served and not _is_suspicious(job, marks_of, own):
        return Detected(own)
    possible, marks = marks_of.keys, list(_marks(job, marks_of))
    for index, (path, dialects) in enumerate(marks):
        if not possible & dialects:
            other = next(earlier for earlier, theirs in marks[:index] if not theirs & dialects)
            return _contradiction(other, path, own)
        possible &= dialects
    for path in {path: None for path, _, _ in marks_of.values}:
        value = _at(job, path)
        accepting = marks_of.keys - {row.key for at, row, rejects in marks_of.values if at == path and rejects(value)}
        if possible & accepting < possible:
            # A contradiction here is a wrong type, which the schema of the dialect reports.
            possible = possible & accepting or possible
            marks.append((path, accepting))
    if job.get("apiVersion") == DRAFT_VERSION and "v1.9" in possible:
        key = "v1.9"
    else:
        key = next(dialect for dialect in reversed(DIALECTS) if dialect in possible)
    if is_served and key == own:
        return Detected(own)
    return Detected(key, next(path for path, dialects in marks if path == ("apiVersion",) or own not in dialects))


@cache  # one value for each dialect
def renamed_in_runtimes(own: str) -> dict[Path, tuple[Path, str]]:
    """Return the fields of runtimes that dialects before `own` have elsewhere: the new path, and the dialect's key."""
    forms = {field.form for row in DIALECTS.values() for field in row.runtime_fields.values()}
    new = {form: DIALECTS[own].for_runtimes.written(form) for form in forms}
    found: dict[Path, tuple[Path, str]] = {}
    for key in DIALECTS:
        if key == own:
            break
        written = {form: DIALECTS[key].for_runtimes.written(form) for form in forms}
        found |= {written[form]: (new[form], key) for form in forms if written[form] != new[form]}
    return found


def field_meant(path: Path, own: str, *, for_runtimes: bool = False) -> Path | None:
    """Return the path that the dialect `own` has for a field of another one; None if no dialect has the field.

    A name that means only one thing is found everywhere; labels, annotations and names only at their own path.
    """
    rows = {key: row.for_runtimes if for_runtimes else row for key, row in DIALECTS.items()}
    pattern, row = _pattern(path), rows[own]
    for other in reversed(rows.values()):
        for written, field in other.fields.items() if other is not row else ():
            is_named = field.form not in _METADATA and written in other.gone and path[-1:] == written[-1:]
            if written != field.form and (pattern == written[: len(pattern)] or is_named):
                return row.written(field.form)
    for written, field in row.fields.items():
        if written in row.gone and path[-1:] == field.form[-1:]:
            return row.written(field.form)
    return None


def other_names(name: str) -> Iterator[str]:
    """Yield the names that dialects have for a field of the form with that name."""
    for row in DIALECTS.values():
        for path, field in row.fields.items():
            if field.is_whole and field.form[-1] == name != path[-1]:
                yield str(path[-1])


_METADATA: Final = frozenset(field.form for field in _LABELS.values())
"""The fields whose names have another meaning elsewhere."""


def shown(path: Path) -> str:
    """Return a field of spec as messages show it.

    >>> shown(("spec", "runtimePatches", "*", "manager"))
    'runtimePatches[].manager'
    """
    return ".".join(map(str, path[1:] if path[0] == "spec" else path)).replace(f".{EACH}", "[]")


@cache  # one value for each dialect
def _marks_of(own: str) -> _Marks:
    """Return the differences between a dialect and those before it."""
    rows: list[Dialect] = []
    for row in DIALECTS.values():
        rows.append(row)
        if row.key == own:
            break
    keys = frozenset(row.key for row in rows)
    lacking: dict[Path, set[str]] = {}
    for row in rows:
        for form in row.lacked():
            lacking.setdefault(form, set()).add(row.key)
    fields = {
        form: having
        for form, lacks in lacking.items()
        if (having := keys - lacks) and not any(form[:n] in lacking for n in range(len(form)))
    }
    for row in rows:
        for path, field in row.fields.items():
            if path != field.form:
                fields[path] = fields.get(path, frozenset()) | {row.key}
    foreign: dict[Path, set[str]] = {}
    for path, having in fields.items():
        if own not in having and not any(path[:n] in fields for n in range(len(path))):
            foreign.setdefault(path[:-1], set()).add(str(path[-1]))
    return _Marks(
        keys,
        fields,
        frozenset(path[:n] for path in fields for n in range(len(path))),
        tuple((parent, frozenset(names)) for parent, names in foreign.items()),
        tuple((path, row, field.rejects) for row in rows for path, field in row.fields.items() if field.rejects),
    )


def _is_suspicious(job: Tree, marks: _Marks, own: str) -> bool:
    """Return whether a TrainJob has a field or a value that its release's dialect lacks."""
    for parent, names in marks.foreign:
        fields = _at(job, parent)
        if isinstance(fields, dict) and not names.isdisjoint(fields):
            return True
    return any(row.key == own and rejects(_at(job, path)) for path, row, rejects in marks.values)


def _marks(job: Tree, marks: _Marks) -> Iterator[tuple[Path, frozenset[str]]]:
    """Yield the distinctive fields in the order in which they were written, each with the dialects that have it."""
    version = job.get("apiVersion")
    if version != VERSION:
        early = frozenset(key for key in marks.keys if DIALECTS[key].version == version)
        yield ("apiVersion",), early if version == OLD_VERSION else marks.keys
    yield from _marks_below(job, (), (), marks)


def _marks_below(tree: Any, at: Path, pattern: Path, marks: _Marks) -> Iterator[tuple[Path, frozenset[str]]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if (found := (*pattern, key)) in marks.fields:
                yield (*at, key), marks.fields[found]
            if found in marks.parents:
                yield from _marks_below(value, (*at, key), found, marks)
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _marks_below(item, (*at, index), (*pattern, EACH), marks)


def _contradiction(first: Path, second: Path, own: str) -> Detected:
    """Return two contradictory fields; the one that the release does not have is the mark."""
    fields = _marks_of(own).fields
    mark = next(path for path in (first, second) if own not in fields.get(_pattern(path), ()))
    return Detected("", mark, second if mark == first else first)


def _pattern(path: Path) -> Path:
    return tuple(EACH if isinstance(step, int) else step for step in path)


def _at(tree: Any, path: Path) -> Any:
    """Return the value of a field, or None."""
    for step in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)
    return tree
