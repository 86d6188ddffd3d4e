"""The conversion of TrainJobs and runtimes between their dialects and the form (`base.trainjob_dialects`).

Reads    a TrainJob or a runtime, and the row of a dialect.
Returns  the moves from the dialect to the form; the same object as a dialect without overrides writes it;
         messages, hints and fixes with the names that a dialect has for the fields of the form.
Source   the merge of overrides: kubeflow/trainer pull request 2223 (KEP-2170), kubeflow/training-operator v1.9.2,
         kubeflow/trainer v2.0 and v2.1. A release merges each override into the pod spec, or into the pod template, of
         every target job, in list order, as releases with patches do.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Relocation, Removal, Renaming
from trainc.base.kinds import JOBS_OF_PATCH, POD_TEMPLATE, VERSION
from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import renamed_in_runtimes
from trainc.diagnostics import Diagnostic, Edit, Place
from trainc.frontends.lowering import Move, edited, moved
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from trainc.base.fixes import Change, Fix
    from trainc.base.trainjob_dialects import Dialect
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Path, Tree


MANAGER: Final = "trainc.dev/upgrade"
"""The manager of a patch that was an override: overrides have no manager, but patches require one."""
TEMPLATE: Final = ("trainingRuntimeSpec", "template")


def _named_targets(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the job names of `targetJobs: [{name: ...}]`, each with its path."""
    for index, target in enumerate(_items(override.get("targetJobs"))):
        if isinstance(target.get("name"), str):
            yield (*at, "targetJobs", index, "name"), target["name"]


def _targets(at: Path, override: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the job names of `targetReplicatedJobs: [...]`, each with its path."""
    names = override.get("targetReplicatedJobs")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str):
            yield (*at, "targetReplicatedJobs", index), name


def _items(value: object) -> list[Tree]:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


class Overrides(NamedTuple):
    """The overrides of an older dialect, whose parts move to patches."""

    field: str = ""
    """The list of overrides; empty if the release implements none."""
    targets: Callable[[Path, Tree], Iterable[tuple[Path, str]]] = _named_targets
    """The names of an override's jobs, each with its path."""
    destinations: Mapping[Path, Path] = {}
    """The path in a pod template for each field of an override."""
    has_data: bool = False
    """Whether spec has datasetConfig and modelConfig, which move to the initializer."""


_OF_POD: Final[dict[Path, Path]] = {
    (key,): ("spec", key)
    for key in (
        *("serviceAccountName", "nodeSelector", "tolerations", "schedulingGates"),
        *("volumes", "initContainers", "containers"),
    )
}
OVERRIDES: Final = {
    # No Trainer release has an exporter, so modelConfig.output is dropped (`checks.dialect` reports it).
    "kep-2170": Overrides(
        "podSpecOverrides",
        _targets,
        {path: place for path, place in _OF_POD.items() if path != ("schedulingGates",)},
        has_data=True,
    ),
    "v1.9": Overrides(has_data=True),
    "v2.0": Overrides("podSpecOverrides", destinations=_OF_POD),
    "v2.1": Overrides(
        "podTemplateOverrides",
        destinations={path: path for path in (("metadata", "labels"), ("metadata", "annotations"), ("spec",))},
    ),
}
"""The overrides of each dialect that has some."""


def moves(dialect: Dialect, job: Tree) -> Iterator[Move]:
    """Yield the moves of a TrainJob of a dialect to the form, the apiVersion first."""
    if job.get("apiVersion") != VERSION:
        yield Move(("apiVersion",), ("apiVersion",), VERSION)
    yield from field_moves(dialect, job)
    if dialect.has_overrides:
        yield from _moves_of_overrides(job["spec"], OVERRIDES[dialect.key])


def _moves_of_overrides(spec: Tree, overrides: Overrides) -> Iterator[Move]:
    """Yield the moves of the data, and those of labels, annotations and a list of overrides to runtimePatches.

    An override becomes an entry for each job that it targets. Overrides of different jobs share a patch. An override of
    a job that an earlier one targets starts a new patch, so that it still takes precedence.
    """
    if overrides.has_data:
        yield from _initializer(spec, ("datasetConfig",), "dataset")
        yield from _initializer(spec, ("modelConfig", "input"), "model")
    field = overrides.field
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
        for source, name in overrides.targets(at, override):
            named.setdefault(name, source)
        if not taken or not named.keys().isdisjoint(taken[-1]):
            yield from begin(at)
        for name, source in named.items():
            job: Path = ("spec", "runtimePatches", len(taken) - 1, *JOBS_OF_PATCH, len(taken[-1]))
            taken[-1].append(name)
            yield Move(source, (*job, "name"), name)
            for path, destination in overrides.destinations.items():
                if get(override, path) is not None:
                    yield Move((*at, *path), (*job, *POD_TEMPLATE, *destination))


def _initializer(spec: Tree, source: Path, part: str) -> Iterator[Move]:
    """Yield the moves of a config to a part of `initializer`. Its Secret is in the TrainJob's own namespace."""
    config = get(spec, source)
    for key in config if isinstance(config, dict) else ():
        if key == "secretRef":
            yield Move(("spec", *source, key, "name"), ("spec", "initializer", part, key, "name"))
        else:
            yield Move(("spec", *source, key), ("spec", "initializer", part, key))
    if config == {}:
        yield Move(("spec", *source), ("spec", "initializer", part))


def field_moves(dialect: Dialect, job: Tree) -> Iterator[Move]:
    """Yield the moves of whole fields, of a TrainJob or a runtime."""
    for path, field in dialect.fields.items():
        value = get(job, path) if field.is_whole else None
        if value is None:
            continue
        read = field.read(value) if field.read else value
        if read is not value:
            yield Move(path, field.form, read)
        elif path != field.form:
            yield Move(path, field.form)


def moves_to(dialect: Dialect, job: Tree) -> Iterator[Move]:
    """Yield the moves of a TrainJob in the form to a dialect without overrides; a removed field moves nowhere."""
    assert not dialect.has_overrides, "overrides cannot express all patches"
    for path, field in dialect.fields.items():
        value = get(job, field.form)
        if value is None:
            continue
        written = field.write(value) if field.write else value
        if written is not value:
            yield Move(field.form, path, written)
        elif path != field.form:
            yield Move(field.form, path)
    for path in dialect.lacks:
        if get(job, path) is not None:
            yield Move(path, ())


def in_dialect(job: Tree, dialect: Dialect) -> Tree:
    """Return a TrainJob in the form as a dialect without overrides writes it, without the fields that it lacks."""
    found = tuple(moves_to(dialect, job))
    return moved(job, found, [move.source for move in found if move.target != move.source])


def in_form(document: Document, job: Tree, dialect: Dialect) -> Document:
    """Return a document in the form, with the edit that leads back to its fields.

    job      the document's value, admitted by the schema of its dialect
    """
    found = tuple(moves(dialect, job))
    form = moved(job, found, dialect.gone)
    if dialect.has_overrides:
        return edited(document, form, found)
    # A missing field has its name in the dialect, too.
    return document._replace(value=form, edits=(*document.edits, Edit(before=document.value, source=dialect.written)))


def older_moves(runtime: Tree, own: str) -> Iterator[Move]:
    """Yield the moves of a runtime's fields that a dialect before `own` has under another name."""
    for old, (new, _) in renamed_in_runtimes(own).items():
        if get(runtime, old) is not None and get(runtime, new) is None:
            yield Move(old, new)


def renamed_runtime(document: Document, own: str) -> Document:
    """Return a runtime with the names of the dialect `own`, with the edit that leads back to those of an older one."""
    found = (*older_moves(document.value, own),)
    if not found:
        return document
    return edited(document, moved(document.value, found, [move.source for move in found]), found)


def runtime_in_form(document: Document, runtime: Tree, dialect: Dialect) -> Document:
    """Return a runtime of a dialect in the form, with the edit that leads back to its fields."""
    row = dialect.for_runtimes
    form = moved(runtime, field_moves(row, runtime), row.gone)
    return document._replace(value=form, edits=(*document.edits, Edit(before=document.value, source=row.written)))


def in_names_of(dialect: Dialect, diagnostic: Diagnostic, form: Document) -> Diagnostic:
    """Return a diagnostic in the names of a dialect.

    form   the document in the form; its last edit leads to the dialect
    """
    diagnostic = diagnostic._replace(
        message=named(diagnostic.message, dialect),
        help=named(diagnostic.help, dialect),
        related=tuple(other._replace(message=named(other.message, dialect)) for other in diagnostic.related),
    )
    place = diagnostic.place
    if not isinstance(place, Place) or place.document.identity != form.identity:
        return diagnostic
    diagnostic = diagnostic._replace(field=named(diagnostic.field, dialect))
    if diagnostic.fix is None or diagnostic.fixed_in is not None:
        return diagnostic
    written = form._replace(value=form.edits[-1].before, edits=form.edits[:-1])
    return diagnostic._replace(fix=_fix(diagnostic.fix, dialect), fixed_in=written)


def named(text: str, dialect: Dialect) -> str:
    """Return a text with the dialect's names of fields."""
    names, pattern = _names(tuple((field.form, path) for path, field in dialect.fields.items()))
    return pattern.sub(lambda match: names[match[0]], text) if names else text


@cache  # one value for each pair of dialects
def _names(
    pairs: tuple[tuple[tuple[str | int, ...], tuple[str | int, ...]], ...],
) -> tuple[dict[str, str], re.Pattern[str]]:
    """Return the names of the form with those of a dialect, and the pattern that finds them in a text."""
    names: dict[str, str] = {}
    for form, path in pairs:
        if form == path:
            continue
        names[field_of(form)] = field_of(path)
        for start in range(1, len(form) - 1):
            names[field_of(form[start:])] = field_of(path[min(start, len(path) - 1) :])
        if form[-1] != path[-1]:
            names[str(form[-1])] = str(path[-1])
    longest = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return names, re.compile(rf"""(?<![\w.\-/"'])(?:{longest})(?![\w\-/"'])""")


def _fix(fix: Fix, dialect: Dialect) -> Fix:
    changes = tuple(_change(change, dialect) for change in fix.changes)
    shown = named(fix.shown, dialect) if fix.form == "name" else _value(fix.shown, dialect)
    return fix._replace(changes=changes, lead=named(fix.lead, dialect), note=named(fix.note, dialect), shown=shown)


def _change(change: Change, dialect: Dialect) -> Change:
    change = change._replace(path=dialect.written(change.path))
    if isinstance(change, Renaming):
        return change._replace(name=named(change.name, dialect))
    if isinstance(change, Relocation):
        change = change._replace(target=dialect.written(change.target))
    return change if isinstance(change, Removal) else change._replace(value=_value(change.value, dialect))


def _value(value: Any, dialect: Dialect) -> Any:
    """Return a value with the dialect's names as keys."""
    if isinstance(value, dict):
        return {named(str(key), dialect): _value(each, dialect) for key, each in value.items()}
    return [_value(each, dialect) for each in value] if isinstance(value, list) else value
