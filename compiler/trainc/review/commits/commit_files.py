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
from typing import TYPE_CHECKING, Final, NamedTuple

from trainc.diagnostics import Diagnostic
from trainc.files import inputs
from trainc.files.inputs import ALL, LARGEST_SETTINGS, LINK_OUT, File
from trainc.files.walk import Walk, dangling_link, fault
from trainc.review.commits import Commit, CommitLinkError
from trainc.review.commits.git_objects import AHEAD, FILE, FOLDER, LINK, MODULE, TreeEntry
from trainc.settings import load_file
from trainc.settings.extending import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trainc.files.selection import Selection
    from trainc.files.walk import Kind
    from trainc.review.commits import Commit
    from trainc.settings import Settings


KINDS: Final[Mapping[str, Kind]] = {FILE: "file", FOLDER: "folder", LINK: "link", MODULE: "submodule"}


class CommitFile(NamedTuple):
    """A file of a commit, or another entry of a folder."""

    path: str
    """The path at which it was found; for a link, the link's path."""
    inside: str
    """Its path in the repository, without links."""
    entry: TreeEntry
    top: str
    """The root of the repository."""
    is_found: bool = False
    """Whether it was found in a folder."""
    is_output: bool = False
    """Whether it is in an output folder."""
    is_above: bool = False
    """Whether it is a kustomization in a folder above a path."""

    @property
    def real_path(self) -> str:
        """Its absolute path in the working tree, without links."""
        return os.path.join(self.top, self.inside)

    @property
    def kind(self) -> Kind:
        """What it is."""
        return KINDS[self.entry.mode]

    @property
    def object(self) -> str:
        """Its git object."""
        return self.entry.object


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
    walk, prefix = _CommitWalk(commit, paths, selection), commit.named("")
    found = chain(chain.from_iterable(map(walk.files_of_path, given)), walk.files_of_links(), walk.no_files())
    while wanted := list(islice(found, AHEAD)):
        contents = commit.objects.blobs([each.object for each in wanted if isinstance(each, CommitFile)])
        for each in wanted:
            if not isinstance(each, CommitFile):
                yield each
            elif isinstance(content := next(contents), int):
                size = f"{content >> 20} MiB"
                yield fault(prefix + each.path, f"is {size}, more than the limit of 256 MiB", "split it")
            else:
                commit.read[each.inside] = content
                yield File(prefix + each.path, content, each.is_found, prefix, each.is_output, each.is_above)
    if elsewhere := [path for path in paths if commit.path_in_repository(path) is None]:
        yield from inputs.read(elsewhere, selection, root=root, follow_links=follow_links)


class _CommitWalk(Walk[CommitFile, CommitFile]):
    """A walk over the trees of a commit; paths are relative to the root of the repository."""

    def __init__(self, commit: Commit, paths: Iterable[str], selection: Selection) -> None:
        """`paths` are those of the working tree."""
        self.commit = commit
        super().__init__(paths, selection)

    def resolved(self, path: str) -> str:
        if self.commit.path_in_repository(path) is None:
            return os.path.abspath(path)
        return _resolved(self.commit, path)

    def shown(self, path: str) -> str:
        return self.commit.named(path)

    def location(self, path: str) -> str:
        return os.path.join(self.commit.top, path)

    def opened(self, path: str, folder: CommitFile | None = None) -> CommitFile | Diagnostic | None:
        try:
            real = self.commit.resolved(path)
        except CommitLinkError:
            message, help = "is a link to a target outside the repository", "copy the file into the repository"
            return fault(self.shown(path), message, help, declared=LINK_OUT)
        if real is None:
            is_link = self.commit.entry(path) is not None
            return dangling_link(self.shown(path)) if is_link else None
        entry = self.commit.entry(real)
        assert entry is not None  # it is resolved
        return CommitFile(path, real, entry, self.commit.top)

    def child(self, name: str, path: str, folder: CommitFile, kind: Kind) -> CommitFile:
        inside = f"{folder.inside}/{name}" if folder.inside else name
        entries = self.commit.objects.tree(folder.object)  # which `entries` has counted
        return CommitFile(path, inside, entries[name], self.commit.top)

    def entries(self, path: str, folder: CommitFile) -> list[tuple[str, Kind, str]]:
        entries = self.commit.entries(folder.entry).items()
        return sorted((name, KINDS[entry.mode], "" if entry.mode == LINK else entry.object) for name, entry in entries)

    def file(self, path: str, node: CommitFile, *, is_found: bool, is_output: bool) -> CommitFile:
        return node._replace(is_found=is_found, is_output=is_output)

    def may_lead_to_folder(self, name: str, path: str, folder: CommitFile) -> bool:
        node = self.opened(f"{folder.inside}/{name}" if folder.inside else name)
        return isinstance(node, CommitFile) and node.kind == "folder"

    def folders_above(self, path: str) -> Iterator[str]:
        while path:
            path = path.rpartition("/")[0]
            yield path

    def kustomization(self, name: str, folder: str, path: str) -> CommitFile | None:
        below = f"{folder}/{name}" if folder else name
        entry, full = self.commit.file_entry(below), self.location(below)
        if entry is None or self.roles.role(name, full, full, is_file=True, is_folder=False) != "manifest":
            return None
        return CommitFile(below, below, entry, self.commit.top, is_found=True, is_above=True)


def settings_of(commit: Commit, file: File) -> Settings:
    """Return the settings of a file of a commit."""
    source = FileSource(partial(_read, commit), partial(_resolved, commit))
    return load_file(file, commit.path_of(file), source, root=commit.top)


def _resolved(commit: Commit, path: str) -> str:
    return os.path.normpath(os.path.join(commit.top, commit.real_path(path)))


def _read(commit: Commit, path: str) -> File | Diagnostic:
    """Return the file that has a path in the working tree, with the messages of `inputs.settings`."""
    inside = commit.path_in_repository(path) or ""
    name, node = commit.named(inside), _CommitWalk(commit, (), ALL).opened(inside)
    if isinstance(node, Diagnostic):
        return node
    if node is None:
        return fault(name, f"cannot be read: {os.strerror(errno.ENOENT)}", "check the path and its permissions")
    if node.kind != "file":
        return fault(name, "is a folder", "use a file with settings")
    [content] = commit.objects.blobs([node.object], most=LARGEST_SETTINGS)
    if isinstance(content, int):
        return fault(name, f"is {content >> 20} MiB, more than the limit of {LARGEST_SETTINGS >> 20} MiB", "split it")
    commit.read[node.inside] = content
    return File(name, content)
