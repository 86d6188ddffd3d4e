"""Files below a folder that other processes may change: no link is followed, and no file is half-written.

A file is written as a temporary file and renamed. A killed process leaves a hidden file whose name ends in PART.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing, suppress
from typing import Final

from trainc.files.confine import READ, LinkError, is_confined, is_link, open_to_write

PART: Final = ".trainc-part"
"""The suffix of a temporary file, whose name starts with a `.`."""
_PIECE: Final = 2**20


def open_below(folder: int, path: str, *, make: bool = False) -> int:
    """Return a descriptor of the folder at `path`, which may be ""; no link below `folder` is followed.

    Raises OSError.
    """
    at = os.dup(folder)
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
    """Folders below a folder, opened once for consecutive files."""

    def __init__(self, folder: int, *, make: bool = False) -> None:
        """`folder` is a descriptor, which stays open."""
        self._folder = folder
        self._make = make
        self._path = ""
        self._at: int | None = None
        self._missing: str | None = None

    def at(self, path: str) -> int:
        """Return a descriptor of the folder at `path`, valid until the next call. Raises OSError."""
        if self._at is None or path != self._path:
            self.close()
            self._at, self._path = open_below(self._folder, path, make=self._make), path
        return self._at

    def read(self, path: str) -> bytes | str | None:
        """Return a file's bytes, None if it does not exist, or the reason why it is not read."""
        parent, _, name = path.rpartition("/")
        if parent == self._missing:
            return None
        try:
            at = self.at(parent)
        except FileNotFoundError:
            self._missing = parent
            return None
        except OSError:
            return "its folder is a link or not a folder"
        return content(at, name)

    def close(self) -> None:
        """Close the open folder."""
        if self._at is not None:
            os.close(self._at)
            self._at = None


def read_current(folder: int | None, path: str) -> bytes | str | None:
    """Like `Folders.read`, for one file; None without a folder."""
    if folder is None:
        return None
    with closing(Folders(folder)) as folders:
        return folders.read(path)


def content(at: int, name: str) -> bytes | str | None:
    """Like `Folders.read`, for a file in the folder of a descriptor."""
    try:
        opened = os.open(name, READ, dir_fd=at)
    except FileNotFoundError:
        return None
    except OSError:
        return "it is a link or unreadable"
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return "it is not a regular file"
        data = os.read(opened, status.st_size + 1)
        if len(data) != status.st_size:  # it changes, or the system returns parts of it
            while more := os.read(opened, _PIECE):
                data += more
        return data
    finally:
        os.close(opened)


def replace(folder: int, path: str, data: bytes) -> None:
    """Write a file below a folder atomically. Raises OSError."""
    parent, _, name = path.rpartition("/")
    with closing(Folders(folder, make=True)) as folders:
        replace_at(folders.at(parent), name, data)


def replace_at(at: int, name: str, data: bytes, *, mode: int | None = None) -> None:
    """Like `replace`, for a file in the folder of a descriptor; `mode` is its permissions, by default a new file's."""
    part = f".{name}.{os.getpid()}{PART}"
    opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=at)
    try:
        try:
            while data:  # an almost full disk may write a part
                data = data[os.write(opened, data) :]
            if mode is not None:
                os.fchmod(opened, mode)
        finally:
            os.close(opened)
        os.rename(part, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        os.unlink(part, dir_fd=at)
        raise


def replace_file(path: str, data: bytes, *, make: bool = False, keep_mode: bool = True) -> None:
    """Write a file that the user names, atomically. Raises LinkError for a link below the root, and OSError.

    Args:
        path: the path; outside of every root, its links are followed.
        data: the content.
        make: whether to create a missing folder.
        keep_mode: whether it keeps the permissions of the file that it replaces, which must exist then.
    """
    full = os.path.abspath(path) if is_confined(path) else os.path.realpath(path)
    folder, name = os.path.split(full)
    at = open_to_write(folder, make=make)
    try:
        if is_link(name, at):
            raise LinkError
        mode = os.lstat(name, dir_fd=at).st_mode & 0o7777 if keep_mode else None
        # A rename would also replace a read-only file.
        if mode is not None and not (mode & stat.S_IWUSR and os.access(name, os.W_OK, dir_fd=at)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        replace_at(at, name, data, mode=mode)
    finally:
        os.close(at)


def create_at(at: int, name: str, data: bytes) -> bool:
    """Create a file in the folder of a descriptor; return False if it exists. Raises OSError."""
    try:
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=at)
    except FileExistsError:
        return False
    with open(opened, "wb") as file:
        file.write(data)
    return True


def remove(folder: int, path: str) -> None:
    """Remove a file, and the folders that are empty afterwards."""
    parent, _, name = path.rpartition("/")
    at = open_below(folder, parent)
    try:
        os.unlink(name, dir_fd=at)
    finally:
        os.close(at)
    while parent:
        parent, _, name = parent.rpartition("/")
        at = open_below(folder, parent)
        try:
            os.rmdir(name, dir_fd=at)
        except OSError:
            return  # not empty: it contains other files
        finally:
            os.close(at)
