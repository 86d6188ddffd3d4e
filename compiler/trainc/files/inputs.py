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
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.diagnostics import Diagnostic, Location
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
from trainc.files.selection import KUSTOMIZATIONS, Roles, Selection, is_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.files.confine import Opened
    from trainc.files.selection import Role

UNREADABLE: Final = Declaration("unreadable", ("read",), "Unreadable path", trainc_only=True)
LINK_OUT: Final = Declaration("link-out", ("read",), "Link to a target outside the root", trainc_only=True)
SETTINGS_PATH: Final = Declaration(
    "settings-path", ("read",), "Path in the settings outside the root, or hidden", trainc_only=True
)

LARGEST_FILE: Final = 256 * 1024 * 1024
"""Bytes. A larger file is an error and is not read."""
_MOST_NAMES: Final = 1000
"""The most files of a folder that a misspelled name is compared with."""
LARGEST_SETTINGS: Final = 16 * 1024 * 1024
"""Bytes of a settings file, which is one document."""
DEEPEST: Final = 100
"""The maximum nesting of folders below a given one."""
STDIN: Final = "-"
ATTRIBUTES: Final = ".gitattributes"
CHANGING: Final = ("working-tree-encoding", "ident", "filter", "eol")
"""The attributes of git that may change a file at the checkout."""
READ_ROLES: Final = frozenset({"manifest", "output"})
"""The roles of the entries that are read."""
ALL: Final = Selection()
"""The selection of every file with the name of a manifest."""
GIVEN_ROOT: Final = "the repository"
"""The name of a root that the caller set: its path means nothing to the user."""

LONGEST: Final = 4095
"""The maximum length of a path on Linux, in bytes."""
_LONGEST_NAME: Final = 255


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
    roles = Roles(selection, paths, resolved)
    walk = _Walk(paths, root=root, roles=roles, follow_links=follow_links)
    for path in paths:
        if path == STDIN:
            walk.files += 1
            yield from () if roles.was_read(path) else _standard_input()
        else:
            yield from walk.files_of_path(path)
    yield from walk.files_of_links()
    if roles.excluded is not None and not walk.files and (excluded := roles.excluded.no_files_error()) is not None:
        yield excluded


def settings(
    path: str, *, root: str | None = None, follow_links: bool = False, contents: Mapping[str, bytes] = {}
) -> File | Diagnostic:
    """Read a settings file; one of `contents` has those bytes."""
    if path in contents:
        return File(path, contents[path])
    if os.path.isdir(path):
        return fault(path, "is a folder", "use a file with settings")
    walk = _Walk([path], root=root, roles=None, follow_links=follow_links, largest=LARGEST_SETTINGS)
    return next(walk.files_of_path(path))


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


def fault(path: str, message: str, help: str = "", *, declared: Declaration = UNREADABLE) -> Diagnostic:
    """Return the diagnostic for a path that cannot be read."""
    return Diagnostic.declared(declared, message, help, place=Location(file=path))


class _Walk:
    """One walk over all given paths; it reads no file twice."""

    def __init__(
        self,
        paths: Iterable[str],
        *,
        root: str | None,
        roles: Roles | None,
        follow_links: bool = False,
        largest: int | None = None,
    ) -> None:
        """`roles` is None for a settings file."""
        self.root = None if root is None else Root.at(root)
        self.roles = roles
        self.follow_links = follow_links
        self.largest = LARGEST_FILE if largest is None else largest
        """The most bytes of a file."""
        self.seen = set[str]()
        """Resolved paths of all files and folders that are read."""
        self.named = frozenset(map(resolved, paths))
        """Resolved paths of the files that the user named, which are read as such also if a folder has them."""
        self.above = set[str]()
        """The folders above the paths whose kustomizations are read."""
        self.files = 0
        """The number of files read."""
        self.links: list[tuple[str, Root, int]] = []
        """The links in folders, with their roots and depths: a file is read by its own path if the paths have it."""

    def files_of_path(self, path: str) -> Iterator[File | Diagnostic]:
        """Yield the files of a path that the user gave."""
        if self.root is None and _is_device(path):
            yield _device(path, self.largest)
            return
        root = self.root or root_of(path)
        yield from self._path(path, root, depth=0)

    def files_of_links(self) -> Iterator[File | Diagnostic]:
        """Yield the files that only links lead to; a linked folder can have more links."""
        for path, root, depth in self.links:
            yield from self._path(path, root, depth=depth)

    def _path(self, path: str, root: Root, *, depth: int) -> Iterator[File | Diagnostic]:
        """Yield the files of a path, opened from its root: a given path, a link, or an entry that could not be read."""
        try:
            opened = open_to_read(path, None if self.follow_links else root)
        except LinkOutError as error:
            yield self._link_out(path, root, hidden=isinstance(error, HiddenLinkError))
            return
        except OSError as error:
            yield self._missing_path(path, error)
            return
        descriptor, status, real = opened
        try:
            if depth and self.roles is not None and self.roles.reports and os.path.islink(path):
                self.roles.leave_out(path, "link", real)
            if real in self.seen:
                return
            self.seen.add(real)
            is_folder = descriptor is not None and stat.S_ISDIR(status.st_mode)
            role = self._target_role(path, real, depth, is_folder=is_folder)
            if self.roles is not None and role not in READ_ROLES:
                self.roles.leave_out(path, role)
                if role == "settings" and not depth:
                    yield fault(path, "contains trainc settings, not manifests", "give the files of the jobs")
            elif descriptor is not None and is_folder:
                if not depth:
                    yield from self._kustomizations_above(path, root)
                yield from self._folder(path, real, descriptor, root, depth + 1)
            else:
                yield from self._file(path, opened, depth, output=role == "output")
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _kustomizations_above(self, path: str, root: Root) -> Iterator[File]:
        """Yield the kustomizations in the folders above a path, up to the root."""
        folder = os.path.abspath(path)
        while folder != root.path and is_within(folder, root.path):
            folder = os.path.dirname(folder)
            if self.roles is None or folder in self.above or not self.roles.decides_by_folder:
                return
            self.above.add(folder)
            for name in KUSTOMIZATIONS:
                full = os.path.join(folder, name)
                if not os.path.lexists(full):
                    continue
                shown = full if os.path.isabs(path) else os.path.relpath(full)
                if self.roles.role(name, shown, resolved(full), is_file=True, is_folder=False) != "manifest":
                    continue
                for file in _Walk((), root=root.path, roles=None).files_of_path(shown):
                    if isinstance(file, File):
                        yield file._replace(found=True, above=True)

    def _target_role(self, path: str, real: str, depth: int, *, is_folder: bool) -> Role:
        """Return the role of a given path, or of the target of a link. A given path is read unless it has settings."""
        if self.roles is None:
            return "manifest"
        role = self.roles.target_role(os.path.basename(path), real, is_folder=is_folder)
        return role if depth or role == "settings" else "manifest"

    def _file(self, path: str, opened: Opened, depth: int, *, output: bool) -> Iterator[File | Diagnostic]:
        if self.roles is not None and self.roles.was_read(path):
            return
        if opened.descriptor is not None and stat.S_ISREG(opened.status.st_mode):
            self.files += 1
            discovered = depth > 0 and opened.path not in self.named
            read = _file(path, opened.descriptor, opened.status.st_size, discovered=discovered, largest=self.largest)
            yield read._replace(output=True) if output and isinstance(read, File) else read
        else:
            yield fault(path, "is not a regular file", "give a file, a folder, or - for standard input")

    def _folder(self, path: str, real: str, at: int, root: Root, depth: int) -> Iterator[File | Diagnostic]:
        """Yield the files of an open folder."""
        if depth > DEEPEST:
            yield fault(path, f"is a folder more than {DEEPEST} levels deep", "give its path as an argument")
            return
        try:
            with os.scandir(at) as entries:
                found = sorted(
                    [
                        (entry.name, entry.is_file(follow_symlinks=False), entry.is_dir(follow_symlinks=False))
                        for entry in entries
                    ]
                )
        except OSError as error:
            yield fault(path, f"cannot be listed: {error.strerror}")
            return
        called, folder = "" if path == "." else os.path.join(path, ""), os.path.join(real, "")
        space = LONGEST - len(os.fsencode(called))
        roles = self.roles
        assert roles is not None  # it is a walk over manifests
        for name, is_file, is_folder in found:
            below = called + name
            role = roles.role(name, below, folder + name, is_file=is_file, is_folder=is_folder)
            if role not in READ_ROLES:
                roles.leave_out(below, role)
                continue
            if folder + name in self.seen and not is_folder:
                continue
            if space < _LONGEST_NAME and len(os.fsencode(name)) > space:
                yield fault(below, f"has a path of more than {LONGEST} bytes", "shorten the path of its folder")
            elif is_folder:
                yield from self._subfolder_files(name, below, folder + name, at, root, depth)
            elif is_file and roles.was_read(below):
                self.seen.add(folder + name)
            # A regular file is in the root because its folder is; `_path` reports any problem with it.
            elif is_file and (data := regular_file_content(name, at)) is not None:
                self.seen.add(folder + name)
                self.files += 1
                yield File(below, data, found=folder + name not in self.named, output=role == "output")
            elif is_link(name, at) and (is_manifest(name) or _leads_to_folder(name, at)):
                self.links.append((below, root, depth))
            elif is_manifest(name):
                yield from self._path(below, root, depth=depth)
            else:
                yield from self._unrecognized_entry(name, below, at)

    def _subfolder_files(
        self, name: str, path: str, real: str, at: int, root: Root, depth: int
    ) -> Iterator[File | Diagnostic]:
        """Yield the files of a subfolder of an open folder."""
        if real in self.seen:
            return
        try:
            descriptor = os.open(name, LIST, dir_fd=at)
        except OSError:
            yield from self._path(path, root, depth=depth)
            return
        self.seen.add(real)
        try:
            yield from self._folder(path, real, descriptor, root, depth + 1)
        finally:
            os.close(descriptor)

    def _unrecognized_entry(self, name: str, path: str, at: int) -> Iterator[Diagnostic]:
        """Yield the error of an entry that may be a folder; nothing for any other entry without a manifest suffix."""
        try:
            os.stat(name, dir_fd=at)
        except OSError as error:
            import errno

            if error.errno not in {errno.ENOENT, errno.ELOOP, errno.ENOTDIR}:
                yield self._missing_path(path, error)

    def _link_out(self, path: str, root: Root, *, hidden: bool) -> Diagnostic:
        if self.root is not None:
            help = "copy the file into the repository"
        else:
            help = "copy the file, or use --follow-links"
        if hidden:
            return fault(path, "is a link to a hidden file or folder", help, declared=LINK_OUT)
        where = GIVEN_ROOT if self.root is not None else root.path
        return fault(path, f"is a link to a target outside {where}", help, declared=LINK_OUT)

    def _missing_path(self, path: str, error: OSError) -> Diagnostic:
        if os.path.islink(path):
            return fault(path, "is a dangling or circular link", "remove it, or fix its target")
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


def _leads_to_folder(name: str, at: int) -> bool:
    """Return whether a name in an open folder is a folder, or a link to one."""
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=at).st_mode)
    except OSError:
        return False


def regular_file_content(name: str, at: int | None = None) -> bytes | None:
    """Return the bytes of a regular file in an open folder, or of a path; None for anything else, or if it changes.

    This takes less time than Python's `open`.
    """
    try:
        opened = os.open(name, READ, dir_fd=at)
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


def _file(path: str, descriptor: int, size: int, *, discovered: bool, largest: int) -> File | Diagnostic:
    if size > largest:
        return fault(path, f"is {size >> 20} MiB, more than the limit of {largest >> 20} MiB", "split it")
    try:
        with open(descriptor, "rb", closefd=False) as opened:
            # A device has no size and may be endless. For a file, a read with a limit above its size is slower.
            data = opened.read() if size else opened.read(largest + 1)
    except OSError as error:
        return fault(path, f"cannot be read: {error.strerror}", "check its permissions")
    read = _bounded(path, data, largest)
    return read._replace(found=True) if discovered and isinstance(read, File) else read


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


def _standard_input() -> Iterator[File | Diagnostic]:
    if sys.stdin is None:
        yield fault(STDIN, "is closed", "pipe a file to it, or give its path")
        return
    try:
        data = sys.stdin.buffer.read(LARGEST_FILE + 1)
    except OSError as error:
        yield fault(STDIN, f"cannot be read: {error.strerror}", "pipe a file to it, or give its path")
        return
    yield _bounded(STDIN, data, LARGEST_FILE)


def _bounded(path: str, data: bytes, largest: int) -> File | Diagnostic:
    if len(data) > largest:
        return fault(path, f"exceeds the limit of {largest >> 20} MiB", "split it")
    return File(path=path, data=data)
