"""The files of a migration: TrainJobs in place of legacy jobs, or in a folder of their own; and the runtimes.

Reads    the migrated jobs, and the files that they were read from.
Returns  the new content of each file. All other documents of a file keep their bytes.
Writes   each file atomically, through no link. A source is replaced; a new file must not exist with another content.
         Nothing is removed.
"""

from __future__ import annotations

import codecs
import os
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location, ObjectId, Place
from trainc.emit.yaml import Writer
from trainc.files import atomic
from trainc.files.confine import is_within, open_to_write, resolved
from trainc.files.outputs import write_fault
from trainc.files.selection import SUFFIXES
from trainc.kubernetes.documents.streams import decode
from trainc.rewriting.migration.edited_lists import NewItem, is_json, json_text, with_items
from trainc.rewriting.migration.host_files import named_files
from trainc.rewriting.migration.new_texts import NewTexts, new_texts, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import Document
    from trainc.files.inputs import File
    from trainc.kubernetes.trees import Path
    from trainc.rewriting.migration.migrated import Migrated, Migration
    from trainc.settings import Settings


RUNTIMES: Final = "runtimes"
"""The folder of the runtimes, below the output folder or the project."""
_WIDE: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""The encodings of files by their first bytes; the others are in UTF-8."""


class NewJob(NamedTuple):
    """A TrainJob with its text."""

    migrated: Migrated
    texts: NewTexts

    @property
    def files(self) -> str:
        """The text of the documents beside it."""
        return "".join(f"---\n{Writer().document(file)}" for file in self.migrated.candidate.files)

    @property
    def document(self) -> str:
        """The text of a stream with the TrainJob and the documents beside it, in JSON if the source is."""
        old, candidate = self.migrated.document.text, self.migrated.candidate
        if is_json(old):
            return "".join(f"{json_text(value, old)}\n" for value in (candidate.job, *candidate.files))
        head = "".join(line for line in self.texts.head.splitlines(keepends=True) if line.lstrip()[:1] in ("", "#"))
        return head.lstrip("\n") + self.texts.job + self.files


class NewDocuments(NamedTuple):
    """The new documents of a migration."""

    jobs: tuple[NewJob, ...]
    runtimes: dict[str, str]
    """The text of each new runtime by its name."""


def documents(migration: Migration) -> NewDocuments:
    """Return the texts of all new documents. A runtime has the comments of the first job that uses it."""
    jobs: list[NewJob] = []
    runtimes: dict[str, str] = {}
    wanted = migration.runtimes
    for migrated in migration.jobs:
        name = migrated.candidate.runtime_name
        texts = new_texts(migrated, with_runtime=name in wanted and name not in runtimes)
        if name in wanted:
            runtime = runtimes.setdefault(name, texts.runtime)
            kept = {line[line.find("#") :] for line in runtime.splitlines()}
            texts = texts._replace(dropped=tuple(each for each in texts.dropped if each.text not in kept))
        jobs.append(NewJob(migrated, texts))
    return NewDocuments(tuple(jobs), runtimes)


def in_place(new: NewDocuments, migration: Migration) -> Iterator[OutputFile | Diagnostic]:
    """Yield the sources with TrainJobs in place of their legacy jobs, or the error of one that cannot have them."""
    for path, jobs in _by_file(new.jobs):
        file = migration.files[path]
        text = _replaced(decode(file.data), jobs)
        if isinstance(text, Diagnostic):
            yield text
            continue
        codec = _WIDE.get(file.data[:2])
        data = file.data[:2] + text.encode(codec) if codec else text.encode("utf-8", "surrogateescape")
        yield OutputFile(path, data, file, *_described(jobs))


def in_folder(new: NewDocuments, folder: str, paths: Sequence[str]) -> Iterator[OutputFile]:
    """Yield files with the new documents of each source, under its path below the one of `paths` that has it."""
    for path, jobs in _by_file(new.jobs):
        name = _path_below(path, paths)
        texts = [job.document for job in jobs]
        yield OutputFile(os.path.join(folder, name), "---\n".join(texts).encode(), None, *_described(jobs))


def _described(jobs: Sequence[NewJob]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the runtimes of some jobs, and a line for each of them."""
    lines: list[str] = []
    for job in jobs:
        migrated = job.migrated
        lines += (
            f"{migrated.word} {migrated.id.name}: {migrated.candidate.form}, {_documents(migrated)}",
            *dropped_comments(job),
        )
    return frozenset(job.migrated.candidate.runtime_name for job in jobs), tuple(lines)


def dropped_comments(job: NewJob) -> Iterator[str]:
    """Yield a line for each comment that the new documents of a job do not have."""
    file = job.migrated.document.file
    for line, column, text in job.texts.dropped:
        yield f"the comment {Location(file, line, column)} is dropped: {text}"


def _documents(migrated: Migrated) -> str:
    """Return the names of the documents that a TrainJob needs."""
    candidate = migrated.candidate
    files = f" and {named_files(candidate.files)}" if candidate.files else ""
    return f"runtime {candidate.runtime_name}{files}"


def runtime_files(new: NewDocuments, folder: str) -> Iterator[OutputFile]:
    """Yield a file for each new runtime."""
    for name, text in new.runtimes.items():
        yield OutputFile(os.path.join(folder, f"{name}.yaml"), text.encode(), None, frozenset({name}))


def runtimes_folder(settings: Settings) -> str:
    """Return the folder of a project's runtimes: the first of runtimes.paths, else `runtimes` beside trainc.yaml."""
    folder = next((path.path for path in settings.runtimes if not path.path.endswith(SUFFIXES)), "")
    if folder or settings.base is None:
        return folder or RUNTIMES
    return os.path.relpath(os.path.join(settings.base.folder, RUNTIMES))


def _by_file(jobs: Iterable[NewJob]) -> Iterator[tuple[str, list[NewJob]]]:
    in_order = sorted(jobs, key=lambda job: job.migrated.document.file)
    for path, group in groupby(in_order, key=lambda job: job.migrated.document.file):
        yield path, list(group)


def _path_below(path: str, paths: Sequence[str]) -> str:
    """Return the path of a source below the folder of `paths` that has it; for a file, its name."""
    for above in paths:
        if os.path.isdir(above):
            relative = os.path.relpath(path, above)
            if not relative.startswith(os.pardir):
                return relative
    return os.path.basename(path) if path != "-" else "stdin.yaml"


def _replaced(old: str, jobs: Iterable[NewJob]) -> str | Diagnostic:
    """Return the text of a file with new documents in place of some old ones."""
    starts = [0, *accumulate(len(line) + 1 for line in old.split("\n"))]
    parts: list[str] = []
    end = 0
    for _, group in groupby(sorted(jobs, key=_position), key=lambda job: _position(job)[:2]):
        members = list(group)
        document = members[0].migrated.document
        begin = starts[document.line - 1] + document.column - 1
        assert old.startswith(document.text, begin), "the file contains the document's text at its position"
        text = _new_text(members)
        if text is None:
            return _not_in_place(document)
        parts += (old[end:begin], text)
        end = begin + len(document.text)
    return "".join((*parts, old[end:]))


def _position(job: NewJob) -> tuple[int, int, Path]:
    document = job.migrated.document
    return document.line, document.column, document.within


def _new_text(members: Sequence[NewJob]) -> str | None:
    """Return the text of a document, or of a List some of whose items are new, with the line breaks of the old one."""
    [job, *_] = members
    document = job.migrated.document
    whole = plain_text(document.text)
    plain = whole.removeprefix("\ufeff")
    new: str | None
    if document.within:
        values = ((each.migrated.candidate.job, *each.migrated.candidate.files) for each in members)
        items = [
            NewItem(each.migrated.document.within, each.texts.job, value)
            for each, value in zip(members, values, strict=True)
        ]
        new = with_items(plain, items)
    else:
        text = job.document if is_json(plain) else job.texts.head + job.texts.job + job.files
        new = text.removesuffix("\n") + plain[len(plain.rstrip()) :]
    if new is None:
        return None
    new = whole[: len(whole) - len(plain)] + new
    return new if whole == document.text else new.replace("\n", "\r\n")


def _not_in_place(document: Document) -> Diagnostic:
    from trainc.rewriting.migration import NOT_MIGRATABLE

    return Diagnostic.declared(
        NOT_MIGRATABLE,
        "the items of this List cannot be replaced in place",
        "write the new documents to a folder with -o",
        object=ObjectId.from_source(document.value),
        place=Place(document, ("kind",)),
    )


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


def next_step(folder: str, paths: Iterable[str], settings: Settings) -> str:
    """Return what to do with a folder of runtimes in none of the paths and of runtimes.paths; else an empty string."""
    known = [*paths, *(path.path for path in settings.runtimes)]
    if any(is_within(resolved(folder), resolved(path)) for path in known):
        return ""
    return f"{folder}: add it to runtimes.paths of trainc.yaml, or use -r {folder}"


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
