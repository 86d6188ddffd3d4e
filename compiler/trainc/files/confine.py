"""Confined paths: the root of a path, and descriptors of files and folders below it.

Reads    a path as the user gave it. Its root is the git root of the current folder, or else the current folder. A path
         outside has its own root: the git root above it, or else its folder. Roots are lexical: links above a root are
         allowed.
Returns  descriptors. A path is opened one part at a time, and no link is followed. A link is first resolved by name,
         and the result must be below the root, so a link that replaces a folder meanwhile opens nothing.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Final

from trainc.base.records import NamedTuple

READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags to open a file: links are not followed, and pipes do not block."""
LIST: Final = READ | os.O_DIRECTORY
"""Flags to open a folder and list it."""
_STEP: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
"""Flags to open an intermediate folder, which needs no read permission."""
_TRIES: Final = 3
"""How often a path that changes meanwhile is resolved."""


class LinkOutError(Exception):
    """A link has a target outside the root."""


class HiddenLinkError(LinkOutError):
    """A link has a hidden target, such as .git/config."""


class LinkError(OSError):
    """The path of an output contains a link."""

    strerror: str

    def __init__(self) -> None:
        import errno

        super().__init__(errno.ELOOP, "the path contains a link, and trainc does not write through links")


class Root(NamedTuple):
    """A folder that no link may lead out of."""

    path: str
    """The absolute path, with links."""
    real: str
    """The absolute path, with all links resolved."""

    @classmethod
    def at(cls, path: str) -> Root:
        """Return the root at a path."""
        return cls(os.path.abspath(path), resolved(path))


class Opened(NamedTuple):
    """An open file or folder."""

    descriptor: int | None
    """None if it is neither a regular file nor a folder; it is not opened."""
    status: os.stat_result
    path: str
    """The path, with all links resolved."""


def is_within(path: str, folder: str) -> bool:
    """Return whether a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def resolved(path: str) -> str:
    """Return a path with all links resolved; with its own links if they keep changing."""
    for _ in range(_TRIES):
        with suppress(OSError):  # a link is replaced while `os.path.realpath` runs
            return os.path.realpath(path)
    return os.path.abspath(path)


def root_of(path: str) -> Root:
    """Return the root of a path to read."""
    full = os.path.abspath(path)
    root = root_above(full)
    return Root.at(root or (full if os.path.isdir(full) else os.path.dirname(full)))


def root_above(full: str) -> str | None:
    """Return the git root of an absolute path, or the current folder above it; None without either."""
    here = os.getcwd()
    of_here = _git_root(here)
    if of_here is not None and is_within(full, of_here):
        return of_here
    if here != os.sep and is_within(full, here):
        return _git_root(full, below=here) or here
    return _git_root(full)


def repository_above(full: str) -> str | None:
    """Return the git root at or above an absolute path, lexically; None without one."""
    here = _git_root(os.getcwd())
    return here if here is not None and is_within(full, here) else _git_root(full)


def _git_root(full: str, *, below: str = "") -> str | None:
    """Return the nearest git root at or above a path, and below a folder; roots behind a link do not count."""
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
    """Open a file or folder below a root; links are followed inside the root, and everywhere if it is None.

    Raises OSError, LinkOutError for a link out of the root, and HiddenLinkError for one to a hidden target.
    """
    if not path:
        os.lstat(path)  # raises, because no file has an empty name
    full = os.path.abspath(path)
    if root is None:
        return _follow(full)
    if not is_within(full, root.path):
        raise LinkOutError
    parts = _parts(full, root.path)
    for _ in range(_TRIES):
        opened = _descend(root.real, parts)
        if opened is not None:
            return opened
        real = resolved(full)
        if not is_within(real, root.real):
            os.stat(full)  # raises for a dangling link
            raise LinkOutError
        hidden = any(map(is_hidden, parts))
        parts = _parts(real, root.real)
        if not hidden and any(map(is_hidden, parts)):
            raise HiddenLinkError
    import errno

    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _parts(path: str, folder: str) -> list[str]:
    """Return the parts of a path below a folder."""
    return path[len(folder) :].strip(os.sep).split(os.sep) if path != folder else []


def is_hidden(name: str) -> bool:
    """Return whether a file or folder is hidden. A mounted ConfigMap has links to `..data`."""
    return name.startswith(".") and not name.startswith("..") and name != os.curdir


def _follow(full: str) -> Opened:
    """Open a path, following its links."""
    status = os.stat(full)
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return Opened(None, status, resolved(full))
    descriptor = os.open(full, os.O_RDONLY | os.O_NONBLOCK)
    return Opened(descriptor, os.fstat(descriptor), resolved(full))


def _descend(folder: str, parts: list[str]) -> Opened | None:
    """Open a path below a folder; None if one of its parts is a link."""
    path = os.path.join(folder, *parts)
    here = os.getcwd()
    at: int | None = None
    if is_within(path, here) and is_within(here, folder):
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
            return None  # it was replaced by a link
        raise
    finally:
        if at is not None:
            os.close(at)


def open_to_write(folder: str, *, make: bool) -> int:
    """Return a descriptor of a folder to write to; with `make`, create it if it is missing.

    Raises LinkError for a link below the root, and OSError. Outside of every root, links are followed.
    """
    full = os.path.abspath(folder)
    root = root_above(full)
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
    """Open a subfolder of a descriptor's folder; no link is followed."""
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
    """Return whether a path to write is below a root, where no link is followed."""
    return root_above(os.path.abspath(path)) is not None
