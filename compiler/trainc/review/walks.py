"""Walks: which files of a commit are read for the given paths, as `trainc.inputs` chooses them in the working tree.

Reads    the folders of a commit, and its links.
Returns  the files in the order in which they would be found on the disk, and a diagnostic for each that cannot be read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from trainc import inputs
from trainc.confine import within
from trainc.inputs import DEEPEST, LARGEST_FILE, LINK_OUT, SETTINGS, SUFFIXES, File, fault
from trainc.listings import LISTING, MARK_BYTES, outputs_of
from trainc.review.revisions import FOLDER, LINK, MODULE, Commit, Entry, LinkOutError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Diagnostic


class Found(NamedTuple):
    """A file of a commit."""

    path: str
    """As it was found: a link has a path of its own."""
    entry: Entry
    listed: bool = False
    """Whether a listing names it as an output of trainc."""


def read(
    commit: Commit,
    paths: Iterable[str],
    *,
    skip: Iterable[str] = (),
    settings: str = "",
    root: str | None = None,
    follow_links: bool = False,
) -> Iterator[File | Diagnostic]:
    """Yield every file of the paths at a commit, as `inputs.read` finds them in the working tree.

    Paths are those of the working tree; what is not in the repository is read from the disk. A path that the
    commit does not have holds nothing.
    """
    paths = list(paths)
    given = [inside for path in paths if (inside := commit.inside(path)) is not None]
    walk = Walk(commit, skip=[os.path.realpath(path) for path in (*skip, settings) if path], given=given)
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
        elif each.listed and contents.get(each.entry.object, b"").startswith(MARK_BYTES):
            continue
        elif each.entry.object in contents:
            yield File(commit.named(each.path), contents[each.entry.object])
        else:
            size = f"{each.entry.size >> 20} MiB"
            yield fault(commit.named(each.path), f"has {size}; files of more than 256 MiB are not read", "split it")
    if elsewhere:
        yield from inputs.read(elsewhere, skip=skip, settings=settings, root=root, follow_links=follow_links)


class Walk:
    """One walk over all given paths; remembers what it has found, so that nothing is read twice."""

    def __init__(self, commit: Commit, *, skip: list[str], given: list[str]) -> None:
        """`skip` is left out, with all links resolved; `given` are all paths of the walk."""
        self.commit = commit
        self.given = given
        self.outputs: frozenset[str] = frozenset()
        self.skip = skip
        self.seen: set[str] = set()

    def path(self, path: str, *, depth: int = 0) -> list[Found | Diagnostic]:
        """What is to be read of a given path; nothing, where the commit does not have it."""
        name = self.commit.named(path)
        try:
            real = self.commit.resolved(path)
        except LinkOutError:
            return [fault(name, "is a link that leads out of the repository", "copy the file", declared=LINK_OUT)]
        if real is None:
            if self.commit.entry(path) is None:
                return []
            return [fault(name, "is a link that leads nowhere, or in a circle", "remove it, or mend its target")]
        entry = self.commit.entry(real)
        if entry is None or entry.mode == MODULE or real in self.seen or self._skipped(real):
            return []
        self.seen.add(real)
        if entry.mode == FOLDER:
            return self._folder(path, real, depth + 1)
        if os.path.basename(path) == SETTINGS:
            said = "holds trainc's own settings, and no manifest"
            return [] if depth else [fault(name, said, "give the files of the jobs")]
        return [Found(path, entry, listed=depth > 0 and f"/{real}" in self.outputs)]

    def _skipped(self, real: str) -> bool:
        return any(within(os.path.join(self.commit.top, real), out) for out in self.skip)

    def _folder(self, path: str, real: str, depth: int) -> list[Found | Diagnostic]:
        if depth > DEEPEST:
            said = f"is a folder more than {DEEPEST} deep; it is not read"
            return [fault(self.commit.named(path), said, "give its path by itself")]
        found: list[Found | Diagnostic] = []
        names = self.commit.names(real)
        if LISTING in names:
            self._note_outputs(real)
        for name in names:
            below = f"{path}/{name}" if path else name
            if not name.startswith(".") and (name.endswith(SUFFIXES) or self._is_folder(below)):
                found += self.path(below, depth=depth)
        return found

    def _note_outputs(self, folder: str) -> None:
        """Note the outputs that the listing of a folder names, unless they are given."""
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
