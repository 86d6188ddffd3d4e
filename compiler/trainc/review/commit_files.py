"""Commit files: the files that are read for given paths of a commit, chosen as `files.inputs` does in a working tree.

Reads    the folders and links of a commit.
Returns  the files in the order of a walk on disk, and a diagnostic for each file that cannot be read.
"""

from __future__ import annotations

import os
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from trainc.files import inputs
from trainc.files.confine import is_within
from trainc.files.inputs import DEEPEST, LINK_OUT, SETTINGS, File, fault
from trainc.files.manifest_names import is_manifest
from trainc.review.git_objects import AHEAD, FOLDER, LINK, MODULE, TreeEntry
from trainc.review.revisions import Commit, CommitLinkError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from trainc.diagnostics import Diagnostic
    from trainc.files.exclude import Excluded, Patterns


class CommitFile(NamedTuple):
    """A file of a commit."""

    path: str
    """The path at which it was found; for a link, the link's path."""
    entry: TreeEntry


def read(
    commit: Commit,
    paths: Iterable[str],
    *,
    skip: Iterable[str] = (),
    settings: Collection[str] = (),
    root: str | None = None,
    follow_links: bool = False,
    exclude: Sequence[Patterns] = (),
) -> Iterator[File | Diagnostic]:
    """Yield every file below the paths at a commit, as `inputs.read` does for the working tree.

    Paths are those of the working tree; a path outside the repository is read from disk. A path that does not exist in
    the commit has no files.
    """
    paths = list(paths)
    given = [inside for path in paths if (inside := commit.path_in_repository(path)) is not None]
    skipped = [real for path in (*skip, *settings) if (real := commit.real_path(path))]
    walk = Walk(commit, skip=skipped, exclude=exclude)
    is_empty, named = True, frozenset(given)
    found = chain.from_iterable(map(walk.path, given))
    while wanted := list(islice(found, AHEAD)):
        is_empty = False
        contents = commit.objects.blobs([each.entry.object for each in wanted if isinstance(each, CommitFile)])
        for each in wanted:
            if not isinstance(each, CommitFile):
                yield each
            elif isinstance(content := next(contents), int):
                size = f"{content >> 20} MiB"
                yield fault(commit.named(each.path), f"is {size}, more than the limit of 256 MiB", "split it")
            else:
                yield File(commit.named(each.path), content, found=each.path not in named, revision=commit.named(""))
    if walk.excluded is not None and is_empty and (excluded := walk.excluded.no_files_error()) is not None:
        yield excluded
    if elsewhere := [path for path in paths if commit.path_in_repository(path) is None]:
        yield from inputs.read(
            elsewhere, skip=skip, settings=settings, root=root, follow_links=follow_links, exclude=exclude
        )


class Walk:
    """One walk over all given paths; it yields no file twice."""

    def __init__(self, commit: Commit, *, skip: list[str], exclude: Sequence[Patterns] = ()) -> None:
        """Leave out the paths `skip` of the commit."""
        self.commit = commit
        self.skip = skip
        self.seen: set[str] = set()
        self.excluded: Excluded | None = None
        if exclude:
            from trainc.files.exclude import Excluded

            self.excluded = Excluded(exclude)

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
            entry = self.commit.entry(real)
            assert entry is not None  # it is resolved
            yield from self._entry(path, real, entry, depth)
        elif self.commit.entry(path) is not None:
            yield fault(name, "is a dangling or circular link", "remove it, or fix its target")

    def _entry(self, path: str, real: str, entry: TreeEntry, depth: int) -> Iterator[CommitFile | Diagnostic]:
        """Yield the files of an entry that is not a link."""
        if entry.mode == MODULE or real in self.seen or self._skipped(real):
            return
        self.seen.add(real)
        if entry.mode == FOLDER:
            yield from self._folder(path, real, entry, depth + 1)
        elif os.path.basename(path) != SETTINGS:
            yield CommitFile(path, entry)
        elif not depth:
            message = "contains trainc settings, not manifests"
            yield fault(self.commit.named(path), message, "give the files of the jobs")

    def _skipped(self, real: str) -> bool:
        return any(is_within(real, out) for out in self.skip)

    def _folder(self, path: str, real: str, folder: TreeEntry, depth: int) -> Iterator[CommitFile | Diagnostic]:
        if depth > DEEPEST:
            message = f"is a folder more than {DEEPEST} levels deep"
            yield fault(self.commit.named(path), message, "give its path as an argument")
            return
        entries = self.commit.entries(folder)
        for name in sorted(entries):
            if name.startswith("."):
                continue
            entry, below, found = entries[name], f"{path}/{name}" if path else name, f"{real}/{name}" if real else name
            is_folder = entry.mode == FOLDER or (entry.mode == LINK and self._leads_to_folder(found))
            if not (is_folder or is_manifest(name)) or self._is_excluded(found, is_folder=is_folder):
                continue
            if entry.mode == LINK:
                yield from self.path(below, depth=depth)
            else:
                yield from self._entry(below, found, entry, depth)

    def _is_excluded(self, path: str, *, is_folder: bool) -> bool:
        if self.excluded is None:
            return False
        return self.excluded.matches(os.path.join(self.commit.top, path), is_folder=is_folder)

    def _leads_to_folder(self, link: str) -> bool:
        """Whether a link leads to a folder."""
        try:
            real = self.commit.resolved(link)
        except CommitLinkError:
            return False
        entry = None if real is None else self.commit.entry(real)
        return entry is not None and entry.mode == FOLDER
