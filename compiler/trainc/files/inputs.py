"""The files of the given paths: files, folders and standard input.

Reads    each given path, and in a folder every .yaml, .yml and .json file at any depth. Hidden files and folders are
         skipped, because they are settings of git, editors and hooks.
Returns  the files in a fixed order, and a diagnostic for each path that cannot be read. Folders are opened by
         descriptor, and nothing outside the root is read: a link to a target outside is an error.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic
from trainc.files.confine import (
    LIST,
    READ,
    HiddenLinkError,
    LinkOutError,
    Root,
    is_link,
    is_within,
    open_to_read,
    resolved,
    root_of,
)
from trainc.files.selection import Selection
from trainc.files.walk import Walk, dangling_link, fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.files.walk import Kind

LINK_OUT: Final = Declaration("link-out", ("read",), trainc_only=True)
SETTINGS_PATH: Final = Declaration("settings-path", ("read",), trainc_only=True)

LARGEST_FILE: Final = 256 * 1024 * 1024
"""Bytes. A larger file is an error and is not read."""
_MOST_NAMES: Final = 1000
"""The most files of a folder that a misspelled name is compared with."""
LARGEST_SETTINGS: Final = 16 * 1024 * 1024
"""Bytes of a settings file, which is one document."""
STDIN: Final = "-"
ATTRIBUTES: Final = ".gitattributes"
CHANGING: Final = ("working-tree-encoding", "ident", "filter", "eol")
"""The attributes of git that may change a file at the checkout."""
ALL: Final = Selection()
"""The selection of every file with the name of a manifest."""
GIVEN_ROOT: Final = "the repository"
"""The name of a root that the caller set: its path means nothing to the user."""

LONGEST: Final = 4095
"""The maximum length of a path on Linux, in bytes."""
_BYTES: Final = 4
"""The most bytes of a character of a path."""


class File(NamedTuple):
    """A file's bytes and the path that messages show."""

    path: str
    data: bytes
    found: bool = False
    """Whether it was found in a folder; the user named any other file."""
    revision: str = ""
    """The prefix of the path if the file is one of a commit: `main:`."""
    output: bool = False
    """Whether it was found in an output folder."""
    above: bool = False
    """Whether it is a kustomization in a folder above a path, which decides what the files below are."""


def read(
    paths: Iterable[str],
    selection: Selection = ALL,
    *,
    root: str | None = None,
    follow_links: bool = False,
) -> Iterator[File | Diagnostic]:
    """Yield each file of the paths once, and a diagnostic for each path that cannot be read.

    Args:
        paths: files, folders, and `-` for standard input.
        selection: the files that are not manifests; a given path is always read, unless it is a settings file.
        root: the folder that links must not leave; the default is each path's root (`confine.root_of`).
        follow_links: whether links may lead out of the root.
    """
    paths = list(paths)
    walk = _Disk(paths, selection, root=root, follow_links=follow_links)
    for path in paths:
        if path == STDIN or (root is None and _is_device(path)):
            walk.files += 1
            if path != STDIN:
                yield _device(path, LARGEST_FILE)
            elif not walk.roles.was_read(path):
                yield _standard_input()
        else:
            yield from walk.files_of_path(path)
    yield from walk.files_of_links()
    yield from walk.no_files()


def settings(
    path: str, *, root: str | None = None, follow_links: bool = False, contents: Mapping[str, bytes] = {}
) -> File | Diagnostic:
    """Read a settings file; one of `contents` has those bytes."""
    if path in contents:
        return File(path, contents[path])
    if os.path.isdir(path):
        return fault(path, "is a folder", "use a file with settings")
    if root is None and _is_device(path):
        return _device(path, LARGEST_SETTINGS)
    return _Disk((), root=root, follow_links=follow_links, largest=LARGEST_SETTINGS).sole_file(path, path)


def repository_of(path: str) -> str:
    """Return the git root above a path, or else the folder that contains it, with all links resolved."""
    full = os.path.abspath(path)
    folder = resolved(full if os.path.isdir(full) else os.path.dirname(full))
    at = folder
    while True:
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        if above == at:
            return folder
        at = above


class AttributeFiles(NamedTuple):
    """The .gitattributes in the folders of some files and above."""

    roots: Mapping[str, str]
    """The git root of each folder with all links resolved; empty outside of a repository."""
    contents: Mapping[str, bytes]
    """The content of each .gitattributes, by its folder."""


def attribute_files(paths: Iterable[str], root: str | None = None) -> AttributeFiles | None:
    """Return the .gitattributes that apply to some files; None if none names an attribute that changes a file.

    Nothing above a git root or `root` is read. As in git, a link has no effect.
    """
    top = None if root is None else resolved(root)
    roots: dict[str, str] = {}
    for folder in {os.path.dirname(resolved(path) if os.path.islink(path) else path) for path in paths}:
        at, new = resolved(folder), list[str]()
        while at not in roots:
            new.append(at)
            above = os.path.dirname(at)
            if at == top or os.path.lexists(os.path.join(at, ".git")):
                roots[at] = at
            elif at == above:
                roots[at] = ""
            else:
                at = above
        roots.update(dict.fromkeys(new, roots[at]))
    inside = (folder for folder, at in roots.items() if at)
    read = ((folder, regular_file_content(os.path.join(folder, ATTRIBUTES))) for folder in inside)
    contents = {folder: data for folder, data in read if data is not None}
    names = any(name.encode() in data for data in contents.values() for name in CHANGING)
    return AttributeFiles(roots, contents) if names else None


class _Node(NamedTuple):
    """An open file or folder."""

    real_path: str
    kind: Kind
    descriptor: int | None
    """None if it is neither a regular file nor a folder; it is not opened."""
    size: int
    root: Root
    object: str = ""


class _Disk(Walk[_Node, File]):
    """A walk over folders and files on disk."""

    def __init__(
        self,
        paths: Iterable[str],
        selection: Selection = ALL,
        *,
        root: str | None,
        follow_links: bool,
        largest: int | None = None,
    ) -> None:
        """`largest` is the most bytes of a file."""
        super().__init__(paths, selection)
        self._root = None if root is None else Root.at(root)
        self._follow_links = follow_links
        self._largest = LARGEST_FILE if largest is None else largest

    def resolved(self, path: str) -> str:
        return resolved(path)

    def opened(self, path: str, folder: _Node | None = None) -> _Node | Diagnostic:
        root = self._root or (root_of(path) if folder is None else folder.root)
        try:
            opened = open_to_read(path, None if self._follow_links else root)
        except LinkOutError as error:
            return self._link_out(path, root, hidden=isinstance(error, HiddenLinkError))
        except OSError as error:
            return _missing_path(path, error)
        kind: Kind = "folder" if stat.S_ISDIR(opened.status.st_mode) else "file"
        return _Node(opened.path, kind, opened.descriptor, opened.status.st_size, root)

    def child(self, name: str, path: str, folder: _Node, kind: Kind) -> _Node | Diagnostic | None:
        if len(path) * _BYTES > LONGEST and len(os.fsencode(path)) > LONGEST:
            return fault(path, f"has a path of more than {LONGEST} bytes", "shorten the path of its folder")
        # An entry that is not a link is in the root because its folder is. `opened` reports any problem with it.
        with suppress(OSError):
            descriptor = os.open(name, LIST if kind == "folder" else READ, dir_fd=folder.descriptor)
            status = os.fstat(descriptor)
            if kind == "folder" or stat.S_ISREG(status.st_mode):
                return _Node(os.path.join(folder.real_path, name), kind, descriptor, status.st_size, folder.root)
            os.close(descriptor)
        assert folder.descriptor is not None  # it is a folder
        return None if is_link(name, folder.descriptor) else self.opened(path, folder)

    def entries(self, path: str, folder: _Node) -> list[tuple[str, Kind, str]] | Diagnostic:
        assert folder.descriptor is not None  # it is a folder
        try:
            with os.scandir(folder.descriptor) as entries:
                return sorted((entry.name, _kind(entry), "") for entry in entries)
        except OSError as error:
            return fault(path, f"cannot be listed: {error.strerror}")

    def file(self, path: str, node: _Node, *, is_found: bool, is_output: bool) -> File | Diagnostic:
        if node.descriptor is None:
            return fault(path, "is not a regular file", "give a file, a folder, or - for standard input")
        largest = self._largest
        if node.size > largest:
            return fault(path, f"is {node.size >> 20} MiB, more than the limit of {largest >> 20} MiB", "split it")
        try:
            data = os.read(node.descriptor, node.size + 1)
            if len(data) != node.size or not data:  # it changes, or it is a device, which has no size
                with open(node.descriptor, "rb", closefd=False) as opened:
                    data += opened.read(largest + 1)
        except OSError as error:
            return fault(path, f"cannot be read: {error.strerror}", "check its permissions")
        return _bounded(path, data, largest, is_found=is_found, is_output=is_output)

    def may_lead_to_folder(self, name: str, path: str, folder: _Node) -> bool:
        try:
            return stat.S_ISDIR(os.stat(name, dir_fd=folder.descriptor).st_mode)
        except OSError as error:
            import errno

            return error.errno not in {errno.ENOENT, errno.ELOOP, errno.ENOTDIR}

    def folders_above(self, path: str) -> Iterator[str]:
        folder, root = os.path.abspath(path), self._root or root_of(path)
        while folder != root.path and is_within(folder, root.path):
            folder = os.path.dirname(folder)
            yield folder

    def kustomization(self, name: str, folder: str, path: str) -> File | None:
        full = os.path.join(folder, name)
        if not os.path.lexists(full):
            return None
        shown = full if os.path.isabs(path) else os.path.relpath(full)
        if self.roles.role(name, shown, resolved(full), is_file=True, is_folder=False) != "manifest":
            return None
        read = self.sole_file(full, shown)
        return read._replace(found=True, above=True) if isinstance(read, File) else None

    def sole_file(self, path: str, shown: str) -> File | Diagnostic:
        """Return the file at a path, whatever its role is."""
        node = self.opened(path)
        if isinstance(node, Diagnostic):
            return node
        try:
            return self.file(shown, node, is_found=False, is_output=False)
        finally:
            self.close(node)

    def close(self, node: _Node) -> None:
        if node.descriptor is not None:
            os.close(node.descriptor)

    def _link_out(self, path: str, root: Root, *, hidden: bool) -> Diagnostic:
        if self._root is not None:
            help = "copy the file into the repository"
        else:
            help = "copy the file, or use --follow-links"
        if hidden:
            return fault(path, "is a link to a hidden file or folder", help, declared=LINK_OUT)
        where = GIVEN_ROOT if self._root is not None else root.path
        return fault(path, f"is a link to a target outside {where}", help, declared=LINK_OUT)


def _kind(entry: os.DirEntry[str]) -> Kind:
    """Return the kind of an entry of a folder."""
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "link" if entry.is_symlink() else "other"


def _missing_path(path: str, error: OSError) -> Diagnostic:
    if os.path.islink(path):
        return dangling_link(path)
    help = _path_meant(path) if isinstance(error, FileNotFoundError) else ""
    return fault(path, f"cannot be read: {error.strerror}", help or "check the path and its permissions")


def _path_meant(path: str) -> str:
    """Return the hint for a missing path that is a pattern, or similar to a file or folder; empty for another one."""
    if (pattern := min((index for each in "*?[" if (index := path.find(each)) >= 0), default=-1)) >= 0:
        folder = os.path.dirname(path[:pattern]) or "."
        return f"a path is a file or a folder, not a pattern: use {folder}, and `exclude` for other files in it"
    from itertools import islice

    from trainc.base.suggestions import nearest_name

    folder, name = os.path.split(path.rstrip("/"))
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, _MOST_NAMES) if not entry.name.startswith(".")]
    except OSError:
        return ""
    near = nearest_name(name, sorted(names))
    return f"did you mean {os.path.join(folder, near)}?" if near else ""


def regular_file_content(path: str) -> bytes | None:
    """Return the bytes of a regular file; None for anything else, or if it changes."""
    try:
        opened = os.open(path, READ)
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


def is_stream(path: str) -> bool:
    """Return whether a path can be read only once: standard input, or a device or descriptor of this process."""
    return path == STDIN or _is_device(path)


def _is_device(path: str) -> bool:
    """Whether a path is a device or a descriptor of this process: /dev/stdin, or /dev/fd/63 for a shell's <(...)."""
    full = os.path.abspath(path)
    return os.path.dirname(full) in {"/dev", "/dev/fd"} and not os.path.isdir(full)


def _device(path: str, largest: int) -> File | Diagnostic:
    try:
        with open(path, "rb") as opened:
            return _bounded(path, opened.read(largest + 1), largest)
    except OSError as error:
        return fault(path, f"cannot be read: {error.strerror}", "check the path and its permissions")


def _standard_input() -> File | Diagnostic:
    if sys.stdin is None:
        return fault(STDIN, "is closed", "pipe a file to it, or give its path")
    try:
        data = sys.stdin.buffer.read(LARGEST_FILE + 1)
    except OSError as error:
        return fault(STDIN, f"cannot be read: {error.strerror}", "pipe a file to it, or give its path")
    return _bounded(STDIN, data, LARGEST_FILE)


def _bounded(
    path: str, data: bytes, largest: int, *, is_found: bool = False, is_output: bool = False
) -> File | Diagnostic:
    if len(data) > largest:
        return fault(path, f"exceeds the limit of {largest >> 20} MiB", "split it")
    return File(path, data, is_found, output=is_output)
