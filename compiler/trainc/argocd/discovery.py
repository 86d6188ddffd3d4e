"""Whether there is a TrainJob below the current folder: the answer to Argo CD's `discover`, in a fraction of a second.

Reads    the files that `generate` would read. Only one that holds the word TrainJob is read as YAML.
Returns  the first path, in a fixed order, of a file that has a TrainJob; or one that has the word and cannot be read as
         YAML, so that `generate` comes to tell why. What cannot be read at all is passed over: discovery has no errors.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from trainc.argocd.files import below

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD: Final = "TrainJob"
UTF_8: Final = WORD.encode()
UTF_16: Final = {b"\xff\xfe": WORD.encode("utf-16-le"), b"\xfe\xff": WORD.encode("utf-16-be")}
"""The word by the byte order mark, without which nobody reads UTF-16."""
CHUNK: Final = 1 << 16
READ_AS_YAML: Final = 1 << 20
"""Bytes, of all files that hold the word. A file beyond them is taken at that."""
MOST_FILES: Final = 50_000
MOST_BYTES: Final = 32 << 20
"""So far anybody looks: further than `generate` reads, which takes longer."""
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
    as_yaml = 0
    for path, data in _mentions(root):
        as_yaml += len(data)
        if as_yaml > READ_AS_YAML or _declares_a_job(path, data):
            return path
    return None


def names(root: str) -> list[str]:
    """The names of the TrainJobs, in their order: of files that can be read, as far as they are read as YAML."""
    from trainc.kubernetes.documents import read_stream

    found: set[str] = set()
    left = READ_AS_YAML
    for path, data in _mentions(root):
        if len(data) <= left:
            left -= len(data)
            found.update(name for read in read_stream(data)[0] for name in _jobs(path, read.value))
    return sorted(found - {""})


def _mentions(root: str) -> Iterator[tuple[str, bytes]]:
    """The files that hold the word, with their bytes, as far as anybody looks."""
    left = MOST_BYTES
    for path in islice(below(os.curdir, root), MOST_FILES):
        size, data = _mentioning(path, left)
        if data is not None:
            yield path, data
        left -= size
        if left < 0:
            return


def _mentioning(path: str, left: int) -> tuple[int, bytes | None]:
    """A file's size, and its bytes if it holds the word: of a large one, only more than are read as YAML.

    One larger than what is left to look at is not read.
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
    return len(data), data[: READ_AS_YAML + 1] if UTF_16.get(data[:2], UTF_8) in data else None


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
