"""The given paths, read: files, folders, standard input.

Reads    each path that the user gave, and below a folder every .yaml, .yml and .json file; hidden files and folders are
         left out: they hold settings of git, editors and hooks.
Returns  the files in a fixed order, and a diagnostic for each path that cannot be read. Nothing outside the given
         paths is read: a link that leads out of the root (the git root, else the folder of the path) is an error.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNREADABLE: Final = Declaration("unreadable", ("read",), "A path cannot be read", own=True)
LINK_OUT: Final = Declaration("link-out", ("read",), "A link leads out of what may be read", own=True)

SUFFIXES: Final = (".yaml", ".yml", ".json")
LARGEST_FILE: Final = 256 * 1024 * 1024
"""Bytes. A file above this is refused unread."""
DEEPEST: Final = 100
"""How deep folders may be nested below a given one."""
STDIN: Final = "-"
SETTINGS: Final = "trainc.yaml"
"""The name of the settings file, which is not a manifest."""
GIVEN_ROOT: Final = "the repository"
"""The name of a root that the caller set: its path means nothing to the user."""

_PLAIN: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""The open flags for a regular file: links are not followed and pipes do not block, where the system supports it."""


class File(NamedTuple):
    """A file's bytes, under the path by which the user knows it."""

    path: str
    data: bytes


def read(
    paths: Iterable[str], *, skip: Iterable[str] = (), settings: str = "", root: str | None = None
) -> Iterator[File | Diagnostic]:
    """Yield every file of the paths once; `root` is the folder that links must not leave, if the caller knows it.

    Left out below another one are `skip`, folders and files (outputs), and what holds trainc's own settings: any
    trainc.yaml, and the file `settings`, with all links resolved.
    """
    paths = list(paths)
    roots = _roots(paths, root)
    written = [os.path.realpath(path) for path in skip]
    # What is asked for by name is read.
    left_out = tuple(out for out in written if not any(within(os.path.realpath(path), out) for path in paths))
    walk = _Walk(roots=roots, skip=left_out, settings=settings, called=GIVEN_ROOT if root else "")
    for path in paths:
        if path == STDIN:
            yield from _standard_input()
        else:
            yield from walk.path(path)


def settings(path: str, *, root: str | None = None) -> File | Diagnostic:
    """The one file of that path, which is no manifest."""
    if os.path.isdir(path):
        return fault(path, "is a folder", "give the file that holds the settings")
    walk = _Walk(roots=_roots([path], root), skip=(), settings=None, called=GIVEN_ROOT if root else "")
    return next(walk.path(path))


def _roots(paths: Iterable[str], root: str | None) -> tuple[str, ...]:
    """The roots of some paths, with all links resolved: the one that is known, else what each path is in."""
    if root is not None:
        return (os.path.realpath(root),)
    return tuple(dict.fromkeys(root_of(path) for path in paths if path != STDIN))


def root_of(path: str) -> str:
    """The git root above a path, else its folder (a folder's own), with all links resolved."""
    full = os.path.abspath(path)
    folder = os.path.realpath(full if os.path.isdir(full) else os.path.dirname(full))
    at = folder
    while True:
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        if above == at:
            return folder
        at = above


def within(path: str, folder: str) -> bool:
    """Whether a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def fault(path: str, message: str, help: str = "", *, declared: Declaration = UNREADABLE) -> Diagnostic:
    """A path that cannot be read."""
    return Diagnostic.of(declared, message, help, place=Location(file=path))


class _Walk:
    """One walk over all given paths; remembers what it has read, so that nothing is read twice."""

    def __init__(self, *, roots: tuple[str, ...], skip: tuple[str, ...], settings: str | None, called: str) -> None:
        self.roots = roots
        self.called = called
        self.skip = skip
        self.settings = settings
        self.seen = set(skip)
        """Resolved paths: all that has been read, and, as if it had been, what is to be left out."""

    def path(self, path: str, *, depth: int = 0, real: str = "") -> Iterator[File | Diagnostic]:
        """What is at a path; `real` is the same with all links resolved, where that is known."""
        try:
            status = os.stat(path)
        except OSError as error:
            yield self._missing(path, error)
            return
        real = real or os.path.realpath(path)
        if not any(within(real, root) for root in self.roots):
            yield fault(
                path,
                f"is a link that leads out of {self.called or self.roots[0]}",
                "trainc reads nothing outside the given paths: copy the file, or give its folder as a path of its own",
                declared=LINK_OUT,
            )
            return
        if real in self.seen or any(within(real, path) for path in self.skip):
            return
        self.seen.add(real)
        if stat.S_ISDIR(status.st_mode):
            yield from self._folder(path, real, depth + 1)
        elif self.settings is not None and (real == self.settings or os.path.basename(path) == SETTINGS):
            if depth == 0:
                yield fault(path, "holds trainc's own settings, and no manifest", "give the files of the jobs")
        elif stat.S_ISREG(status.st_mode) or (depth == 0 and path.startswith("/dev/")):
            yield _file(path, status.st_size)
        else:
            yield fault(path, "is not a regular file", "give a file, a folder, or - for standard input")

    def _folder(self, path: str, real: str, depth: int) -> Iterator[File | Diagnostic]:
        if depth > DEEPEST:
            yield fault(path, f"is a folder more than {DEEPEST} deep; it is not read", "give its path by itself")
            return
        try:
            with os.scandir(path) as entries:
                found = sorted(
                    [
                        (entry.name, entry.is_file(follow_symlinks=False), entry.is_dir(follow_symlinks=False))
                        for entry in entries
                        if not entry.name.startswith(".")
                    ]
                )
        except OSError as error:
            yield fault(path, f"cannot be listed: {error.strerror}")
            return
        called, resolved = "" if path == "." else os.path.join(path, ""), os.path.join(real, "")
        for name, is_file, is_folder in found:
            below = called + name
            if not name.endswith(SUFFIXES) and (is_file or not os.path.isdir(below)):
                continue
            # A plain file is in the root because its folder is; `path` reports any problem with it.
            if is_file and self._is_wanted(name, resolved + name) and (data := _plain(below)) is not None:
                self.seen.add(resolved + name)
                yield File(below, data)
            else:
                # To resolve the path of each folder takes as long as to list it.
                yield from self.path(below, depth=depth, real=resolved + name if is_folder else "")

    def _is_wanted(self, name: str, real: str) -> bool:
        """Whether a plain file of a folder is a manifest that has not been read."""
        return name != SETTINGS and real != self.settings and real not in self.seen

    def _missing(self, path: str, error: OSError) -> Diagnostic:
        if os.path.islink(path):
            return fault(path, "is a link that leads nowhere, or in a circle", "remove it, or mend its target")
        return fault(path, f"cannot be read: {error.strerror}", "check the path's spelling, and who may read it")


def _plain(path: str) -> bytes | None:
    """The bytes of a plain file that is no link; None where something is the matter, or it changes while it is read.

    Python's `open` alone would take longer than all of this.
    """
    try:
        opened = os.open(path, _PLAIN)
    except OSError:
        return None
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            return None
        data = os.read(opened, status.st_size + 1)
    except OSError:
        return None
    finally:
        os.close(opened)
    return data if len(data) == status.st_size else None


def _file(path: str, size: int) -> File | Diagnostic:
    if size > LARGEST_FILE:
        return fault(path, f"has {size >> 20} MiB; files of more than 256 MiB are not read", "split it")
    try:
        with open(path, "rb") as opened:
            # A device has no size, and maybe no end; to ask a file for more than it has takes longer than to read it.
            data = opened.read() if size else opened.read(LARGEST_FILE + 1)
    except OSError as error:
        return fault(path, f"cannot be read: {error.strerror}", "check who may read it")
    return _bounded(path, data)


def _standard_input() -> Iterator[File | Diagnostic]:
    yield _bounded(STDIN, sys.stdin.buffer.read(LARGEST_FILE + 1))


def _bounded(path: str, data: bytes) -> File | Diagnostic:
    if len(data) > LARGEST_FILE:
        return fault(path, "has more than 256 MiB; such files are not read", "split it")
    return File(path=path, data=data)
