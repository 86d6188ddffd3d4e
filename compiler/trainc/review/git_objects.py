"""Git objects: the trees, links and files of a repository, from one `git cat-file --batch` process.

Reads    the process's output: a header with the type and size of each object, then its content.
Returns  the entries of trees, and the content of blobs. An object beyond the budget of the run, or above the limit of
         its kind, is known from its header and not read.
Source   git 2.25: the format of `cat-file --batch`, and of trees (a mode, a name and a binary object name per entry).
"""

from __future__ import annotations

import os
import subprocess
import weakref
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.budget import Meter
from trainc.files.confine import repository_above
from trainc.files.inputs import LARGEST_FILE, LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SAFE: Final = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""Paths are not patterns, nothing is fetched or replaced, git does not prompt, and its messages are in English."""
OPTIONS: Final = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.warnAmbiguousRefs=true"),
)
LINK: Final = "120000"
FOLDER: Final = "040000"
MODULE: Final = "160000"
AHEAD: Final = 64
"""The number of objects that are requested at once. Their names fit into a pipe, so that writing them never blocks."""
_SKIPPED: Final = 1 << 20
"""Bytes of content that are read and dropped. Starting another process takes less time than reading more."""


def environment(folder: str) -> dict[str, str]:
    """Return the environment of a git command.

    Git gets the repository whose root trainc finds, and never searches for one, because a folder of the working tree
    can contain files that look like a bare repository. Without a root, the folder itself is a bare repository.
    """
    root = repository_above(os.path.abspath(folder))
    if root is None:
        return {"GIT_DIR": os.path.abspath(folder), **os.environ, **SAFE}
    return os.environ | SAFE | {"GIT_DIR": os.path.join(root, ".git"), "GIT_WORK_TREE": root}


class RevisionError(Exception):
    """An unknown revision, or no repository; the message has the reason."""


class TreeEntry(NamedTuple):
    """A file, link, folder or submodule of a commit."""

    mode: str
    object: str


class Objects:
    """The objects of the repository that contains a folder."""

    def __init__(self, folder: str, revision: str) -> None:
        """`revision` is the revision that messages name."""
        self.folder = folder
        self.revision = revision
        self.meter = Meter()
        self._trees: dict[str, dict[str, TreeEntry]] = {}
        self._listed: set[str] = set()
        self._targets: dict[str, str | None] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def tree(self, name: str) -> Mapping[str, TreeEntry]:
        """Return the entries of a tree by name. Raise OverBudgetError, or RevisionError if it is missing or damaged."""
        if name not in self._trees:
            kind, size = self._header(self._request([name]), name)
            self.meter.spend("input bytes", size)
            data, found = self._content(size), dict[str, TreeEntry]()
            try:
                for entry, facts in _entries(data, len(name.partition("^")[0]) // 2):
                    self.meter.spend("entries of git trees")
                    found[entry] = facts
            except ValueError as error:
                raise self._damaged(f"git object {name} is not a tree: {error}") from None
            if kind != b"tree":
                raise self._damaged(f"git object {name} is not a tree")
            self._trees[name] = found
        return self._trees[name]

    def listed(self, name: str) -> Mapping[str, TreeEntry]:
        """Return the entries of a tree for a walk, which counts those of a tree that it lists several times."""
        entries = self.tree(name)
        if name in self._listed:
            self.meter.spend("entries of git trees", len(entries))
        self._listed.add(name)
        return entries

    def target(self, name: str) -> str | None:
        """Return the target of a link; None if it is longer than any path."""
        self.meter.spend("entries of git trees")
        if name not in self._targets:
            [content] = self.blobs([name], most=LONGEST)
            self._targets[name] = None if isinstance(content, int) else os.fsdecode(content)
        return self._targets[name]

    def blob(self, name: str) -> bytes | int:
        """Return the content of a blob, or the size of one that is larger than `LARGEST_FILE`."""
        [content] = self.blobs([name])
        return content

    def blobs(self, names: Iterable[str], *, most: int = LARGEST_FILE) -> Iterator[bytes | int]:
        """Yield the content of each blob, or only the size of one that is larger than `most`.

        Read all of them before another object is requested.
        """
        remaining = iter(names)
        while wanted := list(islice(remaining, AHEAD)):
            try:
                while wanted:
                    process = self._request(wanted)
                    while wanted and self._process is process:
                        content = self._bounded(process, wanted[0], most)
                        del wanted[0]
                        yield content
            finally:
                if wanted:  # the process still answers, and the caller reads no further
                    self._stop()

    def _bounded(self, process: subprocess.Popen[bytes], name: str, most: int) -> bytes | int:
        """Return the content of the next object, or only its size if that is more than `most`."""
        _, size = self._header(process, name)
        if size > max(most, _SKIPPED):
            self._stop()
            return size
        self.meter.spend("input bytes", size)
        content = self._content(size)
        return content if size <= most else size

    def _request(self, names: list[str]) -> subprocess.Popen[bytes]:
        """Request objects, and return the process that answers. Start it if there is none."""
        if self._process is None:
            self._process = _started(self.folder)
            self._finalize = weakref.finalize(self, _end, self._process)
        process = self._process
        assert process.stdin is not None  # it is a pipe
        try:
            process.stdin.write("".join(f"{name}\n" for name in names).encode())
            process.stdin.flush()
        except BrokenPipeError:
            raise self._failed() from None
        return process

    def _header(self, process: subprocess.Popen[bytes], name: str) -> tuple[bytes, int]:
        """Return the type and the size of the next object."""
        assert process.stdout is not None  # it is a pipe
        line = process.stdout.readline()
        facts = line.split()
        if not line:
            raise self._failed()
        if len(facts) != len(("object", "type", "size")):
            raise RevisionError(f"{self.revision} is incomplete: git object {name} is missing")
        return facts[1], int(facts[2])

    def _content(self, size: int) -> bytes:
        """Return the content of the object whose header was read."""
        assert self._process is not None  # it sent the header
        assert self._process.stdout is not None  # it is a pipe
        data = self._process.stdout.read(size)
        if len(data) < size or not self._process.stdout.read(1):
            raise self._failed()
        return data

    def _failed(self) -> RevisionError:
        """Return the error for a process that has ended, with its message."""
        assert self._process is not None  # it was asked
        assert self._process.stderr is not None  # it is a pipe
        message = self._process.stderr.read().decode(errors="replace").strip().removeprefix("fatal: ")
        self._stop()
        return self._damaged(message.partition("\n")[0] or "git ended unexpectedly")

    def _damaged(self, reason: str) -> RevisionError:
        return RevisionError(f"{self.revision} is damaged: {reason}")

    def _stop(self) -> None:
        """End the process; the next request starts another one."""
        if self._process is not None:
            self._finalize()
            self._process = None


def _entries(data: bytes, length: int) -> Iterator[tuple[str, TreeEntry]]:
    """Yield the entries of a tree, whose object names have a length in bytes. Raise ValueError if it is invalid."""
    end = 0
    while end < len(data):
        space = data.index(b" ", end)
        null = data.index(b"\0", space)
        mode, name, end = data[end:space], os.fsdecode(data[space + 1 : null]), null + 1 + length
        if end > len(data):
            raise ValueError("its last entry is incomplete")
        # A checkout has no file with another name.
        if name and "/" not in name and name not in {".", ".."}:
            yield name, TreeEntry(mode.decode("ascii").zfill(len(LINK)), data[null + 1 : end].hex())


def _started(folder: str) -> subprocess.Popen[bytes]:
    """Start the process. Raise RevisionError if there is no git."""
    try:
        return subprocess.Popen(
            ["git", *OPTIONS, "cat-file", "--batch"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(folder),
        )
    except FileNotFoundError:
        raise RevisionError("git is required to read revisions, and is not on the PATH") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, whatever it is about to write."""
    process.kill()
    process.communicate()
