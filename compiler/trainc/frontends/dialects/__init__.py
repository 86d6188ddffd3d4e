"""The conversion of TrainJobs and runtimes between their dialects and the form (`base.trainjob_dialects`).

Reads    a TrainJob or a runtime, and the row of a dialect.
Returns  the moves from the dialect to the form; the same object as a dialect without overrides writes it.

The overrides of older dialects are moved by a module each, named after the key, with `_` for characters that module
names cannot have: `v2.0` is v2_0.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from trainc.base.kinds import VERSION
from trainc.base.trainjob_dialects import renamed_in_runtimes
from trainc.diagnostics import Edit
from trainc.frontends.moves import Move, edited, moved
from trainc.kubernetes.trees import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.trainjob_dialects import Dialect
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree


class Overrides(Protocol):
    """The interface of a dialect's module."""

    def moves(self, job: Tree) -> Iterator[Move]:
        """Yield the moves of parts of fields."""
        ...


def moves(dialect: Dialect, job: Tree) -> Iterator[Move]:
    """Yield the moves of a TrainJob of a dialect to the form, the apiVersion first."""
    if job.get("apiVersion") != VERSION:
        yield Move(("apiVersion",), ("apiVersion",), VERSION)
    yield from field_moves(dialect, job)
    if dialect.has_module:
        module = import_module(f"{__name__}.{dialect.key.replace('.', '_').replace('-', '_')}")
        yield from cast("Overrides", module).moves(job)


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
    assert not dialect.has_module, "overrides cannot express all patches"
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
    if dialect.has_module:
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
