"""Files below a folder that other processes may change: no link is followed, and no file is half-written.

A file is written beside its place and renamed into it. What a killed process was writing has a hidden name that ends
in PART.
"""

from __future__ import annotations

import os
import stat
from contextlib import closing, suppress
from typing import Final

PART: Final = ".trainc-part"
"""How the name of a file ends, hidden by a `.` at its start, that is being written."""
_PIECE: Final = 2**20
_PLAIN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""How a file is opened to be read: no link is followed, and no pipe waited for."""


def open_below(folder: str, path: str, *, make: bool = False) -> int:
    """A descriptor of the folder at `path`, which may be ""; no link below `folder` is followed. Raises OSError."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for part in path.split("/") if path else ():
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=at)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
        finally:
            os.close(at)
        at = below
    return at


class Folders:
    """The folders of some files: each is opened, or missed, once for all of its files that come one after another."""

    def __init__(self, folder: str, *, make: bool = False) -> None:
        self._folder = folder
        self._make = make
        self._path = ""
        self._at: int | None = None
        self._missing: str | None = None

    def at(self, path: str) -> int:
        """A descriptor of the folder at `path`, for as long as no other is asked for. Raises OSError."""
        if self._at is None or path != self._path:
            self.close()
            self._at, self._path = open_below(self._folder, path, make=self._make), path
        return self._at

    def current(self, path: str) -> bytes | str | None:
        """The bytes of a file; None where there is none; why it is not looked at, where it is no plain file."""
        parent, _, name = path.rpartition("/")
        if parent == self._missing:
            return None
        try:
            at = self.at(parent)
        except FileNotFoundError:
            self._missing = parent
            return None
        except OSError:
            return "its folder is a link or no folder"
        return content(at, name)

    def close(self) -> None:
        """Close what is open."""
        if self._at is not None:
            os.close(self._at)
            self._at = None


def current(folder: str, path: str) -> bytes | str | None:
    """As `Folders.current`, of one file."""
    with closing(Folders(folder)) as folders:
        return folders.current(path)


def content(at: int, name: str) -> bytes | str | None:
    """As `Folders.current`, of a file in the folder of a descriptor."""
    try:
        opened = os.open(name, _PLAIN, dir_fd=at)
    except FileNotFoundError:
        return None
    except OSError:
        return "it is a link, or cannot be read"
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return "it is no plain file"
        data = os.read(opened, status.st_size + 1)
        if len(data) != status.st_size:  # it changes, or the system gives it piece by piece
            while more := os.read(opened, _PIECE):
                data += more
        return data
    finally:
        os.close(opened)


def replace(folder: str, path: str, data: bytes) -> None:
    """Write a file below a folder, whole or not at all. Raises OSError."""
    parent, _, name = path.rpartition("/")
    with closing(Folders(folder, make=True)) as folders:
        replace_at(folders.at(parent), name, data)


def replace_at(at: int, name: str, data: bytes) -> None:
    """As `replace`, of a file in the folder of a descriptor."""
    part = f".{name}.{os.getpid()}{PART}"
    opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=at)
    try:
        try:
            while data:  # a disk that is almost full takes a piece before it refuses
                data = data[os.write(opened, data) :]
        finally:
            os.close(opened)
        os.rename(part, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        os.unlink(part, dir_fd=at)
        raise


def remove(folder: str, path: str) -> None:
    """Remove a file, and its folder when that is empty then."""
    parent, _, name = path.rpartition("/")
    at = open_below(folder, parent)
    try:
        os.unlink(name, dir_fd=at)
    finally:
        os.close(at)
    if parent:
        above, _, name = parent.rpartition("/")
        at = open_below(folder, above)
        try:
            os.rmdir(name, dir_fd=at)
        except OSError:
            return  # not empty: it contains other files
        finally:
            os.close(at)
