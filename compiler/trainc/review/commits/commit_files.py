"""Commit files: the files that are read for given paths of a commit, chosen as `files.inputs` does in a working tree.

Reads    the folders and links of a commit.
Returns  the files in the order of a walk on disk, and a diagnostic for each file that cannot be read. `settings_of`
         returns the settings of a file of the commit, and of the files that it extends, which are of the same commit.
"""

from __future__ import annotations

import errno
import os
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from trainc.files import inputs
from trainc.files.inputs import ALL, DEEPEST, LARGEST_SETTINGS, LINK_OUT, READ_ROLES, File, fault
from trainc.files.selection import KUSTOMIZATIONS, Roles, is_manifest
from trainc.review.commits import Commit, CommitLinkError
from trainc.review.commits.git_objects import AHEAD, FOLDER, LINK, MODULE, TreeEntry
from trainc.settings import load_file
from trainc.settings.extending import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Diagnostic
    from trainc.files.selection import Selection
    from trainc.review.commits import Commit
    from trainc.settings import Settings


class CommitFile(NamedTuple):
    """A file of a commit."""

    path: str
    """The path at which it was found; for a link, the link's path."""
    real: str
    """Its path without links."""
    entry: TreeEntry
    output: bool = False
    """Whether it is in an output folder."""
    above: bool = False
    """Whether it is a kustomization in a folder above a path."""


def read(
    commit: Commit,
    paths: Iterable[str],
    selection: Selection = ALL,
    *,
    root: str | None = None,
    follow_links: bool = False,
) -> Iterator[File | Diagnostic]:
    """Yield every file below the paths at a commit, as `inputs.read` does for the working tree.

    Paths are those of the working tree; a path outside the repository is read from disk. A path that does not exist in
    the commit has no files.
    """
    paths = list(paths)
    given = [inside for path in paths if (inside := commit.path_in_repository(path)) is not None]
    walk = Walk(commit, paths, selection)
    is_empty, named = True, frozenset(given)
    found = chain(chain.from_iterable(map(walk.path, given)), walk.files_of_links())
    while wanted := list(islice(found, AHEAD)):
        is_empty = is_empty and all(isinstance(each, CommitFile) and each.above for each in wanted)
        contents = commit.objects.blobs([each.entry.object for each in wanted if isinstance(each, CommitFile)])
        for each in wanted:
            if not isinstance(each, CommitFile):
                yield each
            elif isinstance(content := next(contents), int):
                size = f"{content >> 20} MiB"
                yield fault(commit.named(each.path), f"is {size}, more than the limit of 256 MiB", "split it")
            else:
                is_found, prefix = each.path not in named, commit.named("")
                commit.read[each.real] = content
                yield File(prefix + each.path, content, is_found or each.above, prefix, each.output, each.above)
    if walk.roles.excluded is not None and is_empty and (excluded := walk.roles.excluded.no_files_error()) is not None:
        yield excluded
    if elsewhere := [path for path in paths if commit.path_in_repository(path) is None]:
        yield from inputs.read(elsewhere, selection, root=root, follow_links=follow_links)


class Walk:
    """One walk over all given paths; it yields no file twice."""

    def __init__(self, commit: Commit, paths: Iterable[str], selection: Selection) -> None:
        """`paths` are those of the working tree."""
        self.commit = commit
        self.seen: set[str] = set()
        self.above: set[str] = set()
        """The folders above the paths whose kustomizations are read."""
        self.links: list[tuple[str, int]] = []
        """The links in folders, with their depths: a file is read by its own path if the paths have it."""
        self.roles = Roles(
            selection._replace(settings=[*map(self._resolved, selection.settings)]), paths, self._resolved
        )

    def _resolved(self, path: str) -> str:
        """Return the absolute path that a path of the working tree has with the links of the commit."""
        if self.commit.path_in_repository(path) is None:
            return os.path.abspath(path)
        return os.path.normpath(os.path.join(self.commit.top, self.commit.real_path(path)))

    def path(self, path: str, *, depth: int = 0) -> Iterator[CommitFile | Diagnostic]:
        """Yield the files at or below a path; nothing if the path does not exist in the commit."""
        name = self.commit.named(path)
        try:
            real = self.commit.resolved(path)
        except CommitLinkError:
            message, help = "is a link to a target outside the repository", "copy the file into the repository"
            yield fault(name, message, help, declared=LINK_OUT)
            return
        if real is not None:
            if depth:  # a path below a folder is a link
                self.roles.leave_out(path, "link", os.path.join(self.commit.top, real))
            entry = self.commit.entry(real)
            assert entry is not None  # it is resolved
            yield from self._entry(path, real, entry, depth)
        elif self.commit.entry(path) is not None:
            yield fault(name, "is a dangling or circular link", "remove it, or fix its target")

    def _entry(self, path: str, real: str, entry: TreeEntry, depth: int) -> Iterator[CommitFile | Diagnostic]:
        """Yield the files of an entry that is not a link."""
        if entry.mode == MODULE:
            self.roles.leave_out(path, "submodule", entry.object)
            return
        if real in self.seen:
            return
        self.seen.add(real)
        is_folder = entry.mode == FOLDER
        full = os.path.join(self.commit.top, real)
        role = self.roles.target_role(os.path.basename(path), full, is_folder=is_folder)
        if is_folder and (role in READ_ROLES or not depth):
            if not depth:
                yield from self._kustomizations_above(path)
            yield from self._folder(path, real, entry, depth + 1)
        elif role not in READ_ROLES and depth:
            self.roles.leave_out(path, role, entry.object)
        elif role == "settings":
            if not depth:
                message = "contains trainc settings, not manifests"
                yield fault(self.commit.named(path), message, "give the files of the jobs")
        elif (role in READ_ROLES or not depth) and not self.roles.was_read(self.commit.named(path)):
            yield CommitFile(path, real, entry, output=role == "output" and depth > 0)

    def _kustomizations_above(self, path: str) -> Iterator[CommitFile]:
        """Yield the kustomizations in the folders above a path."""
        while path and self.roles.decides_by_folder:
            path = path.rpartition("/")[0]
            if path in self.above:
                return
            self.above.add(path)
            for name in KUSTOMIZATIONS:
                below = f"{path}/{name}" if path else name
                entry = self.commit.file_entry(below)
                full = os.path.join(self.commit.top, below)
                if entry and self.roles.role(name, full, full, is_file=True, is_folder=False) == "manifest":
                    yield CommitFile(below, below, entry, above=True)

    def _folder(self, path: str, real: str, folder: TreeEntry, depth: int) -> Iterator[CommitFile | Diagnostic]:
        if depth > DEEPEST:
            message = f"is a folder more than {DEEPEST} levels deep"
            yield fault(self.commit.named(path), message, "give its path as an argument")
            return
        entries = self.commit.entries(folder)
        for name in sorted(entries):
            entry, below, found = entries[name], f"{path}/{name}" if path else name, f"{real}/{name}" if real else name
            is_folder, is_link = entry.mode in {FOLDER, MODULE}, entry.mode == LINK
            full = os.path.join(self.commit.top, found)
            role = self.roles.role(name, full, full, is_file=not (is_folder or is_link), is_folder=is_folder)
            if role not in READ_ROLES:
                self.roles.leave_out(below, role, "" if is_link else entry.object)
                continue
            if is_link:
                if is_manifest(name) or self._leads_to_folder(found):
                    self.links.append((below, depth))
            else:
                yield from self._entry(below, found, entry, depth)

    def files_of_links(self) -> Iterator[CommitFile | Diagnostic]:
        """Yield the files that only links lead to; a linked folder can have more links."""
        for path, depth in self.links:
            yield from self.path(path, depth=depth)

    def _leads_to_folder(self, link: str) -> bool:
        """Whether a link leads to a folder."""
        try:
            real = self.commit.resolved(link)
        except CommitLinkError:
            return False
        entry = None if real is None else self.commit.entry(real)
        return entry is not None and entry.mode == FOLDER


def settings_of(commit: Commit, file: File) -> Settings:
    """Return the settings of a file of a commit."""
    source = FileSource(partial(_read, commit), partial(_resolved, commit))
    return load_file(file, commit.path_of(file), source, root=commit.top)


def _resolved(commit: Commit, path: str) -> str:
    return os.path.normpath(os.path.join(commit.top, commit.real_path(path)))


def _read(commit: Commit, path: str) -> File | Diagnostic:
    """Return the file that has a path in the working tree, with the messages of `inputs.settings`."""
    inside = commit.path_in_repository(path) or ""
    name = commit.named(inside)
    try:
        real = commit.resolved(inside)
    except CommitLinkError:
        return fault(
            name, "is a link to a target outside the repository", "copy the file into the repository", declared=LINK_OUT
        )
    entry = None if real is None else commit.entry(real)
    if entry is None:
        reason = os.strerror(errno.ENOENT)
        return fault(name, f"cannot be read: {reason}", "check the path and its permissions")
    if entry.mode in {FOLDER, MODULE}:
        return fault(name, "is a folder", "use a file with settings")
    [content] = commit.objects.blobs([entry.object], most=LARGEST_SETTINGS)
    if isinstance(content, int):
        return fault(name, f"is {content >> 20} MiB, more than the limit of {LARGEST_SETTINGS >> 20} MiB", "split it")
    commit.read[real or inside] = content
    return File(name, content)
