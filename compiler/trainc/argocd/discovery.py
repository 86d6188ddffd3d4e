"""Argo CD's `discover`: find a TrainJob below the current folder in a fraction of a second.

Reads    the files that `generate` would read. Only files that contain the name of a kind of jobs are parsed as YAML.
Returns  the first path, in a fixed order, of a file with a job. An unreadable job counts, so that `generate` reports
         the error. Files that cannot be opened are skipped: discovery reports no errors.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from trainc.argocd.application_files import files_below
from trainc.base.kinds import COMPILED
from trainc.base.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from trainc.base.kinds import Kind
    from trainc.files.exclude import Patterns

UTF_16: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
"""The encodings of UTF-16, by byte order mark; a text without one is not read as UTF-16."""
CHUNK: Final = 1 << 16
READ_AS_YAML: Final = 1 << 20
"""Bytes that are parsed, of all files that contain the word. In a file beyond them, the outermost kinds count."""
MOST_FILES: Final = 50_000
MOST_BYTES: Final = 32 << 20
"""Limits of the search. They exceed those of `generate`, which takes longer for each file."""
OF_OTHER_TOOLS: Final = ("Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization")
"""Files that mark a folder of Helm or kustomize. Argo CD queries its plugins before it looks for these itself."""


class Search(NamedTuple):
    """A project of an application."""

    paths: Sequence[str]
    kinds: Collection[Kind] = COMPILED
    """The kinds that `generate` compiles."""
    exclude: Sequence[Patterns] = ()
    """The patterns of files that `generate` does not read."""
    projects: Sequence[str] = ()
    """The folders of all projects."""


def find(root: str, runs: Sequence[Search], *, named: bool) -> str | None:
    """Return the first file with a TrainJob.

    Args:
        root: the folder outside of which nothing is read, with all links resolved.
        runs: the projects.
        named: whether the Application names a plugin. If not, folders that Argo CD renders itself are skipped.
    """
    if not named and any(map(os.path.lexists, OF_OTHER_TOOLS)):
        return None
    as_yaml = 0
    for path, data, kinds in _mentions(root, runs):
        as_yaml += len(data)
        if _declares_a_job(path, data, kinds) if as_yaml <= READ_AS_YAML else _may_declare_a_job(data, kinds):
            return path
    return None


def names(root: str, runs: Sequence[Search]) -> list[str]:
    """Return the sorted names of the TrainJobs in the files that are parsed as YAML."""
    from trainc.kubernetes.documents import read_stream

    found: set[str] = set()
    left = READ_AS_YAML
    for path, data, kinds in _mentions(root, runs):
        if len(data) <= left:
            left -= len(data)
            found.update(name for read in read_stream(data)[0] for name in _jobs(path, read.value, kinds))
    return sorted(found - {""})


def _mentions(root: str, runs: Sequence[Search]) -> Iterator[tuple[str, bytes, Collection[Kind]]]:
    """Yield the files that contain the name of a kind of jobs, with their bytes, within the limits of the search."""
    left = MOST_BYTES
    files = (
        (path, run.kinds)
        for run in runs
        for each in run.paths
        for path in files_below(each, root, exclude=run.exclude, projects=run.projects)
    )
    for path, kinds in islice(files, MOST_FILES):
        words = [row.group if row.plugin else row.kind for row in kinds if row.role == "job"]
        size, data = _mentioning(path, left, words)
        if data is not None:
            yield path, data, kinds
        left -= size
        if left < 0:
            return


def _mentioning(path: str, left: int, words: list[str]) -> tuple[int, bytes | None]:
    """Return a file's size, and its bytes if it contains one of the words.

    A file with more than `left` bytes is not read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0, None
    try:
        data = os.read(descriptor, CHUNK)
        if len(data) == CHUNK:
            size = os.fstat(descriptor).st_size
            if size > left:
                return size, None
            data += os.read(descriptor, left)
    except OSError:
        return 0, None
    finally:
        os.close(descriptor)
    encoding = UTF_16.get(data[:2], "utf-8")
    return len(data), data if any(word.encode(encoding) in data for word in words) else None


def _declares_a_job(path: str, data: bytes, kinds: Collection[Kind]) -> bool:
    """Return whether a document is a job of one of the kinds, valid or not."""
    from trainc.kubernetes.documents import read_stream

    documents, errors = read_stream(data)
    if any(True for read in documents for _ in _jobs(path, read.value, kinds)):
        return True
    if not errors:
        return False
    from trainc.frontends.unreadable import is_of_kinds

    return any(is_of_kinds(error.document, _kinds_of_jobs(kinds)) for error in errors)


def _may_declare_a_job(data: bytes, kinds: Collection[Kind]) -> bool:
    """Return whether the text of a document names one of the kinds, without parsing it."""
    from trainc.frontends.unreadable import is_of_kinds
    from trainc.kubernetes.documents import YamlError
    from trainc.kubernetes.documents.streams import decode

    try:
        return is_of_kinds(decode(data), _kinds_of_jobs(kinds))
    except YamlError:
        return False


def _kinds_of_jobs(kinds: Collection[Kind]) -> tuple[Kind, ...]:
    return tuple(row for row in kinds if row.role == "job")


def _jobs(path: str, value: Any, kinds: Collection[Kind]) -> Iterator[str]:
    """Yield the names of the jobs of some kinds in a document, including invalid ones."""
    from trainc.diagnostics import Diagnostic, Document, ObjectId
    from trainc.frontends import sort

    for found in sort(Document(file=path, line=1, text="", value=value), kinds):
        if isinstance(found, Diagnostic):
            if any(found.object.kind == row.kind and row.role == "job" for row in kinds):
                yield found.object.name
        elif found[0] == "job":
            yield ObjectId.from_source(found[1].value).name
