"""The tree of an output folder: which of its files are outputs, and whether a build covers their sources.

Reads    the folder by descriptors, as kubectl reads it: with hidden files and folders, except for `.git`, which no
         commit contains. No link is followed, and of a file without trainc's marker only the start is read.
Returns  the outputs with the sources that they name, and the other files that kubectl or Argo CD would apply;
         the sources that a build does not compile, and those outside the root, which no build in it has written.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.files.atomic import PART, open_below
from trainc.files.confine import READ, is_within, root_of
from trainc.files.output_marks import STDIN, is_marked, is_stream, sources_of
from trainc.files.selection import GIT, is_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

JSONNET: Final = ".jsonnet"
"""The suffix of the programs that Argo CD runs in a folder of manifests."""
_START: Final = 4096
"""The bytes that decide whether a file has the marker."""


class Tree(NamedTuple):
    """The files of an output folder, by relative path with `/` as the separator."""

    outputs: dict[str, tuple[str, ...]]
    """The sources of each file with trainc's marker, as it names them."""
    others: tuple[str, ...]
    """The manifests without the marker or that cannot be read, and the links."""
    interrupted: frozenset[str]
    """The folders in which a killed build may have left temporary files."""


def tree_of(
    folder: int | None,
    *,
    known: Collection[str],
    skip: Collection[str] = (),
    is_kept: Callable[[str, bool], bool] = lambda path, is_link: False,
) -> Tree:
    """Return the tree of an open folder. Raises OSError for a subfolder that cannot be listed.

    Args:
        folder: the descriptor; None without a folder.
        known: files that the caller reads itself; they are left out.
        skip: subfolders to leave out.
        is_kept: whether a file or link is left out, by its path and whether it is a link.
    """
    outputs: dict[str, tuple[str, ...]] = {}
    others: list[str] = []
    interrupted: set[str] = set()
    left = [] if folder is None else [""]
    while left:
        below = left.pop()
        assert folder is not None
        at = open_below(folder, below)
        try:
            with os.scandir(at) as found:
                entries = [(each.name, each.is_dir(follow_symlinks=False), each.is_symlink()) for each in found]
            for name, is_folder, is_link in sorted(entries, reverse=True):
                path = f"{below}/{name}" if below else name
                if is_folder:
                    left += [path] if path not in skip and name != GIT else []
                elif name.startswith(".") and not (is_manifest(name) or name.endswith(JSONNET)):
                    interrupted |= {below} if name.endswith(PART) else set()
                elif path in known or is_kept(path, is_link):
                    continue
                elif (data := _output(at, name)) is not None:
                    outputs[path] = sources_of(data)
                elif is_link or is_manifest(name) or name.endswith(JSONNET):
                    others.append(path)
        finally:
            os.close(at)
    return Tree(dict(sorted(outputs.items())), tuple(sorted(others)), frozenset(interrupted))


def _output(at: int, name: str) -> bytes | None:
    """Return the bytes of an output; None for any other file."""
    try:
        opened = os.open(name, READ, dir_fd=at)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        data = os.read(opened, _START)
        if not is_marked(data):
            return None
        while more := os.read(opened, 2**20):
            data += more
        return data
    except OSError:
        return None
    finally:
        os.close(opened)


class Coverage:
    """The sources that a build covers. A source is an absolute path, or `-` for a stream."""

    def __init__(self, folder: str, paths: Sequence[str], *, whole: bool) -> None:
        """`folder` is the output folder, `paths` are the PATHs; a `whole` build covers all sources in the root."""
        self.folder = folder
        self.root = root_of(folder).path
        self.whole = whole
        self.has_stream = any(map(is_stream, paths))
        self.given = tuple(os.path.abspath(path) for path in paths if not is_stream(path))
        self.is_confined = all(is_within(path, self.root) for path in self.given)
        """Whether all PATHs are in the root, so that each source is in it, too."""

    def absolute_paths(self, output: str, sources: Iterable[str]) -> list[str]:
        """Return the sources of an output, whose path is relative to the folder."""
        folder = os.path.abspath(os.path.join(self.folder, os.path.dirname(output)))
        return [path if path == STDIN else os.path.normpath(os.path.join(folder, path)) for path in sources]

    def paths_outside(self, sources: Iterable[str]) -> list[str]:
        """Return the sources outside the root, unless the build itself reads files outside."""
        if not self.is_confined:
            return []
        return [path for path in sources if path != STDIN and not is_within(path, self.root)]

    def covers(self, source: str) -> bool:
        """Return whether the build compiles a source.

        A PATH covers itself and everything below it. A source is also covered if its folder no longer exists.
        """
        if self.whole:
            return True
        if source == STDIN:
            return self.has_stream
        return any(is_within(source, path) for path in self.given) or not os.path.lexists(os.path.dirname(source))
