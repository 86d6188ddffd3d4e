"""Commit files: the files that are read for given paths of a commit, chosen as `trainc.inputs` does in a working tree.

Reads    the folders and links of a commit.
Returns  the files in the order of a walk on disk, and a diagnostic for each file that cannot be read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from trainc import inputs
from trainc.confine import within
from trainc.inputs import DEEPEST, LARGEST_FILE, LINK_OUT, SETTINGS, File, fault, is_manifest
from trainc.listings import LISTING, MARKS, outputs_of
from trainc.review.revisions import FOLDER, LINK, MODULE, Commit, Entry, LinkOutError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.diagnostics import Diagnostic
    from trainc.exclude import Excluded, Patterns


class Found(NamedTuple):
    """A file of a commit."""

    path: str
    """The path at which it was found; for a link, the link's path."""
    entry: Entry
    listed: bool = False
    """Whether a listing names it as an output."""


def read(
    commit: Commit,
    paths: Iterable[str],
    *,
    skip: Iterable[str] = (),
    settings: str = "",
    root: str | None = None,
    follow_links: bool = False,
    exclude: Sequence[Patterns] = (),
) -> Iterator[File | Diagnostic]:
    """Yield every file below the paths at a commit, as `inputs.read` does for the working tree.

    Paths are those of the working tree; a path outside the repository is read from disk. A path that does not exist in
    the commit has no files.
    """
    paths = list(paths)
    given = [inside for path in paths if (inside := commit.inside(path)) is not None]
    skipped = [inside for path in (*skip, settings) if path and (inside := commit.inside(path))]
    walk = Walk(commit, skip=skipped, given=given, exclude=exclude)
    wanted: list[Found | Diagnostic] = []
    elsewhere = []
    for path in paths:
        inside = commit.inside(path)
        if inside is None:
            elsewhere.append(path)
        else:
            wanted += walk.path(inside)
    small = [each.entry.object for each in wanted if isinstance(each, Found) and each.entry.size <= LARGEST_FILE]
    contents = commit.contents(small)
    for each in wanted:
        if not isinstance(each, Found):
            yield each
        elif each.listed and contents.get(each.entry.object, b"").startswith(MARKS):
            continue
        elif each.entry.object in contents:
            data, prefix = contents[each.entry.object], commit.named("")
            yield File(commit.named(each.path), data, found=each.path not in given, revision=prefix)
        else:
            size = f"{each.entry.size >> 20} MiB"
            yield fault(commit.named(each.path), f"is {size}, more than the limit of 256 MiB", "split it")
    if walk.excluded is not None and not wanted and (excluded := walk.excluded.everything()) is not None:
        yield excluded
    if elsewhere:
        yield from inputs.read(
            elsewhere, skip=skip, settings=settings, root=root, follow_links=follow_links, exclude=exclude
        )


class Walk:
    """One walk over all given paths; it yields no file twice."""

    def __init__(self, commit: Commit, *, skip: list[str], given: list[str], exclude: Sequence[Patterns] = ()) -> None:
        """Leave out the paths `skip` of the commit; `given` are all paths of the walk."""
        self.commit = commit
        self.given = given
        self.outputs: frozenset[str] = frozenset()
        self.skip = skip
        self.seen: set[str] = set()
        self.excluded: Excluded | None = None
        if exclude:
            from trainc.exclude import Excluded

            self.excluded = Excluded(exclude)

    def path(self, path: str, *, depth: int = 0) -> list[Found | Diagnostic]:
        """Return the files below a path; nothing if the path does not exist in the commit."""
        name = self.commit.named(path)
        try:
            real = self.commit.resolved(path)
        except LinkOutError:
            return [
                fault(
                    name,
                    "is a link to a target outside the repository",
                    "copy the file into the repository",
                    declared=LINK_OUT,
                )
            ]
        if real is None:
            if self.commit.entry(path) is None:
                return []
            return [fault(name, "is a dangling or circular link", "remove it, or fix its target")]
        entry = self.commit.entry(real)
        if entry is None or entry.mode == MODULE or real in self.seen or self._skipped(real):
            return []
        self.seen.add(real)
        if entry.mode == FOLDER:
            return self._folder(path, real, depth + 1)
        if os.path.basename(path) == SETTINGS:
            message = "contains trainc settings, not manifests"
            return [] if depth else [fault(name, message, "give the files of the jobs")]
        return [Found(path, entry, listed=depth > 0 and f"/{real}" in self.outputs)]

    def _skipped(self, real: str) -> bool:
        return any(within(real, out) for out in self.skip)

    def _folder(self, path: str, real: str, depth: int) -> list[Found | Diagnostic]:
        if depth > DEEPEST:
            message = f"is a folder more than {DEEPEST} levels deep"
            return [fault(self.commit.named(path), message, "give its path as an argument")]
        found: list[Found | Diagnostic] = []
        names = self.commit.names(real)
        if LISTING in names:
            self._note_outputs(real)
        for name in names:
            below = f"{path}/{name}" if path else name
            if name.startswith(".") or not (is_manifest(name) or self._is_folder(below)):
                continue
            if not self._is_excluded(below, f"{real}/{name}" if real else name):
                found += self.path(below, depth=depth)
        return found

    def _is_excluded(self, path: str, real: str) -> bool:
        if self.excluded is None:
            return False
        return self.excluded.matches(os.path.join(self.commit.top, real), is_folder=self._is_folder(path))

    def _note_outputs(self, folder: str) -> None:
        """Add the outputs in a folder's listing to `outputs`, except given ones."""
        entry = self.commit.entry(f"{folder}/{LISTING}" if folder else LISTING)
        if entry is None or entry.mode in {FOLDER, LINK, MODULE} or entry.size > LARGEST_FILE:
            return
        data = self.commit.contents([entry.object])[entry.object]
        self.outputs |= outputs_of(f"/{folder}", data, (f"/{path}" for path in self.given))

    def _is_folder(self, path: str) -> bool:
        """Whether a path is a folder, or a link to one."""
        try:
            real = self.commit.resolved(path)
        except LinkOutError:
            return False
        entry = None if real is None else self.commit.entry(real)
        return entry is not None and entry.mode == FOLDER
