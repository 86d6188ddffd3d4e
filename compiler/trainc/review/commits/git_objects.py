"""Git objects: the trees, links and files of a repository, from one `git cat-file --batch` process.

Reads    the process's output: a header with the type and size of each object, then its content.
Returns  the entries of trees, and the content of blobs. An object beyond the budget of the run, or above the limit of
         its kind, is known from its header and not read. A temporary repository shares the objects of another one.
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
NO_GIT: Final = "git is required to read revisions, and is not on the PATH"
CANNOT_RUN: Final = "git is required to read revisions, and cannot be run: {}"
FILE: Final = "100000"
LINK: Final = "120000"
FOLDER: Final = "040000"
MODULE: Final = "160000"
TYPES: Final = (FILE, LINK, FOLDER)
"""The types that git knows by their bits. To git, an entry of any other type is a submodule (cache.h, canon_mode)."""
TYPE_BITS: Final = 0o170000
NOT_CHECKED_OUT: Final = {b"", b".", b"..", b".git", b"git~1"}
"""The names, in lower case, that git refuses to check out on any system."""
AHEAD: Final = 64
"""The number of objects that are requested at once. Their names fit into a pipe, so that writing them never blocks."""
SECONDS: Final = 30
"""The longest time of a command. A merge of trees that have themselves in ten folders, ten times over, takes more."""
NO_SETTINGS: Final = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
_ALTERNATES: Final = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
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


def run(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a git command. Raise RevisionError if there is no git."""
    command, variables = ["git", *OPTIONS, *arguments], environment(folder)
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, env=variables, check=False)
    except OSError as error:
        raise _no_git(error) from None


def _no_git(error: OSError) -> RevisionError:
    """Return the error for a git that is missing, or that cannot run: a platform may have no processes."""
    return RevisionError(NO_GIT if isinstance(error, FileNotFoundError) else CANNOT_RUN.format(error.strerror))


class RevisionError(Exception):
    """An unknown revision, or no repository; the message has the reason."""


class TreeEntry(NamedTuple):
    """A file, link, folder or submodule of a commit."""

    mode: str
    """Its type: FILE, LINK, FOLDER or MODULE. git reads only the type bits of a mode."""
    object: str


class Objects:
    """The objects of the repository that contains a folder."""

    def __init__(self, folder: str, revision: str, variables: Mapping[str, str] | None = None) -> None:
        """`revision` is the one that messages name; `variables` are git's, by default for the folder's repository."""
        self.folder = folder
        self.revision = revision
        self._variables = variables or environment(folder)
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
                    if entry in found:
                        raise ValueError(f"it has two entries named {entry!r}")
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
            self._process = _started(self.folder, self._variables)
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
    end, last = 0, b""
    while end < len(data):
        space = data.index(b" ", end)
        null = data.index(b"\0", space)
        mode, name, end = data[end:space], data[space + 1 : null], null + 1 + length
        if end > len(data):
            raise ValueError("its last entry is incomplete")
        found = _type(mode)
        key = name + b"/" if found == FOLDER else name
        if b"/" in name or name.lower() in NOT_CHECKED_OUT:
            raise ValueError(f"no checkout has a file named {os.fsdecode(name)!r}")
        if key <= last:
            raise ValueError(f"its entry {os.fsdecode(name)!r} is not in order")
        last = key
        yield os.fsdecode(name), TreeEntry(found, data[null + 1 : end].hex())


def _type(mode: bytes) -> str:
    """Return the type of an entry, as git reads it."""
    if not mode or mode.strip(b"01234567"):
        raise ValueError(f"it has the mode {mode.decode(errors='replace')!r}")
    found = f"{int(mode, 8) & TYPE_BITS:06o}"
    return found if found in TYPES else MODULE


def _started(folder: str, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the process. Raise RevisionError if there is no git."""
    try:
        return subprocess.Popen(
            ["git", *OPTIONS, "cat-file", "--batch"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
        )
    except OSError as error:
        raise _no_git(error) from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process, whatever it is about to write."""
    process.kill()
    process.communicate()


class TemporaryRepository:
    """A repository that shares the objects of another one."""

    def __init__(self) -> None:
        """Make it. Raises RevisionError if there is no folder for it."""
        from tempfile import TemporaryDirectory

        try:
            self._at = TemporaryDirectory(prefix="trainc-")
        except OSError as error:
            raise RevisionError(f"git needs a temporary folder, set TMPDIR: {error.strerror}") from None
        path, inherited = self._at.name, os.environ
        own = {name: text for name, text in inherited.items() if name == "GIT_EXEC_PATH" or not name.startswith("GIT_")}
        self.environment = own | SAFE | NO_SETTINGS | {"GIT_DIR": path, "HOME": path, "XDG_CONFIG_HOME": path}
        shared = [asked("--git-path", "objects"), *filter(None, inherited.get(_ALTERNATES, "").split(os.pathsep))]
        self.checked("init", "--quiet", "--bare", "--template=", *_hash_option(), path)
        with open(os.path.join(path, "objects", "info", "alternates"), "wb") as alternates:
            alternates.writelines(_quoted(os.path.abspath(folder)) for folder in shared)

    def run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a git command. Raises RevisionError if it takes too long."""
        command = ["git", *OPTIONS, *arguments]
        try:
            return subprocess.run(
                command, input=stdin, capture_output=True, env=self.environment, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise RevisionError(f"git {arguments[0]} takes longer than {SECONDS} seconds") from None

    def checked(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return the output of a git command. Raises RevisionError if it fails."""
        return succeeded(self.run(*arguments, stdin=stdin))


def asked(*arguments: str) -> str:
    """Return the output of `git rev-parse` in the current folder, without the final line break."""
    return os.fsdecode(succeeded(run(os.curdir, "rev-parse", *arguments))).removesuffix("\n")


def succeeded(done: subprocess.CompletedProcess[bytes]) -> bytes:
    """Return the output of a command. Raises RevisionError with git's message if it failed."""
    if done.returncode:
        raise RevisionError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("fatal: "))
    return done.stdout


def _hash_option() -> list[str]:
    """Return the option for the hash of the repository; SHA-1 has none, because older versions of git lack it."""
    return ["--object-format=sha256"] if asked("--show-object-format").endswith("sha256") else []


def _quoted(folder: str) -> bytes:
    """Return the line of a folder in a list of object folders, quoted as git does."""
    text = os.fsencode(folder).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + text + b'"\n'
