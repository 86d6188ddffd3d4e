"""The walk over given paths: the files that are read, and their order, in a folder on disk or in a commit.

Reads    a tree of files, through the methods that `files.inputs` implements for the disk, and
         `review.commits.commit_files` for git's trees.
Returns  each file once, and a diagnostic for each path that cannot be read. A link in a folder is followed after all
         paths, so that a file is read by its own path if the paths have it.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Generic, Literal, Protocol, TypeVar

from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, Location
from trainc.files.selection import KUSTOMIZATIONS, Roles, is_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.files.selection import Selection

UNREADABLE: Final = Declaration("unreadable", ("read",), trainc_only=True)
READ_ROLES: Final = frozenset({"manifest", "output"})
"""The roles of the entries that are read."""
DEEPEST: Final = 100
"""The maximum nesting of folders below a given one."""

Kind = Literal["file", "folder", "link", "submodule", "other"]


class Node(Protocol):
    """An entry of a tree that is not a link."""

    @property
    def real_path(self) -> str:
        """Its absolute path, with all links resolved."""

    @property
    def kind(self) -> Kind:
        """What it is."""

    @property
    def object(self) -> str:
        """Its git object; empty on disk."""


N = TypeVar("N", bound=Node)
F = TypeVar("F")


def fault(path: str, message: str, help: str = "", *, declared: Declaration = UNREADABLE) -> Diagnostic:
    """Return the diagnostic for a path that cannot be read."""
    return Diagnostic.declared(declared, message, help, place=Location(file=path))


def dangling_link(path: str) -> Diagnostic:
    """Return the diagnostic for a link without a target."""
    return fault(path, "is a dangling or circular link", "remove it, or fix its target")


class Walk(ABC, Generic[N, F]):
    """One walk over all given paths, which finds each file once."""

    def __init__(self, paths: Iterable[str], selection: Selection) -> None:
        """`paths` are those of the run."""
        paths = list(paths)
        self.roles = Roles(selection, paths, self.resolved)
        self.files = 0
        """The number of files found."""
        self._seen = set[str]()
        """Resolved paths of all files and folders that were found."""
        self._named = frozenset(map(self.resolved, paths))
        """Resolved paths of the files that the user named, which are read as such also if a folder has them."""
        self._above = set[str]()
        """The folders above the paths whose kustomizations are read."""
        self._links: list[tuple[str, N, int]] = []
        """The links in folders, with their folders and depths."""

    @abstractmethod
    def resolved(self, path: str) -> str:
        """Return the absolute path that a path of the working tree has in the tree, without links."""

    @abstractmethod
    def opened(self, path: str, folder: N | None = None) -> N | Diagnostic | None:
        """Return what is at a path, links followed; None if the tree lacks a given path. `folder` contains a link."""

    @abstractmethod
    def child(self, name: str, path: str, folder: N, kind: Kind) -> N | Diagnostic | None:
        """Return an entry of a folder; None if a link has replaced it since the folder was listed."""

    @abstractmethod
    def entries(self, path: str, folder: N) -> Sequence[tuple[str, Kind, str]] | Diagnostic:
        """Return the name, kind and git object of each entry of a folder, sorted by name."""

    @abstractmethod
    def file(self, path: str, node: N, *, is_found: bool, is_output: bool) -> F | Diagnostic:
        """Return a file, which was found in a folder or given."""

    @abstractmethod
    def may_lead_to_folder(self, name: str, path: str, folder: N) -> bool:
        """Return whether a link in a folder may lead to a folder."""

    @abstractmethod
    def folders_above(self, path: str) -> Iterator[str]:
        """Yield the folders above a path up to the root, the nearest one first."""

    @abstractmethod
    def kustomization(self, name: str, folder: str, path: str) -> F | None:
        """Return the kustomization with a name in a folder above a given path."""

    def shown(self, path: str) -> str:
        """Return a path as messages show it."""
        return path

    def location(self, path: str) -> str:
        """Return the path that exclude patterns match."""
        return path

    def close(self, node: N) -> None:
        """Release an entry."""

    def files_of_path(self, path: str) -> Iterator[F | Diagnostic]:
        """Yield the files of a path that the user gave."""
        if (node := self.opened(path)) is not None:
            yield from self._node(path, node, 0)

    def files_of_links(self) -> Iterator[F | Diagnostic]:
        """Yield the files that only links lead to; a linked folder can have more links."""
        for path, folder, depth in self._links:
            node = self.opened(path, folder)
            if node is None or isinstance(node, Diagnostic):
                yield node or dangling_link(self.shown(path))
            else:
                self.roles.leave_out(path, "link", node.real_path)
                yield from self._node(path, node, depth)

    def no_files(self) -> Iterator[Diagnostic]:
        """Yield the error if patterns exclude all files."""
        if self.roles.excluded is not None and not self.files and (error := self.roles.excluded.no_files_error()):
            yield error

    def _node(self, path: str, node: N | Diagnostic, depth: int) -> Iterator[F | Diagnostic]:
        """Yield the files of an entry. A given path has the depth 0, and is read unless it contains settings."""
        if isinstance(node, Diagnostic):
            yield node
            return
        try:
            if node.real_path in self._seen:
                return
            if node.kind == "submodule":
                self.roles.leave_out(path, "submodule", node.object)
                return
            self._seen.add(node.real_path)
            is_folder = node.kind == "folder"
            role = self.roles.target_role(os.path.basename(path), node.real_path, is_folder=is_folder)
            if role not in READ_ROLES and (depth or role == "settings"):
                self.roles.leave_out(path, role, node.object)
                if not depth:
                    help = "give the files of the jobs"
                    yield fault(self.shown(path), "contains trainc settings, not manifests", help)
            elif is_folder:
                if not depth:
                    yield from self._kustomizations_above(path)
                yield from self._folder(path, node, depth + 1)
            elif not self.roles.was_read(self.shown(path)):
                self.files += 1
                is_found = depth > 0 and node.real_path not in self._named
                yield self.file(path, node, is_found=is_found, is_output=depth > 0 and role == "output")
        finally:
            self.close(node)

    def _kustomizations_above(self, path: str) -> Iterator[F]:
        """Yield the kustomizations in the folders above a path, up to the root."""
        for folder in self.folders_above(path) if self.roles.decides_by_folder else ():
            if folder in self._above:
                return
            self._above.add(folder)
            for name in KUSTOMIZATIONS:
                if (found := self.kustomization(name, folder, path)) is not None:
                    yield found

    def _folder(self, path: str, folder: N, depth: int) -> Iterator[F | Diagnostic]:
        """Yield the files of a folder."""
        if depth > DEEPEST:
            message = f"is a folder more than {DEEPEST} levels deep"
            yield fault(self.shown(path), message, "give its path as an argument")
            return
        entries = self.entries(path, folder)
        if isinstance(entries, Diagnostic):
            yield entries
            return
        above = "" if path == os.curdir else path
        for name, kind, object in entries:
            below, real = os.path.join(above, name), os.path.join(folder.real_path, name)
            is_file, is_folder = kind == "file", kind in {"folder", "submodule"}
            role = self.roles.role(name, self.location(below), real, is_file=is_file, is_folder=is_folder)
            if role not in READ_ROLES or kind == "submodule":
                self.roles.leave_out(below, role if role not in READ_ROLES else "submodule", object)
            elif kind == "link":
                if is_manifest(name) or self.may_lead_to_folder(name, below, folder):
                    self._links.append((below, folder, depth))
            elif real in self._seen or (kind == "other" and not is_manifest(name)):
                continue
            elif is_file and self.roles.was_read(self.shown(below)):
                self._seen.add(real)
            elif (node := self.child(name, below, folder, kind)) is None:
                self._links.append((below, folder, depth))
            else:
                yield from self._node(below, node, depth)
