"""Confined paths: the root of a path, and descriptors of what is below it.

Reads    a path as the user gave it. Its root is the git root of the current folder, without one the current folder.
         A path elsewhere has a root of its own: the git root above it, without one its folder. Roots are lexical: links
         above a root do not count.
Returns  descriptors. A path is opened one part at a time, with no link followed. A link is resolved by name first, and
         the name must lie below the root; so a link that replaces a folder in the meantime opens nothing.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Final

from trainc.records import NamedTuple

READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags to open a file: no link is followed, and no pipe waited for."""
LIST: Final = READ | os.O_DIRECTORY
"""Flags to open a folder that is listed."""
_STEP: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
"""Flags to open a folder on the way; a folder that can be entered need not be readable."""
_TRIES: Final = 3
"""How often a path is resolved again that changes in the meantime."""


class LinkOutError(Exception):
    """A link leads out of the root."""


class LinkError(OSError):
    """A link is in the way of an output."""

    strerror: str

    def __init__(self) -> None:
        import errno

        super().__init__(errno.ELOOP, "it is or lies behind a link, and trainc writes nothing through a link")


class Root(NamedTuple):
    """A folder that no link may lead out of."""

    path: str
    """Absolute, as it is spelled."""
    real: str
    """The same with all links resolved."""

    @classmethod
    def at(cls, path: str) -> Root:
        """Return the root of that path."""
        return cls(os.path.abspath(path), resolved(path))


class Opened(NamedTuple):
    """A file or folder that has been opened."""

    descriptor: int | None
    """None for what is neither a file nor a folder, which is not opened."""
    status: os.stat_result
    path: str
    """With all links resolved."""


def within(path: str, folder: str) -> bool:
    """Return whether a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def resolved(path: str) -> str:
    """Return a path with all links resolved, as far as they are there and stay while they are read."""
    for _ in range(_TRIES):
        with suppress(OSError):  # a link that is replaced between two calls of `os.path.realpath`
            return os.path.realpath(path)
    return os.path.abspath(path)


def root_of(path: str) -> Root:
    """Return the root of a path that is read."""
    full = os.path.abspath(path)
    root = _root(full)
    return Root.at(root or (full if os.path.isdir(full) else os.path.dirname(full)))


def _root(full: str) -> str | None:
    """Return the git root of an absolute path, or the current folder above it; None where there is neither."""
    here = os.getcwd()
    of_here = _git_root(here)
    if of_here is not None and within(full, of_here):
        return of_here
    if here != os.sep and within(full, here):
        return _git_root(full, below=here) or here
    return _git_root(full)


def repository_above(full: str) -> str | None:
    """Return the git root at or above an absolute path, lexically; None where there is none."""
    here = _git_root(os.getcwd())
    return here if here is not None and within(full, here) else _git_root(full)


def _git_root(full: str, *, below: str = "") -> str | None:
    """Return the nearest git root at or above a path, and below a folder; one behind a link of another root is none."""
    above = [full]
    while (folder := os.path.dirname(above[-1])) != above[-1] and above[-1] != below:
        above.append(folder)
    found: str | None = None
    confined = bool(below)
    for folder in reversed(above):
        if confined and folder != below and os.path.islink(folder):
            break
        if os.path.lexists(os.path.join(folder, ".git")):
            found, confined = folder, True
    return found


def open_to_read(path: str, root: Root | None) -> Opened:
    """Open a file or folder below a root; links are followed inside it, and anywhere with None.

    Raises OSError, and LinkOutError for a link that leads out of the root.
    """
    if not path:
        os.lstat(path)  # raises: no file has this name
    full = os.path.abspath(path)
    if root is None:
        return _follow(full)
    if not within(full, root.path):
        raise LinkOutError
    parts = _parts(full, root.path)
    for _ in range(_TRIES):
        opened = _descend(root.real, parts)
        if opened is not None:
            return opened
        real = resolved(full)
        if not within(real, root.real):
            os.stat(full)  # raises where the link leads nowhere
            raise LinkOutError
        parts = _parts(real, root.real)
    import errno

    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _parts(path: str, folder: str) -> list[str]:
    """Return the parts of a path below a folder."""
    return path[len(folder) :].strip(os.sep).split(os.sep) if path != folder else []


def _follow(full: str) -> Opened:
    """Open a path and follow its links."""
    status = os.stat(full)
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return Opened(None, status, resolved(full))
    descriptor = os.open(full, os.O_RDONLY | os.O_NONBLOCK)
    return Opened(descriptor, os.fstat(descriptor), resolved(full))


def _descend(folder: str, parts: list[str]) -> Opened | None:
    """Open the path below a folder; None where one of its parts is a link."""
    path = os.path.join(folder, *parts)
    here = os.getcwd()
    at: int | None = None
    if within(path, here) and within(here, folder):
        parts = _parts(path, here) or [os.curdir]
    elif parts:
        parts = [os.path.join(folder, parts[0]), *parts[1:]]
    else:
        parts = [folder]
    try:
        for part in parts[:-1]:
            if stat.S_ISLNK(os.lstat(part, dir_fd=at).st_mode):
                return None
            below = os.open(part, _STEP, dir_fd=at)
            if at is not None:
                os.close(at)
            at = below
        status = os.lstat(parts[-1], dir_fd=at)
        if stat.S_ISLNK(status.st_mode):
            return None
        if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            descriptor = os.open(parts[-1], READ, dir_fd=at)
            return Opened(descriptor, os.fstat(descriptor), path)
        return Opened(None, status, path)
    except OSError as error:
        import errno

        if error.errno in {errno.ELOOP, errno.ENOTDIR} and resolved(path) != path:
            return None  # a link has taken its place
        raise
    finally:
        if at is not None:
            os.close(at)


def open_to_write(folder: str, *, make: bool) -> int:
    """Return a descriptor of a folder that is written to, made where it is missing.

    Raises LinkError for a link below the root, and OSError. Outside every root, links are followed.
    """
    full = os.path.abspath(folder)
    root = _root(full)
    if root is None:
        if make:
            os.makedirs(full, exist_ok=True)
        return os.open(full, os.O_RDONLY | os.O_DIRECTORY)
    at = os.open(root, _STEP & ~os.O_NOFOLLOW)
    parts = _parts(full, root)
    for index, part in enumerate(parts or [os.curdir]):
        last = index >= len(parts) - 1
        try:
            below = _enter(at, part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW if last else _STEP, make=make)
        finally:
            os.close(at)
        at = below
    return at


def _enter(at: int, part: str, flags: int, *, make: bool) -> int:
    """Open a folder in the folder of a descriptor; no link is followed."""
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=at)
    if is_link(part, at):
        raise LinkError
    return os.open(part, flags, dir_fd=at)


def is_link(name: str, at: int) -> bool:
    """Return whether a name in the folder of a descriptor is a link."""
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=at).st_mode)
    except OSError:
        return False


def is_confined(path: str) -> bool:
    """Return whether a path that is written lies below a root, where no link is followed."""
    return _root(os.path.abspath(path)) is not None
