"""Output sources: whether a build covers the source files that an output names.

Reads    the PATHs of the command line, and the paths that outputs name, which are untrusted.
Returns  the sources that the build does not compile, and those outside the root, which no build in it has written.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.files.confine import is_within, root_of
from trainc.files.output_marks import STDIN, is_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
