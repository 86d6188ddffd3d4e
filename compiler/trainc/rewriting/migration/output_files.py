"""The files of a migration: TrainJobs in place of legacy jobs, or in a folder of their own; and the runtimes.

Reads    the migrated jobs, and the files that they were read from.
Returns  the new content of each file. All other documents of a file keep their bytes.
"""

from __future__ import annotations

import codecs
import json
import os
from io import StringIO
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.emit.yaml import Writer
from trainc.files.selection import SUFFIXES
from trainc.kubernetes.documents import parse
from trainc.kubernetes.documents.streams import decode
from trainc.kubernetes.trees import get, put
from trainc.rewriting.migration.host_files import named_files
from trainc.rewriting.migration.new_texts import UNREADABLE, NewTexts, at_path, round_trip
from trainc.rewriting.migration.writing import OutputFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.rewriting.migration.migrated import Migrated, Migration
    from trainc.settings import Settings

RUNTIMES: Final = "runtimes"
"""The folder of the runtimes, below the output folder or the project."""


class NewDocuments(NamedTuple):
    """The new documents of a migration."""

    jobs: tuple[tuple[Migrated, str], ...]
    """Each TrainJob with its text."""
    runtimes: dict[str, str]
    """The text of each new runtime by its name."""


def documents(migration: Migration) -> NewDocuments:
    """Return the texts of all new documents. A runtime has the comments of the first job that uses it."""
    jobs: list[tuple[Migrated, str]] = []
    runtimes: dict[str, str] = {}
    wanted = migration.runtimes
    for migrated in migration.jobs:
        texts, name = NewTexts(migrated), migrated.candidate.runtime_name
        jobs.append((migrated, "---\n".join((texts.job(), *map(Writer().document, migrated.candidate.files)))))
        if name in wanted and name not in runtimes:
            runtimes[name] = texts.runtime()
    return NewDocuments(tuple(jobs), runtimes)


def in_place(new: NewDocuments, migration: Migration) -> Iterator[OutputFile]:
    """Yield the sources with TrainJobs in place of their legacy jobs."""
    for path, jobs in _by_file(new.jobs):
        file = migration.files[path]
        text = _replaced(decode(file.data), jobs)
        is_wide = file.data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        data = text.encode("utf-16" if is_wide else "utf-8", "surrogateescape")
        yield OutputFile(path, data, file, *_described(jobs))


def in_folder(new: NewDocuments, folder: str, paths: Sequence[str]) -> Iterator[OutputFile]:
    """Yield files with the new documents of each source, under its path below the one of `paths` that has it."""
    for path, jobs in _by_file(new.jobs):
        name = _path_below(path, paths)
        texts = [_json_or_same(migrated, text) for migrated, text in jobs]
        yield OutputFile(os.path.join(folder, name), "---\n".join(texts).encode(), None, *_described(jobs))


def _described(jobs: Sequence[tuple[Migrated, str]]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the runtimes of some jobs, and a line for each of them."""
    lines = (
        f"{migrated.word} {migrated.id.name}: {migrated.candidate.form}, {_documents(migrated)}" for migrated, _ in jobs
    )
    return frozenset(migrated.candidate.runtime_name for migrated, _ in jobs), tuple(lines)


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


def _by_file(jobs: Iterable[tuple[Migrated, str]]) -> Iterator[tuple[str, list[tuple[Migrated, str]]]]:
    in_order = sorted(jobs, key=lambda job: job[0].document.file)
    for path, group in groupby(in_order, key=lambda job: job[0].document.file):
        yield path, list(group)


def _path_below(path: str, paths: Sequence[str]) -> str:
    """Return the path of a source below the folder of `paths` that has it; for a file, its name."""
    for above in paths:
        if os.path.isdir(above):
            relative = os.path.relpath(path, above)
            if not relative.startswith(os.pardir):
                return relative
    return os.path.basename(path) if path != "-" else "stdin.yaml"


def _replaced(old: str, jobs: Iterable[tuple[Migrated, str]]) -> str:
    """Return the text of a file with new documents in place of some old ones."""
    starts = [0, *accumulate(len(line) + 1 for line in old.split("\n"))]
    parts: list[str] = []
    end = 0
    places = sorted(jobs, key=lambda job: (job[0].document.line, job[0].document.column, job[0].document.within))
    for _, group in groupby(places, key=lambda job: (job[0].document.line, job[0].document.column)):
        members = list(group)
        document = members[0][0].document
        begin = starts[document.line - 1] + document.column - 1
        assert old.startswith(document.text, begin), "the file contains the document's text at its position"
        parts += (old[end:begin], _in_style(document.text, _new_text(members)))
        end = begin + len(document.text)
    return "".join((*parts, old[end:]))


def _new_text(members: list[tuple[Migrated, str]]) -> str:
    """Return the text of a document, or of a List some of whose items are new."""
    [(migrated, text), *_] = members
    if not migrated.document.within:
        return _json_or_same(migrated, text)
    if (whole := _json(migrated.document.text)) is not None:
        return _in_json(_list_with(members, whole))
    yaml = round_trip()
    try:
        root: Any = yaml.load(migrated.document.text)
    except UNREADABLE:
        return _without_comments(members)
    for each, new in members:
        *above, last = each.document.within
        items = at_path(root, tuple(above))
        items[last], *files = yaml.load_all(new)
        items.extend(files)
    stream = StringIO()
    yaml.dump(root, stream)
    return stream.getvalue()


def _without_comments(members: list[tuple[Migrated, str]]) -> str:
    """Return the text of a List without its comments and styles, which only ruamel.yaml keeps."""
    return Writer().document(_list_with(members, parse(members[0][0].document.text)))


def _list_with(members: list[tuple[Migrated, str]], whole: Any) -> Any:
    """Return a List with new documents in place of some items; their ConfigMaps are at its end."""
    for each, _ in members:
        within, candidate = each.document.within, each.candidate
        whole = put(whole, within, candidate.job)
        whole = put(whole, within[:-1], [*get(whole, within[:-1]), *candidate.files])
    return whole


def _json_or_same(migrated: Migrated, text: str) -> str:
    """Return the text of a TrainJob and its ConfigMaps, as JSON if the source is."""
    if _json(migrated.document.text) is None:
        return text
    return "".join(map(_in_json, (migrated.candidate.job, *migrated.candidate.files)))


def _in_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return None


def _in_style(old: str, new: str) -> str:
    """Return a text with the line breaks and the end of the old one."""
    new = new if old.endswith("\n") else new.removesuffix("\n")
    return new.replace("\n", "\r\n") if "\r\n" in old else new
