"""Write the files of a migration.

Reads    the new content of each file.
Writes   each file atomically, through no link. A source is replaced; a new file must not exist with another content.
         Nothing is removed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location
from trainc.files import atomic
from trainc.files.confine import is_within, open_to_write, resolved
from trainc.files.outputs import write_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.files.inputs import File
    from trainc.settings import Settings

TARGET_EXISTS: Final = Declaration("target-exists", ("read",), trainc_only=True)


class OutputFile(NamedTuple):
    """A file to write."""

    path: str
    data: bytes
    replaces: File | None = None
    """The source that it replaces; None for a file of its own."""
    runtimes: frozenset[str] = frozenset()
    """The names of the runtimes that its TrainJobs use."""
    lines: tuple[str, ...] = ()
    """A line for each of its jobs, for reports."""


def write_all(
    sources: Sequence[OutputFile], runtimes: Sequence[OutputFile], *, force: bool
) -> Iterator[OutputFile | Diagnostic]:
    """Write the files, and yield each one that changes, or the error that prevents it. Nothing is removed.

    A file whose runtime cannot be written stays as it is.
    """
    refused = dict(conflicts((*runtimes, *sources), force=force))
    used = frozenset[str]().union(*(file.runtimes for file in sources if file not in refused))
    lacking: set[str] = set()
    for file in (*(each for each in runtimes if each.runtimes & used), *sources):
        error = refused.get(file)
        if error is None and lacking & file.runtimes:
            continue
        changes = _current_content(file.path) != file.data
        error = error or (write(file) if changes else None)
        if error is not None:
            yield error
            lacking |= set() if file.lines else file.runtimes
        elif changes:
            yield file


def is_unread(folder: str, paths: Iterable[str], settings: Settings) -> bool:
    """Return whether a folder of runtimes is in none of the paths of a run, and in none of runtimes.paths."""
    known = [*paths, *(path.path for path in settings.runtimes)]
    return not any(is_within(resolved(folder), resolved(path)) for path in known)


def conflicts(files: Iterable[OutputFile], *, force: bool) -> Iterator[tuple[OutputFile, Diagnostic]]:
    """Yield each file that another one or an existing file prevents, with the error."""
    seen: set[str] = set()
    for file in files:
        place = Location(file=file.path)
        if file.path in seen:
            message, help = "would have the documents of two sources", "migrate one of them at a time"
            yield file, Diagnostic.declared(TARGET_EXISTS, message, help, place=place)
            continue
        there = _current_content(file.path)
        if isinstance(there, str) and file.replaces is not None:
            yield file, write_fault(file.path, "", OSError(0, there))
        elif isinstance(there, str):
            yield file, Diagnostic.declared(TARGET_EXISTS, f"cannot be written: {there}", "remove it", place=place)
        elif file.replaces is None and there is not None and there != file.data and not force:
            message = "exists, with another content"
            help = "move it, or replace it with --force"
            yield file, Diagnostic.declared(TARGET_EXISTS, message, help, place=place)
        seen.add(file.path)


def write(file: OutputFile) -> Diagnostic | None:
    """Write a file atomically; return the error if that fails."""
    is_new = file.replaces is None
    try:
        atomic.replace_file(file.path, file.data, make=is_new, keep_mode=not is_new)
    except OSError as error:
        return write_fault(os.path.dirname(file.path) or os.curdir, os.path.basename(file.path), error)
    return None


def _current_content(path: str) -> bytes | str | None:
    """Return the content of a file, None if there is none, or the reason why it is not read."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        at = open_to_write(folder, make=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror or str(error)
    try:
        return atomic.content(at, name)
    finally:
        os.close(at)
