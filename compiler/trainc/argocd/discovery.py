"""Whether there is a TrainJob below the current folder: the answer to Argo CD's `discover`, in a fraction of a second.

Reads    the files that `generate` would read: .yaml, .yml and .json, none of them hidden, none outside the root. Only
         one that holds the word TrainJob is read as YAML.
Returns  the first path, in a fixed order, of a file that has a TrainJob; or one that has the word and cannot be read as
         YAML, so that `generate` comes to tell why. What cannot be read at all is passed over: discovery has no errors.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.inputs import DEEPEST, LARGEST_FILE, SUFFIXES, within

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

WORD: Final = "TrainJob"
UTF_8: Final = WORD.encode()
UTF_16: Final = tuple(WORD.encode(encoding) for encoding in ("utf-16-le", "utf-16-be"))
CHUNK: Final = 1 << 16
READ_AS_YAML: Final = 1 << 20
"""Bytes. A larger file that holds the word is taken at that."""
OF_OTHER_TOOLS: Final = ("Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization")
"""What makes a folder Helm's or kustomize's. Argo CD asks its plugins before it looks for them itself."""


def find(root: str, *, named: bool) -> str | None:
    """The first file with a TrainJob.

    Args:
        root: the folder that nothing is read outside of, with all links resolved.
        named: whether the Application asks for a plugin. Where it does not, what Argo CD renders itself is left to it.
    """
    if not named and any(map(os.path.lexists, OF_OTHER_TOOLS)):
        return None
    here = os.path.realpath(os.curdir)
    return next(filter(_has_a_job, _files(os.curdir, here, root, {here}, 1)), None)


def names(root: str) -> list[str]:
    """The names of all TrainJobs, in their order; of files that can be read."""
    from trainc.kubernetes.documents import read_stream

    here = os.path.realpath(os.curdir)
    found: set[str] = set()
    for path in _files(os.curdir, here, root, {here}, 1):
        data = _mentioning(path)
        if data is not None and len(data) <= READ_AS_YAML:
            found.update(name for read in read_stream(data)[0] for name in _jobs(path, read.value))
    return sorted(found - {""})


def _files(folder: str, real: str, root: str, seen: set[str], depth: int) -> Iterator[str]:
    """The files below a folder, whose own path has been resolved; none twice through links to folders."""
    try:
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError:
        return
    prefix = "" if folder == os.curdir else folder + os.sep
    for entry in entries:
        if entry.name.startswith("."):
            continue
        link = entry.is_symlink()
        if link and not within(os.path.realpath(prefix + entry.name), root):
            continue
        what = _what(entry)
        if what == "folder":
            below = os.path.realpath(prefix + entry.name) if link else os.path.join(real, entry.name)
            if depth < DEEPEST and below not in seen:
                seen.add(below)
                yield from _files(prefix + entry.name, below, root, seen, depth + 1)
        elif what == "file" and entry.name.endswith(SUFFIXES):
            yield prefix + entry.name


def _what(entry: os.DirEntry[str]) -> str:
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:  # a link in a circle
        return ""


def _has_a_job(path: str) -> bool:
    data = _mentioning(path)
    if data is None:
        return False
    return len(data) > READ_AS_YAML or _declares_a_job(path, data)


def _mentioning(path: str) -> bytes | None:
    """The bytes of a file that holds the word; of a large one, only more than are read as YAML."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(descriptor, CHUNK)
        if len(data) == CHUNK:
            return _of_large(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data if _is_mentioned(data) else None


def _of_large(descriptor: int) -> bytes | None:
    size = os.fstat(descriptor).st_size
    if size > LARGEST_FILE:
        return None
    import mmap

    with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ) as mapped:
        return mapped[: READ_AS_YAML + 1] if _is_mentioned(mapped) else None


def _is_mentioned(data: bytes | mmap.mmap) -> bool:
    return data.find(UTF_8) >= 0 or (data.find(b"\0") >= 0 and any(data.find(word) >= 0 for word in UTF_16))


def _declares_a_job(path: str, data: bytes) -> bool:
    """Whether one of the documents is a TrainJob, or wants to be one; or nobody knows, as the file is broken."""
    from trainc.kubernetes.documents import read_stream

    documents, errors = read_stream(data)
    return bool(errors) or any(True for read in documents for _ in _jobs(path, read.value))


def _jobs(path: str, value: Any) -> Iterator[str]:
    """The names of the TrainJobs in a document, also of those that are no good ones."""
    from trainc.diagnostics import Diagnostic, Document, ObjectId
    from trainc.frontends import sort

    for found in sort(Document(file=path, line=1, text="", value=value)):
        if isinstance(found, Diagnostic):
            if found.object.kind == WORD:
                yield found.object.name
        elif found[0] == "job":
            yield ObjectId.of(found[1].value).name
